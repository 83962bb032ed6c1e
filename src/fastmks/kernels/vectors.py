"""Kernels between vectors: functions of the inner product, or of the distance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

from fastmks import _core
from fastmks._util.validation import check_count, check_number
from fastmks.data import Store, VectorStore, make_queries, make_store
from fastmks.data.json_vectors import VECTORS
from fastmks.data.vectors import join_vectors, restore_vectors
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.object_kernel import ObjectKernel
from fastmks.kernels.registry import known_kernels

_MOST_DEGREE = 10_000


class VectorReader(ObjectKernel):
    """The base of kernels that read vectors of one length, dense or sparse."""

    kind = VECTORS
    store_key = "vectors"

    def read(self, objects: Any, *, name: str) -> VectorStore:
        """Return vectors as a store."""
        return make_store(objects, name=name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> VectorStore:
        """Return vectors of the same length as a store of the same kind; a 1-D one is one query."""
        return make_queries(queries, cast(VectorStore, like), name=name)

    def read_one(self, one: Any, like: Store | None, *, name: str) -> VectorStore:
        """Return a vector, or a matrix of one row, as a store."""
        return make_queries(one, cast("VectorStore | None", like), name=name)

    def join(self, stores: Sequence[Store]) -> VectorStore:
        """Return the vectors of several stores in one."""
        return join_vectors(stores)

    def restore(self, record: Record) -> VectorStore:
        """Return the store of vectors that was recorded."""
        return restore_vectors(record)


@dataclass(frozen=True)
class VectorKernel(VectorReader):
    """The base of kernels of inner products or distances."""

    finite_advice: ClassVar[str] = (
        "Rescale the vectors, or use a kernel with a bounded range such as Cosine() or Gaussian()."
    )
    mercer_advice: ClassVar[str] = "Gaussian() or Polynomial(degree=3) are."

    @property
    def parameters(self) -> dict[str, Any]:
        """Name and value of each parameter."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's vector space."""
        name = type(self).__name__
        if known_kernels().get(name) is not type(self):
            raise InvalidArgument(
                f"kernel must be one of the classes in fastmks.kernels; got {self!r} of the "
                f"derived class {name}, whose values are not known."
            )
        return _core.vector_space(
            cast(VectorStore, store).core, isa, name.lower(), **self.parameters
        )

    def is_mercer_on(self, store: Store) -> bool:
        """Whether the vectors have few enough columns."""
        return self.mercer_columns >= cast(VectorStore, store).n_columns


