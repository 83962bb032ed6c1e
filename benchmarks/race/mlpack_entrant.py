"""mlpack as an entrant: one thread, float64 rows, a process of its own."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

from benchmarks.harness import Answer
from benchmarks.race.entrant import Entrant, PeerError, Ready, Task
from benchmarks.race.mlpack_tree import Built, MlpackTree
from benchmarks.race.names import MLPACK, MLPACK_DUAL
from benchmarks.race.ours import BASE, MOST_BUILDS, SHORT_SECONDS
from benchmarks.suite import EVERYTHING


def mlpack_single_tree() -> Entrant:
    """Return the search of one tree, with the base of ours."""
    return Entrant(name=MLPACK, prepare=prepare_mlpack, needs=("mlpack",), in_bar=False)


def prepare_mlpack(
    task: Task, *, base: float = BASE, n_queries: int = EVERYTHING, is_single: bool = True
) -> Ready:
    """Build a tree; it is asked at most so many queries, always all at once."""
    asked = task.problem.first_queries(n_queries).cast("float64")
    tree = MlpackTree(asked, task.case, base=base, patience=task.patience)
    return _ready(tree, _built(tree), asked.queries, asked.n_queries, is_single)


def mlpack_pair(task_for_peers: Callable[[Task], Task]) -> list[Entrant]:
    """Return the single-tree and the dual-tree search of one tree, built for the first of them.

    The tree lives until both are closed.
    """
    shared: list[tuple[MlpackTree, Built, Task]] = []
    failures: list[str] = []

    def prepare(is_single: bool, task: Task) -> Ready:
        if failures:
            raise PeerError(failures[0])
        if not shared:
            try:
                task = task_for_peers(task).cast("float64")
                tree = MlpackTree(task.problem, task.case, base=BASE, patience=task.patience)
                shared.append((tree, _built(tree), task))
            except PeerError as error:
                failures.append(str(error))
                raise
        tree, built, asked = shared[0]
        return _ready(tree, built, asked.problem.queries, asked.problem.n_queries, is_single)

    return [
        Entrant(name=name, prepare=partial(prepare, is_single), needs=("mlpack",))
        for name, is_single in ((MLPACK, True), (MLPACK_DUAL, False))
    ]


def _built(tree: MlpackTree) -> Built:
    try:
        builds = [tree.build()]
        while len(builds) < MOST_BUILDS and sum(one.seconds for one in builds) < SHORT_SECONDS:
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
