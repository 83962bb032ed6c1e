"""The scikit-learn door: neighbours and graphs are those of an Index, whatever is asked and how."""

import importlib
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import fastmks
from fastmks import Index, InvalidArgument, kernels
from fastmks.sklearn import KernelNeighbors, KernelNeighborsClassifier
from support.functions import overlap
from support.inside import data_of, store_of

KERNELS = [
    kernels.Linear(),
    "cosine",
    "polynomial:degree=3,offset=1",
    kernels.Gaussian(0.7),
    kernels.Normalized(kernels.Polynomial(degree=2)) + 0.5 * kernels.Laplacian(),
]


@pytest.fixture(scope="module")
def vectors():
    """Small whole numbers, so that there are ties and duplicates."""
    return np.random.default_rng(0).integers(-3, 4, size=(200, 3)).astype(float)


@pytest.mark.parametrize("algorithm", ["auto", "scan", "tree", "filter"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_answers_are_those_of_an_index_to_the_last_bit(vectors, kernel, algorithm):
    X, Q = vectors[:160], vectors[160:]
    model = KernelNeighbors(7, kernel=kernel, algorithm=algorithm).fit(X)
    index = Index(X, kernel, algorithm="scan")
    for got, wanted in ((model.kneighbors(Q), index.search(Q, k=7)),
                        (model.kneighbors(), index.search_self(k=7))):  # fmt: skip
        np.testing.assert_array_equal(got[0], wanted.values)
        np.testing.assert_array_equal(got[1], wanted.indices)


def test_ties_go_to_the_smaller_index():
    model = KernelNeighbors(3).fit([[1.0], [2.0], [2.0], [2.0]])
    assert model.kneighbors([[1.0]])[1].tolist() == [[1, 2, 3]]
    assert model.kneighbors()[1].tolist() == [[1, 2, 3], [2, 3, 0], [1, 3, 0], [1, 2, 0]]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize("fitted_sparse", [False, True])
def test_sparse_makes_no_difference(vectors, make, fitted_sparse):
    X, Q = vectors[:160], vectors[160:]
    wanted = KernelNeighbors(kernel="cosine").fit(X).kneighbors(Q)
    model = KernelNeighbors(kernel="cosine").fit(make(X) if fitted_sparse else X)
    got = model.kneighbors(Q if fitted_sparse else make(Q))
    np.testing.assert_array_equal(got[0], wanted[0])
    np.testing.assert_array_equal(got[1], wanted[1])


def test_float32_stays_what_it_is(vectors):
    X = vectors.astype(np.float32) / np.float32(3)
    values, _ = KernelNeighbors(3).fit(X).kneighbors(X)
    np.testing.assert_array_equal(values, Index(X).search(X, k=3).values)
    assert np.shares_memory(X, store_of(data_of(KernelNeighbors().fit(X).index_).chunks[0]).array)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, -2, np.int64(2)])
def test_threads_make_no_difference(vectors, n_jobs):
    values, indices = KernelNeighbors(4, n_jobs=n_jobs).fit(vectors).kneighbors(vectors)
    wanted = Index(vectors).search(vectors, k=4)
    np.testing.assert_array_equal(values, wanted.values)
    np.testing.assert_array_equal(indices, wanted.indices)


def test_graphs_have_the_answers_in_their_order(vectors):
    model = KernelNeighbors(4).fit(vectors)
    values, indices = model.kneighbors(vectors[:10])
    graph = model.kneighbors_graph(vectors[:10], mode="values")
    assert graph.shape == (10, 200)
    np.testing.assert_array_equal(graph.indices.reshape(10, 4), indices)
    np.testing.assert_array_equal(graph.data.reshape(10, 4), values)
    ones = model.kneighbors_graph(n_neighbors=2)
    assert ones.shape == (200, 200)
    assert set(ones.data) == {1.0}
    assert not ones.diagonal().any()


def test_a_value_of_zero_is_an_entry_of_a_graph():
    graph = (
        KernelNeighbors(2)
        .fit([[1.0, 0.0], [0.0, 1.0]])
        .kneighbors_graph([[1.0, 0.0]], mode="values")
    )
    assert graph.nnz == 2


