"""The promises of each kind of approximate search, on data that tries to break them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from fastmks import Index, KernelValueError, Traversal
from fastmks import kernels as K
from fastmks.engines.approximation import sample_size
from fastmks.engines.tree.tree import EvaluationCost
from support.comparing import assert_identical
from support.functions import normal
from support.promises import assert_gap_is_true, assert_within
from support.strategies import MERCER, search_problems

TREES = ("tree", "dual-tree")
TRAVERSALS = tuple(
    Traversal(order=order, block=block) for order in ("best-first", "level") for block in (1, 7, 99)
)
traversals = st.sampled_from(TRAVERSALS)


def searched(problem, **options):
    """The scan's answer and the tree's with these options; no example where there is none."""
    try:
        index = Index(problem.objects, problem.kernel, algorithm="tree", threads=1)
        exact = index.search(problem.queries, problem.k, algorithm="scan")
    except KernelValueError:
        assume(False)
    return exact, index.search(problem.queries, problem.k, **options)


errors = st.sampled_from([1e-12, 1e-6, 0.01, 0.1, 0.5, 1.0, 3.0, 100.0])
sizes = st.sampled_from([1e-150, 1e-3, 1.0, 1e3])


@given(
    problem=search_problems(MERCER),
    error=errors,
    size=sizes,
    traversal=traversals,
    algorithm=st.sampled_from(TREES),
)
def test_no_value_is_more_than_epsilon_below_the_true_one(
    problem, error, size, traversal, algorithm
):
    epsilon = error * size
    exact, got = searched(problem, epsilon=epsilon, traversal=traversal, algorithm=algorithm)
    assert_within(got, exact, epsilon=epsilon)
    assert_gap_is_true(got, exact)
    assert (got.gap <= epsilon).all()


@given(
    problem=search_problems(MERCER),
    relative=errors,
    traversal=traversals,
    algorithm=st.sampled_from(TREES),
)
def test_no_value_is_below_the_true_one_by_more_than_its_share(
    problem, relative, traversal, algorithm
):
    exact, got = searched(problem, relative=relative, traversal=traversal, algorithm=algorithm)
    assert_within(got, exact, relative=relative)
    assert_gap_is_true(got, exact)


@given(problem=search_problems(MERCER), traversal=traversals, data=st.data())
def test_no_query_exceeds_its_budget_and_its_gap_is_true(problem, traversal, data):
    budget = data.draw(st.integers(problem.k, 2 * len(problem.objects)), label="budget")
    exact, got = searched(problem, budget=budget, traversal=traversal)
    assert got.stats.kernel_evaluations <= budget * len(problem.queries)
    assert_gap_is_true(got, exact)
    if budget >= len(problem.objects):
        assert_identical(got, exact)
        assert (got.gap == 0).all()


@given(problem=search_problems(MERCER), traversal=traversals, data=st.data())
def test_what_a_rank_search_missed_is_within_its_gap(problem, traversal, data):
    rank = data.draw(st.integers(problem.k, len(problem.objects)), label="rank")
    delta = data.draw(st.sampled_from([1e-9, 0.05, 0.9]), label="delta")
    exact, got = searched(problem, rank=rank, delta=delta, traversal=traversal)
    assert_gap_is_true(got, exact)
    assert len({*got.indices[0].tolist()}) == problem.k


@given(problem=search_problems(MERCER), seconds=st.sampled_from([1e-9, 1e-5, 1e9]))
def test_what_a_search_missed_for_want_of_time_is_within_its_gap(problem, seconds):
    exact, got = searched(problem, seconds=seconds)
    assert_gap_is_true(got, exact)
    if seconds > 1:
        assert (got.gap == 0).all()


@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.parametrize("sign", ["positive", "negative", "crossing"])
def test_signs_of_the_values_do_not_matter(sign, algorithm):
    objects, queries = normal(800, 4), normal(60, 4, seed=1)
    if sign != "crossing":
        objects = np.abs(objects) + 0.01
        queries = np.abs(queries) * (1 if sign == "positive" else -1)
    index = Index(objects, algorithm="tree")
    for k in (1, 7):
        exact = index.search(queries, k, algorithm="scan")
        for error in (0.001, 0.1, 0.4, 2.0, 1e6):
            got = index.search(queries, k, relative=error, algorithm=algorithm)
            assert_within(got, exact, relative=error)
            assert_gap_is_true(got, exact)
            got = index.search(queries, k, epsilon=error, algorithm=algorithm)
            assert_within(got, exact, epsilon=error)
            assert_gap_is_true(got, exact)


@pytest.mark.parametrize("traversal", TRAVERSALS, ids=repr)
def test_more_budget_is_never_worse(traversal):
    index = Index(normal(300, 6), algorithm="tree")
    queries, k = normal(20, 6, seed=1), 4
    exact = index.search(queries, k, algorithm="scan")
    before = np.full((20, k), -np.inf)
    for budget in (*range(k, 40, 3), 60, 100, 200, 299, 300, 1000):
        got = index.search(queries, k, budget=budget, traversal=traversal)
        assert (got.values >= before).all()
        assert_gap_is_true(got, exact)
        before = got.values
    assert_identical(got, exact)
    assert (got.gap == 0).all()


def test_a_budget_holds_for_each_query():
    """Counted query by query: none may borrow from another."""
    index = Index(normal(500, 8), algorithm="tree")
    for budget in (3, 10, 77):
        for query in normal(20, 8, seed=2):
            stats_ = index.search(query, 3, budget=budget).stats
            assert stats_.kernel_evaluations <= budget


def test_a_budget_that_suffices_leaves_no_gap():
    index = Index(normal(5000, 3), algorithm="tree")
    query = normal(1, 3, seed=3)
    need = index.search(query, 2, traversal=Traversal(block=1)).stats.kernel_evaluations
    got = index.search(query, 2, budget=need + 1)
    assert_identical(got, index.search(query, 2, algorithm="scan"))
    assert got.gap.tolist() == [0]
    assert index.search(query, 2, budget=need // 2).gap[0] > 0


class TestSeconds:
    index = Index(normal(20_000, 20), algorithm="tree")
    queries = normal(300, 20, seed=4)

    def test_are_kept_roughly(self):
        """Counted: far fewer evaluations than the search takes otherwise, about 0.2 s."""
        exact = self.index.search(self.queries, 5, algorithm="scan")
        whole = self.index.search(self.queries, 5, threads=1)
        got = self.index.search(self.queries, 5, seconds=0.01, threads=1)
        assert got.stats.kernel_evaluations < whole.stats.kernel_evaluations / 2
        assert (got.gap > 0).any()
        assert_gap_is_true(got, exact)

    def test_in_plenty_give_the_exact_answer(self):
        got = self.index.search(self.queries[:10], 5, seconds=3600.0)
        assert_identical(got, self.index.search(self.queries[:10], 5, algorithm="scan"))
        assert (got.gap == 0).all()

    def test_and_only_combine(self):
        got = self.index.search(self.queries[:9], 3, seconds=1e-9, only=[5, 77, 4000])
        assert set(got.indices.ravel().tolist()) == {5, 77, 4000}


class TestRank:
    """The promise is about chance, so it is tested by counting."""

    objects = normal(1500, 12)
    queries = normal(40, 12, seed=5)
    index = Index(objects, algorithm="tree", threads=1)
    order = np.argsort(-(queries @ objects.T), axis=1, kind="stable")

    @pytest.mark.parametrize(
        ("k", "rank", "delta"), [(1, 15, 0.05), (1, 100, 0.3), (5, 40, 0.05), (5, 150, 0.2)]
    )
    def test_fails_no_more_often_than_delta(self, k, rank, delta):
        best = np.zeros((40, 1500), dtype=bool)
        np.put_along_axis(best, self.order[:, :rank], True, axis=1)
        chance = stats.hypergeom(1500, rank, sample_size(n=1500, rank=rank, k=k, delta=delta))
        # In one block, only the sample is looked at, and the chance to fail is known.
        for block, fails, side in ((2000, chance.cdf(k - 1), "two-sided"), (7, delta, "greater")):
            n_failed = 0
            for seed in range(60):
                indices = self.index.search(
                    self.queries,
                    k,
                    rank=rank,
                    delta=delta,
                    seed=seed,
                    traversal=Traversal(block=block),
                ).indices
                n_failed += int((~np.take_along_axis(best, indices, axis=1).all(axis=1)).sum())
            assert stats.binomtest(n_failed, 40 * 60, fails, alternative=side).pvalue > 1e-4

    @pytest.mark.parametrize("only", [None, np.arange(0, 1500, 3)], ids=["all", "some"])
    def test_draws_every_object_equally_often(self, only):
        """Saturated values: the answer is the smallest position drawn."""
        index = Index(self.objects, K.Gaussian(bandwidth=1e9), algorithm="tree", threads=1)
        n = 1500 if only is None else len(only)
        drawn = sample_size(n=n, rank=n // 5, k=1, delta=0.5)
        options = {"rank": n // 5, "delta": 0.5, "only": only, "traversal": Traversal(block=99)}
        seen = [index.search(self.queries, seed=seed, **options).indices for seed in range(25)]
        first = np.concatenate(seen).ravel() // (1 if only is None else 3)
        for m in (10, 50):
            chance = stats.hypergeom(n, m, drawn).sf(0)  # of one drawn among the first m
            assert stats.binomtest(int((first < m).sum()), len(first), chance).pvalue > 1e-5

    def test_draws_depend_on_the_seed_and_the_query_only(self):
        def search(seed, threads=1):
            return self.index.search(self.queries, 3, rank=50, seed=seed, threads=threads)

        assert_identical(search(7), search(7))
        assert_identical(search(7), search(7, threads=3))
        assert (search(7).indices != search(8).indices).any()
        same_query = np.tile(self.queries[:1], (30, 1))
        hits = self.index.search(same_query, rank=200, delta=0.5)
        assert len(np.unique(hits.indices)) > 1

    def test_of_all_that_count_is_exact(self):
        got = self.index.search(self.queries, 3, rank=3, delta=1e-6)
        assert_identical(got, self.index.search(self.queries, 3, algorithm="scan"))


@pytest.mark.parametrize(
    ("algorithm", "options", "share"),
    [
        ("tree", {"epsilon": 5.0}, 0.5),
        ("tree", {"relative": 0.5}, 0.5),
        ("tree", {"budget": 100}, 0.3),
        ("tree", {"rank": 300}, 0.5),
        ("dual-tree", {"epsilon": 5.0}, 0.8),
        ("dual-tree", {"relative": 0.5}, 0.8),
    ],
    ids=str,
)
def test_each_promise_saves_evaluations(algorithm, options, share):
    index = Index(normal(3000, 10), algorithm="tree")
    queries = normal(60, 10, seed=6)
    traversal = Traversal(block=1)
    exact = index.search(queries, 2, algorithm=algorithm, traversal=traversal)
    got = index.search(queries, 2, algorithm=algorithm, traversal=traversal, **options)
    assert got.stats.kernel_evaluations < share * exact.stats.kernel_evaluations
    assert (exact.gap == 0).all()


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("scan", {"epsilon": 3.0}),
        ("scan", {"relative": 0.9}),
        ("scan", {"rank": 20}),
        *((tree, {name: 0}) for tree in TREES for name in ("epsilon", "relative")),
    ],
    ids=str,
)
def test_scans_and_errors_of_zero_are_exact(algorithm, options):
    index = Index(normal(200, 3), algorithm="tree")
    got = index.search(normal(9, 3, seed=7), 4, algorithm=algorithm, **options)
    assert_identical(got, Index(normal(200, 3)).search(normal(9, 3, seed=7), 4))
    assert (got.gap == 0).all()


def test_promises_combine_with_limits():
    """Within the error, unless the budget ran out: then the gap says so."""
    index = Index(normal(2000, 6), algorithm="tree")
    queries = normal(30, 6, seed=8)
    exact = index.search(queries, 3, algorithm="scan")
    for options in ({"epsilon": 0.5}, {"relative": 0.2}):
        for limit in ({"budget": 20}, {"budget": 5000}, {"seconds": 1e-9}, {"seconds": 60.0}):
            got = index.search(queries, 3, **options, **limit)
            assert_gap_is_true(got, exact)
        assert_within(got, exact, **options)


def test_more_than_there_is_means_without_limit():
    index = Index(np.random.default_rng(0).normal(size=(500, 5)), algorithm="tree")
    queries = np.random.default_rng(1).normal(size=(5, 5))
    exact = index.search(queries, 3)
    for option in ({"seconds": 1e10}, {"seconds": 1e300}, {"budget": 2**70}):
        hits = index.search(queries, 3, **option)
        assert_identical(hits, exact)
        assert (hits.gap == 0).all()


def test_answers_do_not_depend_on_measured_times():
    """Whatever an evaluation seems to cost, within an order of magnitude."""
    objects, queries = np.random.default_rng(0).normal(size=(2000, 8)), np.eye(8)
    for option in ({"budget": 100}, {"epsilon": 1.0}, {"relative": 0.3}, {"rank": 100}):
        answers = []
        for seconds in (1e-9, 4e-9, 30e-9, 300e-9):
            index = Index(objects, algorithm="tree")
            index.tree.cost = EvaluationCost(call=seconds, value=seconds)
            answers.append(index.search(queries, 5, **option))
        for other in answers[1:]:
            assert_identical(other, answers[0])


def test_seconds_are_kept_where_all_objects_are_alike():
    index = Index(np.ones((200_000, 2)), algorithm="tree")
    hits = index.search(np.ones((100, 2)), 2, seconds=0.01)
    assert hits.stats.kernel_evaluations < 100 * 200_000 / 10
