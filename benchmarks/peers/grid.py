"""Hold fastmks against what people use today: `python -m benchmarks.peers --help`.

Exact searches of float32 vectors by inner product and by cosine, beside FAISS (flat and Panorama),
numpy, usearch, scikit-learn and mlpack, and of fingerprints beside FPSim2. Every set, kernel, k,
batch and number of threads is a cell; finished cells are kept in the file of `--out`, and a run
that was stopped goes on where it was.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.command import Collector, add_kept_options, read_options
from benchmarks.datasets import Problem
from benchmarks.kept import Kept
from benchmarks.kernels import COSINE, LINEAR, KernelCase
from benchmarks.pages import put_into
from benchmarks.peers.bars import checks
from benchmarks.peers.entrants import entrants
from benchmarks.peers.sets import collect, is_low
from benchmarks.peers.tables import all_tables, bar_table, bars_of, line_of
from benchmarks.race.cell import Cell, Key, Pace, read_cell
from benchmarks.race.contest import Contest, hold, keys_of
from benchmarks.race.entrant import NOT_INSTALLED, Entrant
from benchmarks.running import INTERRUPTED, Run

__all__ = ["NAME", "main"]

NAME = "peers_bars"
_KERNELS = {case.name: case for case in (LINEAR, COSINE)}


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    """How much of everything, unless the command line says otherwise."""

    n_objects: int
    n_queries: int
    ks: tuple[int, ...]
    batches: tuple[int, ...]
    threads: tuple[int, ...]
    rounds: int
    lap_seconds: float
    n_fingerprints: int
    n_fingerprint_queries: int


_FULL = _Sizes(
    n_objects=10**9,
    n_queries=5000,
    ks=(1, 10, 100),
    batches=(1, 100, 5000),
    threads=(1, 2),
    rounds=5,
    lap_seconds=0.2,
    n_fingerprints=200_000,
    n_fingerprint_queries=100,
)
_QUICK = _Sizes(
    n_objects=10_000,
    n_queries=500,
    ks=(1, 10),
    batches=(1, 500),
    threads=(1,),
    rounds=3,
    lap_seconds=0.1,
    n_fingerprints=5_000,
    n_fingerprint_queries=20,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every answer of ours is the true one, bars or no bars."""
    options = read_options("peers", __doc__, arguments, _extend)
    kept = Kept(NAME, options.out, read=read_cell, most_others=options.quiet)
    if options.show and not kept.cells:
        sys.exit("--show needs the file of an earlier run as --out")
    if not options.show:
        collector = Collector(options)
        with Run(options, collector, kept) as run:
            _Program(options, run).run()
        if run.is_interrupted:
            return INTERRUPTED
        kept.write(collector.notes, checks(kept.cells, bars_of(kept)))
    claims = checks(kept.cells, bars_of(kept))
    print(all_tables(kept) if options.show else bar_table(kept))
    print(*(claim for claim in claims if claim.is_required), sep="\n")
    if options.tables is not None:
        put_into(options.tables, "peers", all_tables(kept))
    return 0 if all(claim.holds for claim in claims if claim.is_required) else 1


def _extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, nargs="+", metavar="T", help="default 1 2")
    parser.add_argument("--k", type=int, nargs="+", metavar="K", help="default 1 10 100")
    parser.add_argument("--batches", type=int, nargs="+", metavar="N", help="default 1 100 5000")
    parser.add_argument("--kernels", nargs="+", choices=tuple(_KERNELS), default=list(_KERNELS))
    add_kept_options(parser)
    parser.add_argument(
        "--tables", type=Path, metavar="MD", help="put the tables between the markers of this page"
    )


class _Program:
    """Measures what is not kept yet."""

    def __init__(self, options: argparse.Namespace, run: Run[Cell]) -> None:
        sizes = _QUICK if options.quick else _FULL
        self._options, self._run, self._sizes = options, run, sizes
        self._pace = Pace(rounds=options.rounds or sizes.rounds, lap_seconds=sizes.lap_seconds)
        self._ks = tuple(options.k or sizes.ks)
        self._batches = tuple(options.batches or sizes.batches)
        self._threads = tuple(options.threads or sizes.threads)

    def run(self) -> None:
        """Go through all sets."""
        collector, kernels = self._run.collector, self._options.kernels
        for entrant in entrants():
            if entrant.missing:
                collector.note(f"{NOT_INSTALLED}: {entrant.name}")
        n_queries = min(self._sizes.n_queries, max(self._batches))
        for problem in collect(collector, self._options.data, self._sizes.n_objects, n_queries):
            contests = [self._contest(problem, _KERNELS[name]) for name in kernels]
            self._run.expect(sum(len(keys_of(contest)) for contest in contests))
            for contest in contests:
                hold(contest, self._run, self._pace, line_of)

    def _contest(self, problem: Problem, case: KernelCase) -> Contest:
        return Contest(
            problem=problem,
            case=case,
            entrants=entrants,
            ks=self._ks,
            batches=self._batches,
            threads=self._threads,
            patience=self._options.patience,
            serves=_serves,
        )


def _serves(entrant: Entrant, key: Key) -> bool:
    is_whole = key.batch == key.n_queries and key.threads == 1
    return (is_whole or not entrant.whole_batch_only) and (
        is_low(key.problem) or not entrant.only_low
    )
