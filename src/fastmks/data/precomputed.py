"""Kernel values that were computed before: a Gram matrix among objects, and rows for queries."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats, Int64s
from fastmks.data.base import Store
from fastmks.data.json_vectors import vectors
from fastmks.data.kinds import ObjectKind
from fastmks.data.restore_checks import check_kind, restored
from fastmks.data.vector_input import make_queries, make_store
from fastmks.data.vectors import DenseStore
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record

_ROWS_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class PrecomputedStore(Store):
    """Rows of values. An object has the column of the same number; a query has none.

    Objects to be added have rows of their values with those before them and then among themselves:
    they get their columns when they are joined with those.
    """

    numbers_features = True  # a query has a value for each object

    values: Floats  # as given: the order of objects is in `places`
    places: Int64s  # the row of each object
    self_values: Floats  # NaN where not given
    n_columns: int
    has_columns: bool

    def __len__(self) -> int:
        return len(self.places)

    @property
    def kind(self) -> str:
        """The objects, in words."""
        if not self.has_columns:
            return "rows of values"
        return "objects of a Gram matrix"

    @property
    def form(self) -> Hashable:
        """A key, the same for the objects of all matrices: others can be added."""
        return PrecomputedStore

    @property
    def n_bytes(self) -> int:
        """The memory of the matrix and of where each object finds its row."""
        return self.values.nbytes + self.places.nbytes + self.self_values.nbytes

    def copy(self) -> "PrecomputedStore":
        """A store of the same objects, with a matrix of its own."""
        return self._with(self.values.copy(), slice(None))

    def take(self, positions: Int64s) -> "PrecomputedStore":
        """The objects at these positions, in this order. The matrix is shared: it stays as it is.

        Only the places of rows and columns are reordered. A store of no objects has no matrix.
        """
        if len(positions) == 0:
            none = np.zeros(0)
            return PrecomputedStore(np.zeros((0, 0)), self.places[:0], none, 0, self.has_columns)
        return self._with(self.values, positions)

    def get(self, positions: Int64s) -> Floats:
        """The rows at these positions: the values with each object of this store, in its order.

        Those of all positions are the matrix of the store, which can be read again.
        """
        return self._matrix(positions)

    def record(self) -> Record:
        """The matrix of the remaining objects, and the row of each.

        Its columns keep the order of the columns of queries.
        """
        left = np.sort(self.places)
        values = self.values
        if len(left) < len(values):
            values = values[np.ix_(left, left)]
        places = np.searchsorted(left, self.places).astype(np.int64)
        return Record(
            {"kind": "values"}, {"values": np.ascontiguousarray(values), "places": places}
        )

    def _matrix(self, positions: Int64s) -> Floats:
        rows = self.places[positions]
        return self.values[np.ix_(rows, self.places)] if self.has_columns else self.values[rows]

    def _with(self, values: Floats, positions: Any) -> "PrecomputedStore":
        places, self_values = self.places[positions].copy(), self.self_values[positions].copy()
        return PrecomputedStore(values, places, self_values, self.n_columns, self.has_columns)


def read_gram_matrix(objects: Any, *, rtol: float, name: str) -> PrecomputedStore:
    """Return the store of the objects of a square, symmetric matrix."""
    values = _read(make_store(objects, name=name), name)
    n = len(values)
    if values.shape[1] != n:
        raise InvalidArgument(
            f"{name} must be the n x n matrix of the kernel values among n objects; got shape "
            f"{values.shape}. Rows of values with other objects are queries."
        )
    _check_symmetry(values, rtol, name)
    return _of_matrix(values)


def read_value_rows(queries: Any, like: PrecomputedStore, *, name: str) -> PrecomputedStore:
    """Return queries: a row with the n objects each, and K(q, q) after it where it is known."""
    if isinstance(queries, (list, tuple)) and len(queries) == 0:
        queries = np.empty((0, like.n_columns))
    values = _read(make_queries(queries, name=name), name)
    n = like.n_columns
    if values.shape[1] not in (n, n + 1):
        raise InvalidArgument(
            f"{name} must be rows of {n} values, K(query, object) for each object of the matrix, "
            f"or of {n + 1}, where the last is K(query, query); got {values.shape[1]}."
        )
    has_self = values.shape[1] == n + 1
    self_values = values[:, n].copy() if has_self else np.full(len(values), np.nan)
    return PrecomputedStore(values, np.arange(len(values)), self_values, n, False)


def read_more_values(
    objects: Any, like: PrecomputedStore, *, rtol: float, name: str
) -> PrecomputedStore:
    """Return m objects to be added to n others: m rows of n + m values.

    The first n are those with the objects of `like`, in its order, the others those among the m.
    """
    values = _read(make_queries(objects, name=name), name)
    n, m = len(like), len(values)
    if values.shape[1] != n + m:
        raise InvalidArgument(
            f"{name} must be {m} rows of {n + m} values, those with each of the {n} indexed "
            f"objects and then those with each of the {m} added; got {values.shape[1]}."
        )
    _check_symmetry(values[:, n:], rtol, f"{name}[:, {n}:]")
    among = np.ascontiguousarray(values[:, n:].diagonal())
    return PrecomputedStore(values, np.arange(m), among, n + m, False)


def join_values(stores: Sequence[PrecomputedStore]) -> PrecomputedStore:
    """Return the matrix of the objects of the first store and of the added ones."""
    first, *added = [store for store in stores if len(store)] or stores[:1]
    if all(store.values is first.values and store.has_columns for store in added):
        places = np.concatenate([first.places, *(store.places for store in added)])
        return _of_matrix(first.values[np.ix_(places, places)])
    joined = np.empty((sum(map(len, stores)),) * 2)
    n = len(first)
    joined[:n, :n] = first.get(np.arange(n))
    for store in added:
        m = len(store)
        if store.has_columns or store.n_columns - len(store.values) != n:
            raise InvalidArgument(f"the {m} objects were not added to these {n}.")
        rows = store.values[store.places]
        joined[n : n + m, :n] = rows[:, :n]
        joined[n : n + m, n : n + m] = rows[:, n + store.places]
        joined[:n, n : n + m] = joined[n : n + m, :n].T
        n += m
    return _of_matrix(joined)


def restore_values(record: Record) -> PrecomputedStore:
    """Return the store of a record."""
    check_kind(record, "values")
    values = restored(record, "values", np.float64, ndim=2)
    if values.shape[0] != values.shape[1]:
        raise IndexFileError(f"the matrix of values must be square: {values.shape}.")
    places = restored(record, "places", np.int64)
    if not np.array_equal(np.sort(places), np.arange(len(values))):
        raise IndexFileError("the objects must each have a row of the matrix of values.")
    return _of_matrix(values).take(places) if len(places) else _of_matrix(values)


def _of_matrix(values: Floats) -> PrecomputedStore:
    n = len(values)
    return PrecomputedStore(values, np.arange(n), values.diagonal().copy(), n, True)


def _read(store: Any, name: str) -> Floats:
    if not isinstance(store, DenseStore):
        raise InvalidArgument(f"{name} must be a dense matrix; got a sparse one. Use .toarray().")
    return np.asarray(store.array, dtype=np.float64)


@own_arithmetic()
def _check_symmetry(values: Floats, rtol: float, name: str) -> None:
    """Refuse values that differ by more than rounding: rtol sqrt(K(x,x) K(y,y)) for each."""
    norms = np.sqrt(np.abs(values.diagonal()))
    for begin in range(0, len(values), _ROWS_AT_A_TIME):
        rows = values[begin : begin + _ROWS_AT_A_TIME, begin:]
        columns = values[begin:, begin : begin + _ROWS_AT_A_TIME].T
        allowed = norms[begin : begin + _ROWS_AT_A_TIME, None] * norms[None, begin:]
        is_apart = np.abs(rows - columns) > 2.0 * rtol * np.maximum(allowed, np.abs(rows))
        if is_apart.any():
            i, j = (int(at) + begin for at in np.argwhere(is_apart)[0])
            raise InvalidArgument(
                f"{name} must be symmetric: K({i}, {j}) is {values[i, j]} and K({j}, {i}) is "
                f"{values[j, i]}. Average it with its transpose if both should be the same, or "
                "pass a greater rtol to Precomputed if rounding explains it."
            )


# The only known facts of an object are its values with others.
VALUES = ObjectKind(
    "rows of values",
    lambda _: vectors(None, is_filled=True),
    drawing="values",
    describe=lambda _: ("", 0),
)
