"""Kernels: what they are, how they combine, and which are Mercer.

Examples
--------
>>> from fastmks import kernels
>>> kernels.Polynomial(degree=10)
Polynomial(degree=10, offset=0.0, scale=1.0)
>>> 0.5 * kernels.Cosine() + 0.5 * kernels.Gaussian(bandwidth=3.0)
0.5 * Cosine() + 0.5 * Gaussian(bandwidth=3.0)
"""

from fastmks.kernels.base import Kernel, Normalized, OnField, Product, Scaled, Sum
from fastmks.kernels.names import KERNEL_NAMES, as_kernel
from fastmks.kernels.sequences import Mismatch, Spectrum
from fastmks.kernels.vectors import (
    Cosine,
    Epanechnikov,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Spherical,
    Tanh,
    Triangular,
)

__all__ = [
    "KERNEL_NAMES",
    "Cosine",
    "Epanechnikov",
    "Exponential",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Mismatch",
    "Normalized",
    "OnField",
    "Polynomial",
    "Product",
    "Scaled",
    "Spectrum",
    "Spherical",
    "Sum",
    "Tanh",
    "Triangular",
    "as_kernel",
]
