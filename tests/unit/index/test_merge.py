"""The best of several answers: whatever their order and grouping, those of all objects at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastmks.engines.approximation import Approximation, split_approximation
from fastmks.engines.base import AboveFound, Cost, TopKFound
from fastmks.index.merge import add_costs, merge_above, merge_top_k


@st.composite
def divided_answers(draw):
    """Values of a few queries with objects that lie in several parts; many are equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_queries, n_parts = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    sizes = [draw(st.integers(1, 6)) for _ in range(n_parts)]
    values = rng.integers(-2, 3, size=(n_queries, sum(sizes))).astype(float)
    values[values == 0] = rng.choice([0.0, -0.0], size=int((values == 0).sum()))
    part_of = rng.permutation(np.repeat(np.arange(n_parts), sizes))
    k = draw(st.integers(1, sum(sizes)))
    return values, part_of, k


def top_k(values, positions, k):
    """The k best of some objects, by sorting them."""
    best = [sorted(positions, key=lambda i: (-row[i], i))[:k] for row in values]
    chosen = np.array(best, dtype=np.int64).reshape(len(values), -1)
    found = np.take_along_axis(values, chosen, axis=1)
    return TopKFound(found, chosen, np.zeros(len(values)), Cost(evaluations=values.size))


def above(values, positions, threshold):
    rows = [
        sorted((i for i in positions if row[i] >= threshold), key=lambda i: (-row[i], i))
        for row in values
    ]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    flat = np.array([i for row in rows for i in row], dtype=np.int64)
    queries = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return AboveFound(offsets, values[queries, flat], flat, Cost(evaluations=1))


def assert_same_top_k(got, wanted):
    np.testing.assert_array_equal(got.positions, wanted.positions)
    np.testing.assert_array_equal(got.values.view(np.int64), wanted.values.view(np.int64))


@given(problem=divided_answers(), seed=st.integers(0, 99))
def test_top_k_of_parts(problem, seed):
    values, part_of, k = problem
    parts = [np.flatnonzero(part_of == part).tolist() for part in np.unique(part_of)]
    found = [top_k(values, part, min(k, len(part))) for part in parts]
    wanted = top_k(values, range(values.shape[1]), k)
    assert_same_top_k(merge_top_k(found, k), wanted)
    shuffled = [found[i] for i in np.random.default_rng(seed).permutation(len(found))]
    while len(shuffled) > 1:  # two at a time, as a tree of machines would
        a, b = shuffled.pop(0), shuffled.pop(0)
        size = min(k, a.values.shape[1] + b.values.shape[1])
        shuffled.append(merge_top_k([a, b], size))
    assert_same_top_k(shuffled[0], wanted)


@given(problem=divided_answers(), threshold=st.integers(-2, 3))
def test_all_above_of_parts(problem, threshold):
    values, part_of, _ = problem
    parts = [np.flatnonzero(part_of == part).tolist() for part in np.unique(part_of)]
    wanted = above(values, range(values.shape[1]), threshold)
    for order in (parts, parts[::-1]):
        got = merge_above([above(values, part, threshold) for part in order])
        np.testing.assert_array_equal(got.offsets, wanted.offsets)
        np.testing.assert_array_equal(got.positions, wanted.positions)
        np.testing.assert_array_equal(got.values.view(np.int64), wanted.values.view(np.int64))


def test_the_gap_is_the_greatest():
    found = [
        TopKFound(np.ones((2, 1)), np.array([[i], [i]]), np.array(gap), Cost(evaluations=1))
        for i, gap in enumerate([[0.0, 2.0], [1.0, 0.5]])
    ]
    assert merge_top_k(found, 1).gap.tolist() == [1.0, 2.0]


def test_costs_add_up():
    one = Cost(evaluations=1, bounds=2, nodes=3, pruned={"ball": 4, "cap": 1})
    two = Cost(evaluations=10, self_evaluations=5, query_evaluations=6, bound_operations=7,
               pruned={"ball": 1})  # fmt: skip
    assert add_costs([one, two]) == Cost(
        evaluations=11,
        self_evaluations=5,
        query_evaluations=6,
        bounds=2,
        bound_operations=7,
        nodes=3,
        pruned={"ball": 5, "cap": 1},
    )


class TestSplitting:
    def test_what_is_exact_stays_so(self):
        promise = Approximation(epsilon=0.5)
        assert split_approximation(promise, [3, 4], 2) == [promise, promise]

    @given(
        sizes=st.lists(st.integers(1, 50), min_size=2, max_size=6),
        k=st.integers(1, 9),
        spare=st.integers(0, 99),
    )
    def test_budgets(self, sizes, k, spare):
        least = sum(min(k, size) for size in sizes)
        parts = split_approximation(Approximation(budget=least + spare), sizes, k)
        budgets = [part.budget for part in parts]
        assert sum(budgets) <= least + spare
        assert sum(budgets) > least + spare - len(sizes)  # no more than roundings are lost
        assert all(b >= min(k, size) for b, size in zip(budgets, sizes, strict=True))

    def test_draws_are_shared_out_by_chance(self):
        """Each object is equally likely to be drawn: a part's share is its size, on average."""
        sizes, drawn = [600, 300, 100], 200
        shares = np.array(
            [
                [
                    part.n_drawn
                    for part in split_approximation(
                        Approximation(rank=9, n_drawn=drawn, seed=seed), sizes, 1
                    )
                ]
                for seed in range(2000)
            ]
        )
        assert (shares.sum(axis=1) == drawn).all()
        np.testing.assert_allclose(shares.mean(axis=0), [120, 60, 20], atol=0.5)
        variance = drawn * 0.6 * 0.4 * (1000 - drawn) / 999  # hypergeometric
        assert abs(shares[:, 0].var() / variance - 1) < 0.15

    def test_draws_of_parts_are_independent(self):
        parts = split_approximation(Approximation(rank=9, n_drawn=20, seed=1), [50, 50], 1)
        assert parts[0].seed != parts[1].seed

    def test_seconds_go_by_size(self):
        parts = split_approximation(Approximation(seconds=2.0), [75, 25], 1)
        assert [part.seconds for part in parts] == [1.5, 0.5]
