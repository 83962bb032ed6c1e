"""Finished cells, kept in a file as soon as they are measured: a run that is stopped goes on."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers.cell import Cell, Figure, Key
from benchmarks.report import Check, commit, describe_machine, keep_ledger

__all__ = ["NAME", "Kept"]

NAME = "peers_bars"
_DIGITS = 5  # significant


class Kept:
    """The cells of a grid, in the order of measuring, and other rows by their name.

    Cells that were measured while others took more than `most_others` of the machine are dropped
    when the file is read, so that they are measured again.
    """

    def __init__(self, file: Path | None, *, most_others: float = 1.0) -> None:
        self._file = file
        self._cells: dict[Key, Cell] = {}
        self._commit = commit()
        self.circumstances: dict[str, Any] = {"machine": describe_machine()}
        self.rows: dict[str, list[dict[str, Any]]] = {}
        if file is None or not file.exists():
            return
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored.get("name") != NAME:
            raise ValueError(f"{file} must hold figures of this program, or not exist.")
        for fields in stored.pop("cells"):
            cell = _read_cell(fields)
            if (cell.others or 0.0) <= most_others:
                self._cells[cell.key] = cell
        self.rows = stored.pop("rows")
        self.circumstances = stored

    def __contains__(self, key: Key) -> bool:
        return key in self._cells

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return list(self._cells.values())

    @property
    def commit(self) -> str:
        """Of this run; each cell has its own."""
        return self._commit

    def add(self, cell: Cell) -> None:
        """Keep a cell in place of an older one; `write` makes it last."""
        self._cells.pop(cell.key, None)
        self._cells[cell.key] = cell

    def write(self, notes: Sequence[str], checks: Sequence[Check]) -> None:
        """Write everything, a cell on each line; what was there is replaced at once or not."""
        ledger = asdict(
            keep_ledger(NAME, self._commit, notes=list(notes), rows=(), checks=tuple(checks))
        )
        del ledger["rows"]
        self.circumstances = ledger
        if self._file is None:
            return
        head = json.dumps(ledger, indent=1)[:-2]
        cells = ",\n".join(json.dumps(_plain(cell)) for cell in self.cells)
        rows = json.dumps(self.rows)
        text = f'{head},\n "rows": {rows},\n "cells": [\n{cells}\n ]\n}}\n'
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_name(f"{self._file.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(self._file)


def _plain(cell: Cell) -> dict[str, Any]:
    fields = {name: _short(value) for name, value in asdict(cell).items() if name != "figures"}
    fields["figures"] = [
        {name: _short(value) for name, value in asdict(one).items() if value is not None}
        for one in cell.figures
    ]
    return fields


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _read_cell(fields: dict[str, Any]) -> Cell:
    figures = tuple(Figure(**figure) for figure in fields.pop("figures"))
    return Cell(**fields, figures=figures)
