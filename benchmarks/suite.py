"""The frame of all programs: options, sizes, finished cells in a file, tables and claims.

A suite declares what it measures and shows. Each finished cell is kept at once, so a run that was
stopped goes on with the same command.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from tqdm import tqdm

from benchmarks.datasets import Problem
from benchmarks.report import Check, circumstances, commit

INTERRUPTED = 130  # the exit code of a program that was told to stop by Ctrl-C
EVERYTHING = 10**9
_DIGITS = 5  # significant


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The common fields of cells, beside those of their key, which is their first base class."""

    commit: str = "unknown"
    others: float | None = None  # share of the machine that other processes took meanwhile
    seconds: float = 0.0  # to measure it, checks included

    @property
    def key(self) -> Any:
        """The key of the cell."""
        kind: Any = type(self).__bases__[0]
        return kind(**{one.name: getattr(self, one.name) for one in fields(kind)})

    @property
    def line(self) -> str:
        """One line about the cell, shown when it was measured."""
        return str(self.key)


_Cell = TypeVar("_Cell", bound=Measured)


def read_options(
    name: str,
    about: str | None,
    arguments: Sequence[str] | None,
    more: Mapping[str, Mapping[str, Any]] | None = None,
) -> argparse.Namespace:
    """Read the command line; `more` declares the options of this program alone."""
    parser = argparse.ArgumentParser(prog=f"benchmarks.{name}", description=about)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the real data sets")
    parser.add_argument("--quick", action="store_true", help="small problems, few rounds")
    parser.add_argument("--out", type=Path, metavar="JSON", help="where the figures go")
    parser.add_argument("--rounds", type=_count, metavar="N", help="timed rounds")
    parser.add_argument("--objects", type=_count, metavar="N", help="at most this many of each set")
    parser.add_argument("--queries", type=_count, metavar="N", help="at most this many of each set")
    parser.add_argument("--only", "--sets", nargs="+", metavar="SET", help="these sets, by name")
    for flag, declared in (more or {}).items():
        parser.add_argument(flag, **declared)
    options = parser.parse_args(arguments)
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data must be a folder; got {options.data}")
    return options


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {number}")
    return number


_KEPT_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "--patience": {
        "type": float, "default": 120.0, "metavar": "S",
        "help": "seconds a peer may take for one build or search (default 120)",
    },
    "--minutes": {
        "type": float, "metavar": "M", "help": "stop after this long; run again to go on",
    },
    "--quiet": {
        "type": float, "default": 1.0, "metavar": "SHARE",
        "help": "measure kept cells again where others took more of the machine than this",
    },
    "--show": {"action": "store_true", "help": "measure nothing: show what is kept"},
}  # fmt: skip


