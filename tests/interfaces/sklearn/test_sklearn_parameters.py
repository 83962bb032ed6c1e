"""Parameters of estimators and of the kernels within them: clones, grids, pipelines, tags."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fastmks import InvalidArgument, kernels
from fastmks.kernels import Cosine, Gaussian, Linear, Normalized, OnField, Polynomial, Spectrum
from fastmks.sklearn import (
    KernelNeighbors,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelNeighborsTransformer,
)
from fastmks.sklearn.checked_input import Reading
from support.functions import overlap

ESTIMATORS = [
    KernelNeighbors,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelNeighborsTransformer,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "kernel", ["cosine", Gaussian(2.0), Normalized(Polynomial(3)) + Linear(), overlap, "nonsense"]
)
def test_parameters_are_kept_as_given_and_cloned(estimator, kernel):
    model = estimator(n_neighbors=3, kernel=kernel)
    assert model.kernel is kernel
    assert model.get_params(deep=False)["kernel"] is kernel
    twin = clone(model)
    assert twin is not model
    assert twin.get_params() == model.get_params()


def test_parameters_within_a_kernel_have_names():
    kernel = 2.0 * Normalized(Polynomial(degree=3)) + OnField(1, Gaussian(0.5))
    params = KernelNeighbors(kernel=kernel).get_params()
    assert params["kernel"] is kernel
    assert params["kernel__terms__0__factor"] == 2.0
    assert params["kernel__terms__0__kernel__kernel__degree"] == 3
    assert params["kernel__terms__1__kernel__bandwidth"] == 0.5
    assert not any("__" in name for name in KernelNeighbors(kernel=overlap).get_params())
    assert not any("__" in name for name in KernelNeighbors(kernel="linear").get_params())


SCALED = Normalized(Polynomial(scale=4))
WORDS = {"is_vectors": False, "is_sparse": False, "is_string": True}


@pytest.mark.parametrize(
    ("kernel", "changes", "wanted"),
    [
        (Gaussian(), {"bandwidth": 3.0}, Gaussian(3.0)),
        ("gaussian", {"bandwidth": 3.0}, Gaussian(3.0)),
        ("polynomial:degree=5", {"offset": 1.0}, Polynomial(degree=5, offset=1.0)),
        (Normalized(Polynomial()), {"kernel__degree": 4}, Normalized(Polynomial(4))),
        (Normalized(Linear()), {"kernel__scale": 4, "kernel": Polynomial()}, SCALED),
        (Linear() + Gaussian(), {"terms__1__bandwidth": 2.0}, Linear() + Gaussian(2.0)),
        (Linear() * Gaussian(), {"factors__0": Cosine()}, Cosine() * Gaussian()),
        (OnField(0, Spectrum(2)), {"kernel__p": 3, "field": 1}, OnField(1, Spectrum(3))),
    ],
)  # fmt: skip
def test_parameters_within_a_kernel_are_set(kernel, changes, wanted):
    model = KernelNeighbors(kernel=kernel)
    assert (
        model.set_params(**{f"kernel__{name}": value for name, value in changes.items()}) is model
    )
    assert model.kernel == wanted


def test_a_kernel_and_its_parameters_are_set_at_once():
    model = KernelNeighbors(kernel=Gaussian())
    model.set_params(kernel__degree=3, n_neighbors=2, kernel=Polynomial())
    assert (model.kernel, model.n_neighbors) == (Polynomial(degree=3), 2)


def test_all_parameters_that_are_got_can_be_set():
    model = KernelNeighbors(kernel=0.5 * Normalized(Polynomial(3)) + Gaussian(2.0))
    other = KernelNeighbors().set_params(**model.get_params())
    assert other.get_params() == model.get_params()


@pytest.mark.parametrize(
    ("kernel", "name", "value", "message"),
    [
        (Gaussian(), "kernel__width", 1.0, "must name .*; its parameters are bandwidth"),
        ("linear", "kernel__width", 1.0, r"parameter of Linear\(\); it has no parameters"),
        (Normalized(Gaussian()), "kernel__kernel__width", 1.0, "kernel__kernel__width must name"),
        (Linear() + Cosine(), "kernel__terms__2", Linear(), "its parameters are 0, 1"),
        (Gaussian(), "kernel__bandwidth__x", 1.0, "kernel__bandwidth__x must name"),
        (Gaussian(), "kernel__bandwidth", -1.0, "bandwidth must be a positive finite number"),
        ("gausian", "kernel__bandwidth", 1.0, "Did you mean 'gaussian'"),
        (overlap, "kernel__rtol", 1.0, "it has no parameters"),
        (Gaussian(), "kernels__bandwidth", 1.0, "Invalid parameter 'kernels'"),
    ],
)  # fmt: skip
def test_parameters_that_are_not_there_are_named(kernel, name, value, message):
    with pytest.raises(ValueError, match=message):
        KernelNeighbors(kernel=kernel).set_params(**{name: value})


def test_grids_of_kernels_and_of_their_parameters():
    X, y = load_iris(return_X_y=True)
    of_kernels = GridSearchCV(
        KernelNeighborsClassifier(), {"kernel": [Gaussian(1e-4), Gaussian(1.0), "cosine", Linear()]}
    ).fit(X, y)
    of_widths = GridSearchCV(
        KernelNeighborsClassifier(kernel="gaussian"), {"kernel__bandwidth": [1e-4, 1.0]}
    ).fit(X, y)
    scores = of_kernels.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(of_widths.cv_results_["mean_test_score"], scores[:2])
    assert scores[1] > 0.9 > scores[0]
    assert of_widths.best_estimator_.kernel == Gaussian(1.0)
    assert of_widths.best_estimator_.index_.kernel == Gaussian(1.0)
    assert isinstance(of_kernels.best_params_["kernel"], (str, kernels.Kernel))


def test_grids_reach_through_pipelines():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(
        StandardScaler(), KernelNeighborsClassifier(kernel=Normalized(Polynomial(offset=1.0)))
    )
    name = "kernelneighborsclassifier__kernel__kernel__degree"
    search = GridSearchCV(model, {name: [1, 9]}, n_jobs=2).fit(X, y)
    assert search.best_estimator_[-1].index_.kernel.kernel.degree == search.best_params_[name]
    assert search.best_score_ > 0.8


def test_grids_over_strings():
    words = ["kernel", "kernels", "colonel", "search", "research", "searching"] * 4
    labels = [0, 0, 0, 1, 1, 1] * 4
    model = KernelNeighborsClassifier(3, kernel=Normalized(Spectrum(1)))
    search = GridSearchCV(model, {"kernel__kernel__p": [1, 2, 3]}, cv=3).fit(words, labels)
    assert search.best_score_ == 1.0
    assert search.predict(["kernelly"]).tolist() == [0]


def test_a_gram_matrix_is_split_by_rows_and_columns():
    X, y = load_iris(return_X_y=True)
    kernel = Gaussian(1.0)
    of_matrix = cross_val_score(
        KernelNeighborsClassifier(kernel=kernels.Precomputed()), kernel.matrix(X), y
    )
    of_vectors = cross_val_score(KernelNeighborsClassifier(kernel=kernel), X, y)
    np.testing.assert_array_equal(of_matrix, of_vectors)


def test_sparse_counts_of_words_come_through_a_pipeline():
    texts = ["a tree of kernels", "kernels in trees", "fish and chips", "chips with fish"] * 5
    model = make_pipeline(CountVectorizer(), KernelNeighborsClassifier(3, kernel="cosine"))
    assert model.fit(texts, [0, 0, 1, 1] * 5).predict(["tree kernels", "fish"]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        ("linear", {}),
        ("nonsense", {}),
        (np.ones(3), {}),
        (kernels.MinMax(), {"is_positive": True}),
        (kernels.Tanimoto(), {"is_vectors": False}),
        (Linear() + kernels.Custom(overlap), {"is_sparse": False}),
        (Spectrum(2), WORDS | {"has_columns": False}),
        (overlap, WORDS),
        (kernels.Jaccard(), {"is_vectors": False, "is_sparse": False, "has_columns": False}),
        (kernels.Precomputed(), {"is_vectors": False, "is_sparse": False, "is_pairwise": True}),
        (OnField(0, Linear()), {"is_vectors": False, "is_sparse": False}),
    ],
)  # fmt: skip
def test_what_a_kernel_reads(kernel, wanted):
    assert Reading.of(kernel) == Reading(**wanted)


def test_tags_tell_scikit_learn_what_x_may_be():
    from sklearn.utils import get_tags

    strings = get_tags(KernelNeighborsClassifier(kernel=Spectrum(2)))
    assert strings.input_tags.string
    assert strings.input_tags.one_d_array
    assert not strings.input_tags.sparse
    vectors = get_tags(KernelNeighborsClassifier())
    assert vectors.input_tags.sparse
    assert not vectors.input_tags.string
    assert vectors.target_tags.multi_output
    assert vectors.classifier_tags.multi_label
    assert get_tags(KernelNeighborsRegressor(kernel=kernels.Precomputed())).input_tags.pairwise


def test_estimators_are_shown_as_what_makes_them():
    model = KernelNeighborsClassifier(3, kernel=Gaussian(2.0))
    assert repr(model) == "KernelNeighborsClassifier(kernel=Gaussian(bandwidth=2.0), n_neighbors=3)"
    assert "bandwidth" in model._repr_html_()


def test_a_bad_parameter_fails_a_grid_search_at_once():
    with pytest.raises(InvalidArgument, match="bandwidth must be a positive"):
        GridSearchCV(
            KernelNeighborsClassifier(kernel="gaussian"), {"kernel__bandwidth": [-1.0]}
        ).fit([[1.0], [2.0]] * 5, [0, 1] * 5)
