"""Kernels: what they are, how they combine, and which are Mercer.

Examples
--------
>>> from fastmks import kernels
>>> kernels.Polynomial(degree=10)
Polynomial(degree=10, offset=0.0, scale=1.0)
>>> 0.5 * kernels.Cosine() + 0.5 * kernels.Gaussian(bandwidth=3.0)
0.5 * Cosine() + 0.5 * Gaussian(bandwidth=3.0)
"""

from fastmks.kernels.alignments import LocalAlignment, SegmentMatch, SmithWaterman
from fastmks.kernels.base import Kernel, Normalized, OnField, Product, Scaled, Sum
from fastmks.kernels.graphs import ShortestPath, WeisfeilerLehman
from fastmks.kernels.own import Custom, Similarity
from fastmks.kernels.precomputed import Precomputed
from fastmks.kernels.registry import as_kernel, plain_names
from fastmks.kernels.sequences import Mismatch, Spectrum
from fastmks.kernels.series import GlobalAlignment
from fastmks.kernels.sets import Jaccard, MinMax, Tanimoto
from fastmks.kernels.substitution import BLOSUM62, Substitution
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
    "BLOSUM62",
    "KERNEL_NAMES",
    "Cosine",
    "Custom",
    "Epanechnikov",
    "Exponential",
    "Gaussian",
    "GlobalAlignment",
    "Jaccard",
    "Kernel",
    "Laplacian",
    "Linear",
    "LocalAlignment",
    "MinMax",
    "Mismatch",
    "Normalized",
    "OnField",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "SegmentMatch",
    "ShortestPath",
    "Similarity",
    "SmithWaterman",
    "Spectrum",
    "Spherical",
    "Substitution",
    "Sum",
    "Tanh",
    "Tanimoto",
    "Triangular",
    "WeisfeilerLehman",
    "as_kernel",
]

KERNEL_NAMES = plain_names()
