"""Programs that run long: a bar shows how far they are, and every finished cell lasts."""

import argparse
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

from tqdm import tqdm

from benchmarks.command import Collector
from benchmarks.kept import Kept, Measured
from benchmarks.report import Check

__all__ = ["INTERRUPTED", "Run", "carry_out"]

INTERRUPTED = 130  # the exit code of a program that was told to stop by Ctrl-C
_Cell = TypeVar("_Cell", bound=Measured)


class _OutOfTimeError(Exception):
    """The minutes of --minutes are over."""


class Run(Generic[_Cell]):
    """One run of a program that keeps its cells; use it in a `with`.

    The body ends early, and without an error, when the time of `--minutes` is over or the user
    presses Ctrl-C: whatever was finished is kept, and the same command goes on.
    """

    def __init__(
        self, options: argparse.Namespace, collector: Collector, kept: Kept[_Cell]
    ) -> None:
        self.options, self.collector, self.kept = options, collector, kept
        self.is_interrupted = self.is_out_of_time = False
        self._end = time.perf_counter() + 60.0 * (options.minutes or 1e9)
        self._bar: Any = None

    def __enter__(self) -> "Run[_Cell]":
        self._bar = tqdm(total=0, unit=" cells", disable=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._bar.close()
        if isinstance(error, KeyboardInterrupt):
            self.is_interrupted = True
            kept = "" if self.kept.file is None else f" {len(self.kept.cells)} cells are kept;"
            print(f"interrupted:{kept} the same command goes on", file=sys.stderr)
            return True
        if isinstance(error, _OutOfTimeError):
            self.is_out_of_time = True
            self.collector.note("stopped by --minutes: not all cells are measured")
            return True
        return False

    def expect(self, n_cells: int) -> None:
        """Say that so many more cells will come."""
        self._bar.total += n_cells
        self._bar.refresh()

    def wants(self, key: Hashable) -> bool:
        """Whether a cell must be measured; the bar counts one that need not."""
        if key in self.kept:
            self._bar.update()
            return False
        return True

    def announce(self, key: Hashable) -> None:
        """Show what is measured now."""
        self._bar.set_description(str(key))

    def leave_out(self, n_cells: int) -> None:
        """Say that so many of the cells expected will not come."""
        self._bar.total -= n_cells
        self._bar.refresh()

    def keep(self, cell: _Cell, line: str) -> None:
        """Keep a cell, and show a line about it; the end where the time is over."""
        self.kept.add(cell)
        self.kept.write(self.collector.notes)
        tqdm.write(line, file=sys.stderr)
        self._bar.update()
        if time.perf_counter() > self._end:
            raise _OutOfTimeError


def carry_out(
    options: argparse.Namespace,
    kept: Kept[_Cell],
    work: Callable[[Run[_Cell]], None],
    claims: Callable[[], Sequence[Check]],
    collector: Collector | None = None,
) -> Run[_Cell]:
    """Measure what is missing, unless it is only shown, and keep what is claimed of it all."""
    collector = collector or Collector(options)
    run = Run(options, collector, kept)
    if options.show:
        if not kept.cells:
            sys.exit("--show needs what an earlier run has kept as --out")
        return run
    with run:
        work(run)
    if not run.is_interrupted:
        kept.write(collector.notes, claims())
    return run
