"""The parts of an index: how they are merged, built and let go, and what holes in them do."""

import gc
import itertools
import weakref

import numpy as np
import pytest

from fastmks import (
    Index,
    KernelValueError,
    NotMercerError,
    Traversal,
    kernels,
)
from fastmks.index.snapshot import _GROWTH
from support.comparing import assert_identical
from support.inside import data_of, snapshot_of, store_of


class TestParts:
    def test_each_part_outweighs_those_behind_it(self):
        index = Index(np.zeros((5000, 2)))
        rng = np.random.default_rng(0)
        for size in rng.integers(1, 700, size=120):
            index.add(rng.normal(size=(size, 2)))
            sizes = [len(segment) for segment in snapshot_of(index).segments]
            assert sum(sizes) == len(index)
            assert all(a >= _GROWTH * b for a, b in itertools.pairwise(sizes))

    def test_objects_are_moved_a_logarithmic_number_of_times(self):
        """Counted in objects that were put together anew, for single adds from nothing."""
        moved, held = 0, None
        index = Index(np.zeros((1, 1)))
        n = 20_000
        for i in range(n):
            index.add([[float(i)]])
            for segment in snapshot_of(index).segments:
                if not segment.data.is_small and (held is None or segment.data not in held):
                    moved += len(segment)
            held = {segment.data for segment in snapshot_of(index).segments}
        levels = np.log2(n / 1024) / np.log2(1 + _GROWTH)
        assert moved <= (1 + _GROWTH) * (1 + levels) * n
        assert len(snapshot_of(index).segments) <= 2 + levels

    @pytest.mark.parametrize("algorithm", ["scan", "tree", "filter", "auto"])
    def test_nothing_waits_for_the_garbage_collector(self, algorithm):
        """What an index no longer needs is free at once: nothing large is part of a cycle."""
        gc.collect()
        gc.disable()
        try:
            index = Index(np.random.default_rng(0).normal(size=(3000, 3)), algorithm=algorithm)
            index.search([[1.0, 2.0, 3.0]], k=3)
            first, snapshot = weakref.ref(data_of(index)), weakref.ref(snapshot_of(index))
            array = weakref.ref(store_of(data_of(index).space.objects))
            index.remove(np.arange(2000))
            assert first() is None
            assert snapshot() is None
            assert array() is None
            index.add(np.ones((2000, 3)))
            kept = weakref.ref(data_of(index))
            del index
            assert kept() is None
        finally:
            gc.enable()

    def test_space_is_reclaimed(self):
        index = Index(np.random.default_rng(0).normal(size=(10_000, 20)), copy=True)
        full = index.nbytes
        index.remove(np.arange(9000))
        assert index.nbytes < 0.15 * full
        assert len(snapshot_of(index).segments[0].data) < 1400

    def test_trees_and_filters_of_merged_parts_are_there_at_once(self):
        """Whoever merges pays, not the next search."""
        rng = np.random.default_rng(0)
        for algorithm in ("tree", "filter"):
            index = Index(rng.normal(size=(1500, 3)), algorithm=algorithm)
            index.add(rng.normal(size=(1400, 3)))
            engines = data_of(index).engines
            assert len(snapshot_of(index).segments) == 1
            assert engines.has_built_tree == (algorithm == "tree")
            assert engines.has_built_filter == (algorithm == "filter")

    def test_what_the_index_is_for_is_built_for_parts_of_their_own(self):
        rng = np.random.default_rng(0)
        for algorithm in ("tree", "filter", "auto"):
            index = Index(rng.normal(size=(5000, 3)), algorithm=algorithm)
            index.add(rng.normal(size=(900, 3)))
            index.add(rng.normal(size=(900, 3)))
            engines = snapshot_of(index).segments[1].data.engines
            assert len(snapshot_of(index).segments) == 2
            assert engines.has_built == (algorithm == "tree", algorithm == "filter")

    def test_objects_that_nothing_can_be_built_for_can_be_added(self):
        def odd(x, y):  # no kernel: 200 has nothing with itself, and much with others
            return 0.0 if x == y == 200.0 else 1e6 if 200.0 in (x, y) else x * y

        index = Index([float(i) for i in range(30)], kernels.Custom(odd), algorithm="tree")
        index.add([*(float(i) for i in range(30, 100)), 200.0])
        assert len(index) == 101
        assert index.search([3.0], algorithm="scan").values.item() == 1e6
        with pytest.raises(NotMercerError, match="object 100"):
            index.search([3.0])
        index.remove([100])
        assert index.search([3.0]).values.item() == 297.0

    def test_few_fresh_objects_cost_a_scan_and_no_tree(self):
        rng = np.random.default_rng(0)
        index = Index(rng.normal(size=(5000, 2)), algorithm="tree")
        index.add(rng.normal(size=(10, 2)))
        hits = index.search(rng.normal(size=(5, 2)), k=3, traversal=Traversal(block=1))
        assert not snapshot_of(index).segments[1].data.engines.has_built_tree
        assert hits.stats.algorithm == "tree"
        assert hits.stats.kernel_evaluations < 5 * 500
        assert hits.stats.n_objects == 5010

    def test_a_plan_counts_all_parts(self):
        rng = np.random.default_rng(0)
        index = Index(rng.normal(size=(5000, 2)))
        alone = index.explain([[1.0, 2.0]], k=3)
        index.add(rng.normal(size=(2000, 2)))
        plan = index.explain([[1.0, 2.0]], k=3)
        assert plan.n_objects == 7000
        assert plan.k == 3
        assert "smaller parts are planned apart" in plan.reason
        assert plan.forecasts.keys() == alone.forecasts.keys()


