"""The frame of the programs about objects that are not vectors: rows, a table, and a file."""

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import fastmks
from benchmarks.quotes.tables import fill
from benchmarks.report import Check, circumstances, commit, markdown, write_rows
from benchmarks.suite import Collector, read_options
from fastmks.kernels import Kernel

_Row = TypeVar("_Row")


@dataclass(frozen=True, kw_only=True)
class Program(Generic[_Row]):
    """One program, declared: the function that yields its rows, and how they are shown."""

    name: str
    about: str | None
    measure: Callable[[argparse.Namespace, Collector], Iterable[_Row]]
    head: str  # the titles of the table, with bars between them
    cells: str  # the templates of the cells, as in quotes.tables
    is_wrong: Callable[[_Row], bool] = field(default=lambda row: row.differs_from_scan)
    checks: Callable[[Sequence[_Row]], list[Check]] = field(default=lambda rows: [])

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run, print, write; 1 where an answer is not the true one."""
        options = read_options(f"objects.{self.name}", self.about, arguments)
        collector, started_at = Collector(options), commit()
        rows: list[Any] = []
        for row in self.measure(options, collector):
            print("  ".join(self._cells(row)), flush=True)
            rows.append(row)
        checks = self.checks(rows)
        print("", markdown(self.head, map(self._cells, rows)), *checks, sep="\n")
        if options.out is not None:
            head = circumstances(f"objects_{self.name}", started_at, collector.notes, checks)
            write_rows(options.out, head, rows)
        return int(any(map(self.is_wrong, rows)))

    def _cells(self, row: Any) -> list[str]:
        return [fill(cell, asdict(row)) for cell in self.cells.split("|")]


@dataclass(frozen=True, kw_only=True)
class Lap:
    """The figures of one engine with one kernel on one set."""

    problem: str
    kernel: str
    algorithm: str
    n_objects: int
    n_queries: int
    k: int
    build_seconds: float
    seconds: float
    evaluations: int
    share: float  # of the evaluations of a scan
    differs_from_scan: bool


def run_laps(
    problem: str, objects: Any, queries: Any, kernel: Kernel, algorithms: Sequence[str], k: int
) -> tuple[list[Lap], fastmks.Hits]:
    """Scan first, then let each engine answer the same queries."""
    laps: list[Lap] = []
    found: list[fastmks.Hits] = []
    for algorithm in ("scan", *algorithms):
        started = time.perf_counter()
        index = fastmks.Index(objects, kernel, algorithm=algorithm)
        built = time.perf_counter()
        hits = index.search(queries, k)
        done = time.perf_counter()
        found.append(hits)
        same = hits.values.tobytes() == found[0].values.tobytes()
        laps.append(
            Lap(
                problem=problem,
                kernel=repr(kernel),
                algorithm=algorithm,
                n_objects=len(index),
                n_queries=len(hits.values),
                k=k,
                build_seconds=built - started,
                seconds=done - built,
                evaluations=hits.stats.kernel_evaluations,
                share=hits.stats.scan_share,
                differs_from_scan=not (same and (hits.indices == found[0].indices).all()),
            )
        )
    return laps, found[0]


LapProgram = partial(
    Program[Lap],
    head="kernel|engine|n|k|build s|ms a query|evaluations of scan|differs",
    cells="{kernel}|{algorithm}|{n_objects}|{k}|{build_seconds:.2f}|{seconds/n_queries:ms}"
    "|{share:.1%}|{differs_from_scan}",
)
