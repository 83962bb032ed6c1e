"""Cells as curves: the cost of one entrant against what grows, and laws fitted to it.

Laws are fitted by least squares in logarithms: powers of x, and exponentials of x.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
    """Return the costs of an entrant in the cells of a place, possibly none."""
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


# Student's t at 97.5 %, by degrees of freedom. Beyond the last it is taken as the last, so that an
# interval is too wide rather than too narrow.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


@dataclass(frozen=True, kw_only=True)
class Law:
    """cost = factor * x^exponent, or cost = factor * e^(exponent * x)."""

    exponent: float
    factor: float
    standard_error: float | None  # of the exponent; needs three points
    r_squared: float | None  # of the logarithms; needs costs that differ
    n_points: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the exponent, were the residuals independent and normal."""
        if self.standard_error is None:
            return None
        free = min(self.n_points - 2, len(_STUDENT))
        reach = _STUDENT[free - 1] * self.standard_error
        return self.exponent - reach, self.exponent + reach

    def __str__(self) -> str:
        if self.interval is None:
            return f"{self.exponent:.2f} ({self.n_points})"
        low, high = self.interval
        spread = f"{self.standard_error:.2f} ({low:.2f} to {high:.2f}; {self.n_points})"
        return f"{self.exponent:.2f} ± {spread}"


def fit_power(points: Sequence[tuple[float, float]]) -> Law | None:
    """Return the power nearest to the points (x, cost), or nothing for fewer than two x."""
    return _fit(points, np.log)


def fit_exponential(points: Sequence[tuple[float, float]]) -> Law | None:
    """Return the exponential nearest to the points (x, cost), or nothing for fewer than two x."""
    return _fit(points, np.asarray)


def _fit(points: Sequence[tuple[float, float]], scale: Any) -> Law | None:
    if len({x for x, _ in points}) < 2 or min(cost for _, cost in points) <= 0.0:
        return None
    table = np.asarray(points, dtype=np.float64)
    x: NDArray[np.float64] = scale(table[:, 0])
    y = np.log(table[:, 1])
    centred, deviations = x - x.mean(), y - y.mean()
    spread, total = float(centred @ centred), float(deviations @ deviations)
    exponent = float(centred @ deviations) / spread
    residuals = deviations - exponent * centred
    unexplained, free = float(residuals @ residuals), len(x) - 2
    return Law(
        exponent=exponent,
        factor=float(np.exp(y.mean() - exponent * x.mean())),
        standard_error=float(np.sqrt(unexplained / free / spread)) if free > 0 else None,
        r_squared=1.0 - unexplained / total if total > 0.0 else None,
        n_points=len(x),
    )
