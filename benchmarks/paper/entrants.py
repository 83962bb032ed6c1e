"""Who searches in the paper's evaluation: our engines, numpy, and mlpack's trees."""

from collections.abc import Callable
from functools import partial

from benchmarks.race.entrant import Entrant, PeerError, Ready, Task
from benchmarks.race.mlpack_entrant import mlpack_modes
from benchmarks.race.names import MLPACK, MLPACK_DUAL, NUMPY
from benchmarks.race.numpy_search import prepare_numpy, select_by_groups
from benchmarks.race.shared import our_entrants

__all__ = ["entrants"]


def entrants(task_for_peers: Callable[[Task], Task] = lambda task: task) -> list[Entrant]:
    """Return everyone, anew: ours share one index, and mlpack's two searches one tree.

    `task_for_peers` gives what peers search instead, such as counts in the place of strings.
    """
    trees = _Mlpack(task_for_peers)
    return [
        *our_entrants(has_dual_tree=True),
        Entrant(
            name=NUMPY,
            prepare=lambda task: prepare_numpy(select_by_groups, task_for_peers(task)),
            is_brute=True,
            own_threads=True,
        ),
        *(
            Entrant(name=name, prepare=partial(trees.prepare, mode), needs=("mlpack",))
            for name, mode in ((MLPACK, "single-tree"), (MLPACK_DUAL, "dual-tree"))
        ),
    ]


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
