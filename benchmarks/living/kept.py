"""Finished cells, kept in a file as soon as they are measured: a run that is stopped goes on."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.living.cell import Cell, Figure, Key, Measure
from benchmarks.report import Check, commit, keep_ledger

__all__ = ["NAME", "Kept"]

NAME = "living"
_DIGITS = 5  # significant


class Kept:
    """Cells in the order in which they were first measured.

    Those of a file that were measured while others took more than `most_others` of the machine do
    not count as kept: they stay until they have been measured again.
    """

    def __init__(self, file: Path | None, *, most_others: float = 1.0) -> None:
        self._file = file
        self._cells: dict[Key, Cell] = {}
        self._noisy: set[Key] = set()
        self.commit = commit()
        if file is None or not file.exists():
            return
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored.get("name") != NAME:
            raise ValueError(f"{file} must hold figures of this program, or not exist.")
        for fields in stored["cells"]:
            cell = _read_cell(fields)
            self._cells[cell.key] = cell
            if (cell.others or 0.0) > most_others:
                self._noisy.add(cell.key)

    def __contains__(self, key: Key) -> bool:
        return key in self._cells and key not in self._noisy

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return list(self._cells.values())

    def add(self, cell: Cell) -> None:
        """Keep a cell in place of an older one; `write` makes it last."""
        self._noisy.discard(cell.key)
        self._cells[cell.key] = cell

    def write(self, notes: Sequence[str], checks: Sequence[Check]) -> None:
        """Write everything, a cell on each line; what was there is replaced at once or not."""
        if self._file is None:
            return
        ledger = asdict(keep_ledger(NAME, self.commit, notes=notes, rows=(), checks=checks))
        del ledger["rows"]
        head = json.dumps(ledger, indent=1)[:-2]
        cells = ",\n".join(json.dumps(_plain_cell(cell)) for cell in self.cells)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_name(f"{self._file.name}.part")
        part.write_text(f'{head},\n "cells": [\n{cells}\n ]\n}}\n', encoding="utf-8")
        part.replace(self._file)


def _plain_cell(cell: Cell) -> dict[str, Any]:
    names = [name for name in Cell.__dataclass_fields__ if name != "figures"]
    fields = {name: _short(getattr(cell, name)) for name in names}
    fields["figures"] = [_plain_figure(figure) for figure in cell.figures]
    return fields


def _plain_figure(figure: Figure) -> dict[str, Any]:
    fields = {
        name: value
        for name, value in figure.__dict__.items()
        if name != "measures" and value is not None
    }
    fields["measures"] = {
        name: {
            "median": _short(measure.median),
            "low": _short(measure.low),
            "high": _short(measure.high),
            "rounds": [_short(value) for value in measure.rounds],
        }
        for name, measure in figure.measures.items()
    }
    return fields


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _read_cell(fields: dict[str, Any]) -> Cell:
    figures = []
    for figure in fields.pop("figures"):
        measures = {
            name: Measure(tuple(measure["rounds"]))
            for name, measure in figure.pop("measures").items()
        }
        figures.append(Figure(**figure | {"notes": tuple(figure["notes"])}, measures=measures))
    return Cell(**fields, figures=tuple(figures))
