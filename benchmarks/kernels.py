"""The kernels of the benchmarks, as fastmks and as mlpack name them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from fastmks.kernels import Cosine, Kernel, Linear, Polynomial, Spectrum, Tanh, Tanimoto

_DEGREE = 10
_LETTERS = 3


@dataclass(frozen=True, kw_only=True)
class KernelCase:
    """One kernel, with the same parameters on both sides."""

    name: str
    kernel: Kernel
    mlpack: dict[str, str | float] = field(default_factory=dict)  # its arguments; none: unknown
    is_scaled: bool = False  # rows are brought into the unit ball, or all values are equal
    degree: int = 1  # of the polynomial of cosines or products that it is

    def adapted(self, problem: Problem) -> Problem:
        """Return the problem as this kernel searches it, in float64 as mlpack stores it."""
        exact = problem.cast("float64")
        return exact.within_unit_ball() if self.is_scaled else exact

    def products(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sizes of the products (or cosines) that the values are powers of.

        Rounding errors of values are known from those of products.
        """
        if self.degree == 1:
            return values
        return np.asarray(np.abs(values) ** (1.0 / self.degree))


LINEAR = KernelCase(name="linear", kernel=Linear(), mlpack={"kernel": "linear"})
COSINE = KernelCase(name="cosine", kernel=Cosine(), mlpack={"kernel": "cosine"})
POLYNOMIAL = KernelCase(
    name=f"polynomial {_DEGREE}",
    kernel=Polynomial(degree=_DEGREE, offset=0.0),
    mlpack={"kernel": "polynomial", "degree": float(_DEGREE), "offset": 0.0},
    degree=_DEGREE,
)
TANH = KernelCase(  # not Mercer: our trees refuse it, and mlpack may hang on it
    name="tanh",
    kernel=Tanh(),
    mlpack={"kernel": "hyptan", "scale": 1.0, "offset": 0.0},
    is_scaled=True,
)
SPECTRUM = KernelCase(name=f"spectrum {_LETTERS}", kernel=Spectrum(_LETTERS))  # of strings
TANIMOTO = KernelCase(name="tanimoto", kernel=Tanimoto())  # of fingerprints
