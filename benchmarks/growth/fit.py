"""Fit laws to costs by least squares in their logarithms: powers of x, and exponentials of x."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
