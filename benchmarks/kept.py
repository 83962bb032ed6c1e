"""Finished cells, kept in a file as soon as they are measured: a run that is stopped goes on."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from benchmarks.report import Check, commit, keep_ledger

__all__ = ["Kept", "Measured", "plain", "short"]

_DIGITS = 5  # significant


class Measured(Protocol):
    """A cell: one thing that was measured."""

    @property
    def key(self) -> Hashable:
        """What tells it from other cells."""

    @property
    def others(self) -> float | None:
        """Share of the machine that other processes took meanwhile."""


_Cell = TypeVar("_Cell", bound=Measured)


class Kept(Generic[_Cell]):
    """The cells of a program, in the order in which they were first measured.

    `read` makes a cell of its plain form, `show` the plain form of a cell. Cells of a file that
    were measured while others took more than `most_others` of the machine do not count as kept:
    they stay until they have been measured again.
    """

    def __init__(
        self,
        name: str,
        file: Path | None,
        *,
        read: Callable[[dict[str, Any]], _Cell],
        show: Callable[[_Cell], dict[str, Any]] | None = None,
        most_others: float = 1.0,
    ) -> None:
        self.name, self.file, self.commit = name, file, commit()
        self._show = show or plain
        self._cells: dict[Hashable, _Cell] = {}
        self._noisy: set[Hashable] = set()
        self.circumstances = self._here((), ())
        if file is None or not file.exists():
            return
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored.get("name") != name:
            raise ValueError(f"{file} must hold figures of benchmarks.{name}, or not exist.")
        for fields in stored.pop("cells"):
            cell = read(fields)
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
        """Keep a cell in place of an older one; `write` makes it last."""
        self._noisy.discard(cell.key)
        self._cells[cell.key] = cell

    def write(self, notes: Sequence[str], checks: Sequence[Check] = ()) -> None:
        """Write everything, a cell on each line; what was there is replaced at once or not."""
        self.circumstances = self._here(notes, checks)
        if self.file is None:
            return
        head = json.dumps(self.circumstances, indent=1)[:-2]
        cells = ",\n".join(json.dumps(self._show(cell)) for cell in self.cells)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_name(f"{self.file.name}.part")
        part.write_text(f'{head},\n "cells": [\n{cells}\n ]\n}}\n', encoding="utf-8")
        part.replace(self.file)

    def describe(self) -> str:
        """Say where and when the cells were measured, with what."""
        facts = self.circumstances
        machine = facts["machine"]
        commits = sorted({getattr(cell, "commit", "unknown") for cell in self.cells})
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

    def _here(self, notes: Sequence[str], checks: Sequence[Check]) -> dict[str, Any]:
        ledger = asdict(keep_ledger(self.name, self.commit, notes=notes, rows=(), checks=checks))
        del ledger["rows"]
        return ledger


def plain(cell: Any) -> dict[str, Any]:
    """Return a dataclass as JSON takes it: short floats, and nothing that is as by default."""
    fields = _plain(cell)
    assert isinstance(fields, dict)
    return fields


def short(value: Any) -> Any:
    """Round a float to the digits that are kept."""
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        named = {one.name: (getattr(value, one.name), one.default) for one in fields_of(value)}
        kept = {name: mine for name, (mine, default) in named.items() if mine != default}
        return {name: _plain(mine) for name, mine in kept.items() if mine is not None}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return short(value)
