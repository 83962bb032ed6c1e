"""Measure how costs grow: `python -m benchmarks.growth --help`.

Evaluations and time per query, and what building takes, against the number of objects (section n)
and against the intrinsic dimension (section dimension): the engines of fastmks, its planner, and
mlpack. Laws are fitted to what was measured; they describe these sizes and promise nothing beyond
them. Finished cells are kept in the file of `--out`, and a run that was stopped goes on where it
was.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import add_kept_options, read_options
from benchmarks.datasets import Problem
from benchmarks.growth.curves import DIMENSION, SIZE
from benchmarks.growth.drawing import draw_all
from benchmarks.growth.series import CUBE, DIMENSIONS, REAL, SIZES, Series, all_series, make_cube
from benchmarks.growth.tables import all_tables, checks, line_of
from benchmarks.kept import Kept
from benchmarks.kernels import COSINE, LINEAR, KernelCase
from benchmarks.race.cell import Cell, Pace, read_cell
from benchmarks.race.contest import Contest, hold
from benchmarks.race.entrant import NOT_INSTALLED, Entrant
from benchmarks.race.mlpack_entrant import mlpack_single_tree
from benchmarks.race.names import MLPACK
from benchmarks.race.shared import our_entrants
from benchmarks.running import INTERRUPTED, Run, carry_out

__all__ = ["NAME", "SECTIONS", "find_failure", "main"]

NAME = "growth"
SECTIONS = (SIZE, DIMENSION)
_KERNELS = (LINEAR, COSINE)
_CUBE_KS = (10,)
_CHECK_SECONDS = 30.0  # that ours may take for the queries which laps left out


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    """How much of everything, unless the command line says otherwise."""

    most: int  # objects
    n_cube: int  # objects, where the dimension grows
    n_queries: int
    n_cube_queries: int
    ks: tuple[int, ...]
    rounds: int
    lap_seconds: float


_FULL = _Sizes(
    most=10**9,
    n_cube=100_000,
    n_queries=1000,
    n_cube_queries=300,
    ks=(1, 10),
    rounds=5,
    lap_seconds=0.2,
)
_QUICK = _Sizes(
    most=10_000,
    n_cube=5000,
    n_queries=200,
    n_cube_queries=100,
    ks=(1, 10),
    rounds=2,
    lap_seconds=0.03,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep, draw; 0 when every answer of ours is the scan's."""
    options = read_options(NAME, __doc__, arguments, _extend)
    kept = Kept(NAME, options.out, read=read_cell, most_others=options.quiet)
    run = carry_out(options, kept, _run, lambda: checks(kept.cells))
    if run.is_interrupted:
        return INTERRUPTED
    claims = checks(kept.cells)
    print(all_tables(kept))
    print(*claims, sep="\n")
    if options.figures is not None:
        draw_all(kept.cells, options.figures)
    return 0 if all(claim.holds for claim in claims) else 1


def _run(run: Run[Cell]) -> None:
    _Program(run.options, run).run()


def _extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), metavar="N", help="default 1000 3000 …"
    )
    parser.add_argument(
        "--dimensions",
        type=int,
        nargs="+",
        choices=range(1, DIMENSIONS[-1] + 1),
        default=list(DIMENSIONS),
        metavar="D",
        help=f"up to {DIMENSIONS[-1]}",
    )
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="where the pictures go")
    add_kept_options(parser)


@dataclass(frozen=True, kw_only=True)
class _Step:
    """A problem to come, under one kernel."""

    make: Callable[[], Problem]
    case: KernelCase
    n_objects: int
    ks: tuple[int, ...]
    most_mlpack: int
    facts: dict[str, Any]


