"""Kernels between sequences that count common substrings."""

import math
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, cast

from fastmks import _core
from fastmks._util.validation import check_count, check_number
from fastmks.data import Store
from fastmks.data.sequences import (
    GramRule,
    GramStore,
    count_grams,
    count_more_grams,
    count_query_grams,
    join_grams,
    restore_grams,
)
from fastmks.data.strings import STRINGS
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.object_kernel import ObjectKernel

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
_MOST_LENGTH = 2**31 - 1
_MOST_LENGTHS = 64  # of one kernel
_MOST_NEIGHBOURS = 100_000  # p-grams that one is counted at


@dataclass(frozen=True, repr=False)
class GramKernel(ObjectKernel):
    """The base of kernels that are the inner product of counts, or a weighted sum of such."""

    kind = STRINGS
    # K(x, y) is an inner product of counts, so Mercer and never negative.
    mercer_columns = math.inf
    is_normalized = False
    value_range = (0.0, math.inf)

    @property
    @abstractmethod
    def rules(self) -> tuple[GramRule, ...]:
        """The lengths that are counted, a set of columns for each."""

    @property
    def factors(self) -> tuple[float, ...]:
        """The factor of the inner product of each set of columns."""
        return (1.0,) * len(self.rules)

    @property
    def store_key(self) -> Hashable:
        """The key of its counts: equal where the same p-grams are counted."""
        return "grams", self.rules

    def read(self, objects: Any, *, name: str) -> GramStore:
        """Return strings as counts."""
        return count_grams(objects, self.rules, name=name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> GramStore:
        """Return strings as counts; one string is one query."""
        return count_query_grams(queries, cast(GramStore, like), name=name)

    def read_more(self, objects: Any, like: Store, *, name: str) -> GramStore:
        """Return strings as counts of their own; one string is one object."""
        return count_more_grams(objects, self.rules, cast(GramStore, like), name=name)

    def join(self, stores: Sequence[Store]) -> GramStore:
        """Return the strings of several stores in one."""
        return join_grams(cast("Sequence[GramStore]", stores), self.rules)

    def restore(self, record: Record) -> GramStore:
        """Return the counts that were recorded."""
        return restore_grams(record, self.rules)

    def find_fault(self, store: Store, isa: str) -> str:
        """Return which counts differ from those of the strings; empty where none does."""
        return cast(GramStore, store).find_fault()

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space of sparse vectors, or a sum of these."""
        terms = [
            _weighted(part, factor, isa)
            for part, factor in zip(cast(GramStore, store).counts, self.factors, strict=True)
        ]
        return terms[0] if len(terms) == 1 else _core.sum_space(terms)


def _weighted(part: Any, factor: float, isa: str) -> _core.Space:
    space = _core.vector_space(part.core, isa, "linear")
    return space if factor == 1.0 else _core.scaled_space(space, factor)


@dataclass(frozen=True, repr=False)
class Spectrum(GramKernel):
    """The inner product of the counts of p-grams: runs of p letters. Mercer.

    A string shorter than p has none, and is a zero object. Values are whole numbers, exactly.

    Parameters
    ----------
    p : int or (int, int)
        The length of the runs, or the shortest and the longest: the kernel is then the sum over
        all lengths from one to the other.
    weights : sequence of float, optional
        A positive factor for each length, the shortest first; 1 each where not given.

    Examples
    --------
    >>> Spectrum(2)("ABABC", "BABA")  # AB twice and once, BA once and twice
    4.0
    >>> kernel = Spectrum((1, 2), weights=(1.0, 0.5))
    >>> kernel("ABABC", "BABA") == Spectrum(1)("ABABC", "BABA") + 0.5 * 4.0
    True
    """

    python_example: ClassVar[str] = "Spectrum(3)"
    text_example: ClassVar[str] = "spectrum:p=3"

    p: int | tuple[int, int]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", _check_lengths(self.p))
        if self.weights is not None:
            weights = _check_weights(self.weights, len(self.lengths))
            object.__setattr__(self, "weights", None if set(weights) == {1.0} else weights)

    @property
    def lengths(self) -> range:
        """The lengths of the runs that are counted."""
        shortest, longest = self.p if isinstance(self.p, tuple) else (self.p, self.p)
        return range(shortest, longest + 1)

    @property
    def rules(self) -> tuple[GramRule, ...]:
        """The factors: one for each length."""
        return tuple((length, 0, ()) for length in self.lengths)

    @property
    def factors(self) -> tuple[float, ...]:
        """The weights."""
        return (1.0,) * len(self.lengths) if self.weights is None else self.weights


@dataclass(frozen=True)
class Mismatch(GramKernel):
    """The spectrum kernel with up to m letters of each p-gram replaced. Mercer.

    Each run of p letters is counted at every run of p letters that differs from it in at most m
    places, and there by letters of the alphabet. Letters outside the alphabet match themselves.

    Parameters
    ----------
    p : int
        The length of the runs.
    m : int
        How many letters may differ, less than p. ``Mismatch(p, 0)`` has the values of
        ``Spectrum(p)``.
    alphabet : str or bytes
        The letters that may stand in for others; the 20 amino acids unless given. Kept as a str
        in sorted order. One run may have at most 100 000 others within reach.

    Examples
    --------
    >>> kernel = Mismatch(3, 1, alphabet="ACGT")
    >>> kernel("ACG", "ACG")  # ACG itself and 3 * 3 others
    10.0
    >>> kernel("ACG", "ACT")  # ACA, ACC, ACG and ACT are within one letter of both
    4.0
    """

    python_example: ClassVar[str] = "Mismatch(5, 1)"
    text_example: ClassVar[str] = "mismatch:p=5,m=1"

    p: int
    m: int
    alphabet: str | bytes = AMINO_ACIDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", check_count("p", self.p, most=_MOST_LENGTH))
        if isinstance(self.m, bool) or not isinstance(self.m, Integral):
            raise InvalidArgument(f"m must be a whole number from 0; got {self.m!r}.")
        object.__setattr__(self, "m", int(self.m))
        if not 0 <= self.m < self.p:
            raise InvalidArgument(f"m must be from 0 to less than p={self.p}; got m={self.m}.")
        alphabet = _check_alphabet(self.alphabet)
        object.__setattr__(self, "alphabet", alphabet if self.m > 0 else AMINO_ACIDS)
        reach = _neighbourhood(self.p, self.m, len(self.alphabet))
        if reach > _MOST_NEIGHBOURS:
            raise InvalidArgument(
                f"Mismatch(p={self.p}, m={self.m}) counts a p-gram at {reach} others or more with "
                f"an alphabet of {len(self.alphabet)} letters; the limit is {_MOST_NEIGHBOURS}. "
                "Allow fewer mismatches, or give a smaller alphabet."
            )

    @property
    def rules(self) -> tuple[GramRule, ...]:
        """The factor: 1."""
        if self.m == 0:
            return ((self.p, 0, ()),)
        return ((self.p, self.m, tuple(map(ord, cast(str, self.alphabet)))),)


def _neighbourhood(p: int, m: int, n_letters: int) -> int:
    """Return the number of p-grams at which a p-gram without letters of the alphabet is counted.

    That includes itself. Counting stops at the limit, since it could take for ever.
    """
    count = 0
    for i in range(m + 1):
        count += math.comb(p, i) * n_letters**i
        if count > _MOST_NEIGHBOURS:
            break
    return count


def _check_lengths(p: Any) -> int | tuple[int, int]:
    if not isinstance(p, Sequence) or isinstance(p, (str, bytes)):
        return check_count("p", p, most=_MOST_LENGTH)
    if len(p) != 2:
        raise InvalidArgument(f"p must be a length, or the shortest and the longest; got {p!r}.")
    shortest, longest = (check_count("p", length, most=_MOST_LENGTH) for length in p)
    if not shortest <= longest < shortest + _MOST_LENGTHS:
        raise InvalidArgument(
            f"p must be a shortest and a longest length, at most {_MOST_LENGTHS} in all; got {p!r}."
        )
    return shortest if shortest == longest else (shortest, longest)


def _check_weights(weights: Any, n_lengths: int) -> tuple[float, ...]:
    if isinstance(weights, (str, bytes)) or not hasattr(weights, "__iter__"):
        raise InvalidArgument(f"weights must be a sequence of numbers; got {weights!r}.")
    checked = tuple(
        check_number(f"weights[{i}]", weight, positive=True) for i, weight in enumerate(weights)
    )
    if len(checked) != n_lengths:
        raise InvalidArgument(
            f"weights must have one for each of the {n_lengths} lengths; got {len(checked)}."
        )
    return checked


def _check_alphabet(alphabet: Any) -> str:
    """Return the letters in sorted order; a byte is the letter with its number."""
    if not isinstance(alphabet, (str, bytes)) or not alphabet:
        raise InvalidArgument(
            f"alphabet must be a str or bytes of at least one letter; got {alphabet!r}."
        )
    if len(set(alphabet)) < len(alphabet):
        raise InvalidArgument(f"alphabet must have each letter once; got {alphabet!r}.")
    letters = alphabet.decode("latin-1") if isinstance(alphabet, bytes) else alphabet
    return "".join(sorted(letters))
