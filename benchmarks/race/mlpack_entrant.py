"""mlpack as an entrant: one thread, float64 rows, a process of its own."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

from benchmarks.harness import Answer
from benchmarks.race.entrant import Entrant, Ready, Task
from benchmarks.race.mlpack_tree import Built, MlpackTree
from benchmarks.race.names import MLPACK
from benchmarks.race.ours import BASE

__all__ = ["mlpack_modes", "mlpack_single_tree", "prepare_mlpack"]

_EVERYTHING = 10**9
_SHORT_SECONDS = 0.1  # builds are repeated until they took so long together,
_MOST_BUILDS = 5  # or were so many


def mlpack_single_tree() -> Entrant:
    """Return the search of one tree, with the base of ours."""
    return Entrant(name=MLPACK, prepare=prepare_mlpack, needs=("mlpack",), in_bar=False)


def prepare_mlpack(
    task: Task, *, base: float = BASE, n_queries: int = _EVERYTHING, is_single: bool = True
) -> Ready:
    """Build a tree; it is asked at most so many queries, always all at once."""
    asked = task.problem.head(task.problem.n_objects, n_queries).cast("float64")
    tree = MlpackTree(asked, task.case, base=base, patience=task.patience)
    return _ready(tree, _built(tree), asked.queries, asked.n_queries, is_single)


def mlpack_modes(task: Task, *, base: float = BASE) -> dict[str, Callable[[], Ready]]:
    """Return the single-tree and the dual-tree search of one tree, built here.

    The tree lives until both are closed.
    """
    problem = task.problem.cast("float64")
    tree = MlpackTree(problem, task.case, base=base, patience=task.patience)
    built = _built(tree)
    return {
        name: partial(_ready, tree, built, problem.queries, problem.n_queries, is_single)
        for name, is_single in (("single-tree", True), ("dual-tree", False))
    }


def _built(tree: MlpackTree) -> Built:
    try:
        builds = [tree.build()]
        while len(builds) < _MOST_BUILDS and sum(one.seconds for one in builds) < _SHORT_SECONDS:
            builds.append(tree.build())
    except BaseException:
        tree.close()
        raise
    return replace(builds[-1], seconds=median(one.seconds for one in builds))


def _ready(tree: MlpackTree, built: Built, queries: Any, n_queries: int, is_single: bool) -> Ready:
    def search(_: Any, k: int) -> Answer:
        found = tree.search(k, is_single=is_single)
        return Answer(found.indices, found.evaluations, seconds=found.seconds)

    return Ready(
        search=search,
        queries=queries,
        build_seconds=built.seconds,
        build_evaluations=built.evaluations,
        n_fixed=n_queries,
        cpu_elsewhere=lambda: tree.cpu_seconds if is_single else 0.0,  # one process, counted once
        close=tree.close,
    )
