"""Tanimoto search of molecules, beside FPSim2: `python -m benchmarks.objects.fingerprints --help`.

With `--data` (a folder with moses_200k.smi.gz), RDKit and FPSim2: Morgan fingerprints of radius 2
and 2048 bits, the very words that FPSim2 searches. Without: generated fingerprints, and no peer but
numpy. The top 10 of each query, single queries and batches, interleaved, on 1 and 2 threads.
"""

import gzip
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import fastmks
from benchmarks import noise
from benchmarks.command import read_options
from benchmarks.harness import is_installed, run_rounds
from benchmarks.report import commit, keep_ledger, markdown, write_ledger
from fastmks import kernels

__all__ = ["main"]

_K = 10
_FILE = "moses_200k.smi.gz"
_Words = np.ndarray[Any, np.dtype[np.uint64]]
_Search = Callable[[Sequence[int]], np.ndarray[Any, Any]]  # queries -> their k values


@dataclass(frozen=True)
class Problem:
    """Fingerprints, and FPSim2's engine over the same ones where there is one."""

    name: str
    words: _Words
    queries: Sequence[int]
    peer: Any = None


@dataclass(frozen=True)
class Row:
    """What one way to search took."""

    problem: str
    n_objects: int
    n_queries: int
    threads: int
    contestant: str
    milliseconds: float  # a query, median of the rounds
    fastest: float
    wrong: int  # queries whose values are not the right ones, in the peer's precision
    evaluations: float | None = None  # a query


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 0 when every answer of ours is right."""
    options = read_options("objects.fingerprints", __doc__, arguments)
    started_at, before = commit(), noise.now()
    n_objects = options.objects or (5_000 if options.quick else 200_000)
    n_queries = options.queries or (20 if options.quick else 100)
    notes: list[str] = []
    problem = make_problem(options.data, n_objects, n_queries, notes)
    rows = []
    for threads in (1, 2):
        rows += compare(problem, threads, rounds=options.rounds or (2 if options.quick else 5))
    others = noise.others_share(before, noise.now())
    notes.append(f"others took {others or 0.0:.0%} of the machine")
    print(_table(rows), *notes, sep="\n")
    if options.out is not None:
        ledger = keep_ledger("objects_fingerprints", started_at, notes=notes, rows=rows)
        write_ledger(ledger, options.out)
    return 0 if all(row.wrong == 0 for row in rows if row.contestant.startswith("fastmks")) else 1


def compare(problem: Problem, threads: int, *, rounds: int) -> list[Row]:
    """Let all search the same queries, in turn, and check their values."""
    index = fastmks.Index(problem.words, kernels.Tanimoto(), threads=threads)
    singly, at_once = (
        partial(_one_by_one, index, problem.words),
        partial(_batch, index, problem.words),
    )
    contestants: dict[str, _Search] = {
        "fastmks, single queries": partial(singly, "auto"),
        "fastmks, one batch": partial(at_once, "auto"),
        "fastmks scan, single queries": partial(singly, "scan"),
        "fastmks scan, one batch": partial(at_once, "scan"),
    }
    if problem.peer is not None:
        contestants["FPSim2, single queries"] = partial(_fpsim2, problem, threads)
    if threads == 1:
        contestants["numpy, single queries"] = partial(_numpy, problem.words)
    laps = run_rounds(
        [partial(_timed, search, problem.queries) for search in contestants.values()], rounds=rounds
    )
    truth = _numpy(problem.words, problem.queries)
    hits = index.search(problem.words[list(problem.queries)], _K)
    rows = []
    for name, mine in zip(contestants, laps, strict=True):
        seconds = [lap[0] for lap in mine]
        values = mine[-1][1]
        rows.append(
            Row(
                problem=problem.name,
                n_objects=len(problem.words),
                n_queries=len(problem.queries),
                threads=threads,
                contestant=name,
                milliseconds=median(seconds) * 1e3 / len(problem.queries),
                fastest=min(seconds) * 1e3 / len(problem.queries),
                wrong=int((values != truth.astype(values.dtype)).any(axis=1).sum()),
                evaluations=_evaluations(name, hits),
            )
        )
    return rows


def _evaluations(name: str, hits: fastmks.Hits) -> float | None:
    stats = hits.stats
    if name in ("fastmks, single queries", "fastmks, one batch"):
        return stats.kernel_evaluations / stats.n_queries
    return float(stats.n_objects) if name.startswith(("fastmks", "numpy")) else None


def _timed(search: _Search, queries: Sequence[int]) -> tuple[float, np.ndarray[Any, Any]]:
    started = time.perf_counter()
    values = search(queries)
    return time.perf_counter() - started, values


def _one_by_one(
    index: fastmks.Index, words: _Words, algorithm: str, queries: Sequence[int]
) -> np.ndarray[Any, Any]:
    return np.concatenate(
        [index.search(words[query], _K, algorithm=algorithm).values for query in queries]
    )


def _batch(
    index: fastmks.Index, words: _Words, algorithm: str, queries: Sequence[int]
) -> np.ndarray[Any, Any]:
    return index.search(words[list(queries)], _K, algorithm=algorithm).values


def _fpsim2(problem: Problem, threads: int, queries: Sequence[int]) -> np.ndarray[Any, Any]:
    """FPSim2's in-memory search of float32 values; queries are made beforehand, not timed."""
    answers = [
        problem.peer.engine.top_k(problem.peer.vectors[query], _K, 0.0, n_workers=threads)
        for query in queries
    ]
    return np.array([answer["coeff"] for answer in answers])


