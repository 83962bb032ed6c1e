"""Measure how costs grow: `python -m benchmarks.growth --help`.

Evaluations and time per query, and what building takes, against the number of objects (section n)
and against the intrinsic dimension (section dimension): the engines of fastmks, its planner, and
mlpack. Laws are fitted to what was measured; they describe these sizes and promise nothing beyond
them. Finished cells are kept in the file of `--out`, and a run that was stopped goes on where it
was.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.datasets import Problem
from benchmarks.growth.curves import DIMENSION, SIZE
from benchmarks.growth.drawing import draw_all
from benchmarks.growth.series import CUBE, DIMENSIONS, REAL, SIZES, all_series, make_cube
from benchmarks.growth.tables import all_tables
from benchmarks.kernels import COSINE, LINEAR, KernelCase
from benchmarks.race.cell import Cell, Pace, exactness_checks
from benchmarks.race.contest import Contest, hold
from benchmarks.race.entrant import NOT_INSTALLED, Entrant
from benchmarks.race.mlpack import mlpack_single_tree
from benchmarks.race.names import MLPACK
from benchmarks.race.ours import our_entrants
from benchmarks.suite import EVERYTHING, Kept, Run, Suite

_KERNELS = (LINEAR, COSINE)
_CUBE_K = 10
_CHECK_SECONDS = 30.0  # that ours may take for the queries outside the laps


def _measure(run: Run[Cell]) -> None:
    if mlpack_single_tree().missing:
        run.collector.note(f"{NOT_INSTALLED}: {MLPACK}")
    steps = {SIZE: _size_steps, DIMENSION: _dimension_steps}
    todo = [step for section in run.options.sections for step in steps[section](run)]
    run.expect(sum(len(ks) for *_, ks in todo))
    pace = Pace(  # all entrants race, and evaluations are counted over the same queries
        rounds=run.sizes.rounds,
        lap_seconds=run.sizes.lap_seconds,
        far_behind=float("inf"),
        check_seconds=_CHECK_SECONDS,
    )
    for make, case, facts, has_mlpack, ks in todo:
        problem = make()
        why_not = find_failure(run.kept.cells, problem.name, case.name, problem.n_objects)
        contest = Contest(
            problem=problem,
            case=case,
            entrants=partial(_entrants, has_mlpack, why_not),
            ks=ks,
            batches=(problem.n_queries,),
            patience=run.options.patience,
            facts=partial(dict, facts),
        )
        hold(contest, run, pace)


# A problem to come, its kernel, its facts, whether mlpack searches it, and for which k.
_Step = tuple[Callable[[], Problem], KernelCase, dict[str, Any], bool, tuple[int, ...]]


def _size_steps(run: Run[Cell]) -> Iterator[_Step]:
    if run.options.data is None:
        run.collector.note(f"no growth of {' and '.join(REAL)}: generated series only")
    sizes, most = sorted(set(run.options.sizes)), run.sizes.most
    for one in all_series(run.collector, sizes, n_queries=run.sizes.n_queries, most=most):
        for size in one.sizes:
            ks = tuple(k for k in run.sizes.ks if k <= size)
            for case in _KERNELS:
                has_mlpack = size <= one.most_mlpack
                yield partial(one.problem, size), case, {"section": SIZE}, has_mlpack, ks


def _dimension_steps(run: Run[Cell]) -> Iterator[_Step]:
    """All points of a line have one of two cosines, so that one begins with two dimensions."""
    if not run.collector.wants(CUBE):
        return
    n_objects, n_queries = run.collector.limits(run.sizes.n_cube, run.sizes.n_cube_queries)
    for dimension in sorted(set(run.options.dimensions)):
        facts = {"section": DIMENSION, "dimension": dimension}
        for case in _KERNELS:
            if case is not COSINE or dimension > 1:
                make = partial(make_cube, dimension, n_objects, n_queries)
                yield make, case, facts, False, (_CUBE_K,) if n_objects >= _CUBE_K else ()


def _entrants(has_mlpack: bool, why_not: str | None) -> list[Entrant]:
    peer = mlpack_single_tree()
    peer = peer if why_not is None else peer.refusing(why_not)
    return [*our_entrants(has_dual_tree=False), *([peer] if has_mlpack else [])]


def find_failure(cells: Sequence[Cell], problem: str, kernel: str, n_objects: int) -> str | None:
    """Return the failure of mlpack with the fewest objects, if these were fewer."""
    failures = {}
    for cell in cells:
        figure = cell.figure(MLPACK) if (cell.problem, cell.kernel) == (problem, kernel) else None
        if figure and figure.failure and not figure.failure.startswith(NOT_INSTALLED):
            failures[cell.n_objects] = figure.failure.removeprefix("PeerError: ")
    first = min(failures, default=n_objects)
    return f"skipped; with {first} objects: {failures[first]}" if first < n_objects else None


def _show(options: argparse.Namespace, kept: Kept[Cell]) -> str:
    if options.figures is not None:
        draw_all(kept.cells, options.figures)
    return all_tables(kept)


SUITE = Suite(
    name="growth",
    about=__doc__,
    cell=Cell,
    full={
        "most": EVERYTHING, "n_cube": 100_000, "n_queries": 1000, "n_cube_queries": 300,
        "ks": (1, 10), "rounds": 5, "lap_seconds": 0.2,
    },
    quick={
        "most": 10_000, "n_cube": 5000, "n_queries": 200, "n_cube_queries": 100,
        "rounds": 2, "lap_seconds": 0.03,
    },
    work=_measure,
    checks=lambda kept: exactness_checks(kept.cells, "the scan's"),
    show=_show,
    options={
        "--sections": {
            "nargs": "+", "choices": (SIZE, DIMENSION), "default": [SIZE, DIMENSION],
        },
        "--sizes": {
            "type": int, "nargs": "+", "default": list(SIZES), "metavar": "N",
            "help": "default 1000 3000 …",
        },
        "--dimensions": {
            "type": int, "nargs": "+", "choices": range(1, DIMENSIONS[-1] + 1),
            "default": list(DIMENSIONS), "metavar": "D", "help": f"up to {DIMENSIONS[-1]}",
        },
        "--figures": {"type": Path, "metavar": "FOLDER", "help": "where the pictures go"},
    },
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(SUITE.main())