@pytest.mark.parametrize("threshold", [-2.5, 0.0, 3.0, 1000.0])
def test_thresholds_find_all_values_from_there_on(vectors, threshold):
    model = KernelNeighbors(threshold=threshold).fit(vectors)
    values, indices = model.threshold_neighbors(vectors[:20])
    hits = Index(vectors).search_above(vectors[:20], threshold)
    assert len(values) == len(indices) == 20
    for i in range(20):
        np.testing.assert_array_equal(values[i], hits[i][0])
        np.testing.assert_array_equal(indices[i], hits[i][1])
    graph = model.threshold_neighbors_graph(vectors[:20], mode="values")
    product = vectors[:20] @ vectors.T  # whole numbers: exact
    np.testing.assert_array_equal(graph.toarray(), np.where(product >= threshold, product, 0.0))
    assert graph.nnz == (product >= threshold).sum()


@pytest.mark.parametrize("algorithm", ["scan", "tree"])
def test_thresholds_leave_each_object_out_of_its_own_answer(vectors, algorithm):
    model = KernelNeighbors(algorithm=algorithm).fit(vectors)
    graph = model.threshold_neighbors_graph(threshold=3.0)
    wanted = vectors @ vectors.T >= 3.0
    np.fill_diagonal(wanted, False)
    np.testing.assert_array_equal(graph.toarray(), wanted)
    values, indices = model.threshold_neighbors(threshold=3.0)
    assert all(i not in found for i, found in enumerate(indices))
    assert all((np.diff(found) <= 0).all() for found in values)


def test_thresholds_of_strings_and_of_one_for_each_query():
    words = ["kernel", "colonel", "search", "research"]
    model = KernelNeighbors(kernel=kernels.Spectrum(2)).fit(words)
    _, indices = model.threshold_neighbors(threshold=2)
    assert [found.tolist() for found in indices] == [[1], [0], [3], [2]]
    _, indices = model.threshold_neighbors(["kernel", "search"], threshold=[5, 100])
    assert [found.tolist() for found in indices] == [[0], []]


OBJECTS = {
    "strings": (kernels.Spectrum(2), ["kernel", "colonel", "search", "research"]),
    "text": ("normalized:spectrum:p=2", np.array(["kernel", "colonel", "search", "research"])),
    "series": (kernels.Spectrum(2), pd.Series(["kernel", "colonel", "search", "research"])),
    "sets": (kernels.Jaccard(), [{"a", "b"}, {"b"}, {"c"}, {"a", "c"}]),
    "fingerprints": (kernels.Tanimoto(), np.eye(4, dtype=bool) | np.eye(4, k=1, dtype=bool)),
    "time series": (kernels.GlobalAlignment(1.0), [[1.0, 2.0], [1.0, 2.0, 3.0], [0.0], [5.0, 5.0]]),
    "graphs": (
        kernels.WeisfeilerLehman(),
        [([(0, 1)], "ab"), ([(0, 1), (1, 2)], "aba"), ([], "a"), ([(0, 1)], "bb")],
    ),
    "functions": (lambda x, y: float(len(set(x) & set(y))), ["abc", "bcd", "xyz", "ab"]),
    "fields": (
        kernels.OnField(0, kernels.Spectrum(1)) + kernels.OnField(1, kernels.Linear()),
        [("ab", [1.0]), ("b", [2.0]), ("cc", [0.5]), ("a", [3.0])],
    ),
    "matrices": (kernels.Precomputed(), np.diag([4.0, 3.0, 2.0, 1.0]) + 0.5),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_every_kind_are_let_through(name):
    kernel, objects = OBJECTS[name]
    model = KernelNeighbors(2, kernel=kernel).fit(objects)
    index = Index(objects, kernel)
    queries = objects[:3]
    np.testing.assert_array_equal(model.kneighbors(queries)[0], index.search(queries, k=2).values)
    np.testing.assert_array_equal(model.kneighbors()[1], index.search_self(k=2).indices)
    assert model.n_samples_fit_ == 4
    assert not hasattr(model, "n_features_in_")


def test_what_can_be_read_once_is_fitted_and_searched():
    model = KernelNeighbors(1, kernel=kernels.Spectrum(2)).fit(w for w in ["kernel", "search"])
    assert model.kneighbors(w for w in ["research"])[1].tolist() == [[1]]


def test_columns_of_tables_are_checked_by_name():
    frame = pd.DataFrame({"length": [1.0, 2.0, 3.0], "width": [0.0, 1.0, 5.0]})
    model = KernelNeighbors(1).fit(frame)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        model.kneighbors(frame[["width", "length"]])
    fields = KernelNeighbors(1, kernel=kernels.OnField(1, kernels.Spectrum(1)))
    words = pd.DataFrame({"id": [1, 2], "word": ["a", "b"]})
    assert fields.fit(words).kneighbors(words)[1].tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="feature names"):
        fields.kneighbors(words[["word", "id"]])


