"""Classes and numbers by kernel value: votes, weights, ties, several outputs."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from fastmks import InvalidArgument, kernels
from fastmks.kernels import Gaussian, Normalized, Spectrum
from fastmks.sklearn import KernelNeighborsClassifier, KernelNeighborsRegressor


@pytest.fixture(scope="module")
def digits():
    """Digits whose distances are all different: scikit-learn's ties have no rule."""
    X, y = load_digits(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)
    return X[:600], X[600:900], y[:600], y[600:900]


# Bandwidths so great that no value is rounded to 0, which would tie distances that differ.
@pytest.mark.parametrize(
    ("kernel", "metric"), [("cosine", "cosine"), (Gaussian(50.0), "euclidean")]
)
def test_a_classifier_agrees_with_scikit_learns_of_the_same_neighbours(digits, kernel, metric):
    X, Q, y, _ = digits
    ours = KernelNeighborsClassifier(7, kernel=kernel).fit(X, y)
    theirs = KNeighborsClassifier(7, metric=metric, algorithm="brute").fit(X, y)
    np.testing.assert_array_equal(ours.kneighbors(Q)[1], theirs.kneighbors(Q)[1])
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    np.testing.assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q))


def test_a_regressor_agrees_with_scikit_learns_of_the_same_neighbours(digits):
    X, Q, y, _ = digits
    targets = np.column_stack([y, X.sum(axis=1)])
    ours = KernelNeighborsRegressor(4, kernel=Gaussian(50.0)).fit(X, targets)
    theirs = KNeighborsRegressor(4, algorithm="brute").fit(X, targets)
    np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q))
    assert ours.predict(Q).shape == (300, 2)
    assert ours.score(Q, ours.predict(Q)) == 1.0


def test_equal_votes_go_to_the_smaller_class():
    model = KernelNeighborsClassifier(2).fit([[3.0], [2.0], [1.0]], ["z", "a", "m"])
    assert model.predict([[1.0]]).tolist() == ["a"]
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[0.5, 0.0, 0.5]])
    assert model.classes_.tolist() == ["a", "m", "z"]


def test_equal_values_let_the_first_objects_vote():
    X, y = [[1.0]] * 5, [1, 1, 0, 0, 0]
    assert KernelNeighborsClassifier(2).fit(X, y).predict([[1.0]]).tolist() == [1]


def test_votes_by_value():
    X, y = [[5.0], [2.0], [2.0]], ["one", "two", "two"]
    by_count = KernelNeighborsClassifier(3).fit(X, y)
    by_value = KernelNeighborsClassifier(3, weights="values").fit(X, y)
    squared = KernelNeighborsClassifier(3, weights=np.sqrt).fit(X, y)
    assert by_count.predict([[1.0]])[0] == "two"
    assert by_value.predict([[1.0]])[0] == "one"
    assert squared.predict([[1.0]])[0] == "two"
    np.testing.assert_allclose(by_value.predict_proba([[1.0]]), [[5 / 9, 4 / 9]])
    mean = KernelNeighborsRegressor(3, weights="values").fit(X, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(mean.predict([[1.0]]), [(5 + 4 + 6) / 9])


def test_who_is_unlike_a_query_has_no_vote():
    X, y = [[1.0], [-1.0], [-9.0]], [0, 1, 1]
    model = KernelNeighborsClassifier(3, weights="values").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[1.0, 0.0]])
    number = KernelNeighborsRegressor(3, weights="values").fit(X, [7.0, 0.0, 0.0])
    assert number.predict([[1.0]]).tolist() == [7.0]


@pytest.mark.parametrize("scale", [1e-160, 1e150])
def test_weights_neither_overflow_nor_vanish(scale):
    X = np.array([[3.0], [1.0], [1.0]]) * scale
    model = KernelNeighborsRegressor(3, weights="values").fit(X, [0.0, 1.0, 2.0])
    np.testing.assert_allclose(model.predict([[scale]]), [3 / 5], rtol=1e-3)


