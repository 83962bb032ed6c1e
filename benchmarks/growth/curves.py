"""Cells as curves: what one entrant costs against the number of objects, or the dimension."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from benchmarks.race.cell import Cell

SIZE, DIMENSION = "n", "dimension"  # the sections: what grows
Points: TypeAlias = list[tuple[float, float]]  # what grows, and the cost


class Place(NamedTuple):
    """Cells in which only one thing grows."""

    section: str
    series: str  # or how many objects, where the dimension grows
    kernel: str
    k: int


def places_of(cells: Sequence[Cell], section: str) -> list[Place]:
    """Return the places of a section, in the order of their first cells."""
    return [place for place in dict.fromkeys(map(_place, cells)) if place.section == section]


def greatest_k(places: Sequence[Place]) -> list[Place]:
    """Return one place for each series and kernel: what is built is the same for every k."""
    best = {(one.series, one.kernel): one for one in sorted(places, key=lambda place: place.k)}
    return [place for place in places if place in best.values()]


def cells_at(cells: Sequence[Cell], place: Place) -> list[Cell]:
    """Return the cells of a place, smallest first; of two alike the one with more queries."""
    mine = sorted((cell for cell in cells if _place(cell) == place), key=lambda c: c.n_queries)
    return [cell for _, cell in sorted({_at(cell): cell for cell in mine}.items())]


def curve_of(cells: Sequence[Cell], name: str, cost: str) -> Points:
    """Return what an entrant costs in the cells of a place; there may be no points."""
    found = [(float(_at(cell)), cell.get(name, cost)) for cell in cells]
    return [(at, float(value)) for at, value in found if value is not None]


def upper_half(points: Points) -> Points:
    """Return the larger half of the points, with the middle one."""
    return points[len(points) // 2 :]


def _place(cell: Cell) -> Place:
    section = str(cell.facts["section"])
    series = cell.problem if section == SIZE else f"{cell.n_objects:,} objects".replace(",", " ")
    return Place(section, series, cell.kernel, cell.k)


def _at(cell: Cell) -> int:
    return cell.n_objects if cell.facts["section"] == SIZE else int(cell.facts["dimension"])
