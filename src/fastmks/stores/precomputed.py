"""Kernel values that were computed before: a Gram matrix among objects, and rows for queries."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks.errors import InvalidArgument
from fastmks.stores.base import Store
from fastmks.stores.vectors import DenseStore, make_queries, make_store

__all__ = ["PrecomputedStore", "read_gram_matrix", "read_value_rows"]

_Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_ROWS_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class PrecomputedStore(Store):
    """Rows of values. An object has the column of the same number; a query has none."""

    values: _Floats  # as given: an order of objects is one of `places`
    places: _Positions  # the row of each object
    self_values: _Floats  # not a number where not given
    n_columns: int
    has_columns: bool

    def __len__(self) -> int:
        return len(self.places)

    @property
    def kind(self) -> str:
        """What the objects are."""
        if not self.has_columns:
            return "rows of values"
        return f"objects of a Gram matrix of {self.n_columns}"

    def copy(self) -> "PrecomputedStore":
        """The same objects with a matrix of their own."""
        return self._with(self.values.copy(), slice(None))

    def take(self, positions: _Positions) -> "PrecomputedStore":
        """The objects at these positions, in this order. The matrix is shared: it stays as it is.

        What belongs to another order is where each object finds its row and its column.
        """
        return self._with(self.values, positions)

    def _with(self, values: _Floats, positions: Any) -> "PrecomputedStore":
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
    return PrecomputedStore(values, np.arange(n), values.diagonal().copy(), n, True)


def read_value_rows(queries: Any, like: PrecomputedStore, *, name: str) -> PrecomputedStore:
    """Return queries: a row with the n objects each, and K(q, q) behind it where it is known."""
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


def _read(store: Any, name: str) -> _Floats:
    if not isinstance(store, DenseStore):
        raise InvalidArgument(f"{name} must be a dense matrix; got a sparse one. Use .toarray().")
    return np.asarray(store.array, dtype=np.float64)


def _check_symmetry(values: _Floats, rtol: float, name: str) -> None:
    """Allow what rounding explains: each of both values may be off by rtol sqrt(K(x,x) K(y,y))."""
    norms = np.sqrt(np.abs(values.diagonal()))
    for begin in range(0, len(values), _ROWS_AT_A_TIME):
        rows = values[begin : begin + _ROWS_AT_A_TIME, begin:]
        columns = values[begin:, begin : begin + _ROWS_AT_A_TIME].T
        with np.errstate(over="ignore"):
            allowed = norms[begin : begin + _ROWS_AT_A_TIME, None] * norms[None, begin:]
            is_apart = np.abs(rows - columns) > 2.0 * rtol * np.maximum(allowed, np.abs(rows))
        if is_apart.any():
            i, j = (int(at) + begin for at in np.argwhere(is_apart)[0])
            raise InvalidArgument(
                f"{name} must be symmetric: K({i}, {j}) is {values[i, j]} and K({j}, {i}) is "
                f"{values[j, i]}. Average it with its transpose if both should be the same, or "
                "pass a greater rtol to Precomputed if rounding explains it."
            )