def test_an_earlier_fit_leaves_nothing_behind():
    model = KernelNeighbors(1).fit(pd.DataFrame({"a": [1.0, 2.0]}))
    model.set_params(kernel=kernels.Spectrum(1)).fit(["a", "b", "ab"])
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "feature_names_in_")
    assert model.kneighbors(["b"])[1].tolist() == [[1]]


@pytest.mark.parametrize(
    ("kernel", "objects"),
    [("cosine", [[1.0, 2.0], [2.0, 1.0]]), ("spectrum:p=1", ["ab", "b"]), (overlap, ["ab", "b"])],
)
def test_pickles_answer_alike(kernel, objects):
    model = KernelNeighbors(2, kernel=kernel).fit(objects)
    twin = pickle.loads(pickle.dumps(model))
    for got, wanted in zip(twin.kneighbors(objects), model.kneighbors(objects), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_searches_change_nothing_and_may_run_at_once(vectors):
    model = KernelNeighbors(3, kernel="gaussian").fit(vectors)
    before = dict(vars(model))
    wanted = model.kneighbors(vectors)
    with ThreadPoolExecutor(4) as pool:
        for answer in pool.map(model.kneighbors, [vectors] * 4):
            np.testing.assert_array_equal(answer[0], wanted[0])
            np.testing.assert_array_equal(answer[1], wanted[1])
    assert vars(model) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "gausian"}, "Did you mean 'gaussian'"),
        ({"kernel": kernels.Gaussian}, "kernel must be a kernel, not its class"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1; got n_neighbors=0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be a whole number of at least 1; got 2.0"),
        ({"n_neighbors": True}, "n_neighbors must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must be None, a number of threads, or -1 for all CPUs; got 0"),
        ({"n_jobs": "two"}, "n_jobs must be None"),
        ({"algorithm": "ball_tree"}, "algorithm must be one of 'auto'"),
    ],
)
def test_bad_parameters_are_named_by_fit(change, message):
    with pytest.raises(InvalidArgument, match=message):
        KernelNeighbors(**change).fit([[1.0], [2.0]])


def test_bad_questions_are_named(vectors):
    model = KernelNeighbors(3).fit(vectors[:5])
    with pytest.raises(InvalidArgument, match="between 1 and the 5 objects that were fitted; got"):
        model.kneighbors(vectors, n_neighbors=6)
    with pytest.raises(InvalidArgument, match="the 4 objects that were fitted beside"):
        model.kneighbors(n_neighbors=5)
    with pytest.raises(InvalidArgument, match="mode must be one of 'connectivity', 'values'; got"):
        model.kneighbors_graph(mode="distance")
    with pytest.raises(InvalidArgument, match="threshold must be given, here or to"):
        model.threshold_neighbors(vectors)
    with pytest.raises(InvalidArgument, match="threshold must be a number"):
        model.threshold_neighbors(vectors, threshold="high")
    with pytest.raises(ValueError, match="4 features"):
        model.kneighbors(np.ones((2, 4)))
    with pytest.raises(NotFittedError):
        KernelNeighbors().threshold_neighbors(vectors, threshold=1.0)


@pytest.mark.parametrize("words", [["ab", "b"], np.array(["ab", "b"]), pd.Series(["ab", "b"])])
def test_strings_without_a_kernel_for_them_are_told_which(words):
    with pytest.raises(InvalidArgument, match=r"kernels\.Spectrum\(3\)"):
        KernelNeighborsClassifier().fit(words, [0, 1])


def test_a_missing_scikit_learn_is_an_error_that_says_how_to_get_it(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("fastmks.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delattr(fastmks, "sklearn")
    with pytest.raises(ImportError, match="of the extra 'sklearn'"):
        importlib.import_module("fastmks.sklearn")
