"""Count what `auto` and mlpack's single tree evaluate: `python -m benchmarks.paper.evaluations`.

The paper's grid of sets and kernels. Beside evaluations stands all arithmetic, bounds included, as
a share of the scan's multiply-adds. `auto` is counted once it has settled on an engine.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import fastmks
from benchmarks.command import Collector, read_options
from benchmarks.datasets import Problem
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, TANH, KernelCase
from benchmarks.paper.sets import SETS
from benchmarks.peers.mlpack_tree import MlpackTree
from benchmarks.report import Check, commit, keep_ledger, markdown, write_ledger

__all__ = ["main"]

_KERNELS = (COSINE, LINEAR, POLYNOMIAL, TANH)
_KS = (1, 10)
_MOST_OBJECTS = 100_000  # mlpack takes minutes to build a tree of more
_MOST_SEARCHES = 20  # until auto has settled
_FEWER = 10.0  # the bar, in the geometric mean


@dataclass(frozen=True, kw_only=True)
class Count:
    """One set, kernel and k: evaluations of a query."""

    problem: str
    row: str  # of the paper's table
    origin: str
    kernel: str
    n_objects: int
    n_columns: int
    n_queries: int
    k: int
    engine: str  # that auto settled on
    evaluations: float
    work_share: float  # of the scan's multiply-adds, bounds included
    mlpack: float | None  # evaluations, None where it has no answer
    failure: str | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where auto evaluates more than the scan."""
    options = read_options("paper.evaluations", __doc__, arguments)
    collector = Collector(options)
    started_at = commit()
    rows: list[Count] = []
    for one in SETS:
        most = min(one.n_objects, one.n_quick if options.quick else _MOST_OBJECTS)
        problem = collector.real(one.name, most, 50 if options.quick else 200)
        if problem is None:
            continue
        for case in _KERNELS:
            found = _count(case.adapted(problem), one.row, case, options.patience)
            print("\n".join("  ".join(_cells(row)) for row in found), flush=True)
            rows += found
    checks = _checks(rows)
    print("", _table(rows), "", *checks, sep="\n")
    if options.out is not None:
        write_ledger(
            keep_ledger(
                "paper_evaluations", started_at, notes=collector.notes, rows=rows, checks=checks
            ),
            options.out,
        )
    return 0 if all(check.holds for check in checks if check.is_required) else 1


def _count(problem: Problem, row: str, case: KernelCase, patience: float) -> list[Count]:
    index = fastmks.Index(problem.objects, case.kernel, threads=1)
    failure = None if case.mlpack else "hangs: the kernel is not Mercer"
    counts = []
    with MlpackTree(problem, case, patience=patience, failure=failure) as peer:
        peer.build()
        for k in (k for k in _KS if k <= problem.n_objects):
            stats = _settled(index, problem, k)
            theirs = peer.search(k)
            width = problem.n_columns
            work = stats.kernel_evaluations * width + stats.bound_operations
            counts.append(
                Count(
                    problem=problem.name,
                    row=row,
                    origin=problem.origin,
                    kernel=case.name,
                    n_objects=problem.n_objects,
                    n_columns=width,
                    n_queries=problem.n_queries,
                    k=k,
                    engine=stats.algorithm,
                    evaluations=stats.kernel_evaluations / problem.n_queries,
                    work_share=work / (problem.n_queries * problem.n_objects * width),
                    mlpack=None if theirs is None else theirs.evaluations / problem.n_queries,
                    failure=peer.failure,
                )
            )
    return counts


def _settled(index: fastmks.Index, problem: Problem, k: int) -> fastmks.Stats:
    """Ask until the last searches had the same engine, and return what the last one cost."""
    engines = []
    for _ in range(_MOST_SEARCHES):
        stats = index.search(problem.queries, k).stats
        engines.append(stats.algorithm)
        if engines[-4:] == ["filter"] * 4:
            break
    return stats


def _checks(rows: Sequence[Count]) -> list[Check]:
    compared = [row for row in rows if row.mlpack is not None]
    logs = [math.log(row.mlpack / row.evaluations) for row in compared if row.mlpack]
    checks = [
        Check(
            claim="auto's evaluations, as a share of the scan's, at most",
            value=max((row.evaluations / row.n_objects for row in rows), default=0.0),
            limit=1.0,
            is_required=True,
        )
    ]
    if logs:
        mean = math.exp(sum(logs) / len(logs))
        checks.append(
            Check(
                claim=f"auto's evaluations as a share of mlpack's, geometric mean of {len(logs)}",
                value=1.0 / mean,
                limit=1.0 / _FEWER,
                is_required=False,
            )
        )
    return checks


def _table(rows: Sequence[Count]) -> str:
    head = ["data", "stands for", "kernel", "objects", "columns", "k", "auto", "evaluations"]
    head += ["of the scan's", "all arithmetic", "mlpack", "times fewer"]
    return markdown(head, [_cells(row) for row in rows])


def _cells(row: Count) -> list[str]:
    return [
        row.problem,
        row.row,
        row.kernel,
        str(row.n_objects),
        str(row.n_columns),
        str(row.k),
        row.engine,
        f"{row.evaluations:.0f}",
        f"{row.evaluations / row.n_objects:.2%}",
        f"{row.work_share:.1%}",
        "-" if row.mlpack is None else f"{row.mlpack:.0f}",
        "-" if row.mlpack is None else f"{row.mlpack / row.evaluations:.1f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
