"""The engines of fastmks as entrants."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import fastmks
from benchmarks.datasets import Problem
from benchmarks.harness import Answer, seconds_of, timed
from benchmarks.race.entrant import Entrant, Ready, Task
from benchmarks.race.names import DUAL, FILTER, SCAN, TREE, TREE_OF_ONE
from fastmks.index.view import current_of

BASE = 1.3  # of trees: the paper's, and better than mlpack's 2.0 nearly everywhere
SHORT_SECONDS, MOST_BUILDS = 0.1, 5  # builds are repeated until they took this long together
_WARM_K = 10


def ours(algorithm: str, *, only_low: bool = False) -> Entrant:
    """Return an engine with an index of its own."""
    entrant = _ours(
        f"fastmks {algorithm}", lambda task: _Shared(algorithm).prepare(algorithm, task)
    )
    return replace(entrant, only_low=only_low, is_brute=False)


def our_entrants(*, has_dual_tree: bool) -> list[Entrant]:
    """Return ours; trees share one index, so that a tree is built once.

    Others have an index of their own: a tree keeps its objects in its own order, in which a filter
    is slower, and what a planner chooses depends on what has been built.
    """
    trees = _Shared()
    dual = [_ours(DUAL, partial(trees.prepare, "dual-tree"))] if has_dual_tree else []
    return [
        _ours(SCAN, partial(_Shared().prepare, "scan")),
        _ours(TREE, partial(trees.prepare_built, "tree")),
        _ours(TREE_OF_ONE, trees.prepare_blocks_of_one),
        *dual,
        _ours(FILTER, partial(_Shared().prepare_built, "filter")),
        ours("auto"),
    ]


def _ours(name: str, prepare: Callable[[Task], Ready]) -> Entrant:
    return Entrant(name=name, prepare=prepare, is_ours=True, is_brute=name == SCAN)


class _Shared:
    """One index, built when it is first needed; engines may be chosen for it or for searches."""

    def __init__(self, algorithm: str = "auto") -> None:
        self._algorithm = algorithm
        self._index: fastmks.Index | None = None
        self._seconds = 0.0

    def prepare(
        self, algorithm: str, task: Task, *, traversal: fastmks.Traversal | None = None
    ) -> Ready:
        """Make an engine ready."""
        if self._index is None:
            options: dict[str, Any] = {"algorithm": self._algorithm, "base": BASE}
            build = partial(fastmks.Index, threads=task.threads, **options)
            index, self._seconds = timed(build, task.problem.objects, task.case.kernel)
            self._index = index
        ready = prepare_engine(self._index, algorithm, task, traversal=traversal)
        return replace(ready, build_seconds=ready.build_seconds + self._seconds)

    def prepare_built(self, algorithm: str, task: Task) -> Ready:
        """Build what the engine needs; short builds are repeated over other indexes."""
        ready = self.prepare(algorithm, task)
        seconds = [ready.build_seconds]
        while len(seconds) < MOST_BUILDS and sum(seconds) < SHORT_SECONDS:
            seconds.append(_Shared().prepare(algorithm, task).build_seconds)
        return replace(ready, build_seconds=median(seconds))

    def prepare_blocks_of_one(self, task: Task) -> Ready:
        """Make the tree ready once more: nothing is built for it."""
        ready = self.prepare("tree", task, traversal=fastmks.Traversal(block=1))
        return replace(ready, build_seconds=0.0, build_evaluations=None)


def prepare_engine(
    index: fastmks.Index,
    algorithm: str,
    task: Task,
    *,
    traversal: fastmks.Traversal | None = None,
) -> Ready:
    """Return an engine of an index, built: filter and tree are built at the first search.

    auto is ready once it has been asked all queries. A dual-tree search takes all at once.
    """
    queries = task.problem.queries

    def search(some: Any, k: int) -> Answer:
        hits = index.search(some, k, algorithm=algorithm, traversal=traversal)
        stats = hits.stats  # a tree's bounds are counted, not their operations: one each, at least
        return Answer(
            hits.indices,
            stats.kernel_evaluations + stats.query_evaluations,
            stats.bound_operations or stats.bounds,
            engine=stats.algorithm,
        )

    some = queries if algorithm == "auto" else queries[:1]
    seconds = seconds_of(lambda: search(some, min(_WARM_K, task.problem.n_objects)))
    is_tree = algorithm in ("tree", "dual-tree")
    return Ready(
        search=search,
        queries=queries,
        n_bytes=partial(_bytes_beside, index, algorithm, task.problem),
        build_seconds=seconds,
        build_evaluations=index.tree.build_evaluations if is_tree else None,
        n_fixed=task.problem.n_queries if algorithm == "dual-tree" else None,
    )


def _bytes_beside(index: fastmks.Index, algorithm: str, problem: Problem) -> int | None:
    """Return the memory of the structures an engine has built; auto may have built any.

    Bounds of fingerprints use a part of their store, which does not count it.
    """
    if problem.kind == "bits" and algorithm != "scan":
        return None
    built = current_of(index).snapshot.segments[0].data.engines
    both = built.built_filter, built.built_tree
    engines = {"scan": (), "filter": both[:1], "auto": both}.get(algorithm, both[1:])
    return sum(engine.n_bytes for engine in engines if engine is not None)
