"""Cells as curves: what one entrant costs against the number of objects, or the dimension."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.growth.fit import Law, fit_power
from benchmarks.race.cell import Cell, Figure

__all__ = [
    "DIMENSION",
    "SIZE",
    "Cost",
    "Curve",
    "Place",
    "cells_at",
    "curve_of",
    "dimension_of",
    "fit_ranges",
    "greatest_k",
    "places_of",
]

SIZE, DIMENSION = "n", "dimension"  # the sections: what grows
Cost: TypeAlias = Callable[[Figure], float | None]


@dataclass(frozen=True)
class Place:
    """Cells in which only one thing grows."""

    section: str
    series: str  # or how many objects, where the dimension grows
    kernel: str
    k: int


@dataclass(frozen=True)
class Curve:
    """Costs of one entrant, by what grows; there may be none."""

    name: str
    points: tuple[tuple[float, float], ...]

    @property
    def upper_half(self) -> tuple[tuple[float, float], ...]:
        """The larger half of the points, with the middle one."""
        return self.points[len(self.points) // 2 :]


def dimension_of(cell: Cell) -> int:
    """Return the dimension of a cube."""
    return int(cell.facts["dimension"])


def places_of(cells: Sequence[Cell], section: str) -> list[Place]:
    """Return the places of a section, in the order of their first cells."""
    found = dict.fromkeys(map(_place, cells))
    return [place for place in found if place.section == section]


def greatest_k(places: Sequence[Place]) -> list[Place]:
    """Return one place for each series and kernel: what is built is the same for every k."""
    found = sorted(places, key=lambda place: place.k)
    best = {(place.series, place.kernel): place for place in found}
    return [place for place in places if place in best.values()]


def cells_at(cells: Sequence[Cell], place: Place) -> list[Cell]:
    """Return the cells of a place, smallest first; of two alike the one with more queries."""
    mine = sorted((cell for cell in cells if _place(cell) == place), key=lambda c: c.n_queries)
    return [cell for _, cell in sorted({_at(cell): cell for cell in mine}.items())]


def curve_of(cells: Sequence[Cell], name: str, cost: Cost) -> Curve:
    """Return what an entrant costs in the cells of a place."""
    points = []
    for cell in cells:
        figure = cell.figure(name)
        value = None if figure is None or figure.failure is not None else cost(figure)
        if value is not None:
            points.append((float(_at(cell)), float(value)))
    return Curve(name, tuple(points))


def fit_ranges(curve: Curve) -> dict[str, Law | None]:
    """Return the powers of all sizes and of the upper half: whether it bends shows."""
    return {"all": fit_power(curve.points), "upper half": fit_power(curve.upper_half)}


def _place(cell: Cell) -> Place:
    section = str(cell.facts["section"])
    series = cell.problem if section == SIZE else f"{cell.n_objects:,} objects".replace(",", " ")
    return Place(section, series, cell.kernel, cell.k)


def _at(cell: Cell) -> int:
    return cell.n_objects if cell.facts["section"] == SIZE else dimension_of(cell)
