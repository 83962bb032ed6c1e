"""The frame of the programs about objects that are not vectors: rows, a table, and a file."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from benchmarks.report import Check, circumstances, commit, markdown, write_rows
from benchmarks.suite import Collector, read_options

_Row = TypeVar("_Row")


@dataclass(frozen=True, kw_only=True)
class Program(Generic[_Row]):
    """One program, declared: what gives its rows, and how they are shown."""

    name: str
    about: str | None
    measure: Callable[[argparse.Namespace, Collector], Iterable[_Row]]
    head: str  # the titles, with bars between them
    cells: Callable[[_Row], Sequence[object]]
    is_wrong: Callable[[_Row], bool] = field(default=lambda row: row.differs_from_scan)
    checks: Callable[[Sequence[_Row]], list[Check]] = field(default=lambda rows: [])

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run, print, write; 1 where an answer is not the true one."""
        options = read_options(f"objects.{self.name}", self.about, arguments)
        collector, started_at = Collector(options), commit()
        rows: list[Any] = []
        for row in self.measure(options, collector):
            print("  ".join(map(str, self.cells(row))), flush=True)
            rows.append(row)
        checks = self.checks(rows)
        print("", markdown(self.head, map(self.cells, rows)), *checks, sep="\n")
        if options.out is not None:
            head = circumstances(f"objects_{self.name}", started_at, collector.notes, checks)
            write_rows(options.out, head, rows)
        return int(any(map(self.is_wrong, rows)))