@pytest.mark.parametrize("estimator", [KernelNeighborsClassifier, KernelNeighborsRegressor])
def test_votes_that_all_count_nothing_are_an_error(estimator):
    model = estimator(2, weights="values", kernel=Gaussian(0.01)).fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0]]).tolist() == [0]
    with pytest.raises(InvalidArgument, match=r"Gaussian\(bandwidth=0.01\) is 0 for all .* X\[1\]"):
        model.predict([[0.0], [50.0]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (lambda values: -values, "at least 0; got -2.0 for the value 2.0"),
        (lambda values: values[:, :1], r"shape of values, \(1, 2\); got \(1, 1\)"),
        (lambda values: values * np.nan, "must be finite"),
        (lambda values: values * 0.0, "is 0 for all neighbours"),
    ],
)
def test_bad_weights_of_a_function_are_named(weights, message):
    model = KernelNeighborsClassifier(2, weights=weights).fit([[2.0], [1.0]], [0, 1])
    with pytest.raises(InvalidArgument, match=message):
        model.predict([[1.0]])


def test_a_function_of_weights_cannot_change_the_answers():
    def spoil(values):
        values[:] = 1.0
        return values

    model = KernelNeighborsClassifier(2, weights=spoil).fit([[2.0], [1.0]], [0, 1])
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[0.5, 0.5]])


@pytest.mark.parametrize("weights", ["distance", None, 3])
def test_other_weights_are_refused_by_fit(weights):
    for estimator in (KernelNeighborsClassifier, KernelNeighborsRegressor):
        with pytest.raises(InvalidArgument, match="weights must be 'uniform', 'values', or"):
            estimator(weights=weights).fit([[1.0], [2.0]], [0, 1])


def test_several_outputs_are_predicted_as_scikit_learn_does(digits):
    X, Q, y, _ = digits
    several = np.column_stack([y, y % 2, y > 4]).astype(str)
    ours = KernelNeighborsClassifier(5, kernel=Gaussian(50.0)).fit(X, several)
    theirs = KNeighborsClassifier(5, algorithm="brute").fit(X, several)
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    assert len(ours.classes_) == 3
    for got, wanted in zip(ours.predict_proba(Q), theirs.predict_proba(Q), strict=True):
        np.testing.assert_allclose(got, wanted)


def test_several_labels_at_once(digits):
    X, Q, y, truth = digits
    labels = np.column_stack([y % 2, y > 4]).astype(int)
    model = KernelNeighborsClassifier(1, kernel="cosine").fit(X, labels)
    assert model.score(Q, np.column_stack([truth % 2, truth > 4])) > 0.9


def test_a_column_for_y_is_a_warning_and_no_second_axis():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = KernelNeighborsClassifier(1).fit([[1.0], [-1.0]], [["a"], ["b"]])
    assert model.predict([[2.0]]).tolist() == ["a"]


def test_none_leaves_one_out():
    X, y = load_iris(return_X_y=True)
    model = KernelNeighborsClassifier(3, kernel=Gaussian(2.0))
    wanted = cross_val_predict(model, X, y, cv=LeaveOneOut())
    np.testing.assert_array_equal(model.fit(X, y).predict(None), wanted)
    assert model.score(None, y) == (wanted == y).mean()


def test_strings_are_classified(digits):
    words = ["kernel", "kernels", "colonel", "search", "research", "searching"]
    model = KernelNeighborsClassifier(1, kernel=Normalized(Spectrum(2)))
    model.fit(words, ["k", "k", "k", "s", "s", "s"])
    assert model.predict(["colonels", "searched"]).tolist() == ["k", "s"]
    assert model.predict("kern").tolist() == ["k"]
    assert model.predict([]).tolist() == []
    number = KernelNeighborsRegressor(1, kernel=kernels.Jaccard())
    number.fit([set(word) for word in words], [len(word) for word in words])
    assert number.predict([set("search")]).tolist() == [6.0]


