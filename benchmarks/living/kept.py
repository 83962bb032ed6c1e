"""How cells of living indexes go to their file and come back."""

from pathlib import Path
from typing import Any

from benchmarks.kept import Kept, short
from benchmarks.living.cell import Cell, Figure, Measure

__all__ = ["NAME", "open_kept"]

NAME = "living"


def open_kept(file: Path | None, *, most_others: float = 1.0) -> Kept[Cell]:
    """Return the cells of a file, or none where there is no file yet."""
    return Kept(NAME, file, read=_read_cell, show=_plain_cell, most_others=most_others)


def _plain_cell(cell: Cell) -> dict[str, Any]:
    names = [name for name in Cell.__dataclass_fields__ if name != "figures"]
    fields = {name: short(getattr(cell, name)) for name in names}
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
            "median": short(measure.median),
            "low": short(measure.low),
            "high": short(measure.high),
            "rounds": [short(value) for value in measure.rounds],
        }
        for name, measure in figure.measures.items()
    }
    return fields


def _read_cell(fields: dict[str, Any]) -> Cell:
    figures = []
    for figure in fields.pop("figures"):
        measures = {
            name: Measure(tuple(measure["rounds"]))
            for name, measure in figure.pop("measures").items()
        }
        figures.append(Figure(**figure | {"notes": tuple(figure["notes"])}, measures=measures))
    return Cell(**fields, figures=tuple(figures))