class Collector:
    """The sets and sizes that the command line allows, and notes about missing data."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.folder: Path | None = options.data
        self.notes: list[str] = []
        if options.data is None and not getattr(options, "show", False):
            self.note("no --data: generated problems and scikit-learn's digits only")

    def note(self, line: str) -> None:
        """Print a line once, and keep it for the report."""
        if line not in self.notes:
            print(line, file=sys.stderr, flush=True)
            self.notes.append(line)

    def wants(self, name: str) -> bool:
        """Whether a set is among those asked for."""
        return self._options.only is None or name in self._options.only

    def folder_with(self, file: str) -> Path | None:
        """Return the folder of data if it has a file; note a missing file."""
        if self.folder is not None and not (self.folder / file).exists():
            self.note(f"not in the folder: {file}")
            return None
        return self.folder

    def cut(self, problem: Problem, n_objects: int, n_queries: int) -> Problem:
        """Return a sample as large as the program and the command line allow."""
        return problem.sample(*self.limits(n_objects, n_queries))

    def limits(self, n_objects: int, n_queries: int) -> tuple[int, int]:
        """Return the greatest numbers of objects and queries."""
        options = self._options
        return (
            min(n_objects, options.objects or EVERYTHING),
            min(n_queries, options.queries or EVERYTHING),
        )


class Kept(Generic[_Cell]):
    """The cells of a program, in the order in which they were first measured.

    Cells of a file that were measured while others took more than `most_others` of the machine
    do not count as kept: they stay until they have been measured again.
    """

    def __init__(
        self, name: str, file: Path | None, kind: type[_Cell], *, most_others: float = 1.0
    ) -> None:
        self.name, self.file, self.commit = name, file, commit()
        self._cells: dict[Hashable, _Cell] = {}
        self._noisy: set[Hashable] = set()
        self.circumstances = circumstances(name, self.commit, ())
        if file is None or not file.exists():
            return
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored.get("name") != name:
            raise ValueError(f"{file} must hold figures of benchmarks.{name}, or not exist.")
        for one in stored.pop("cells"):
            cell = _restored(kind, one)
            self._cells[cell.key] = cell
            if (cell.others or 0.0) > most_others:
                self._noisy.add(cell.key)
        self.circumstances = stored

    def __contains__(self, key: Hashable) -> bool:
        return key in self._cells and key not in self._noisy

    @property
    def cells(self) -> list[_Cell]:
        """All cells."""
        return list(self._cells.values())

    def add(self, cell: _Cell) -> None:
        """Keep a cell in place of an older one; `write` stores it."""
        self._noisy.discard(cell.key)
        self._cells[cell.key] = cell

    def write(self, notes: Sequence[str], checks: Sequence[Check] = ()) -> None:
        """Write everything, a cell on each line; the file is replaced as a whole."""
        self.circumstances = circumstances(self.name, self.commit, notes, checks)
        if self.file is None:
            return
        head = json.dumps(self.circumstances, indent=1)[:-2]
        cells = ",\n".join(json.dumps(_plain(cell)) for cell in self.cells)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_name(f"{self.file.name}.part")
        part.write_text(f'{head},\n "cells": [\n{cells}\n ]\n}}\n', encoding="utf-8")
        part.replace(self.file)

    def describe(self) -> str:
        """Say where and when the cells were measured, with what."""
        facts, machine = self.circumstances, self.circumstances["machine"]
        commits = sorted({cell.commit for cell in self.cells})
        others = [cell.others for cell in self.cells if cell.others is not None]
        versions = [f"{name} {n}" for name, n in facts["versions"].items() if n[0].isdigit()]
        where = f"{machine['cores']} cores of {machine['cpu']} ({machine['fastmks_isa']})"
        what = f"{machine['os']}, Python {machine['python']}, {', '.join(versions)}"
        when = f"{facts['date']}, commit {', '.join(commits)}"
        cells = f"{len(self.cells)} cells"
        if others:
            cells += f"; others took up to {max(others):.0%} of the machine meanwhile"
        notes = [f"Note: {note}." for note in facts["notes"]]
        return "\n".join([f"{where}, {what}; {when}.", f"{cells}.", *notes])


def _plain(value: Any) -> Any:
    """Return a value as JSON takes it: short floats, no None, and no field as by default."""
    if is_dataclass(value):
        named = {one.name: (getattr(value, one.name), one.default) for one in fields(value)}
        return _plain({name: mine for name, (mine, default) in named.items() if mine != default})
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


@lru_cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _restored(hint: Any, value: Any) -> Any:
    """Return a value of its plain form; dataclasses may stand in tuples and mappings."""
    if isinstance(hint, type) and is_dataclass(hint):
        hints = _hints(hint)
        return hint(**{name: _restored(hints[name], one) for name, one in value.items()})
    if get_origin(hint) is tuple:
        return tuple(_restored(get_args(hint)[0], one) for one in value)
    if get_origin(hint) is Mapping:
        return {name: _restored(get_args(hint)[1], one) for name, one in value.items()}
    return value


class _OutOfTimeError(Exception):
    """The minutes of --minutes are over."""


class Run(Generic[_Cell]):
    """One run of a program: its options, and the cells that it keeps.

    `sizes` are those that the suite declares, full or quick.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        sizes: Mapping[str, Any],
        kept: Kept[_Cell],
        collector: Collector | None = None,
    ) -> None:
        self.options, self.sizes, self.kept = options, SimpleNamespace(**sizes), kept
        self.collector = collector or Collector(options)
        self.is_out_of_time = False
        self._started = time.perf_counter()
        self._end = self._started + 60.0 * (options.minutes or EVERYTHING)
        self._bar: Any = None

    def carry_out(
        self, work: "Callable[[Run[_Cell]], None]", checks: Callable[[], Sequence[Check]]
    ) -> bool:
        """Measure what is missing, unless it is only shown; return False after Ctrl-C.

        Work ends early, and without an error, when the time of `--minutes` is over.
        """
        if self.options.show:
            if not self.kept.cells:
                sys.exit("--show needs what an earlier run has kept as --out")
            return True
        with tqdm(total=0, unit=" cells", disable=None) as self._bar:
            try:
                work(self)
            except KeyboardInterrupt:
                kept = "" if self.kept.file is None else f" {len(self.kept.cells)} cells are kept;"
                print(f"interrupted:{kept} the same command goes on", file=sys.stderr)
                return False
            except _OutOfTimeError:
                self.is_out_of_time = True
                self.collector.note("stopped by --minutes: not all cells are measured")
        self.kept.write(self.collector.notes, checks())
        return True

    def expect(self, n_cells: int) -> None:
        """Add this many cells to the progress bar; may be negative."""
        self._bar.total += n_cells
        self._bar.refresh()

    def missing(self, keys: Sequence[Any]) -> list[Any]:
        """Return the keys of the cells that must be measured; the bar counts the others."""
        wanted = [key for key in keys if key not in self.kept]
        self._bar.update(len(keys) - len(wanted))
        return wanted

    def announce(self, key: Hashable) -> None:
        """Show the cell that is measured now."""
        self._bar.set_description(str(key))
        self._started = time.perf_counter()

    def keep(self, cell: _Cell) -> None:
        """Keep a cell with its commit and seconds, and show a line; stop where time is over."""
        started, self._started = self._started, time.perf_counter()
        cell = replace(cell, commit=self.kept.commit, seconds=self._started - started)
        self.kept.add(cell)
        self.kept.write(self.collector.notes)
        tqdm.write(cell.line, file=sys.stderr)
        self._bar.update()
        if time.perf_counter() > self._end:
            raise _OutOfTimeError


