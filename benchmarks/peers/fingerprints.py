"""Who searches fingerprints under the Tanimoto kernel: fastmks, FPSim2 and numpy."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.harness import Answer
from benchmarks.molecules import Fpsim2, Molecules, Popcounts
from benchmarks.race.entrant import Entrant, Ready, RefusedError, Task
from benchmarks.race.ours import ours

FPSIM2 = "FPSim2"


def fingerprint_problem(molecules: Molecules, name: str) -> Problem:
    """Return the fingerprints as a problem; queries are objects too."""
    return Problem(
        name=name,
        origin=molecules.origin,
        objects=molecules.words,
        queries=molecules.words[list(molecules.queries)],
    )


def fingerprint_entrants(molecules: Molecules) -> list[Entrant]:
    """Return everyone, ours first."""
    return [
        *(ours(name) for name in ("auto", "filter", "scan")),
        Entrant(
            name=FPSIM2,
            prepare=partial(_prepare_fpsim2, molecules),
            needs=("FPSim2", "rdkit"),
            is_brute=True,
            single_only=True,
            look_queries=4,
        ),
        Entrant(
            name="numpy popcounts",
            prepare=_prepare_numpy,
            is_brute=True,
            look_queries=4,
            own_threads=True,
        ),
    ]


def _prepare_fpsim2(molecules: Molecules, task: Task) -> Ready:
    """FPSim2 in memory, with as many threads of its own; queries are made beforehand."""
    if molecules.peer is None:
        raise RefusedError("takes molecules, not generated bits")
    peer = molecules.peer

    def search(vectors: list[Any], k: int) -> Answer:
        found = [_padded(peer, vector, k, task.threads) for vector in vectors]
        return Answer(np.stack(found), len(vectors) * task.problem.n_objects)

    return Ready(
        search=search,
        queries=[peer.vector(query) for query in molecules.queries],
        n_bytes=lambda: peer.n_bytes,
        build_seconds=peer.seconds,
    )


def _padded(peer: Fpsim2, vector: Any, k: int, threads: int) -> NDArray[np.int64]:
    """Return positions, -1 where it found fewer."""
    positions = peer.search(vector, k, threads=threads)[1]
    return np.pad(positions, (0, k - len(positions)), constant_values=-1)


def _prepare_numpy(task: Task) -> Ready:
    """Popcounts of every object; threads take queries of a batch."""
    popcounts = Popcounts(task.problem.objects)

    def search(queries: NDArray[np.uint64], k: int) -> Answer:
        def one(query: NDArray[np.uint64]) -> NDArray[np.int64]:
            return popcounts.search(query, k)[1]

        n_evaluations = len(queries) * task.problem.n_objects
        if task.threads == 1 or len(queries) == 1:
            return Answer(np.stack(list(map(one, queries))), n_evaluations)
        with ThreadPoolExecutor(task.threads) as pool:
            return Answer(np.stack(list(pool.map(one, queries))), n_evaluations)

    return Ready(
        search=search, queries=task.problem.queries, n_bytes=lambda: 8 * task.problem.n_objects
    )