@pytest.mark.parametrize(
    "make", [np.asarray, list, pd.Series, lambda y: pd.Series(y, dtype=object)]
)
def test_targets_come_in_many_forms(make):
    y = make(["a", "b", "b"])
    model = KernelNeighborsClassifier(1).fit([[1.0], [0.0], [-1.0]], y)
    assert model.predict([[1.0], [-1.0]]).tolist() == ["a", "b"]


def test_sparse_vectors_predict_the_same(digits):
    X, Q, y, _ = digits
    dense = KernelNeighborsClassifier(kernel="cosine", weights="values").fit(X, y)
    thin = KernelNeighborsClassifier(kernel="cosine", weights="values").fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.predict_proba(Q), thin.predict_proba(sparse.csr_matrix(Q)))


@pytest.mark.parametrize("estimator", [KernelNeighborsClassifier, KernelNeighborsRegressor])
def test_pickles_predict_alike(digits, estimator):
    X, Q, y, _ = digits
    model = estimator(kernel=Gaussian(30.0), weights="values").fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict(Q), model.predict(Q))
    np.testing.assert_array_equal(twin.kneighbors(Q)[1], model.kneighbors(Q)[1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([0, 1, 2], "inconsistent numbers of samples"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (0, "y must have one target, or a row of them, for each object; got 0"),
        ([np.nan, 1.0], "NaN"),
        ([], "0 sample"),
    ],
)
@pytest.mark.parametrize("X", [[[1.0], [2.0]], ["ab", "b"]], ids=["vectors", "strings"])
@pytest.mark.parametrize("estimator", [KernelNeighborsClassifier, KernelNeighborsRegressor])
def test_bad_targets_are_named(estimator, X, y, message):
    kernel = "linear" if X == [[1.0], [2.0]] else Spectrum(1)
    with pytest.raises(ValueError, match=message):
        estimator(1, kernel=kernel).fit(X, y)


def test_a_regressor_needs_numbers_and_a_classifier_classes():
    with pytest.raises(InvalidArgument, match="y must be numbers; got dtype"):
        KernelNeighborsRegressor(1).fit([[1.0], [2.0]], ["low", "high"])
    with pytest.raises(ValueError, match="Unknown label type"):
        KernelNeighborsClassifier(1).fit([[1.0], [2.0]], [0.5, 1.7])


def test_nothing_is_predicted_before_fit():
    for model in (KernelNeighborsClassifier(), KernelNeighborsRegressor()):
        with pytest.raises(NotFittedError):
            model.predict([[1.0]])


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = KernelNeighborsClassifier(1, kernel=Spectrum(1)).fit(["a", "b"], ["x", "y"])
    with pytest.raises(InvalidArgument):
        model.fit([1.0, 2.0, 3.0], ["p", "q", "r"])
    assert model.predict(["b"]).tolist() == ["y"]
    assert copy.deepcopy(model).predict(["b"]).tolist() == ["y"]


@pytest.mark.parametrize("make", [KernelNeighborsClassifier, KernelNeighborsRegressor])
@pytest.mark.parametrize(
    ("params", "X", "y"),
    [
        ({"kernel": "cosine"}, [[1.0, 0.0, 2.0], [np.nan, 1.0, 1.0]], [0, 1]),
        ({"algorithm": "magic"}, [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]], [0, 1]),
        ({"n_neighbors": 0}, [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]], [0, 1]),
        ({}, [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]], [0]),
        ({"kernel": Spectrum(1)}, [1.0, 2.0], [0, 1]),
    ],
)
def test_a_refit_that_fails_leaves_columns_and_index_together(make, params, X, y):
    names = ["height", "width"]
    model = make(1).fit(pd.DataFrame([[3.0, 0.0], [0.0, 2.0]], columns=names), [5, 7])
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.set_params(**params).fit(X, y)
    assert list(model.feature_names_in_) == names
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before if name not in params)


@pytest.mark.parametrize("make", [KernelNeighborsClassifier, KernelNeighborsRegressor])
def test_a_first_fit_that_fails_notes_nothing(make):
    model = make(1)
    with pytest.raises(ValueError):
        model.fit([[1.0], [2.0]], [0])
    assert vars(model) == vars(make(1))