@dataclass(frozen=True)
class Linear(VectorKernel):
    """The inner product <x, y>. Mercer.

    Examples
    --------
    >>> Linear()([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    also_called: ClassVar[tuple[str, ...]] = ("dot", "innerproduct")

    mercer_columns = math.inf
    is_normalized = False
    value_range = (-math.inf, math.inf)


@dataclass(frozen=True)
class Cosine(VectorKernel):
    """The cosine of the angle, <x, y> / (|x| |y|). Mercer, normalised.

    A zero vector has cosine 0 with everything, itself included.

    Examples
    --------
    >>> Cosine()([1.0, 1.0], [2.0, 2.0])
    1.0
    >>> Cosine()([0.0, 0.0], [2.0, 2.0])
    0.0
    """

    mercer_columns = math.inf
    is_normalized = True
    value_range = (-1.0, 1.0)


@dataclass(frozen=True)
class Polynomial(VectorKernel):
    """(scale <x, y> + offset)^degree. Mercer for offset >= 0.

    Parameters
    ----------
    degree : int, default 2
        A whole number from 1 to 10000; fractional degrees are not defined for negative products.
    offset : float, default 0.0
        May be negative, but then the kernel is not Mercer.
    scale : float, default 1.0
        Positive.

    Examples
    --------
    >>> Polynomial(degree=3, offset=1.0)([1.0, 0.0], [1.0, 5.0])
    8.0
    >>> Polynomial(degree=3, offset=-1.0).is_mercer
    False
    """

    also_called: ClassVar[tuple[str, ...]] = ("poly",)

    degree: int = 2
    offset: float = 0.0
    scale: float = 1.0

    is_normalized = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_count("degree", self.degree, most=_MOST_DEGREE))
        object.__setattr__(self, "offset", check_number("offset", self.offset))
        object.__setattr__(self, "scale", check_number("scale", self.scale, positive=True))

    @property
    def mercer_columns(self) -> float:
        """Every number of columns for offset >= 0, none below."""
        return math.inf if self.offset >= 0.0 else 0.0

    @property
    def value_range(self) -> tuple[float, float]:
        """From 0 up for even degrees."""
        return (0.0 if self.degree % 2 == 0 else -math.inf, math.inf)


@dataclass(frozen=True)
class Tanh(VectorKernel):
    """The hyperbolic tangent tanh(scale <x, y> + offset). Not Mercer, whatever the parameters.

    Parameters
    ----------
    scale : float, default 1.0
        Positive.
    offset : float, default 0.0

    Examples
    --------
    >>> round(Tanh(scale=0.5)([1.0, 1.0], [1.0, 1.0]), 6)
    0.761594
    """

    also_called: ClassVar[tuple[str, ...]] = ("sigmoid",)

    scale: float = 1.0
    offset: float = 0.0

    mercer_columns = 0.0
    is_normalized = False
    value_range = (-1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_number("scale", self.scale, positive=True))
        object.__setattr__(self, "offset", check_number("offset", self.offset))


@dataclass(frozen=True)
class Exponential(VectorKernel):
    """The exponential of the inner product, exp(scale <x, y>). Mercer.

    Parameters
    ----------
    scale : float, default 1.0
        Positive. Values overflow where scale <x, y> exceeds 709.

    Examples
    --------
    >>> Exponential()([1.0, 0.0], [0.0, 1.0])
    1.0
    """

    scale: float = 1.0

    mercer_columns = math.inf
    is_normalized = False
    value_range = (0.0, math.inf)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_number("scale", self.scale, positive=True))


@dataclass(frozen=True)
class _DistanceKernel(VectorKernel):
    """The base of kernels of |x - y| / bandwidth that are 1 at 0 and never negative."""

    bandwidth: float = 1.0

    is_normalized = True
    value_range = (0.0, 1.0)

    def __post_init__(self) -> None:
        number = check_number("bandwidth", self.bandwidth, positive=True)
        object.__setattr__(self, "bandwidth", number)


@dataclass(frozen=True)
class Gaussian(_DistanceKernel):
    """exp(-|x - y|^2 / (2 bandwidth^2)). Mercer, normalised.

    Examples
    --------
    >>> Gaussian(bandwidth=2.0)([1.0, 2.0], [1.0, 2.0])
    1.0
    """

    also_called: ClassVar[tuple[str, ...]] = ("rbf",)

    mercer_columns = math.inf


@dataclass(frozen=True)
class Laplacian(_DistanceKernel):
    """exp(-|x - y| / bandwidth) with the Euclidean distance. Mercer, normalised.

    scikit-learn's kernel of this name takes the sum of absolute differences instead.

    Examples
    --------
    >>> Laplacian(bandwidth=2.0)([1.0, 2.0], [1.0, 2.0])
    1.0
    """

    mercer_columns = math.inf


@dataclass(frozen=True)
class Epanechnikov(_DistanceKernel):
    """max(0, 1 - |x - y|^2 / bandwidth^2). Normalised, not Mercer: not even in one dimension.

    Examples
    --------
    >>> Epanechnikov(bandwidth=2.0)([1.0], [2.0])
    0.75
    """

    mercer_columns = 0.0


@dataclass(frozen=True)
class Triangular(_DistanceKernel):
    """max(0, 1 - |x - y| / bandwidth). Normalised; Mercer for vectors of one column only.

    Examples
    --------
    >>> Triangular(bandwidth=2.0)([1.0], [2.0])
    0.5
    """

    mercer_columns = 1.0


@dataclass(frozen=True)
class Spherical(_DistanceKernel):
    """1 - 3/2 h + 1/2 h^3 with h = min(1, |x - y| / bandwidth). Mercer up to three columns.

    The overlap of two balls of diameter `bandwidth` in three dimensions, known from
    geostatistics. (mlpack's kernel of this name is the indicator of the ball instead.)

    Examples
    --------
    >>> Spherical(bandwidth=2.0)([1.0], [2.0])
    0.3125
    """

    mercer_columns = 3.0
