"""Measure how searching the tree grows: `python -m benchmarks.growth.search --help`.

Costs are of one query, and a power of n is fitted to them. The exponent describes these sizes; it
promises nothing beyond them.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.command import Collector, read_options
from benchmarks.datasets import Problem
from benchmarks.growth.fit import PowerLaw, fit_power
from benchmarks.growth.plot import Curve, plot_growth
from benchmarks.growth.series import Series, all_series
from benchmarks.harness import run_rounds
from benchmarks.kernels import COSINE, LINEAR, KernelCase
from benchmarks.peers.mlpack_tree import MlpackTree
from benchmarks.report import commit, keep_ledger, markdown, write_ledger
from benchmarks.trees import FastmksTree, Found, scan_all

__all__ = ["main"]

_KERNELS = (LINEAR, COSINE)
_KS = (1, 10)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Searching one size, per query; what is mlpack's is called the peer's."""

    series: str
    kernel: str
    n_objects: int
    n_columns: int
    n_queries: int
    k: int
    evaluations: float  # with blocks of one object
    planned_evaluations: float
    microseconds: float  # as planned
    scan_microseconds: float
    differs_from_scan: bool
    peer_evaluations: float | None
    peer_microseconds: float | None
    peer_failure: str | None


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How a cost of one series grows."""

    series: str
    kernel: str
    k: int
    what: str
    law: PowerLaw

    def __str__(self) -> str:
        return f"{self.what} per query, {self.series}, {self.kernel}, k={self.k}: {self.law}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where an answer is not the scan's."""
    options = read_options("growth.search", __doc__, arguments)
    collector = Collector(options)
    started_at = commit()
    rounds = options.rounds or 3
    n_queries = 100 if options.quick else 1000
    rows: list[Cost] = []
    for series in all_series(collector, n_queries=n_queries, is_quick=options.quick):
        for case in _KERNELS:
            for row in _grow(series, case, rounds, options.patience):
                print(*_cells(row), sep="  ", flush=True)
                rows.append(row)
    fits = list(_fits(rows))
    print("", _table(rows), "", *fits, sep="\n")
    if options.out is not None:
        notes = [*collector.notes, *map(str, fits)]
        write_ledger(keep_ledger("growth_search", started_at, notes=notes, rows=rows), options.out)
    if options.figure is not None:
        _plot(rows, options.figure)
    return 1 if any(row.differs_from_scan for row in rows) else 0


def _grow(series: Series, case: KernelCase, rounds: int, patience: float) -> Iterator[Cost]:
    failure: str | None = None
    for problem in series.problems():
        adapted = case.adapted(problem)
        tree = FastmksTree(adapted, case)
        tree.build()
        with MlpackTree(adapted, case, patience=patience, failure=failure) as peer:
            for k in _KS:
                if k <= adapted.n_objects:
                    yield _measure(adapted, case, k, tree, peer, rounds)
            failure = peer.failure


def _measure(
    problem: Problem, case: KernelCase, k: int, tree: FastmksTree, peer: MlpackTree, rounds: int
) -> Cost:
    scanned, counted = scan_all(problem, case, k), tree.search(k, block=1)
    runs: list[Callable[[], Found | None]] = [partial(tree.search, k), partial(peer.search, k)]
    ours, theirs = run_rounds(runs, rounds=rounds)
    mine = [lap for lap in ours if lap is not None]
    peers = [lap for lap in theirs if lap is not None]
    each = 1.0 / problem.n_queries
    return Cost(
        series=problem.name,
        kernel=case.name,
        n_objects=problem.n_objects,
        n_columns=problem.n_columns,
        n_queries=problem.n_queries,
        k=k,
        evaluations=counted.evaluations * each,
        planned_evaluations=mine[0].evaluations * each,
        microseconds=median(lap.seconds for lap in mine) * 1e6 * each,
        scan_microseconds=scanned.seconds * 1e6 * each,
        differs_from_scan=not all(lap.is_identical(scanned) for lap in (counted, mine[0])),
        peer_evaluations=peers[0].evaluations * each if peers else None,
        peer_microseconds=median(lap.seconds for lap in peers) * 1e6 * each if peers else None,
        peer_failure=peer.failure,
    )


def _table(rows: Sequence[Cost]) -> str:
    head = ["data", "kernel", "n", "k", "evaluations / query", "as planned", "mlpack"]
    head += ["us / query", "mlpack", "scan", "same as scan"]
    return markdown(head, [_cells(row) for row in rows])


def _cells(row: Cost) -> list[str]:
    def show(number: float | None) -> str:
        return "-" if number is None else f"{number:.1f}"

    return [
        row.series,
        row.kernel,
        str(row.n_objects),
        str(row.k),
        show(row.evaluations),
        show(row.planned_evaluations),
        row.peer_failure or show(row.peer_evaluations),
        show(row.microseconds),
        show(row.peer_microseconds),
        show(row.scan_microseconds),
        "NO" if row.differs_from_scan else "yes",
    ]


def _by_curve(rows: Sequence[Cost]) -> dict[tuple[str, str, int], list[Cost]]:
    found: dict[tuple[str, str, int], list[Cost]] = {}
    for row in rows:
        found.setdefault((row.series, row.kernel, row.k), []).append(row)
    return found


def _fits(rows: Sequence[Cost]) -> Iterator[Fit]:
    for (series, kernel, k), mine in _by_curve(rows).items():
        costs = {
            "evaluations": [row.evaluations for row in mine],
            "microseconds": [row.microseconds for row in mine],
        }
        for what, values in costs.items():
            law = fit_power([row.n_objects for row in mine], values)
            if law is not None:
                yield Fit(series=series, kernel=kernel, k=k, what=what, law=law)


def _plot(rows: Sequence[Cost], file: Path) -> None:
    curves = []
    for (series, kernel, k), mine in _by_curve(rows).items():
        points = tuple((row.n_objects, row.evaluations) for row in mine)
        peers = tuple((row.n_objects, row.peer_evaluations) for row in mine if row.peer_evaluations)
        curves.append(Curve(f"{series}, {kernel}, k={k}", points, peers))
    plot_growth(curves, file, "kernel evaluations per query")


if __name__ == "__main__":
    sys.exit(main())
