"""Hold fastmks against what people use today: `python -m benchmarks.peers --help`.

Exact searches of vectors by inner product, by cosine and by a power of products, beside FAISS (flat
and Panorama), numpy, usearch, scikit-learn and mlpack, with hnswlib as the approximate one; of
sparse rows and strings beside scipy and sparse_dot_topn; of fingerprints beside FPSim2. Every set,
kernel, k, batch and number of threads is a cell; finished cells are kept in the file of `--out`,
and a run that was stopped goes on where it was.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.command import add_kept_options, read_options
from benchmarks.datasets import Problem
from benchmarks.kept import Kept
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, SPECTRUM, TANIMOTO
from benchmarks.pages import put_into
from benchmarks.peers.bars import checks
from benchmarks.peers.cells import Cells
from benchmarks.peers.sets import Given, Source, find_sources
from benchmarks.peers.tables import all_tables, bar_table, bars_of, line_of
from benchmarks.race.cell import Cell, Pace, read_cell
from benchmarks.race.contest import Contest, hold, keys_of
from benchmarks.race.entrant import NOT_INSTALLED
from benchmarks.running import INTERRUPTED, Run, carry_out

__all__ = ["NAME", "main"]

NAME = "peers_bars"
_KERNELS = tuple(case.name for case in (LINEAR, COSINE, POLYNOMIAL, SPECTRUM, TANIMOTO))


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    """How much of everything, unless the command line says otherwise."""

    n_objects: int
    ks: tuple[int, ...]
    batches: tuple[int, ...]
    threads: tuple[int, ...]
    rounds: int
    lap_seconds: float


_FULL = _Sizes(
    n_objects=10**9,
    ks=(1, 10, 100),
    batches=(1, 100, 5000),
    threads=(1, 2),
    rounds=5,
    lap_seconds=0.15,
)
_QUICK = _Sizes(
    n_objects=10_000, ks=(1, 10), batches=(1, 500), threads=(1,), rounds=3, lap_seconds=0.1
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every answer of ours is the true one, bars or no bars."""
    options = read_options("peers", __doc__, arguments, _extend)
    kept = Kept(NAME, options.out, read=read_cell, most_others=options.quiet)
    run = carry_out(options, kept, _run, lambda: checks(kept.cells, bars_of(kept)))
    if run.is_interrupted:
        return INTERRUPTED
    claims = checks(kept.cells, bars_of(kept))
    print(all_tables(kept) if options.show else bar_table(kept))
    print(*(claim for claim in claims if claim.is_required), sep="\n")
    if options.tables is not None:
        put_into(options.tables, "peers", all_tables(kept))
    return 0 if all(claim.holds for claim in claims if claim.is_required) else 1


def _run(run: Run[Cell]) -> None:
    _Program(run.options, run).run()


def _extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, nargs="+", metavar="T", help="default 1 2")
    parser.add_argument("--k", type=int, nargs="+", metavar="K", help="default 1 10 100")
    parser.add_argument("--batches", type=int, nargs="+", metavar="N", help="default 1 100 5000")
    parser.add_argument("--kernels", nargs="+", choices=_KERNELS, help="default all")
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
        self._cells = Cells(
            ks=tuple(options.k or sizes.ks),
            batches=tuple(options.batches or sizes.batches),
            threads=tuple(options.threads or sizes.threads),
            patience=options.patience,
        )

    def run(self) -> None:
        """Go through all sets."""
        sources = find_sources(self._run.collector, self._options.data)
        expected = {source.name: self._n_expected(source) for source in sources}
        self._run.expect(sum(expected.values()))
        noted: set[str] = set()
        for source in sources:
            given = source.read(*self._limits(source))
            self._note_missing(given, noted)
            contests = self._contests(source, given)
            self._run.leave_out(expected[source.name] - _count(contests))
            for contest in contests:
                hold(contest, self._run, self._pace, line_of)

    def _limits(self, source: Source) -> tuple[int, int]:
        return self._run.collector.limits(self._sizes.n_objects, self._cells.n_queries(source))

    def _contests(self, source: Source, given: Given) -> list[Contest]:
        return self._cells.contests(source, given, self._options.kernels)

    def _n_expected(self, source: Source) -> int:
        """Count the cells of a set before it is read, as if it had all rows that may be."""
        n_objects, n_queries = self._limits(source)
        outline = Problem(
            name=source.name,
            origin="",
            objects=np.empty((n_objects, 0)),  # rows without columns take no memory
            queries=np.empty((n_queries, 0)),
        )
        return _count(self._contests(source, Given(outline, list)))

    def _note_missing(self, given: Given, noted: set[str]) -> None:
        for entrant in given.entrants():
            if entrant.missing and entrant.name not in noted:
                noted.add(entrant.name)
                self._run.collector.note(f"{NOT_INSTALLED}: {entrant.name}")


def _count(contests: Sequence[Contest]) -> int:
    return sum(len(keys_of(contest)) for contest in contests)
