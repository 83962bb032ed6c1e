"""Counts of features, as sparse vectors whose columns are numbered as features appear."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmks import _core
from fastmks.errors import InvalidArgument
from fastmks.stores.base import Store
from fastmks.stores.vectors import SparseStore

__all__ = ["CountStore", "Vocabulary", "make_counts"]

_MOST_COLUMNS = 2**31 - 1
_MOST_IN_FLOAT32 = 2**24  # float32 holds every whole number up to here
_MOST_EXACT = 2.0**53  # and float64 up to here


class Vocabulary:
    """Columns for features, numbered from 0 as they appear.

    One that extends another leaves it as it is: features that the other knows keep their columns,
    further ones get columns beyond it.
    """

    def __init__(self, known: "Vocabulary | None" = None) -> None:
        self._known = known
        self._begin = 0 if known is None else len(known)
        self._columns: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return self._begin + len(self._columns)

    def find(self, feature: Hashable) -> int | None:
        """Return the column of a feature, or None where it has not appeared."""
        column = self._columns.get(feature)
        if column is None and self._known is not None:
            return self._known.find(feature)
        return column

    def number(self, features: Iterable[Hashable]) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Return the columns of features, new ones where they have none yet."""
        columns, begin = self._columns, self._begin
        if self._known is None:
            found = [columns.setdefault(feature, len(columns)) for feature in features]
        else:
            is_last = self._known._known is None
            find = self._known._columns.get if is_last else self._known.find
            found = []
            for feature in features:
                column = find(feature)
                if column is None:
                    column = columns.setdefault(feature, begin + len(columns))
                found.append(column)
        if len(self) > _MOST_COLUMNS:
            raise InvalidArgument(
                f"the objects must have at most 2**31 - 1 different features; got {len(self)}."
            )
        return np.array(found, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class CountStore(Store):
    """How often each feature occurs in each object, and which column counts which feature."""

    counts: SparseStore
    vocabulary: Vocabulary
    noun: str  # what the objects are

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def kind(self) -> str:
        """What the objects are."""
        return self.noun

    @property
    def core(self) -> _core.VectorStore:
        """The counts as the core sees them."""
        return self.counts.core

    def copy(self) -> "CountStore":
        """The same counts in memory of their own; a vocabulary never changes once in a store."""
        return CountStore(self.counts.copy(), self.vocabulary, self.noun)

    def take(self, positions: np.ndarray[Any, np.dtype[np.int64]]) -> "CountStore":
        """The objects at these positions, in this order, in memory of their own."""
        return CountStore(self.counts.take(positions), self.vocabulary, self.noun)


def make_counts(
    objects: np.ndarray[Any, np.dtype[np.int64]],
    columns: np.ndarray[Any, np.dtype[np.int32]],
    counts: np.ndarray[Any, np.dtype[np.int64]],
    *,
    n_objects: int,
    vocabulary: Vocabulary,
    noun: str,
    name: Callable[[int], str],
) -> CountStore:
    """Return the store in which `objects[i]` has the feature of `columns[i]` `counts[i]` times.

    Counts of the same feature of the same object add up. Products of counts are exact in float64
    while their sums stay below 2**53; an object beyond that is refused, as `name` calls it.
    """
    n_columns = max(1, len(vocabulary))
    entries = objects * n_columns + columns
    order = np.argsort(entries, kind="stable")
    entries = entries[order]
    begins = np.flatnonzero(np.diff(entries, prepend=-1))
    totals = np.add.reduceat(counts[order], begins) if len(begins) else np.zeros(0, np.int64)
    rows, kept = np.divmod(entries[begins], n_columns)
    _check_exact(rows, totals, n_objects, name)
    offsets = np.zeros(n_objects + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n_objects), out=offsets[1:])
    largest = int(totals.max(initial=0))
    values = totals.astype(np.float32 if largest <= _MOST_IN_FLOAT32 else np.float64)
    store = SparseStore(offsets, kept.astype(np.int32), values, n_columns)
    return CountStore(store, vocabulary, noun)


def _check_exact(
    rows: np.ndarray[Any, np.dtype[np.int64]],
    totals: np.ndarray[Any, np.dtype[np.int64]],
    n_objects: int,
    name: Callable[[int], str],
) -> None:
    """Refuse objects whose K(x, x) is not surely exact.

    Sums of squares below 2**53 are exact, and rounding is monotone: a sum that is not below 2**53
    does not come out below it. By Cauchy and Schwarz no K(x, y) of two others reaches 2**53 then.
    """
    squares = np.bincount(rows, totals.astype(np.float64) ** 2, minlength=n_objects)
    for row in np.flatnonzero(squares >= _MOST_EXACT):
        raise InvalidArgument(
            f"{name(int(row))} is too large: K(x, x) is {squares[row]:.3g}, and values are exact "
            "below 2**53 = 9.01e+15 only. Split it, or give its parts more labels."
        )
