"""Who searches in the paper's evaluation: our engines, numpy, and mlpack's trees."""

from collections.abc import Callable
from functools import cached_property, partial

import fastmks
from benchmarks.paper.names import (
    AUTO,
    COUNTED,
    DUAL,
    FILTER,
    MLPACK,
    MLPACK_DUAL,
    NUMPY,
)
from benchmarks.race.entrant import Entrant, Ready, Task
from benchmarks.race.mlpack_entrant import mlpack_modes
from benchmarks.race.mlpack_tree import PeerError
from benchmarks.race.numpy_search import prepare_numpy, select_by_groups
from benchmarks.race.ours import BASE, prepare_engine

__all__ = ["entrants"]


def entrants(task_for_peers: Callable[[Task], Task] = lambda task: task) -> list[Entrant]:
    """Return everyone, anew: ours share one index, so that a tree is built once, mlpack's too.

    `task_for_peers` gives what peers search instead, such as counts in the place of strings.
    """
    sharing, peers = _Ours(), _Mlpack(task_for_peers)
    ours = [
        Entrant(
            name="fastmks scan",
            prepare=partial(sharing.prepare, "scan"),
            is_ours=True,
            is_brute=True,
        ),
        Entrant(name="fastmks tree", prepare=partial(sharing.prepare, "tree"), is_ours=True),
        Entrant(name=COUNTED, prepare=sharing.prepare_counted, is_ours=True),
        Entrant(name=DUAL, prepare=partial(sharing.prepare, "dual-tree"), is_ours=True),
        Entrant(name=FILTER, prepare=partial(sharing.prepare, "filter"), is_ours=True),
        Entrant(name=AUTO, prepare=sharing.prepare_auto, is_ours=True),
    ]
    return [
        *ours,
        Entrant(
            name=NUMPY,
            prepare=lambda task: prepare_numpy(select_by_groups, task_for_peers(task)),
            is_brute=True,
            own_threads=True,
        ),
        *(
            Entrant(name=name, prepare=partial(peers.prepare, mode), needs=("mlpack",))
            for name, mode in ((MLPACK, "single-tree"), (MLPACK_DUAL, "dual-tree"))
        ),
    ]


class _Ours:
    """Our engines over one index; `auto` has one of its own, which has learnt from nobody."""

    def __init__(self) -> None:
        self._task: Task | None = None

    def prepare(self, algorithm: str, task: Task) -> Ready:
        self._task = task
        return prepare_engine(self._index, algorithm, task)

    def prepare_counted(self, task: Task) -> Ready:
        """Blocks of one object: as few evaluations as possible, as the paper counts them."""
        self._task = task
        return prepare_engine(self._index, "tree", task, traversal=fastmks.Traversal(block=1))

    def prepare_auto(self, task: Task) -> Ready:
        return prepare_engine(_make_index(task), "auto", task)

    @cached_property
    def _index(self) -> fastmks.Index:
        assert self._task is not None
        return _make_index(self._task)


def _make_index(task: Task) -> fastmks.Index:
    return fastmks.Index(task.problem.objects, task.case.kernel, base=BASE, threads=task.threads)


class _Mlpack:
    """mlpack's two searches of one tree, which is built for the first of them."""

    def __init__(self, task_for_peers: Callable[[Task], Task]) -> None:
        self._task_for_peers = task_for_peers
        self._modes: dict[str, Callable[[], Ready]] = {}
        self._failure: str | None = None

    def prepare(self, mode: str, task: Task) -> Ready:
        if self._failure is not None:
            raise PeerError(self._failure)
        if not self._modes:
            try:
                self._modes = mlpack_modes(self._task_for_peers(task))
            except PeerError as error:
                self._failure = str(error)
                raise
        return self._modes[mode]()
