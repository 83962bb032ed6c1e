"""The engines of fastmks as entrants."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import fastmks
from benchmarks.datasets import Problem
from benchmarks.harness import Answer
from benchmarks.race.entrant import Entrant, Ready, Task
from fastmks.index.view import current_of

__all__ = ["BASE", "ours", "prepare_engine"]

BASE = 1.3  # of trees: the paper's, and better than mlpack's 2.0 nearly everywhere
_WARM_K = 10


def ours(algorithm: str, *, only_low: bool = False) -> Entrant:
    """Return an engine with an index of its own."""
    return Entrant(
        name=f"fastmks {algorithm}",
        prepare=partial(_prepare, algorithm),
        is_ours=True,
        only_low=only_low,
    )


def _prepare(algorithm: str, task: Task) -> Ready:
    started = time.perf_counter()
    index = fastmks.Index(
        task.problem.objects,
        task.case.kernel,
        algorithm=algorithm,
        base=BASE,
        threads=task.threads,
    )
    seconds = time.perf_counter() - started
    return prepare_engine(index, algorithm, task, more_seconds=seconds)


def prepare_engine(
    index: fastmks.Index,
    algorithm: str,
    task: Task,
    *,
    traversal: fastmks.Traversal | None = None,
    more_seconds: float = 0.0,
) -> Ready:
    """Return an engine of an index, built: filter and tree are made at the first search.

    auto is ready once it has been asked all queries. A dual-tree search takes all at once.
    """
    queries = task.problem.queries
    search = _searcher(index, algorithm, traversal)
    started = time.perf_counter()
    search(queries if algorithm == "auto" else queries[:1], min(_WARM_K, task.problem.n_objects))
    seconds = time.perf_counter() - started + more_seconds
    is_tree = algorithm in ("tree", "dual-tree")
    return Ready(
        search=search,
        queries=queries,
        n_bytes=partial(_bytes_beside, index, algorithm, task.problem),
        build_seconds=seconds,
        build_evaluations=index.tree.build_evaluations if is_tree else None,
        n_fixed=task.problem.n_queries if algorithm == "dual-tree" else None,
    )


def _searcher(
    index: fastmks.Index, algorithm: str, traversal: fastmks.Traversal | None
) -> Callable[[Any, int], Answer]:
    def search(queries: Any, k: int) -> Answer:
        hits = index.search(queries, k, algorithm=algorithm, traversal=traversal)
        stats = hits.stats  # a tree's bounds are counted, not their operations: one each, at least
        return Answer(
            hits.indices,
            stats.kernel_evaluations + stats.query_evaluations,
            stats.bound_operations or stats.bounds,
            engine=stats.algorithm,
        )

    return search


def _bytes_beside(index: fastmks.Index, algorithm: str, problem: Problem) -> int | None:
    """Memory of what an engine has built so far; auto may have built anything.

    What fingerprints are filtered by is a part of their store, which does not count it.
    """
    if problem.is_bits and algorithm != "scan":
        return None
    built = current_of(index).snapshot.segments[0].data.engines
    both = built.built_filter, built.built_tree
    engines = {"scan": (), "filter": both[:1], "auto": both}.get(algorithm, both[1:])
    return sum(engine.n_bytes for engine in engines if engine is not None)