@dataclass(frozen=True, kw_only=True)
class Suite(Generic[_Cell]):
    """A program that keeps its cells, declared."""

    name: str  # of its file
    about: str | None
    cell: type[_Cell]
    full: Mapping[str, Any]  # how much of everything
    quick: Mapping[str, Any]  # what is less with --quick
    work: Callable[[Run[_Cell]], None]
    checks: Callable[[Kept[_Cell]], list[Check]]
    show: Callable[[argparse.Namespace, Kept[_Cell]], str]  # what it prints
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def read_options(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Read the command line."""
        more = {**self.options, **_KEPT_OPTIONS}
        return read_options(self.name, self.about, arguments, more)

    def sizes_of(self, options: argparse.Namespace) -> dict[str, Any]:
        """Return the sizes of this run, quick or not."""
        sizes = {**self.full, **(self.quick if options.quick else {})}
        return {**sizes, "rounds": options.rounds or sizes.get("rounds")}

    def start(
        self, options: argparse.Namespace, file: Path | None, collector: Collector | None = None
    ) -> Run[_Cell]:
        """Return a run over the cells that a file keeps."""
        kept = Kept(self.name, file, self.cell, most_others=options.quiet)
        return Run(options, self.sizes_of(options), kept, collector)

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Measure, keep, print; 0 when every claim that is required holds."""
        options = self.read_options(arguments)
        run = self.start(options, options.out)
        if not run.carry_out(self.work, lambda: self.checks(run.kept)):
            return INTERRUPTED
        print(self.show(options, run.kept))
        return conclude(self.checks(run.kept))


def conclude(checks: Sequence[Check]) -> int:
    """Print claims; return the exit code."""
    print(*checks, sep="\n")
    return 0 if all(check.holds for check in checks if check.is_required) else 1
