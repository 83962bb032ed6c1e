"""Fit a power of n to a cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["PowerLaw", "fit_power"]


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """cost = factor * n^exponent, by least squares in the logarithms."""

    exponent: float
    standard_error: float | None  # of the exponent; needs three sizes
    factor: float

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" +- {self.standard_error:.3f}"
        return f"n^({self.exponent:.3f}{error})"


def fit_power(sizes: Sequence[float], costs: Sequence[float]) -> PowerLaw | None:
    """Return the power law nearest to the costs, or nothing for fewer than two sizes."""
    if len(set(sizes)) < 2 or min(costs) <= 0.0:
        return None
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(costs, dtype=float))
    centred = x - x.mean()
    spread = float(centred @ centred)
    exponent = float(centred @ y) / spread
    residuals = y - y.mean() - exponent * centred
    free = len(x) - 2
    error = float(np.sqrt(residuals @ residuals / free / spread)) if free > 0 else None
    factor = float(np.exp(y.mean() - exponent * x.mean()))
    return PowerLaw(exponent=exponent, standard_error=error, factor=factor)