def _numpy(words: _Words, queries: Sequence[int]) -> np.ndarray[Any, Any]:
    """Every value of each query, by numpy alone."""
    sizes = _count_bits(words)
    answers = []
    for query in queries:
        shared = _count_bits(words & words[query])
        values = shared / np.maximum(sizes + sizes[query] - shared, 1)
        answers.append(np.sort(np.partition(values, -_K)[-_K:])[::-1])
    return np.array(answers)


def _count_bits(words: _Words) -> np.ndarray[Any, np.dtype[np.int64]]:
    if hasattr(np, "bitwise_count"):  # numpy 2
        counts = np.bitwise_count(words)
    else:
        of_byte = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1)
        counts = of_byte[np.ascontiguousarray(words).view(np.uint8)]
    total: np.ndarray[Any, np.dtype[np.int64]] = counts.sum(axis=1, dtype=np.int64)
    return total


@dataclass(frozen=True)
class _Peer:
    engine: Any
    vectors: dict[int, Any]  # the queries, as RDKit's bit vectors


def make_problem(data: Path | None, n_objects: int, n_queries: int, notes: list[str]) -> Problem:
    rng = np.random.default_rng(0)
    missing = [name for name in ("FPSim2", "rdkit") if not is_installed(name)]
    if data is None or missing or not (data / _FILE).exists():
        notes.append(f"generated fingerprints; missing: {missing or 'a folder with ' + _FILE}")
        words = _draw(rng, n_objects // 50 + 1, halvings=5).repeat(50, axis=0)[:n_objects]
        words ^= _draw(rng, n_objects, halvings=7)
        return Problem("generated", words, range(n_queries))
    from FPSim2 import FPSim2Engine
    from rdkit.DataStructs import ExplicitBitVect

    engine = FPSim2Engine(str(_database(data, n_objects)))
    rows = engine.fps[np.argsort(engine.fps[:, 0])]  # FPSim2 orders by the bits set
    words = np.ascontiguousarray(rows[:, 1:-1]).astype(np.uint64)
    queries = sorted(int(i) for i in rng.choice(len(words), n_queries, replace=False))
    vectors = {}
    for query in queries:
        vectors[query] = ExplicitBitVect(64 * words.shape[1])
        bits = np.unpackbits(words[query].astype(">u8").view(np.uint8))  # FPSim2: first bit highest
        vectors[query].SetBitsFromList(np.flatnonzero(bits).tolist())
    return Problem("moses", words, queries, _Peer(engine, vectors))


def _draw(rng: np.random.Generator, n: int, *, halvings: int) -> _Words:
    """Rows of 2048 bits, of which one in 2**halvings is set."""
    words = rng.integers(0, 2**64, (n, 32), dtype=np.uint64)
    for _ in range(halvings - 1):
        words &= rng.integers(0, 2**64, words.shape, dtype=np.uint64)
    return words


def _database(data: Path, n_objects: int) -> Path:
    """FPSim2's file of fingerprints, made once and kept in the folder for temporary files."""
    from FPSim2.io import create_db_file

    file = Path(tempfile.gettempdir()) / f"fastmks_moses_{n_objects}.h5"
    if not file.exists():
        with gzip.open(data / _FILE, "rt", encoding="utf-8") as lines:
            molecules = [
                [line.split()[0], i] for i, line in zip(range(n_objects), lines, strict=False)
            ]
        create_db_file(
            mols_source=molecules,
            filename=str(file),
            mol_format="smiles",
            fp_type="Morgan",
            fp_params={"radius": 2, "fpSize": 2048},
        )
    return file


def _table(rows: Sequence[Row]) -> str:
    head = ["set", "objects", "threads", "", "ms a query", "fastest", "evaluations", "wrong"]
    return markdown(
        head,
        [
            [
                row.problem,
                f"{row.n_objects:,}",
                str(row.threads),
                row.contestant,
                f"{row.milliseconds:.3f}",
                f"{row.fastest:.3f}",
                "" if row.evaluations is None else f"{row.evaluations:,.0f}",
                f"{row.wrong} of {row.n_queries}",
            ]
            for row in rows
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
