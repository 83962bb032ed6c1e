"""Fingerprints of molecules, and how FPSim2 and numpy search them under the Tanimoto kernel.

From moses_200k.smi.gz with RDKit and FPSim2: Morgan fingerprints of radius 2 and 2048 bits, the
very words that FPSim2 searches. Otherwise generated fingerprints, and no FPSim2.
"""

import gzip
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import is_installed

FILE = "moses_200k.smi.gz"
_BLOCK = 2048  # fingerprints: numpy's results for them stay in the cache
_Words: TypeAlias = NDArray[np.uint64]
_Found: TypeAlias = tuple[NDArray[Any], NDArray[np.int64]]  # values and positions, best first


class Fpsim2:
    """FPSim2 over its file of fingerprints, in memory. It takes one query at a time."""

    def __init__(self, file: Path) -> None:
        from FPSim2 import FPSim2Engine

        started = time.perf_counter()
        self._engine: Any = FPSim2Engine(str(file))
        self.seconds = time.perf_counter() - started  # that loading took
        rows = self._engine.fps[np.argsort(self._engine.fps[:, 0])]  # it orders by the bits set
        self._ids = rows[:, 0].astype(np.int64)
        self.words: _Words = np.ascontiguousarray(rows[:, 1:-1]).astype(np.uint64)
        self.n_bytes = int(self._engine.fps.nbytes)

    def vector(self, position: int) -> Any:
        """Return a fingerprint as it takes queries: RDKit's bit vector, first bit highest."""
        from rdkit.DataStructs import ExplicitBitVect

        vector = ExplicitBitVect(64 * self.words.shape[1])
        bits = np.unpackbits(self.words[position].astype(">u8").view(np.uint8))
        vector.SetBitsFromList(np.flatnonzero(bits).tolist())
        return vector

    def search(self, vector: Any, k: int, *, threads: int) -> _Found:
        """Return float32 values, and the positions of their fingerprints."""
        found = self._engine.top_k(vector, k, 0.0, n_workers=threads)
        return found["coeff"], np.searchsorted(self._ids, found["mol_id"].astype(np.int64))


class Popcounts:
    """Brute force by numpy alone, over blocks that stay in the cache."""

    def __init__(self, words: _Words) -> None:
        self._words, self._sizes = words, _count_bits(words)

    def search(self, query: _Words, k: int) -> _Found:
        """Return the k greatest values and their positions."""
        shared = np.concatenate(
            [
                _count_bits(self._words[begin : begin + _BLOCK] & query)
                for begin in range(0, len(self._words), _BLOCK)
            ]
        )
        either = self._sizes + _count_bits(query[np.newaxis]) - shared
        values = shared / np.maximum(either, 1)
        best = np.argpartition(values, len(values) - k)[len(values) - k :]
        order = np.lexsort((best, -values[best]))
        return values[best[order]], best[order]


@dataclass(frozen=True, eq=False, kw_only=True)
class Molecules:
    """Fingerprints, the positions of those that are asked, and FPSim2 over the same ones."""

    name: str
    origin: str
    words: _Words
    queries: Sequence[int]
    peer: Fpsim2 | None = None


def make_molecules(
    folder: Path | None, n_objects: int, n_queries: int, note: Callable[[str], object]
) -> Molecules:
    """Return at most this many molecules of the folder; without it, generated bits."""
    random = np.random.default_rng(0)
    missing = [name for name in ("FPSim2", "rdkit") if not is_installed(name)]
    if folder is None or missing or not (folder / FILE).exists():
        note(f"generated fingerprints; missing: {', '.join(missing) or 'a folder with ' + FILE}")
        words = _draw(random, n_objects // 50 + 1, halvings=5).repeat(50, axis=0)[:n_objects]
        words ^= _draw(random, n_objects, halvings=7)
        return Molecules(
            name="generated",
            origin="generated bits, seed 0: families of 50; the first are queries",
            words=words,
            queries=range(n_queries),
        )
    peer = Fpsim2(_database(folder, n_objects))
    chosen = random.choice(len(peer.words), min(n_queries, len(peer.words)), replace=False)
    return Molecules(
        name="moses",
        origin=f"{FILE}: Morgan, radius 2, 2048 bits; {len(chosen)} of them as queries (seed 0)",
        words=peer.words,
        queries=sorted(int(i) for i in chosen),
        peer=peer,
    )


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
        with gzip.open(folder / FILE, "rt", encoding="utf-8") as lines:
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
