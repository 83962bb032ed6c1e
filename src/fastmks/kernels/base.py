"""The base of all kernels: small immutable values with known properties, and their algebra."""

import math
import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, cast

from fastmks._util.arrays import Floats
from fastmks._util.validation import check_number
from fastmks.errors import InvalidArgument


class Kernel(ABC):
    """A similarity K(x, y) of two objects, as a value: its name and its parameters.

    Kernels compare equal when name and parameters do, can be keys of a dict, and print as
    the expression that creates them. Sums and products: ``K1 + K2``, ``K1 * K2``, ``2.0 * K``.

    Examples
    --------
    >>> from fastmks.kernels import Gaussian, Linear
    >>> 0.5 * Linear() + Gaussian(bandwidth=2.0)
    0.5 * Linear() + Gaussian(bandwidth=2.0)
    >>> (0.5 * Linear() + Gaussian(bandwidth=2.0)).is_mercer
    True
    """

    # Its names elsewhere, for hints; and where a name alone does not create it, how to write it in
    # Python and, if that is possible, as text.
    also_called: ClassVar[tuple[str, ...]] = ()
    python_example: ClassVar[str] = ""
    text_example: ClassVar[str] = ""
    # Its parameters that are functions: no file holds them.
    functions: ClassVar[tuple[str, ...]] = ()
    # Its parameters that change what values cost, and no value: files do not hold them either.
    costs: ClassVar[tuple[str, ...]] = ()

    # numpy scalars let the kernel compute `np.float64(2) * kernel`.
    __array_ufunc__: ClassVar[None] = None

    @property
    @abstractmethod
    def mercer_columns(self) -> float:
        """Most columns for which the kernel is Mercer: infinity for always, 0 for never.

        For objects without columns it is one of these two. A function that was not declared counts
        as always: engines that rely on it are used where the caller asks for them.
        """

    @property
    @abstractmethod
    def is_normalized(self) -> bool:
        """Whether K(x, x) = 1 for every x, except 0 for an x that is zero in the Hilbert space."""

    @property
    @abstractmethod
    def value_range(self) -> tuple[float, float]:
        """The least interval known to hold every value."""

    @property
    def is_mercer(self) -> bool | None:
        """Whether the kernel is Mercer on every set of objects, however many columns they have.

        None where it depends on a function that was not declared to be a Mercer kernel, or not.
        """
        return self.mercer_columns == math.inf

    def __call__(self, x: Any, y: Any) -> float:
        """Return K(x, y) for two objects.

        Examples
        --------
        >>> from fastmks.kernels import Polynomial
        >>> Polynomial(degree=2, offset=1.0)([1.0, 2.0], [3.0, 4.0])
        144.0
        """
        from fastmks.engines.space import (
            evaluate_pair,  # an exception: see tools/check_layers.py
        )

        return evaluate_pair(self, x, y)

    def matrix(self, A: Any, B: Any = None, *, threads: int | None = None) -> Floats:
        """Return K(a, b) for every a in A and b in B (B = A when not given), as float64.

        A search ranks and returns the same values.

        Examples
        --------
        >>> from fastmks.kernels import Linear
        >>> Linear().matrix([[1.0, 0.0], [1.0, 1.0]])
        array([[1., 1.],
               [1., 2.]])
        """
        from fastmks.engines.space import evaluate_matrix

        return evaluate_matrix(self, A, B, threads=threads)

    def __add__(self, other: object) -> "Kernel":
        if isinstance(other, Kernel):
            return Sum((self, other))
        _refuse_what_was_meant_as_a_kernel(other)
        return NotImplemented

    def __mul__(self, other: object) -> "Kernel":
        return Product((self, other)) if isinstance(other, Kernel) else self.__rmul__(other)

    def __rmul__(self, other: object) -> "Kernel":
        if isinstance(other, Real) and not isinstance(other, bool):
            return Scaled(cast(float, other), self)
        _refuse_what_was_meant_as_a_kernel(other)
        return NotImplemented

    def __radd__(self, other: object) -> "Kernel":
        """Return the kernel itself for 0 + K, so that sum([K1, K2]) works."""
        if type(other) is int and other == 0:
            return self
        _refuse_what_was_meant_as_a_kernel(other)
        return NotImplemented


