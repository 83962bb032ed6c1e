"""Measure how building the tree grows: `python -m benchmarks.growth.build --help`.

mlpack builds beside it, until it takes longer than its patience.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.command import Collector, read_options
from benchmarks.datasets import Problem
from benchmarks.growth.fit import PowerLaw, fit_power
from benchmarks.growth.memory import measure_memory
from benchmarks.growth.plot import Curve, plot_growth
from benchmarks.growth.series import Series, all_series
from benchmarks.harness import run_rounds
from benchmarks.kernels import COSINE, LINEAR, KernelCase
from benchmarks.peers.mlpack_tree import MlpackTree
from benchmarks.report import commit, keep_ledger, markdown, write_ledger
from benchmarks.trees import Built, FastmksTree

__all__ = ["main"]

_KERNELS = (LINEAR, COSINE)
_LONG = 5.0  # seconds: a build that takes longer on either side is timed once


@dataclass(frozen=True, kw_only=True)
class Growth:
    """One tree: what it cost and how large it is; what is mlpack's is called the peer's."""

    series: str
    kernel: str
    n_objects: int
    n_columns: int
    evaluations: int
    seconds: float
    n_nodes: int
    depth: int
    tree_bytes: int  # what the tree says
    kept_bytes: int | None  # what the system says
    peak_bytes: int | None
    peer_evaluations: int | None
    peer_seconds: float | None
    peer_failure: str | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write."""
    options = read_options("growth.build", __doc__, arguments)
    collector = Collector(options)
    started_at = commit()
    rounds = options.rounds or (1 if options.quick else 3)
    rows: list[Growth] = []
    for series in all_series(collector, n_queries=1, is_quick=options.quick):
        for case in _KERNELS:
            for row in _grow(series, case, rounds, options.patience):
                print(*_cells(row), sep="  ", flush=True)
                rows.append(row)
    print("", _table(rows), "", *_fits(rows), sep="\n")
    if options.out is not None:
        notes = [*collector.notes, *_fits(rows)]
        write_ledger(keep_ledger("growth_build", started_at, notes=notes, rows=rows), options.out)
    if options.figure is not None:
        _plot(rows, options.figure)
    return 0


def _grow(series: Series, case: KernelCase, rounds: int, patience: float) -> Iterator[Growth]:
    failure: str | None = None
    for problem in series.problems():
        row = _measure(case.adapted(problem), case, rounds, patience, failure)
        failure = row.peer_failure
        yield row


def _measure(
    problem: Problem, case: KernelCase, rounds: int, patience: float, failure: str | None
) -> Growth:
    tree = FastmksTree(problem, case)
    with MlpackTree(problem, case, patience=patience, failure=failure) as peer:
        runs: list[Callable[[], Built | None]] = [tree.build, peer.build]
        ours, theirs = run_rounds(runs, rounds=1, warmups=0)
        if all(lap is None or lap.seconds < _LONG for lap in (*ours, *theirs)):
            ours, theirs = run_rounds(runs, rounds=rounds, warmups=0)
        failure = peer.failure
    mine = [lap for lap in ours if lap is not None]
    memory = measure_memory(problem, case)
    peers = [lap for lap in theirs if lap is not None]
    return Growth(
        series=problem.name,
        kernel=case.name,
        n_objects=problem.n_objects,
        n_columns=problem.n_columns,
        evaluations=mine[0].evaluations,
        seconds=median(lap.seconds for lap in mine),
        n_nodes=tree.index.tree.n_nodes,
        depth=tree.index.tree.depth,
        tree_bytes=tree.index.tree.n_bytes,
        kept_bytes=memory.kept if memory else None,
        peak_bytes=memory.peak if memory else None,
        peer_evaluations=peers[0].evaluations if peers else None,
        peer_seconds=median(lap.seconds for lap in peers) if peers else None,
        peer_failure=failure,
    )


def _table(rows: Sequence[Growth]) -> str:
    head = ["data", "kernel", "n", "evaluations / object", "mlpack", "us / object", "mlpack"]
    head += ["nodes / object", "depth", "bytes / object", "kept", "peak"]
    return markdown(head, [_cells(row) for row in rows])


def _cells(row: Growth) -> list[str]:
    def each(total: float | None, factor: float = 1.0) -> str:
        return "-" if total is None else f"{total * factor / row.n_objects:.2f}"

    return [
        row.series,
        row.kernel,
        str(row.n_objects),
        each(row.evaluations),
        row.peer_failure or each(row.peer_evaluations),
        each(row.seconds, 1e6),
        each(row.peer_seconds, 1e6),
        each(row.n_nodes),
        str(row.depth),
        each(row.tree_bytes),
        each(row.kept_bytes),
        each(row.peak_bytes),
    ]


def _fits(rows: Sequence[Growth]) -> list[str]:
    lines = []
    for series, kernel in dict.fromkeys((row.series, row.kernel) for row in rows):
        mine = [row for row in rows if (row.series, row.kernel) == (series, kernel)]
        laws: dict[str, PowerLaw | None] = {
            "evaluations": fit_power(
                [row.n_objects for row in mine], [row.evaluations for row in mine]
            ),
            "seconds": fit_power([row.n_objects for row in mine], [row.seconds for row in mine]),
        }
        lines += [
            f"build {what}, {series}, {kernel}: {law}"
            for what, law in laws.items()
            if law is not None
        ]
    return lines


def _plot(rows: Sequence[Growth], file: Path) -> None:
    curves = []
    for series, kernel in dict.fromkeys((row.series, row.kernel) for row in rows):
        mine = [row for row in rows if (row.series, row.kernel) == (series, kernel)]
        points = tuple((row.n_objects, row.seconds) for row in mine)
        peers = tuple((row.n_objects, row.peer_seconds) for row in mine if row.peer_seconds)
        curves.append(Curve(f"{series}, {kernel}", points, peers))
    plot_growth(curves, file, "seconds to build")


if __name__ == "__main__":
    sys.exit(main())
