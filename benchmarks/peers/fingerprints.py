"""Fingerprints of molecules under the Tanimoto kernel, for fastmks, FPSim2 and numpy.

From moses_200k.smi.gz with RDKit and FPSim2: Morgan fingerprints of radius 2 and 2048 bits, the
very words that FPSim2 searches. Otherwise generated fingerprints, and no FPSim2.
"""

import gzip
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.harness import Answer, is_installed, map_in_threads, timed
from benchmarks.race.entrant import Entrant, Ready, RefusedError, Task
from benchmarks.race.ours import ours

FPSIM2 = "FPSim2"
_FILE = "moses_200k.smi.gz"
_BLOCK = 2048  # fingerprints: numpy's results for them stay in the cache
_Words: TypeAlias = NDArray[np.uint64]


class Fpsim2:
    """FPSim2 over its file of fingerprints, in memory. It takes one query at a time."""

    def __init__(self, file: Path) -> None:
        from FPSim2 import FPSim2Engine

        self._engine: Any
        self._engine, self.seconds = timed(FPSim2Engine, str(file))
        rows = self._engine.fps[np.argsort(self._engine.fps[:, 0])]  # it orders by the bits set
        self._ids = rows[:, 0].astype(np.int64)
        self.words: _Words = np.ascontiguousarray(rows[:, 1:-1]).astype(np.uint64)
        self.n_bytes = int(self._engine.fps.nbytes)

    def vector(self, words: _Words) -> Any:
        """Return a fingerprint as it takes queries: RDKit's bit vector, first bit highest."""
        from rdkit.DataStructs import ExplicitBitVect

        vector = ExplicitBitVect(64 * len(words))
        bits = np.unpackbits(words.astype(">u8").view(np.uint8))
        vector.SetBitsFromList(np.flatnonzero(bits).tolist())
        return vector

    def search(self, vector: Any, k: int, *, threads: int) -> NDArray[np.int64]:
        """Return the positions of the fingerprints found, best first."""
        found = self._engine.top_k(vector, k, 0.0, n_workers=threads)
        return np.asarray(np.searchsorted(self._ids, found["mol_id"].astype(np.int64)))


class Popcounts:
    """Brute force by numpy alone, over blocks that stay in the cache."""

    def __init__(self, words: _Words) -> None:
        self._words, self._sizes = words, _count_bits(words)

    def search(self, query: _Words, k: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the k greatest values and their positions, best first."""
        blocks = range(0, len(self._words), _BLOCK)
        shared = np.concatenate(
            [_count_bits(self._words[at : at + _BLOCK] & query) for at in blocks]
        )
        either = self._sizes + _count_bits(query[np.newaxis]) - shared
        values = shared / np.maximum(either, 1)
        best = np.argpartition(values, len(values) - k)[len(values) - k :]
        order = np.lexsort((best, -values[best]))
        return values[best[order]], best[order]


def make_fingerprints(
    folder: Path | None, n_objects: int, n_queries: int, note: Callable[[str], object]
) -> tuple[Problem, Fpsim2 | None]:
    """Return at most this many molecules of the folder, and FPSim2; without it, generated bits.

    Queries are objects too.
    """
    random = np.random.default_rng(0)
    missing = [name for name in ("FPSim2", "rdkit") if not is_installed(name)]
    if folder is None or missing or not (folder / _FILE).exists():
        note(f"generated fingerprints; missing: {', '.join(missing) or 'a folder with ' + _FILE}")
        words = _draw(random, n_objects // 50 + 1, halvings=5).repeat(50, axis=0)[:n_objects]
        words ^= _draw(random, n_objects, halvings=7)
        origin = "generated bits, seed 0: families of 50; the first are queries"
        made = Problem(name="generated", origin=origin, objects=words, queries=words[:n_queries])
        return made, None
    peer = Fpsim2(_database(folder, n_objects))
    n_queries = min(n_queries, len(peer.words))
    chosen = np.sort(random.choice(len(peer.words), n_queries, replace=False))
    origin = f"{_FILE}: Morgan, radius 2, 2048 bits; {n_queries} of them as queries (seed 0)"
    queries = peer.words[chosen]
    return Problem(name="moses", origin=origin, objects=peer.words, queries=queries), peer


def fingerprint_entrants(peer: Fpsim2 | None) -> list[Entrant]:
    """Return all entrants, ours first."""
    fpsim2 = Entrant(
        name=FPSIM2,
        prepare=partial(_prepare_fpsim2, peer),
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


def _prepare_fpsim2(peer: Fpsim2 | None, task: Task) -> Ready:
    """FPSim2 in memory, with as many threads of its own; queries are built beforehand."""
    if peer is None:
        raise RefusedError("takes molecules, not generated bits")

    def search(vectors: list[Any], k: int) -> Answer:
        found = np.full((len(vectors), k), -1, dtype=np.int64)  # it may find fewer
        for row, vector in zip(found, vectors, strict=True):
            positions = peer.search(vector, k, threads=task.threads)
            row[: len(positions)] = positions
        return Answer(found, len(vectors) * task.problem.n_objects)

    queries = list(map(peer.vector, task.problem.queries))
    return Ready(
        search=search, queries=queries, n_bytes=lambda: peer.n_bytes, build_seconds=peer.seconds
    )


def _prepare_numpy(task: Task) -> Ready:
    """Popcounts of every object; threads take queries of a batch."""
    popcounts, n_objects = Popcounts(task.problem.objects), task.problem.n_objects

    def search(queries: _Words, k: int) -> Answer:
        found = map_in_threads(
            lambda query: popcounts.search(query, k)[1], list(queries), task.threads
        )
        return Answer(np.stack(found), len(queries) * n_objects)

    return Ready(search=search, queries=task.problem.queries, n_bytes=lambda: 8 * n_objects)


def _count_bits(words: _Words) -> NDArray[np.int64]:
    """Return the number of bits set in each row.

    A product with ones adds up small numbers faster than numpy's sum does; float32 holds them.
    """
    if hasattr(np, "bitwise_count"):  # numpy 2
        counts = np.bitwise_count(words)
    else:
        of_byte = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1)
        counts = of_byte[np.ascontiguousarray(words).view(np.uint8)]
    ones = np.ones(counts.shape[1], np.float32)
    return np.asarray((counts.astype(np.float32) @ ones).astype(np.int64))


def _draw(random: np.random.Generator, n: int, *, halvings: int) -> _Words:
    """Return rows of 2048 bits, of which one in 2**halvings is set."""
    words = random.integers(0, 2**64, (n, 32), dtype=np.uint64)
    for _ in range(halvings - 1):
        words &= random.integers(0, 2**64, words.shape, dtype=np.uint64)
    return words


def _database(folder: Path, n_objects: int) -> Path:
    """Return FPSim2's file of fingerprints, built once in the folder for temporary files."""
    from FPSim2.io import create_db_file

    file = Path(tempfile.gettempdir()) / f"fastmks_moses_{n_objects}.h5"
    if not file.exists():
        part = file.with_suffix(".part.h5")  # unfinished files are never read
        part.unlink(missing_ok=True)
        with gzip.open(folder / _FILE, "rt", encoding="utf-8") as lines:
            molecules = [[line.split()[0], i] for i, line in enumerate(islice(lines, n_objects))]
        create_db_file(
            mols_source=molecules,
            filename=str(part),
            mol_format="smiles",
            fp_type="Morgan",
            fp_params={"radius": 2, "fpSize": 2048},
        )
        part.replace(file)
    return file