def test_holes_at_the_top_of_an_answer():
    """All the best of a query have left, more than a search asks for in the first place."""
    rows = np.arange(1000.0)[:, None]
    for algorithm in ("scan", "tree", "filter"):
        index = Index(rows, algorithm=algorithm)
        index.remove(np.arange(800, 1000))
        hits = index.search([[1.0], [-1.0]], k=5)
        assert hits.ids.tolist() == [[799, 798, 797, 796, 795], [0, 1, 2, 3, 4]]
        assert_identical(hits, Index(rows[:800], algorithm="scan").search([[1.0], [-1.0]], k=5))


class TestCopies:
    def test_they_change_apart(self):
        index = Index([[1.0], [2.0]])
        twin = index.copy()
        twin.add([[3.0]])
        index.add([[4.0], [5.0]])
        index.remove([0])
        assert twin.ids.tolist() == [0, 1, 2]
        assert index.ids.tolist() == [1, 2, 3]
        assert twin.search([1.0]).values.item() == 3.0

    def test_they_share_what_was_built(self):
        index = Index(np.random.default_rng(0).normal(size=(500, 3)), algorithm="tree")
        twin = index.copy()
        assert twin.tree is index.tree
        assert repr(twin) == repr(index)


class TestThoseWhoHaveLeft:
    """What was wrong with them is gone with them, also as long as their part stays."""

    @staticmethod
    def product(x, y):
        if "bad" in (x, y):
            raise RuntimeError("a bad one")
        return float(len(x) * len(y))

    @pytest.mark.parametrize("algorithm", ["auto", "scan"])
    def test_a_function_that_fails_for_them(self, algorithm):
        good = ["a", "bb", "ccc"] * 5
        index = Index([*good, "bad"], self.product, algorithm=algorithm)
        with pytest.raises(RuntimeError, match="a bad one"):
            index.search(["aa"])
        index.remove([15])
        wanted = Index(good, self.product, algorithm="scan")
        assert_identical(index.search(["aa"], k=4), wanted.search(["aa"], k=4))
        assert_identical(index.search_above(["aa"], 4.0), wanted.search_above(["aa"], 4.0))
        assert_identical(
            index.search(["aa"], only=[0, 1, 4]), wanted.search(["aa"], only=[0, 1, 4])
        )
        assert_identical(index.search(["aa"], epsilon=0.0), wanted.search(["aa"]))
        with pytest.raises(RuntimeError, match="a bad one"):
            index.search(["bad"])

    @pytest.mark.parametrize("algorithm", ["auto", "scan", "filter", "tree", "dual-tree"])
    def test_values_that_overflow_with_them(self, algorithm):
        rows = np.vstack([np.arange(1.0, 40.0)[:, None], [[1e150]]])
        index = Index(rows, algorithm=algorithm)
        query = [[1e160]]
        with pytest.raises(KernelValueError, match="object 39"):
            index.search(query)
        index.remove([39])
        wanted = Index(rows[:-1], algorithm="scan")
        assert_identical(index.search(query, k=3), wanted.search(query, k=3))
        assert_identical(index.search_above(query, 3.5e161), wanted.search_above(query, 3.5e161))
        assert_identical(index.search(query, only=[3, 4]), wanted.search(query, only=[3, 4]))

    def test_what_no_algorithm_can_do_is_still_an_error(self):
        index = Index([[float(i)] for i in range(20)], kernels.Tanh())
        index.remove([3])
        with pytest.raises(ValueError, match="Mercer"):
            index.search([[1.0]], algorithm="tree")

    @pytest.mark.parametrize(
        ("kernel", "wrap"),
        [
            (kernels.Jaccard(), lambda member: {member}),
            (kernels.WeisfeilerLehman(1), lambda label: ([], [label])),
            (kernels.Custom(lambda x, y: 1.0), lambda thing: thing),
        ],
    )
    def test_their_memory_is_free_when_the_part_is_made_anew(self, kernel, wrap):
        class Thing:
            pass

        things = [Thing() for _ in range(40)]
        known = [weakref.ref(thing) for thing in things]
        index = Index([wrap(thing) for thing in things], kernel)
        index.search([wrap(things[0])])
        index.remove(range(30))
        things.clear()
        gc.collect()
        assert [thing() is not None for thing in known] == [False] * 30 + [True] * 10
