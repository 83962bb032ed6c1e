"""The entrants on fingerprints under the Tanimoto kernel: fastmks, FPSim2 and numpy."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.harness import Answer, map_in_threads
from benchmarks.molecules import Molecules, Popcounts
from benchmarks.race.entrant import Entrant, Ready, RefusedError, Task
from benchmarks.race.ours import ours

FPSIM2 = "FPSim2"


def fingerprint_problem(molecules: Molecules, name: str) -> Problem:
    """Return the fingerprints as a problem; queries are objects too."""
    words = molecules.words
    queries = words[list(molecules.queries)]
    return Problem(name=name, origin=molecules.origin, objects=words, queries=queries)


def fingerprint_entrants(molecules: Molecules) -> list[Entrant]:
    """Return all entrants, ours first."""
    fpsim2 = Entrant(
        name=FPSIM2,
        prepare=partial(_prepare_fpsim2, molecules),
        needs=("FPSim2", "rdkit"),
        is_brute=True,
        single_only=True,
        look_queries=4,
    )
    numpy = Entrant(
        name="numpy popcounts",
        prepare=_prepare_numpy,
        is_brute=True,
        look_queries=4,
        own_threads=True,
    )
    return [*(ours(name) for name in ("auto", "filter", "scan")), fpsim2, numpy]


def _prepare_fpsim2(molecules: Molecules, task: Task) -> Ready:
    """FPSim2 in memory, with as many threads of its own; queries are built beforehand."""
    if molecules.peer is None:
        raise RefusedError("takes molecules, not generated bits")
    peer = molecules.peer

    def search(vectors: list[Any], k: int) -> Answer:
        found = np.full((len(vectors), k), -1, dtype=np.int64)  # it may find fewer
        for row, vector in zip(found, vectors, strict=True):
            positions = peer.search(vector, k, threads=task.threads)[1]
            row[: len(positions)] = positions
        return Answer(found, len(vectors) * task.problem.n_objects)

    return Ready(
        search=search,
        queries=[peer.vector(query) for query in molecules.queries],
        n_bytes=lambda: peer.n_bytes,
        build_seconds=peer.seconds,
    )


def _prepare_numpy(task: Task) -> Ready:
    """Popcounts of every object; threads take queries of a batch."""
    popcounts, n_objects = Popcounts(task.problem.objects), task.problem.n_objects

    def search(queries: NDArray[np.uint64], k: int) -> Answer:
        found = map_in_threads(
            lambda query: popcounts.search(query, k)[1], list(queries), task.threads
        )
        return Answer(np.stack(found), len(queries) * n_objects)

    return Ready(search=search, queries=task.problem.queries, n_bytes=lambda: 8 * n_objects)