class _Program:
    """Measures what is not kept yet."""

    def __init__(self, options: argparse.Namespace, run: Run[Cell]) -> None:
        self._options, self._run, self._collector = options, run, run.collector
        self._sizes = _QUICK if options.quick else _FULL
        self._pace = Pace(  # everyone races, and evaluations are counted over the same queries
            rounds=options.rounds or self._sizes.rounds,
            lap_seconds=self._sizes.lap_seconds,
            far_behind=float("inf"),
            check_seconds=_CHECK_SECONDS,
        )

    def run(self) -> None:
        """Go through all sections."""
        if mlpack_single_tree().missing:
            self._collector.note(f"{NOT_INSTALLED}: {MLPACK}")
        steps = [step for section in self._options.sections for step in self._steps(section)]
        self._run.expect(sum(len(step.ks) for step in steps))
        for step in steps:
            hold(self._contest(step), self._run, self._pace, line_of)

    def _steps(self, section: str) -> Iterator[_Step]:
        return self._size_steps() if section == SIZE else self._dimension_steps()

    def _size_steps(self) -> Iterator[_Step]:
        if self._options.data is None:
            self._collector.note(f"no growth of {' and '.join(REAL)}: generated series only")
        sizes = sorted(set(self._options.sizes))
        n_queries, most = self._sizes.n_queries, self._sizes.most
        for series in all_series(self._collector, sizes, n_queries=n_queries, most=most):
            for size in series.sizes:
                yield from self._kernels_of(series, size)

    def _kernels_of(self, series: Series, size: int) -> Iterator[_Step]:
        for case in _KERNELS:
            yield _Step(
                make=partial(series.problem, size),
                case=case,
                n_objects=size,
                ks=tuple(k for k in self._sizes.ks if k <= size),
                most_mlpack=series.most_mlpack,
                facts={"section": SIZE},
            )

    def _dimension_steps(self) -> Iterator[_Step]:
        """All points of a line have one of two cosines, so that one begins with two dimensions."""
        if not self._collector.wants(CUBE):
            return
        n_objects, n_queries = self._collector.limits(
            self._sizes.n_cube, self._sizes.n_cube_queries
        )
        for dimension in sorted(set(self._options.dimensions)):
            for case in _KERNELS:
                if case is COSINE and dimension == 1:
                    continue
                yield _Step(
                    make=partial(make_cube, dimension, n_objects, n_queries),
                    case=case,
                    n_objects=n_objects,
                    ks=tuple(k for k in _CUBE_KS if k <= n_objects),
                    most_mlpack=0,
                    facts={"section": DIMENSION, "dimension": dimension},
                )

    def _contest(self, step: _Step) -> Contest:
        problem = step.make()
        return Contest(
            problem=problem,
            case=step.case,
            entrants=partial(_entrants, self._why_left_out(problem, step.case)),
            ks=step.ks,
            batches=(problem.n_queries,),
            patience=self._options.patience,
            serves=lambda entrant, key: _serves(step, entrant),
            facts=lambda: step.facts,
        )

    def _why_left_out(self, problem: Problem, case: KernelCase) -> str | None:
        """Return why mlpack is not tried: it failed on fewer objects."""
        return find_failure(self._run.kept.cells, problem.name, case.name, problem.n_objects)


def _serves(step: _Step, entrant: Entrant) -> bool:
    return entrant.name != MLPACK or step.n_objects <= step.most_mlpack


def find_failure(cells: Sequence[Cell], problem: str, kernel: str, n_objects: int) -> str | None:
    """Return how mlpack failed on the fewest objects, if these were fewer."""
    failures = {}
    for cell in cells:
        figure = cell.figure(MLPACK) if (cell.problem, cell.kernel) == (problem, kernel) else None
        if figure and figure.failure and not figure.failure.startswith(NOT_INSTALLED):
            failures[cell.n_objects] = figure.failure.removeprefix("PeerError: ")
    first = min(failures, default=n_objects)
    return f"left out; with {first} objects: {failures[first]}" if first < n_objects else None


def _entrants(why_no_mlpack: str | None) -> list[Entrant]:
    peer = mlpack_single_tree()
    peer = peer if why_no_mlpack is None else peer.refusing(why_no_mlpack)
    return [*our_entrants(has_dual_tree=False), peer]
