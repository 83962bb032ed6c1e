"""The frame of the programs about objects that are not vectors: rows, a table, and a file."""

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import fastmks
from benchmarks.harness import timed
from benchmarks.quotes.tables import fill
from benchmarks.report import Check, circumstances, commit, markdown
from benchmarks.suite import Collector, read_options
from fastmks.kernels import Kernel

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Program:
    """One program, declared: the function that yields its rows, and how they are shown."""

    name: str
    about: str | None
    measure: Callable[[argparse.Namespace, Collector], Iterable[Row]]
    head: str  # the titles of the table, with bars between them
    cells: str  # the templates of the cells, as in quotes.tables
    is_wrong: Callable[[Row], bool] = field(default=lambda row: row["differs_from_scan"])
    checks: Callable[[Sequence[Row]], list[Check]] = field(default=lambda rows: [])

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run, print, write; 1 where an answer is not the true one."""
        options = read_options(f"objects.{self.name}", self.about, arguments)
        collector, started_at = Collector(options), commit()
        rows = []
        for row in self.measure(options, collector):
            print("  ".join(self._cells(row)), flush=True)
            rows.append(row)
        checks = self.checks(rows)
        print("", markdown(self.head, map(self._cells, rows)), *checks, sep="\n")
        if options.out is not None:
            head = circumstances(f"objects_{self.name}", started_at, collector.notes, checks)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({**head, "rows": rows}, indent=1)
            options.out.write_text(f"{text}\n", encoding="utf-8")
        return int(any(map(self.is_wrong, rows)))

    def _cells(self, row: Row) -> list[str]:
        return [fill(cell, row) for cell in self.cells.split("|")]


def differs(found: fastmks.Hits, truth: fastmks.Hits) -> bool:
    """Whether ids differ, or a bit of a value."""
    same = found.values.tobytes() == truth.values.tobytes()
    return not (same and bool((found.indices == truth.indices).all()))


def run_laps(
    problem: str, objects: Any, queries: Any, kernel: Kernel, algorithms: Sequence[str], k: int
) -> tuple[list[Row], fastmks.Hits]:
    """Scan first, then let each engine answer the same queries."""
    laps: list[Row] = []
    found: list[fastmks.Hits] = []
    for algorithm in ("scan", *algorithms):
        index, building = timed(partial(fastmks.Index, objects, kernel, algorithm=algorithm))
        hits, searching = timed(partial(index.search, queries, k))
        found.append(hits)
        laps.append(
            {
                "problem": problem,
                "kernel": repr(kernel),
                "algorithm": algorithm,
                "n_objects": len(index),
                "n_queries": len(hits.values),
                "k": k,
                "build_seconds": building,
                "seconds": searching,
                "evaluations": hits.stats.kernel_evaluations,
                "share": hits.stats.scan_share,  # of the evaluations of a scan
                "differs_from_scan": differs(hits, found[0]),
            }
        )
    return laps, found[0]


LapProgram = partial(
    Program,
    head="kernel|engine|n|k|build s|ms a query|evaluations of scan|differs",
    cells="{kernel}|{algorithm}|{n_objects}|{k}|{build_seconds:.2f}|{seconds/n_queries:ms}"
    "|{share:.1%}|{differs_from_scan}",
)
