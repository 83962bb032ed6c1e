"""Hold growing, shrinking and saved indexes against peers: `python -m benchmarks.living --help`.

fastmks beside FAISS (IndexIDMap2 over IndexFlatIP) and usearch (exact searches): adding, removing,
searching while another thread writes, files. Finished cells are kept in the file of `--out`, and
a run that was stopped goes on where it was.
"""

import argparse
import gc
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.command import add_kept_options, read_options
from benchmarks.living.adding import add_trials, cases_of
from benchmarks.living.cell import Cell, Key, Trial, run_cell
from benchmarks.living.files import MEMORY_CASES, Shelf, file_cases
from benchmarks.living.kept import open_kept
from benchmarks.living.mixing import mix_cases, mix_trials
from benchmarks.living.moving import make_stage, move_cases, move_trial
from benchmarks.living.removing import remove_cases, remove_trials
from benchmarks.living.sides import Bases, Contestant, contestants
from benchmarks.living.stage import Stage, collect
from benchmarks.living.tables import all_tables, checks, line_of
from benchmarks.running import INTERRUPTED, Run, carry_out

__all__ = ["SECTIONS", "main"]

SECTIONS = ("adding", "moving", "removing", "mixing", "files")


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    """How much of everything, unless the command line says otherwise."""

    n_objects: int
    n_tree: int  # objects in a tree of 50 columns
    n_queries: int
    rounds: int
    lap_seconds: float  # that adding or removing may take, before it is extrapolated
    mix_seconds: float
    dtypes: tuple[str, ...]  # of the generated set


_FULL = _Sizes(
    n_objects=1_000_000,
    n_tree=50_000,
    n_queries=50,
    rounds=3,
    lap_seconds=8.0,
    mix_seconds=3.0,
    dtypes=("float32", "float64"),
)
_QUICK = _Sizes(
    n_objects=20_000,
    n_tree=5_000,
    n_queries=20,
    rounds=1,
    lap_seconds=0.5,
    mix_seconds=0.3,
    dtypes=("float32",),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every answer of ours is the true one."""
    options = read_options("living", __doc__, arguments, _extend)
    kept = open_kept(options.out, most_others=options.quiet)
    run = carry_out(options, kept, _run, lambda: checks(kept.cells))
    if run.is_interrupted:
        return INTERRUPTED
    claims = checks(kept.cells)
    print(all_tables(kept.cells))
    print(*claims, sep="\n")
    return 0 if all(claim.holds for claim in claims if claim.is_required) else 1


def _run(run: Run[Cell]) -> None:
    _Program(run.options, run).run()


def _extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, default=1, metavar="T", help="default 1")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--seconds", type=float, metavar="S", help="of each search while writing")
    add_kept_options(parser)
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="where files are written, and removed again"
    )


class _Program:
    """Measures what is not kept yet."""

    def __init__(self, options: argparse.Namespace, run: Run[Cell]) -> None:
        self._options, self._run, self._collector = options, run, run.collector
        self._sizes = _QUICK if options.quick else _FULL
        self._rounds = options.rounds or self._sizes.rounds

    def run(self) -> None:
        """Go through all sets."""
        for one in contestants():
            if one.missing:
                self._collector.note(f"{one.name}: {one.missing}")
        sizes, options = self._sizes, self._options
        for stage in collect(
            self._collector, options.data, sizes.n_objects, sizes.n_queries, sizes.dtypes
        ):
            self._run_stage(stage)
        if self._wants("moving") and self._collector.wants("moving"):
            self._run_moving()

    def _run_stage(self, stage: Stage) -> None:
        options, sizes = self._options, self._sizes
        threads, lap, bases = options.threads, sizes.lap_seconds, Bases()
        for key, add in self._missing(cases_of(stage, threads)):
            these = add_trials(stage, _who("adding"), add, bases, threads=threads, lap_seconds=lap)
            self._run_cell(key, stage, these)
        for key, batch in self._missing(remove_cases(stage, threads)):
            these = remove_trials(
                stage, _who("removing"), batch, bases, threads=threads, lap_seconds=lap
            )
            self._run_cell(key, stage, these)
        for key, pace in self._missing(mix_cases(stage, threads)):
            seconds = options.seconds or sizes.mix_seconds
            these = mix_trials(stage, _who("mixing"), pace, bases, threads=threads, seconds=seconds)
            self._run_cell(key, stage, these)
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            shelf = Shelf(stage, Path(folder), threads)
            for key, case in self._missing(file_cases(stage, threads)):
                self._run_cell(key, stage, shelf.trials(case, _who("files")))

    def _run_moving(self) -> None:
        threads = self._options.threads
        n_objects, n_queries = self._collector.limits(self._sizes.n_objects, self._sizes.n_queries)
        n_tree = min(self._sizes.n_tree, n_objects)
        for key, case in self._missing(move_cases(n_objects, n_tree, threads)):
            stage = make_stage(case, n_queries)
            self._run_cell(key, stage, [move_trial(stage, case, threads=threads)])

    def _missing(self, cases: Iterator[tuple[Key, Any]]) -> Iterator[tuple[Key, Any]]:
        mine = [(key, case) for key, case in cases if self._wants(key.section)]
        self._run.expect(len(mine))
        return ((key, case) for key, case in mine if self._run.wants(key))

    def _wants(self, section: str) -> bool:
        return section in self._options.sections

    def _run_cell(self, key: Key, stage: Stage, trials: list[Trial]) -> None:
        self._run.announce(key)
        rounds = 1 if key.case in MEMORY_CASES else self._rounds  # bytes hardly vary
        cell = run_cell(key, stage, trials, rounds=rounds, commit=self._run.kept.commit)
        trials.clear()
        gc.collect()
        self._run.keep(cell, line_of(cell))


def _who(section: str) -> list[Contestant]:
    return [one for one in contestants() if not one.only or section in one.only]
