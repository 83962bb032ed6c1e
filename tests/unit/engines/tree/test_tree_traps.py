"""Where other trees for this search went wrong: one test per case, for every tree of ours."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument, KernelValueError, NotMercerError, Traversal, _core
from fastmks import kernels as K
from fastmks.engines.tree.single_search import plan
from support.comparing import assert_identical
from support.functions import normal

TREES = ("tree", "dual-tree")
TRAVERSALS = (
    Traversal(),
    Traversal(block=1),
    Traversal(order="level", block=3),
    Traversal(block=1, bounds=("ball",)),
    Traversal(block=1, bounds=("shell", "parent")),
)


def uniform(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d))


def assert_like_the_scan(objects, queries, kernel="linear", ks=(1, 5)):
    """Every tree in every way against a scan of its own; returns the index with the tree."""
    scan = Index(objects, kernel)
    index = Index(objects, kernel, algorithm="tree")
    index.tree.check()
    for k in ks:
        wanted = scan.search(queries, k)
        for algorithm in TREES:
            for traversal in TRAVERSALS:
                hits = index.search(queries, k, algorithm=algorithm, traversal=traversal)
                assert_identical(hits, wanted)
                assert (hits.gap == 0).all()
    return index


@pytest.mark.parametrize(
    ("kernel", "d"),
    [
        (K.Polynomial(degree=3, offset=1.0), 8),
        (K.Polynomial(degree=10, offset=0.5), 8),
        (K.Polynomial(degree=3, offset=0.0, scale=0.2), 8),
        (K.Gaussian(bandwidth=0.2), 3),
        (K.Gaussian(bandwidth=5.0), 3),
        (K.Laplacian(bandwidth=0.3), 3),
        (K.Exponential(scale=2.0), 3),
    ],
    ids=repr,
)
def test_parameters_reach_the_tree_of_the_queries(kernel, d):
    """One that builds the query tree with a default kernel gets these wrong."""
    assert_like_the_scan(uniform(1000, d), uniform(150, d, seed=1), kernel)


def test_cosine_with_an_all_zero_first_row():
    objects = normal(500, 3)
    objects[0] = 0.0
    queries = np.concatenate([normal(100, 3, seed=1), -np.abs(normal(20, 3)), np.zeros((1, 3))])
    assert_like_the_scan(objects, queries, "cosine", ks=(1, 3, 500))
    objects[1:] = -np.abs(objects[1:])
    assert_like_the_scan(objects, np.abs(queries), "cosine")  # the zero row is the best


@pytest.mark.parametrize(
    "kernel",
    [
        K.Tanh(),
        K.Tanh(scale=0.1, offset=-0.5),
        K.Epanechnikov(bandwidth=2.0),
        K.Triangular(bandwidth=2.0),
        K.Polynomial(degree=3, offset=-1.0),
        K.Linear() + K.Tanh(),
        K.Normalized(K.Epanechnikov()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("algorithm", TREES)
def test_kernels_that_are_not_mercer_are_refused(kernel, algorithm):
    objects = normal(200, 3)
    with pytest.raises(NotMercerError, match=r"not Mercer on vectors of 3 columns.*'scan'"):
        Index(objects, kernel, algorithm=algorithm)
    index = Index(objects, kernel)
    with pytest.raises(NotMercerError, match="not Mercer"):
        index.search(objects[:2], algorithm=algorithm)
    with pytest.raises(NotMercerError, match="not Mercer"):
        _ = index.tree
    index.search(objects[:2])


def test_triangular_is_mercer_in_one_dimension():
    assert_like_the_scan(normal(300, 1), normal(20, 1, seed=1), K.Triangular(bandwidth=0.5))


@pytest.mark.parametrize(
    "kernel",
    [K.Cosine(), K.Polynomial(degree=3, offset=1.0), K.Linear(), K.Gaussian(bandwidth=1e-6)],
    ids=repr,
)
def test_data_spread_by_a_millionth_around_1000(kernel):
    """Distances that rounding makes negative or NaN once hung a tree here."""
    data = 1000.0 + 1e-6 * normal(430, 3)
    assert_like_the_scan(data[:400], data[400:], kernel)


@pytest.mark.parametrize(
    "kernel",
    [K.Gaussian(bandwidth=1e9), K.Gaussian(bandwidth=1e-9), K.Laplacian(bandwidth=1e-9)],
    ids=repr,
)
def test_saturated_kernels(kernel):
    """All values 1 and all distances 0, or all 0 and the same distance between any two."""
    objects = normal(200, 4)
    queries = np.concatenate([normal(10, 4, seed=1), objects[:3]])
    index = assert_like_the_scan(objects, queries, kernel, ks=(1, 7, 200))
    assert index.search(queries[:1], 3).indices.tolist() == [[0, 1, 2]]  # by position


@pytest.mark.parametrize("n_objects", [1, 2, 500])
@pytest.mark.parametrize("seed", range(5))
def test_one_query_row(n_objects, seed):
    assert_like_the_scan(normal(n_objects, 3, seed), normal(1, 3, seed + 50), ks=(1,))
    index = Index(normal(n_objects, 3, seed), algorithm="dual-tree")
    assert index.search(np.ones(3)).indices.shape == (1, 1)  # a bare vector


@pytest.mark.parametrize("algorithm", TREES)
def test_a_second_search_with_another_k(algorithm):
    objects, queries = normal(800, 4), normal(60, 4, seed=1)
    index = Index(objects, algorithm=algorithm)
    scan = Index(objects)
    for k in (10, 1, 3, 800, 2):
        assert_identical(index.search(queries, k), scan.search(queries, k))


@pytest.mark.parametrize("kernel", ["cosine", "linear", K.Normalized(K.Polynomial(degree=3))])
def test_a_query_opposite_the_first_object(kernel):
    """1 - K^2 rounds below 0 there."""
    objects = normal(300, 3)
    queries = np.concatenate([-objects[:5] * factor for factor in (1.0, 3.0, 7.0, 1e-9)])
    assert_like_the_scan(objects, queries, kernel, ks=(1, 4, 300))


@pytest.mark.parametrize("algorithm", TREES)
def test_one_object_and_no_queries(algorithm):
    index = Index([[1.0, 2.0]], algorithm=algorithm)
    assert index.search([[3.0, 4.0], [0.0, 0.0]]).values.tolist() == [[11.0], [0.0]]
    for made in (index, Index(normal(50, 2), algorithm=algorithm)):
        hits = made.search(np.empty((0, 2)))
        assert hits.indices.shape == (0, 1)
        assert hits.gap.shape == (0,)
        assert len(made.search_above(np.empty((0, 2)), 0.0)) == 0


@pytest.mark.parametrize("algorithm", TREES)
def test_bad_calls_are_errors(algorithm):
    index = Index(normal(5, 2), algorithm=algorithm)
    with pytest.raises(InvalidArgument, match=r"queries\[0, 1\] is nan"):
        index.search([[1.0, np.nan]])
    with pytest.raises(InvalidArgument, match="the 4 other objects; got k=5"):
        index.search_self(k=5)
    with pytest.raises(InvalidArgument, match="the 5 indexed objects; got k=6"):
        index.search([1.0, 2.0], k=6)
    with pytest.raises(InvalidArgument, match="the 0 other objects; got k=1"):
        Index([[1.0]], algorithm=algorithm).search_self()
    assert index.search_self(k=4).indices.shape == (5, 4)


@pytest.mark.parametrize("kernel", ["linear", "cosine", K.Gaussian(bandwidth=1e-8)], ids=repr)
def test_near_duplicates_far_out(kernel):
    data = 1e4 / math.sqrt(5) + 1e-9 * normal(260, 5)
    assert_like_the_scan(data[:200], data[200:], kernel)


def test_distances_that_can_just_not_be_told_from_zero():
    """A squared distance below its rounding error counts as 0, but may be twice that error."""
    u = 2.0**-53
    relative = 4 * u / (1 - 4 * u) + u
    slack = 2.0 * (2 * relative * (1 + 4 * relative) + 32 * u)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        away = rng.normal(size=(1500, 3)) * [0, 1, 1]
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        low, high = [(1.0, 1.01), (0.9, 1.1), (0.5, 4.0)][seed % 3]
        objects = [1.0, 0.0, 0.0] + away * np.sqrt(slack * rng.uniform(low, high, size=(1500, 1)))
        objects[0] = [1.0, 0.0, 0.0]
        assert_like_the_scan(objects, rng.normal(size=(60, 3)) * [0, 1, 1], ks=(1,))


@pytest.mark.parametrize("exponent", [-160, -130, -100, -85, -78, -40, 38, 70, 77, 78, 79, 90, 140])
def test_data_of_any_scale(exponent):
    """Powers of norms leave the float64 range long before the values do."""
    objects, queries = normal(600, 3), normal(60, 3, seed=1)
    for scale in (1.0, 10.0**exponent if exponent < 77 else 10.0 ** (exponent - 10), 1e-60):
        assert_like_the_scan(objects * 10.0**exponent, queries * scale, ks=(1,))


@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.floats(-150, 150),
    query_scale=st.floats(-150, 150),
    kernel=st.sampled_from(
        [K.Linear(), K.Cosine(), K.Polynomial(2), K.Polynomial(3, offset=1.0), K.Polynomial(10)]
    ),
    algorithm=st.sampled_from(TREES),
    traversal=st.sampled_from(TRAVERSALS),
)
def test_any_scale_of_either_side(seed, scale, query_scale, kernel, algorithm, traversal):
    rng = np.random.default_rng(seed)
    degree = getattr(kernel, "degree", 1)
    objects = rng.normal(size=(60, 2)) * 10.0 ** (scale / degree)
    queries = rng.normal(size=(12, 2)) * 10.0 ** (query_scale / degree)
    try:
        wanted = Index(objects, kernel).search(queries, 2)
        index = Index(objects, kernel, algorithm="tree", threads=1)
    except KernelValueError:
        return
    assert_identical(index.search(queries, 2, algorithm=algorithm, traversal=traversal), wanted)


@pytest.mark.parametrize("objects", [[[0.9e154], [-0.9e154], [1.0]], [[1.0], [1.3e154]]], ids=str)
def test_distances_beyond_the_float64_range(objects):
    """K(x, x) is finite, and |x - y|^2 may not be."""
    assert_like_the_scan(np.array(objects), np.array([[1.0], [-1.0], [0.0]]), ks=(1, 2))
    near = np.array([[2.0**510], [-(2.0**510)], [1.0]])
    assert_like_the_scan(near, np.array([[1.0], [-1.0], [0.0], [2.0**511]]), ks=(1, 3))


def test_a_query_whose_self_value_overflows_is_answered():
    objects = normal(300, 3) * 1e-60
    assert_like_the_scan(objects, np.concatenate([normal(30, 3), [[1e200, 1e200, -1e200]]]))


@pytest.mark.parametrize("algorithm", TREES)
def test_self_search_finds_duplicates_and_not_the_object_itself(algorithm):
    objects = np.repeat(normal(60, 3), 10, axis=0)
    for noise in (0.0, 1e-9):
        near = objects + noise * normal(600, 3, seed=1)
        for k in (2, 9, 10, 12):  # up to, and beyond, all the others of a cluster
            got = Index(near, "cosine", algorithm=algorithm).search_self(k)
            assert_identical(got, Index(near, "cosine").search_self(k))
            assert (got.indices != np.arange(600)[:, None]).all()


@pytest.mark.parametrize("seed", range(8))
def test_groups_of_queries_on_a_line(seed):
    """There the least value that a group can count on is reached by some query of it."""
    n = (2, 5, 12, 40)[seed % 4]
    objects, queries = 3.0 + normal(n, 1, seed), normal(50, 1, seed + 50) + 2.0 * (seed % 2)
    assert_like_the_scan(objects, queries, ks=sorted({1, n // 2, n - 1, n}))
    for k in sorted({1, n // 2, n - 1}):
        got = Index(objects, algorithm="dual-tree").search_self(k, traversal=Traversal(block=1))
        assert_identical(got, Index(objects).search_self(k))


@pytest.mark.parametrize("algorithm", TREES)
def test_sparse_and_dense_sides_mix(algorithm):
    objects, queries = normal(300, 9), normal(50, 9, seed=1)
    objects[np.abs(objects) < 0.8] = 0.0
    wanted = Index(objects, "cosine").search(queries, 4)
    for stored in (objects, sp.csr_array(objects)):
        for asked in (queries, sp.csr_array(queries)):
            got = Index(stored, "cosine", algorithm=algorithm).search(asked, 4)
            assert_identical(got, wanted)


class TestTheCoreRefuses:
    """What would break memory, were Python to let it through."""

    tree = Index(normal(40, 3), algorithm="tree").tree
    queries = Index(normal(5, 3)).tree
    others = Index(normal(41, 3), algorithm="tree").tree
    columns = Index(normal(40, 4), algorithm="tree").tree

    def top_k(
        self, *, tree=None, objects=None, queries=None, among=None, self_=False, k=1, budget=None
    ):
        return _core.tree_top_k(
            (tree or self.tree).core,
            (objects or self.tree).space.core,
            (queries or self.queries).space.core,
            None if among is None else np.array(among, dtype=np.int64),
            self_,
            k,
            None,
            plan(self.tree, Traversal()),
            0.0,
            0.0,
            budget,
            None,
            0,
            0,
            1,
            None,
        )  # fmt: skip

    def test_nothing_that_is_right(self):
        assert self.top_k(k=40)[1].shape == (5, 40)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"k": 0},
            {"k": 41},
            {"k": 40, "self_": True, "queries": tree},
            {"self_": True},
            {"k": 2, "among": [3]},
            {"among": []},
            {"among": [40]},
            {"among": [-1]},
            {"among": [4, 3]},
            {"k": 2, "budget": 1},
            {"budget": 9, "among": [3, 4]},
            {"objects": others},
            {"tree": others},
            {"queries": columns},
        ],
        ids=lambda wrong: ", ".join(wrong),
    )
    def test_what_is_wrong(self, wrong):
        with pytest.raises(ValueError):
            self.top_k(**wrong)
