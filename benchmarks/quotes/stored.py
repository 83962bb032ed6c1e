"""Select figures in the stored results. What does not name exactly one of them is an error."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "Row", "SelectionError", "Stored"]

RESULTS = Path(__file__).parents[1] / "results"


class SelectionError(LookupError):
    """What was asked for is not in the stored results, or is there more than once."""


class Row:
    """An object of a stored file: a row, a cell, a race, a figure, or the whole file."""

    def __init__(self, fields: Mapping[str, Any], where: str) -> None:
        self._fields = fields
        self._where = where

    def __repr__(self) -> str:
        return f"<Row of {self._where}>"

    def number(self, *path: str) -> float:
        """Return the number under a name, or under names within each other."""
        found = self._at(path)
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise SelectionError(f"{_place(self._where, path)} must be a number; it is {found!r}.")
        return float(found)

    def text(self, *path: str) -> str:
        """Return the string under a name, or under names within each other."""
        found = self._at(path)
        if not isinstance(found, str):
            raise SelectionError(f"{_place(self._where, path)} must be a string; it is {found!r}.")
        return found

    def texts(self, *path: str) -> list[str]:
        """Return the list of strings under a name, or under names within each other."""
        found = self._at(path)
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            raise SelectionError(f"{_place(self._where, path)} must be a list of strings.")
        return found

    def has(self, name: str) -> bool:
        """Whether there is a value that is not null under this name."""
        return self._fields.get(name) is not None

    def has_at(self, *path: str) -> bool:
        """Whether there is something under names within each other."""
        try:
            return self._at(path) is not None
        except SelectionError:
            return False

    def all(self, part: str, **wanted: object) -> list["Row"]:
        """Return the rows of a list whose fields are as wanted: at least one."""
        found = self._matching(part, wanted)
        if not found:
            raise SelectionError(f"{self._asked(part, wanted)} matches no row.")
        return found

    def one(self, part: str, **wanted: object) -> "Row":
        """Return the only row of a list whose fields are as wanted."""
        found = self._matching(part, wanted)
        if len(found) != 1:
            raise SelectionError(f"{self._asked(part, wanted)} matches {len(found)} rows, not one.")
        return found[0]

    def measure(self, contestant: str, name: str) -> float:
        """Return the median of what one contestant of this cell was measured at."""
        return self.one("figures", contestant=contestant).number("measures", name, "median")

    def _at(self, path: tuple[str, ...]) -> Any:
        found: Any = self._fields
        for name in path:
            if not isinstance(found, Mapping) or name not in found:
                raise SelectionError(f"{_place(self._where, path)} does not exist.")
            found = found[name]
        return found

    def _matching(self, part: str, wanted: dict[str, object]) -> list["Row"]:
        rows = self._at((part,))
        if not isinstance(rows, list):
            raise SelectionError(f"{_place(self._where, (part,))} must be a list.")
        where = self._asked(part, wanted)
        return [
            Row(row, where)
            for row in rows
            if all(name in row and row[name] == value for name, value in wanted.items())
        ]

    def _asked(self, part: str, wanted: dict[str, object]) -> str:
        conditions = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
        return f"{_place(self._where, (part,))}({conditions})"


class Stored:
    """All files of results in a folder, each read when it is first asked for."""

    def __init__(self, folder: Path = RESULTS) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return the path of a file of results."""
        return self.folder / f"{name}.json"

    def file(self, name: str) -> Row:
        """Return all of a file."""
        if name not in self._files:
            if not self.path(name).exists():
                raise SelectionError(f"{name}.json is not among the stored results.")
            fields = json.loads(self.path(name).read_text(encoding="utf-8"))
            self._files[name] = Row(fields, f"{name}.json")
        return self._files[name]

    def rows(self, name: str, **wanted: object) -> list[Row]:
        """Return the rows of a file that are as wanted: at least one."""
        return self.file(name).all("rows", **wanted)

    def row(self, name: str, **wanted: object) -> Row:
        """Return the only row of a file that is as wanted."""
        return self.file(name).one("rows", **wanted)

    def common(self, name: str, field: str, **wanted: object) -> float:
        """Return the number that all rows of a file that are as wanted share."""
        found = {row.number(field) for row in self.rows(name, **wanted)}
        if len(found) != 1:
            raise SelectionError(f"{name}.json has rows with {field} of {sorted(found)}, not one.")
        return found.pop()

    def cell(self, name: str, **wanted: object) -> Row:
        """Return the only cell of a file that is as wanted."""
        return self.file(name).one("cells", **wanted)

    def race(self, name: str, **wanted: object) -> Row:
        """Return the only race of a file that is as wanted."""
        return self.file(name).one("races", **wanted)

    def note(self, name: str, start: str) -> str:
        """Return the rest of the only note of a file that starts so."""
        found = [note for note in self.file(name).texts("notes") if note.startswith(start)]
        if len(found) != 1:
            raise SelectionError(f"{name}.json has {len(found)} notes, not one, from {start!r} on.")
        return found[0].removeprefix(start)

    def by_hand(self, experiment: str, figure: str) -> float:
        """Return a figure of an experiment that was made once, by hand."""
        return self.row("experiments", experiment=experiment).number("figures", figure)

    @cached_property
    def _files(self) -> dict[str, Row]:
        return {}


def _place(where: str, path: tuple[str, ...]) -> str:
    return ".".join([where, *path])
