"""Strings as the counts of their p-grams: sparse vectors, one set for each length."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Array, Int64s
from fastmks._util.validation import default_threads
from fastmks.data.base import Store
from fastmks.data.ragged import join_offsets, offsets_of, take_runs
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.data.strings import check_same_strings, cut_strings, read_strings
from fastmks.data.vectors import SparseStore, restore_sparse
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record, first_difference, nest, restoring

_MOST_LETTERS = 2**31 - 1

# A length, a number of mismatches, and the letters that may stand in for others.
GramRule: TypeAlias = tuple[int, int, tuple[int, ...]]
_Letters: TypeAlias = Array


class Strings(NamedTuple):
    """Letters of all strings as bytes or code points, and the offset of each string."""

    letters: _Letters
    offsets: Int64s

    def take(self, positions: Int64s) -> "Strings":
        """The strings at these positions, in this order."""
        offsets, letters = take_runs(self.letters, self.offsets, positions)
        return Strings(letters, offsets)


@dataclass(frozen=True, eq=False)
class GramStore(Store):
    """Counts of grams, one sparse matrix for each rule; `tables` have the column of each gram."""

    numbers_features = True

    counts: tuple[SparseStore, ...]
    tables: tuple[_core.GramTable, ...]
    has_bytes: bool
    strings: Strings | None = None  # queries are counted and forgotten

    def __len__(self) -> int:
        return len(self.counts[0])

    @property
    def kind(self) -> str:
        """The objects, in words."""
        return "sequences of bytes" if self.has_bytes else "strings"

    @property
    def n_bytes(self) -> int:
        """The memory of the counts and of the letters; that of the tables is not known."""
        letters = [] if self.strings is None else [array.nbytes for array in self.strings]
        return sum(part.n_bytes for part in self.counts) + sum(letters)

    def copy(self) -> "GramStore":
        """A store of the same counts in memory of its own; letters need no copy."""
        return replace(self, counts=tuple(part.copy() for part in self.counts))

    def take(self, positions: Int64s) -> "GramStore":
        """The counts at these positions, in this order, in memory of their own."""
        taken = tuple(part.take(positions) for part in self.counts)
        strings = None if self.strings is None else self.strings.take(positions)
        return replace(self, counts=taken, strings=strings)

    def get(self, positions: Int64s) -> list[str] | list[bytes]:
        """The strings at these positions, of str or bytes as they were given."""
        return cut_strings(*self.kept.take(positions), has_bytes=self.has_bytes)

    def record(self) -> Record:
        """The letters, and the counts of their grams."""
        parts = {}
        for i, (counts, table) in enumerate(zip(self.counts, self.tables, strict=True)):
            parts[f"counts {i}"] = counts.record()
            parts[f"table {i}"] = Record({}, table.arrays())
        nested = nest(parts, {"kind": "grams", "has_bytes": self.has_bytes})
        return Record(nested.facts, {**nested.arrays, **self.kept._asdict()})

    def find_fault(self) -> str:
        """Return which counts are wrong for the strings; empty where all are right."""
        for i, (part, table) in enumerate(zip(self.counts, self.tables, strict=True)):
            offsets, columns, values, *_ = table.count(*self.kept, default_threads())
            counted: dict[str, Array] = {"offsets": offsets, "columns": columns}
            counted["values"] = np.asarray(values)
            fault = first_difference(part.record().arrays, counted)
            if fault:
                return f"of the counts {i} of the strings {fault}"
        return ""

    @property
    def kept(self) -> Strings:
        """The letters of all strings."""
        if self.strings is None:
            raise InvalidArgument("the letters of queries are not kept.")
        return self.strings


def count_grams(strings: Any, rules: Iterable[GramRule], *, name: str) -> GramStore:
    """Return strings as the counts of their grams."""
    read = read_strings(strings, name=name)
    return _count(Strings(*_join(read, name)), rules, has_bytes=_has_bytes(read), name=name)


def count_more_grams(
    strings: Any, rules: Iterable[GramRule], like: GramStore, *, name: str
) -> GramStore:
    """Return strings, or one alone, as counts of their own, to be added to those of `like`."""
    read = read_strings(strings, name=name, single=True)
    if read:
        check_same_strings(_has_bytes(read), like.has_bytes, name=name, done="added to")
    return _count(Strings(*_join(read, name)), rules, has_bytes=like.has_bytes, name=name)


def join_grams(stores: Sequence[GramStore], rules: Iterable[GramRule]) -> GramStore:
    """Return a store of the strings of several stores, counted again: counts are exact."""
    kept = [store.kept for store in stores]
    joined = Strings(
        np.concatenate([strings.letters for strings in kept]),  # wide where one is wide
        join_offsets([strings.offsets for strings in kept]),
    )
    return _count(joined, rules, has_bytes=stores[0].has_bytes, name="the objects")


def restore_grams(record: Record, rules: Sequence[GramRule]) -> GramStore:
    """Return the store of a record, counted by these rules."""
    check_kind(record, "grams")
    letters = restored(record, "letters", np.uint8, np.uint32)
    if letters.dtype == np.uint32 and letters.max(initial=0) > sys.maxunicode:
        raise IndexFileError("the array 'letters' must be of code points.")
    has_bytes = record.fact("has_bytes", bool)
    if has_bytes and letters.dtype != np.uint8:
        raise IndexFileError("the array 'letters' must be of bytes.")
    strings = Strings(letters, restored_offsets(record, "offsets", len(letters)))
    counts, tables = [], []
    for i, (length, mismatches, alphabet) in enumerate(rules):
        counts.append(restore_sparse(record.part(f"counts {i}")))
        if len(counts[i]) != len(strings.offsets) - 1:
            raise IndexFileError("the counts must be one row for each string.")
        arrays = dict(record.part(f"table {i}").arrays)
        with restoring("the objects"):
            tables.append(_core.restore_gram_table(length, mismatches, alphabet, arrays))
            n_columns = tables[i].count(letters[:0], np.zeros(1, np.int64), 1)[3]
        if counts[i].n_columns != max(1, n_columns):
            raise IndexFileError("the counts must have a column for each gram.")
    return GramStore(tuple(counts), tuple(tables), has_bytes, strings)


def _count(strings: Strings, rules: Iterable[GramRule], *, has_bytes: bool, name: str) -> GramStore:
    threads = default_threads()
    counts, tables = [], []
    for length, mismatches, alphabet in rules:
        try:
            table, arrays = _core.count_grams(*strings, length, mismatches, alphabet, threads)
        except ValueError as error:
            raise _too_many(name, length, error) from error
        counts.append(_to_store(arrays, name))
        tables.append(table)
    return GramStore(tuple(counts), tuple(tables), has_bytes, strings)


def count_query_grams(queries: Any, like: GramStore, *, name: str) -> GramStore:
    """Return queries as counts in the columns of `like`, and after these. A string is one query.

    Columns after these are of grams that no object of `like` has: they count in K(q, q) only.
    """
    read = read_strings(queries, name=name, single=True)
    if read:
        check_same_strings(_has_bytes(read), like.has_bytes, name=name)
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


def _join(strings: list[str] | list[bytes], name: str) -> tuple[_Letters, Int64s]:
    """Return all letters in one array, in bytes where these hold them, and the offsets.

    A letter of str is its code point: bytes hold those of latin-1.
    """
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    if len(lengths) and lengths.max() > _MOST_LETTERS:
        raise InvalidArgument(
            f"{name} must have at most 2**31 - 1 letters each; {name}[{lengths.argmax()}] has "
            f"{lengths.max()}. Cut it into pieces."
        )
    offsets = offsets_of(lengths)
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
