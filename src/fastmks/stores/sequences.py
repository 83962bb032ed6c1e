"""Strings as the counts of their p-grams: sparse vectors, one set for each length."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks import _core
from fastmks._validate import default_threads
from fastmks.errors import InvalidArgument
from fastmks.stores.base import Store
from fastmks.stores.strings import read_strings
from fastmks.stores.vectors import SparseStore

__all__ = ["GramStore", "count_grams", "count_query_grams"]

_MOST_LETTERS = 2**31 - 1

# A length, a number of mismatches, and the letters that may stand in for others.
GramRule: TypeAlias = tuple[int, int, tuple[int, ...]]
_Letters: TypeAlias = np.ndarray[Any, Any]
_Offsets: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class GramStore(Store):
    """Counts of grams, one sparse matrix for each rule; `tables` know the column of each gram."""

    counts: tuple[SparseStore, ...]
    tables: tuple[_core.GramTable, ...]
    has_bytes: bool

    def __len__(self) -> int:
        return len(self.counts[0])

    @property
    def kind(self) -> str:
        """What the objects are."""
        return "sequences of bytes" if self.has_bytes else "strings"

    def copy(self) -> "GramStore":
        """The same counts in memory of their own."""
        return GramStore(tuple(part.copy() for part in self.counts), self.tables, self.has_bytes)

    def take(self, positions: np.ndarray[Any, np.dtype[np.int64]]) -> "GramStore":
        """The counts at these positions, in this order, in memory of their own."""
        taken = tuple(part.take(positions) for part in self.counts)
        return GramStore(taken, self.tables, self.has_bytes)


def count_grams(strings: Any, rules: Iterable[GramRule], *, name: str) -> GramStore:
    """Return strings as the counts of their grams."""
    read = read_strings(strings, name=name)
    letters, offsets = _join(read, name)
    threads = default_threads()
    counts, tables = [], []
    for length, mismatches, alphabet in rules:
        try:
            table, arrays = _core.count_grams(
                letters, offsets, length, mismatches, alphabet, threads
            )
        except ValueError as error:
            raise _too_many(name, length, error) from error
        counts.append(_to_store(arrays, name))
        tables.append(table)
    return GramStore(tuple(counts), tuple(tables), _has_bytes(read))


def count_query_grams(queries: Any, like: GramStore, *, name: str) -> GramStore:
    """Return queries as counts in the columns of `like`, and behind these. A string is one query.

    Columns behind are those of grams that no object of `like` has: they count in K(q, q) only.
    """
    read = read_strings(queries, name=name, single=True)
    if read and _has_bytes(read) != like.has_bytes:
        wanted = "bytes" if like.has_bytes else "str"
        raise InvalidArgument(
            f"{name} must be {wanted}, as the objects they are compared with; "
            f"{name}[0] is {type(read[0]).__name__}."
        )
    letters, offsets = _join(read, name)
    counts = []
    for table in like.tables:
        try:
            arrays = table.count(letters, offsets, default_threads())
        except ValueError as error:
            raise _too_many(name, None, error) from error
        counts.append(_to_store(arrays, name))
    return GramStore(tuple(counts), like.tables, like.has_bytes)


def _has_bytes(strings: list[str] | list[bytes]) -> bool:
    return bool(strings) and isinstance(strings[0], bytes)


def _join(strings: list[str] | list[bytes], name: str) -> tuple[_Letters, _Offsets]:
    """Return all letters behind each other, in bytes where these hold them, and where each begins.

    A letter of str is its code point: bytes hold those of latin-1.
    """
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    if len(lengths) and lengths.max() > _MOST_LETTERS:
        raise InvalidArgument(
            f"{name} must have at most 2**31 - 1 letters each; {name}[{lengths.argmax()}] has "
            f"{lengths.max()}. Cut it into pieces."
        )
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if _has_bytes(strings):
        return np.frombuffer(b"".join(strings), dtype=np.uint8), offsets  # type: ignore[arg-type]
    joined = "".join(strings)  # type: ignore[arg-type]
    try:
        return np.frombuffer(joined.encode("latin-1"), dtype=np.uint8), offsets
    except UnicodeEncodeError:
        wide = joined.encode("utf-32-le", "surrogatepass")
        return np.frombuffer(wide, dtype="<u4").astype(np.uint32, copy=False), offsets


def _to_store(arrays: Any, name: str) -> SparseStore:
    offsets, columns, counts, n_columns, first_too_large = arrays
    if first_too_large < len(offsets) - 1:
        raise InvalidArgument(
            f"{name} must be short enough that float64 holds their counts exactly: K(x, x) of "
            f"{name}[{first_too_large}] exceeds 2**53. Cut it into pieces."
        )
    return SparseStore(offsets, columns, counts, max(1, n_columns), has_exact_products=True)


def _too_many(name: str, length: int | None, error: ValueError) -> InvalidArgument:
    grams = "grams" if length is None else f"{length}-grams"
    return InvalidArgument(
        f"{name} have too many {grams}: {error}. Shorten the grams, or replace rare letters."
    )
