"""Count evaluations against the linear scan on the paper's grid: `python -m benchmarks.paper.grid`.

As in the paper, a speed-up leaves out the evaluations of building the tree, which stand beside it.
Evaluations are counted with blocks of one object. tanh is not Mercer: the tree refuses it.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

import fastmks
from benchmarks.command import Collector, read_options
from benchmarks.datasets import Problem
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, TANH, KernelCase
from benchmarks.paper.figure import plot_speedups
from benchmarks.paper.sets import SETS
from benchmarks.report import commit, keep_ledger, markdown, write_ledger
from benchmarks.trees import Built, FastmksTree, Found, scan_all

__all__ = ["main"]

_KERNELS = (COSINE, TANH, LINEAR, POLYNOMIAL)
_KS = (1, 2, 5, 10)


@dataclass(frozen=True, kw_only=True)
class Speedup:
    """One set, kernel and k; without a tree where it was refused."""

    problem: str
    row: str  # of the paper's table
    origin: str
    n_objects: int
    n_columns: int
    n_queries: int
    kernel: str
    k: int
    scan_evaluations: int
    scan_seconds: float
    evaluations: int | None = None  # with blocks of one object
    speedup: float | None = None  # in evaluations
    planned_evaluations: int | None = None
    seconds: float | None = None  # as planned
    build_evaluations: int | None = None
    build_seconds: float | None = None
    differs_from_scan: bool = False
    refusal: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where an answer is not the scan's."""
    options = read_options("paper.grid", __doc__, arguments)
    collector = Collector(options)
    started_at = commit()
    n_queries = 50 if options.quick else 200
    rows: list[Speedup] = []
    for one in SETS:
        most = min(one.n_objects, one.n_quick) if options.quick else one.n_objects
        problem = collector.real(one.name, most, n_queries)
        if problem is None:
            continue
        for case in _KERNELS:
            found = list(_speedups(case.adapted(problem), one.row, case, options.rounds or 3))
            print("\n".join("  ".join(_cells(row)) for row in found), flush=True)
            rows += found
    print("", _table(rows), sep="\n")
    if options.out is not None:
        ledger = keep_ledger("paper_grid", started_at, notes=collector.notes, rows=rows)
        write_ledger(ledger, options.out)
    if options.figure is not None:
        bars = {(row.row, row.kernel, row.k): row.speedup for row in rows}
        plot_speedups(bars, options.figure)
    return 1 if any(row.differs_from_scan for row in rows) else 0


def _speedups(problem: Problem, row: str, case: KernelCase, rounds: int) -> Iterator[Speedup]:
    ks = [k for k in _KS if k <= problem.n_objects]
    scanned = scan_all(problem, case, max(ks))
    tree = FastmksTree(problem, case)
    built: Built | None = None
    refusal: str | None = None
    try:
        built = tree.build()
    except fastmks.NotMercerError as error:
        refusal = f"{type(error).__name__}: {error}"
    for k in ks:
        known = Speedup(
            problem=problem.name,
            row=row,
            origin=problem.origin,
            n_objects=problem.n_objects,
            n_columns=problem.n_columns,
            n_queries=problem.n_queries,
            kernel=case.name,
            k=k,
            scan_evaluations=scanned.evaluations,
            scan_seconds=scanned.seconds,
            refusal=refusal,
        )
        yield known if built is None else _with_tree(known, tree, built, scanned, rounds)


def _with_tree(
    known: Speedup, tree: FastmksTree, built: Built, scanned: Found, rounds: int
) -> Speedup:
    counted = tree.search(known.k, block=1)
    laps = [tree.search(known.k) for _ in range(rounds)]
    return replace(
        known,
        evaluations=counted.evaluations,
        speedup=known.scan_evaluations / counted.evaluations,
        planned_evaluations=laps[0].evaluations,
        seconds=median(lap.seconds for lap in laps),
        build_evaluations=built.evaluations,
        build_seconds=built.seconds,
        differs_from_scan=not all(_is_head(lap, scanned, known.k) for lap in (counted, laps[0])),
    )


def _is_head(found: Found, scanned: Found, k: int) -> bool:
    """Whether a search found the first k of what the scan found, to the last bit."""
    head = replace(
        scanned,
        values=np.ascontiguousarray(scanned.values[:, :k]),
        indices=np.ascontiguousarray(scanned.indices[:, :k]),
    )
    return found.is_identical(head)


def _table(rows: Sequence[Speedup]) -> str:
    head = ["data", "stands for", "kernel", "n", "columns", "k", "speed-up in evaluations"]
    head += ["us / query", "scan", "build evaluations / object", "same as scan"]
    return markdown(head, [_cells(row) for row in rows])


def _cells(row: Speedup) -> list[str]:
    def show(number: float | None, factor: float) -> str:
        return "-" if number is None else f"{number * factor:.1f}"

    each = 1e6 / row.n_queries
    refusal = row.refusal and row.refusal.partition(":")[0]
    return [
        row.problem,
        row.row,
        row.kernel,
        str(row.n_objects),
        str(row.n_columns),
        str(row.k),
        refusal or f"{row.speedup:.2f}",
        show(row.seconds, each),
        show(row.scan_seconds, each),
        show(row.build_evaluations, 1.0 / row.n_objects),
        "-" if refusal else "NO" if row.differs_from_scan else "yes",
    ]


if __name__ == "__main__":
    sys.exit(main())
