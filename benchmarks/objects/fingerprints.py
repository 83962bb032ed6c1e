"""Tanimoto search of molecules, beside FPSim2: `python -m benchmarks.objects.fingerprints --help`.

With `--data`: the molecules of `benchmarks.molecules`; without: generated fingerprints, and no peer
but numpy. The top 10 of each query, single queries and batches, interleaved, on 1 and 2 threads.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import fastmks
from benchmarks import noise
from benchmarks.command import read_options
from benchmarks.harness import run_rounds
from benchmarks.molecules import Fpsim2, Molecules, Popcounts, make_molecules
from benchmarks.report import commit, keep_ledger, markdown, write_ledger
from fastmks import kernels

__all__ = ["main"]

_K = 10
_Words = np.ndarray[Any, np.dtype[np.uint64]]
_Search = Callable[[Sequence[int]], np.ndarray[Any, Any]]  # queries -> their k values


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
    problem = make_molecules(options.data, n_objects, n_queries, notes.append)
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


def compare(problem: Molecules, threads: int, *, rounds: int) -> list[Row]:
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
        vectors = {query: problem.peer.vector(query) for query in problem.queries}
        contestants["FPSim2, single queries"] = partial(_fpsim2, problem.peer, vectors, threads)
    by_numpy = partial(_numpy, Popcounts(problem.words), problem.words)
    if threads == 1:
        contestants["numpy, single queries"] = by_numpy
    laps = run_rounds(
        [partial(_timed, search, problem.queries) for search in contestants.values()], rounds=rounds
    )
    truth = by_numpy(problem.queries)
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


def _fpsim2(
    peer: Fpsim2, vectors: Mapping[int, Any], threads: int, queries: Sequence[int]
) -> np.ndarray[Any, Any]:
    """FPSim2's in-memory search of float32 values; queries are made beforehand, not timed."""
    return np.array([peer.search(vectors[query], _K, threads=threads)[0] for query in queries])


def _numpy(popcounts: Popcounts, words: _Words, queries: Sequence[int]) -> np.ndarray[Any, Any]:
    return np.array([popcounts.search(words[query], _K)[0] for query in queries])


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
