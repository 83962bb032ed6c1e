"""Engines of ours: trees share one index, so that a tree is built once."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median

import fastmks
from benchmarks.race.entrant import Entrant, Ready, Task
from benchmarks.race.names import DUAL, FILTER, SCAN, TREE, TREE_OF_ONE
from benchmarks.race.ours import BASE, ours, prepare_engine

__all__ = ["our_entrants"]

_SHORT_SECONDS = 0.1  # builds are repeated until they took so long together,
_MOST_BUILDS = 5  # or were so many


def our_entrants(*, has_dual_tree: bool) -> list[Entrant]:
    """Return ours, anew.

    Others than trees have an index of their own: a tree keeps its objects in its own order, in
    which a filter is slower, and what a planner chooses depends on what has been built.
    """
    trees = _Shared()
    found = [
        _ours(SCAN, partial(_Shared().prepare, "scan")),
        _ours(TREE, partial(trees.prepare_built, "tree")),
        _ours(TREE_OF_ONE, trees.prepare_blocks_of_one),
    ]
    if has_dual_tree:
        found.append(_ours(DUAL, partial(trees.prepare, "dual-tree")))
    return [*found, _ours(FILTER, partial(_Shared().prepare_built, "filter")), ours("auto")]


def _ours(name: str, prepare: Callable[[Task], Ready]) -> Entrant:
    return Entrant(name=name, prepare=prepare, is_ours=True, is_brute=name == SCAN)


class _Shared:
    """One index, made for whoever is first."""

    def __init__(self) -> None:
        self._index: fastmks.Index | None = None
        self._seconds = 0.0

    def prepare(
        self, algorithm: str, task: Task, *, traversal: fastmks.Traversal | None = None
    ) -> Ready:
        """Make an engine ready."""
        if self._index is None:
            self._index, self._seconds = _make_index(task)
        return prepare_engine(
            self._index, algorithm, task, traversal=traversal, more_seconds=self._seconds
        )

    def prepare_built(self, algorithm: str, task: Task) -> Ready:
        """Make ready what takes time to build; short builds are repeated over other indexes."""
        ready = self.prepare(algorithm, task)
        seconds = [ready.build_seconds]
        while len(seconds) < _MOST_BUILDS and sum(seconds) < _SHORT_SECONDS:
            seconds.append(_Shared().prepare(algorithm, task).build_seconds)
        return replace(ready, build_seconds=median(seconds))

    def prepare_blocks_of_one(self, task: Task) -> Ready:
        """Make the tree ready once more: nothing is built for it."""
        ready = self.prepare("tree", task, traversal=fastmks.Traversal(block=1))
        return replace(ready, build_seconds=0.0, build_evaluations=None)


def _make_index(task: Task) -> tuple[fastmks.Index, float]:
    started = time.perf_counter()
    index = fastmks.Index(task.problem.objects, task.case.kernel, base=BASE, threads=task.threads)
    return index, time.perf_counter() - started