def _terms(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


def _factors(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.factors if isinstance(kernel, Product) else (kernel,)


def _check_parts(name: str, parts: Any) -> tuple[Kernel, ...]:
    if not isinstance(parts, tuple) or len(parts) < 2:
        raise InvalidArgument(f"{name} must be a tuple of at least two kernels; got {parts!r}.")
    for part in parts:
        _check_kernel(f"each of {name}", part)
    return parts


def _check_kernel(name: str, kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise InvalidArgument(
            f"{name} must be a kernel from fastmks.kernels; got {kernel!r}. {how_to_write(kernel)}"
        )


def _refuse_what_was_meant_as_a_kernel(other: object) -> None:
    """Refuse functions and classes with advice; Python itself refuses the rest."""
    if callable(other):
        _check_kernel("the other operand of a kernel", other)


def how_to_write(given: Any) -> str:
    """Return advice on what to write in place of a value that is no kernel, as a sentence."""
    if isinstance(given, type) and issubclass(given, Kernel):
        return f"Write {given.__name__}(...): a kernel, not its class."
    if isinstance(given, str):
        return "A name will do for a whole kernel only: within one, write Linear() for 'linear'."
    if callable(given) and not isinstance(given, type):
        return "Wrap a function of two objects: Custom(function)."
    return "For example Linear(), or Custom(function) for a function of your own."


def _in_parentheses(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, (Sum, Product, Scaled)) else repr(kernel)


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """The sum of kernels, written ``K1 + K2``.

    Examples
    --------
    >>> from fastmks.kernels import Cosine, Linear
    >>> (Linear() + Cosine())([3.0, 4.0], [3.0, 4.0])
    26.0
    """

    terms: tuple[Kernel, ...]

    is_normalized = False  # the self values add up

    def __post_init__(self) -> None:
        parts = _check_parts("terms", self.terms)
        object.__setattr__(self, "terms", tuple(t for part in parts for t in _terms(part)))

    @property
    def mercer_columns(self) -> float:
        """The columns of the most limited term."""
        return min(term.mercer_columns for term in self.terms)

    @property
    def is_mercer(self) -> bool | None:
        """Whether every term is."""
        return _all_mercer(self.terms)

    @property
    def value_range(self) -> tuple[float, float]:
        """The sum of the terms' ranges."""
        lows, highs = zip(*(term.value_range for term in self.terms), strict=True)
        return sum(lows), sum(highs)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """The product of kernels, written ``K1 * K2``.

    Examples
    --------
    >>> from fastmks.kernels import Cosine, Linear
    >>> (Linear() * Cosine())([3.0, 4.0], [3.0, 4.0])
    25.0
    """

    factors: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        parts = _check_parts("factors", self.factors)
        object.__setattr__(self, "factors", tuple(f for part in parts for f in _factors(part)))

    @property
    def mercer_columns(self) -> float:
        """The columns of the most limited factor."""
        return min(factor.mercer_columns for factor in self.factors)

    @property
    def is_mercer(self) -> bool | None:
        """Whether every factor is."""
        return _all_mercer(self.factors)

    @property
    def is_normalized(self) -> bool:
        """Whether every factor is."""
        return all(factor.is_normalized for factor in self.factors)

    @property
    def value_range(self) -> tuple[float, float]:
        """The product of the factors' ranges."""
        low, high = self.factors[0].value_range
        for factor in self.factors[1:]:
            corners = [_times(a, b) for a in (low, high) for b in factor.value_range]
            low, high = min(corners), max(corners)
        return low, high

    def __repr__(self) -> str:
        return " * ".join(map(_in_parentheses, self.factors))


def _all_mercer(parts: tuple[Kernel, ...]) -> bool | None:
    """Return whether all parts are Mercer: None where some are unknown, and no other is not."""
    known = [part.is_mercer for part in parts]
    if False in known:
        return False
    return None if None in known else True


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0.0 or b == 0.0 else a * b


class _OfOne(Kernel):
    """The base of kernels of one inner kernel, with its properties where they define no other."""

    kernel: Kernel

    @property
    def mercer_columns(self) -> float:
        """The columns of the inner kernel."""
        return self.kernel.mercer_columns

    @property
    def is_mercer(self) -> bool | None:
        """Whether the inner kernel is."""
        return self.kernel.is_mercer

    @property
    def is_normalized(self) -> bool:
        """Whether the inner kernel is."""
        return self.kernel.is_normalized

    @property
    def value_range(self) -> tuple[float, float]:
        """The range of the inner kernel."""
        return self.kernel.value_range


@dataclass(frozen=True, repr=False)
class Scaled(_OfOne):
    """A kernel times a positive number, written ``2.0 * K``.

    Examples
    --------
    >>> from fastmks.kernels import Linear
    >>> (2.0 * Linear())([1.0, 2.0], [3.0, 4.0])
    22.0
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", check_number("factor", self.factor, positive=True))
        _check_kernel("kernel", self.kernel)

    @property
    def is_normalized(self) -> bool:
        """Whether the kernel is and the factor is 1."""
        return self.factor == 1.0 and self.kernel.is_normalized

    @property
    def value_range(self) -> tuple[float, float]:
        """The kernel's range times the factor."""
        low, high = self.kernel.value_range
        return _times(self.factor, low), _times(self.factor, high)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_parentheses(self.kernel)}"


@dataclass(frozen=True)
class Normalized(_OfOne):
    """K(x, y) / sqrt(K(x, x) K(y, y)): the cosine of the angle in the kernel's Hilbert space.

    It is 0 where x or y is a zero object. An object whose K(x, x) is negative is a
    `NotMercerError`; one so small that it lost digits to underflow, a `KernelValueError`.

    Examples
    --------
    >>> from fastmks.kernels import Normalized, Polynomial
    >>> kernel = Normalized(Polynomial(degree=3, offset=1.0))
    >>> kernel([1.0, 2.0], [1.0, 2.0])
    1.0
    >>> kernel.is_normalized
    True
    """

    python_example: ClassVar[str] = "Normalized(Linear())"
    text_example: ClassVar[str] = "normalized:linear"

    kernel: Kernel

    is_normalized = True

    def __post_init__(self) -> None:
        _check_kernel("kernel", self.kernel)

    @property
    def value_range(self) -> tuple[float, float]:
        """Within -1 and 1 for a Mercer kernel, from 0 where the kernel has no negative values."""
        limit = math.inf if self.is_mercer is False else 1.0
        return (0.0 if self.kernel.value_range[0] >= 0.0 else -limit, limit)


@dataclass(frozen=True)
class OnField(_OfOne):
    """A kernel on one part of objects that are tuples.

    Parameters
    ----------
    field : int
        The number of the part, from 0. A number is a vector of one, where the kernel compares
        vectors.
    kernel : Kernel
        The kernel that compares these parts.

    Examples
    --------
    >>> from fastmks.kernels import Gaussian, Linear, OnField
    >>> kernel = OnField(0, Gaussian(1.0)) * OnField(1, Linear())
    >>> kernel(([0.0], [1.0, 2.0]), ([0.0], [3.0, 4.0]))
    11.0
    """

    python_example: ClassVar[str] = "OnField(0, Linear())"

    field: int
    kernel: Kernel

    def __post_init__(self) -> None:
        try:
            field = operator.index(self.field)
        except TypeError:
            field = -1
        if field < 0 or isinstance(self.field, bool):
            raise InvalidArgument(f"field must be a whole number from 0; got {self.field!r}.")
        object.__setattr__(self, "field", field)
        _check_kernel("kernel", self.kernel)
