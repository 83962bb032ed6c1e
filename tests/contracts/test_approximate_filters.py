"""The promises of approximate searches of every filter, on data that tries to break them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from fastmks import FastmksError, Index, InvalidArgument
from fastmks import kernels as K
from support.comparing import assert_identical
from support.functions import normal
from support.inside import data_of
from support.kinds import KINDS
from support.promises import assert_gap_is_true, assert_within
from support.strategies import FAMILIES, KERNELS


class Case:
    """An index with a filter, queries, and the answer of the scan."""

    def __init__(self, objects, kernel, queries, k):
        self.index = Index(objects, kernel, algorithm="filter", threads=1)
        self.queries, self.k = queries, k
        self.exact = self.index.search(queries, k, algorithm="scan")
        built = data_of(self.index).engines.built_filter
        projection = getattr(built, "projection", None)
        self.least = k if projection is None else max(k, projection.n_pivots)

    def search(self, **options):
        """An approximate answer, whose gap and proven hits are checked."""
        hits = self.index.search(self.queries, self.k, **options)
        assert_gap_is_true(hits, self.exact)
        return hits

    def assert_promises_hold(self, share):
        n, n_queries = len(self.index), len(self.exact.values)
        before = np.full(self.exact.values.shape, -np.inf)
        for budget in sorted({self.least, self.least + 7, self.least + n // 5, max(self.least, n)}):
            hits = self.search(budget=budget)
            assert hits.stats.kernel_evaluations <= budget * n_queries
            assert (hits.values >= before).all()
            before = hits.values
        assert_identical(hits, self.exact)
        assert hits.proven.all()
        epsilon = share * float(np.ptp(self.exact.values))
        hits = self.search(epsilon=epsilon)
        assert_within(hits, self.exact, epsilon=epsilon)
        assert (hits.gap <= epsilon).all()
        hits = self.search(relative=share)
        assert_within(hits, self.exact, relative=share)
        self.search(seconds=1e-9)
        assert_identical(self.search(seconds=1e4), self.exact)
        assert_within(
            self.search(epsilon=epsilon, budget=max(self.least, n)), self.exact, epsilon=epsilon
        )


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    family = draw(st.sampled_from(FAMILIES))
    n = draw(st.sampled_from([3, 40, 300, 1200]), label="objects")
    d = draw(st.integers(1, 12), label="columns")
    objects, queries = family(rng, n, d), family(rng, 4, d)
    queries[0] = objects[n // 2] * draw(st.sampled_from([1.0, -1.0]))
    if draw(st.booleans(), label="sparse"):
        objects, queries = sp.csr_array(objects), sp.csr_array(queries)
    kernel = draw(st.sampled_from(KERNELS))
    try:
        return Case(objects, kernel, queries, draw(st.sampled_from([1, 3])))
    except FastmksError:  # values that overflow, and kernels without bounds
        assume(False)


@given(case=cases(), share=st.sampled_from([1e-9, 1e-3, 0.1, 2.0]))
def test_promises_hold_on_vectors(case, share):
    case.assert_promises_hold(share)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_promises_hold_on_every_kind_of_object(kind):
    try:
        case = Case(kind.objects, kind.kernel, kind.queries, 2)
    except FastmksError:
        with pytest.raises(FastmksError, match="algorithm='filter' needs|not Mercer"):
            Index(kind.objects, kind.kernel, algorithm="filter")
        return
    for share in (1e-6, 0.3):
        case.assert_promises_hold(share)


def clustered(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(30, d)) * 3)[rng.integers(0, 30, n)] + rng.normal(size=(n, d))


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.random((n, 80)) * (rng.random((n, 80)) < 0.1))


def words(n, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abc"), size=30)) for _ in range(n)]


def overlap(x, y):
    return float(len(x & y))


BY_FILTER = {
    "codes": (clustered(4000, 12), K.Linear(), clustered(30, 12, seed=1)),
    "distances": (clustered(4000, 12), K.Gaussian(3.0), clustered(30, 12, seed=1)),
    "even powers": (clustered(4000, 12), K.Polynomial(2), clustered(30, 12, seed=1)),
    "zeros": (clustered(4000, 12) * (np.arange(4000) % 9 > 0)[:, None], K.Cosine(), np.eye(12)),
    "lists": (texts(3000), K.Linear(), texts(30, seed=1)),
    "cosines of lists": (texts(3000), K.Cosine(), texts(30, seed=1)),
    "pivots": (words(900), K.Normalized(K.Spectrum(1) * K.Spectrum(1)), words(20, seed=1)),
    "own bounds": (
        [frozenset(word[:9].split("a")) for word in words(500)],
        K.Similarity(overlap, upper_bound=lambda x, y: float(min(len(x), len(y)))),
        [frozenset(word[:9].split("a")) for word in words(20, seed=1)],
    ),
}


@pytest.fixture(scope="module", params=BY_FILTER, ids=str)
def case(request):
    objects, kernel, queries = BY_FILTER[request.param]
    return Case(objects, kernel, queries, 5)


def test_promises_hold_on_many_objects(case):
    for share in (1e-6, 0.05, 0.5):
        case.assert_promises_hold(share)


def test_more_budget_is_never_worse(case):
    """And each budget continues the evaluations of the one before."""
    before = np.full(case.exact.values.shape, -np.inf)
    n = len(case.index)
    for more in (0, 1, 2, 3, 5, 9, 15, 16, 17, 18, 33, 60, 100, 300, n):
        hits = case.search(budget=case.least + more)
        assert (hits.values >= before).all()
        before = hits.values
    assert_identical(hits, case.exact)


def test_answers_do_not_depend_on_threads_and_batches(case):
    spread = float(np.ptp(case.exact.values))
    for options in ({"budget": case.least + 9}, {"epsilon": 0.1 * spread}, {"relative": 0.1}):
        wanted = case.search(**options)
        found = case.search(**options, threads=3)
        assert_identical(found, wanted)
        np.testing.assert_array_equal(found.gap, wanted.gap)
        for i in range(3):
            query = case.queries[i : i + 1]
            alone = case.index.search(query, case.k, **options)
            np.testing.assert_array_equal(alone.values[0], wanted.values[i])
            np.testing.assert_array_equal(alone.indices[0], wanted.indices[i])
            assert alone.gap[0] == wanted.gap[i]


def test_only_some_objects(case):
    some = np.arange(0, len(case.index), 7)
    exact = case.index.search(case.queries, case.k, only=some, algorithm="scan")
    spread = float(np.ptp(exact.values))
    for options in ({"epsilon": 0.2 * spread}, {"relative": 0.2}, {"seconds": 1e-9}):
        hits = case.index.search(case.queries, case.k, only=some, **options)
        assert_gap_is_true(hits, exact)
        assert np.isin(hits.indices, some).all()


def test_a_small_budget_proves_most_hits():
    case = Case(*BY_FILTER["codes"][:2], BY_FILTER["codes"][2], 5)
    assert case.search(budget=5).proven.mean() > 0.3
    assert case.search(budget=60).proven.mean() > 0.95


def test_seconds_are_kept_where_bounds_say_nothing():
    """Counted: all objects tie, so an exact search evaluates them all."""
    index = Index(np.ones((100_000, 2)), "linear", algorithm="filter", threads=1)
    hits = index.search(np.ones((20, 2)), 2, seconds=0.01)
    assert hits.stats.kernel_evaluations < 20 * 100_000 / 10
    np.testing.assert_array_equal(hits.values, np.full((20, 2), 2.0))


def test_pivots_say_how_much_budget_they_need():
    objects, kernel, queries = BY_FILTER["pivots"]
    index = Index(objects, kernel, algorithm="filter")
    with pytest.raises(InvalidArgument, match=r"at least \d+ evaluations.* pivots.*got budget=1"):
        index.search(queries, 1, budget=1)


class TestAuto:
    """Budgets and seconds are for the filter; other promises are kept by exact answers."""

    index = Index(normal(3000, 10))
    queries = normal(20, 10, seed=1)
    exact = index.search(queries, 3, algorithm="scan")

    def test_a_budget_is_for_the_filter(self):
        for budget in (3, 30, 3000):
            hits = self.index.search(self.queries, 3, budget=budget)
            assert hits.stats.algorithm == "filter"
            assert_gap_is_true(hits, self.exact)
        assert_identical(hits, self.exact)
        assert_gap_is_true(self.index.search(self.queries, 3, seconds=1e-9), self.exact)

    def test_other_promises_are_kept_exactly(self):
        for options in ({"epsilon": 5.0}, {"relative": 0.9}, {"rank": 100}):
            hits = self.index.search(self.queries, 3, **options)
            assert_identical(hits, self.exact)
            assert hits.proven.all()

    def test_a_kernel_without_inexpensive_bounds_has_no_budget(self):
        index = Index(["a", "b"], lambda x, y: float(x == y))
        with pytest.raises(InvalidArgument, match="budget needs algorithm='tree' or 'filter'"):
            index.search(["a"], budget=1)


@pytest.mark.parametrize("removed", [0, 200])
@pytest.mark.parametrize("options", [{"budget": 40}, {"epsilon": 1.0}, {"seconds": 1e-9}], ids=str)
def test_several_segments(options, removed):
    rng = np.random.default_rng(5)
    index = Index(rng.normal(size=(1500, 6)), algorithm="filter")
    for _ in range(3):
        index.add(rng.normal(size=(1100, 6)))
    index.remove(np.arange(removed))
    queries = rng.normal(size=(25, 6))
    exact = index.search(queries, 4, algorithm="scan")
    hits = index.search(queries, 4, **options)
    assert_gap_is_true(hits, exact)
    if "budget" in options:
        assert hits.stats.kernel_evaluations <= 40 * 25
