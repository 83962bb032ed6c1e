"""The names users give their objects: int64s or strings, each once."""

from typing import Any

import numpy as np

from fastmks.errors import InvalidArgument

__all__ = ["Ids", "make_ids"]


class Ids:
    """Ids by position, and positions by id."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self._order: np.ndarray[Any, np.dtype[np.int64]] | None = None

    def __len__(self) -> int:
        return len(self.array)

    def positions(self, ids: Any, *, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the positions of ids; an id that is not here is an error."""
        wanted = _read_ids(ids, name)
        if len(wanted) == 0:
            return np.empty(0, dtype=np.int64)
        if wanted.dtype.kind != self.array.dtype.kind:
            kind = "strings" if self.array.dtype.kind == "U" else "integers"
            raise InvalidArgument(f"{name} must hold {kind}, as the ids of the index are.")
        order = self._sorted_order()
        at = np.searchsorted(self.array, wanted, sorter=order)
        found = order[np.minimum(at, len(self) - 1)]
        missing = self.array[found] != wanted
        if missing.any():
            raise InvalidArgument(
                f"{name} must hold ids of the index only; {wanted[missing][0].item()!r} is not one."
            )
        return found

    def _sorted_order(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        if self._order is None:
            self._order = np.argsort(self.array, kind="stable").astype(np.int64)
        return self._order


def make_ids(ids: Any, n_objects: int) -> Ids:
    """Return the ids of n objects: those given, each once, or 0 ... n-1."""
    if ids is None:
        return Ids(np.arange(n_objects, dtype=np.int64))
    array = _read_ids(ids, "ids")
    if len(array) != n_objects:
        raise InvalidArgument(
            f"ids must name each of the {n_objects} objects; got {len(array)} ids."
        )
    ordered = np.sort(array, kind="stable")
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(repeated):
        raise InvalidArgument(f"ids must differ; {repeated[0].item()!r} is given more than once.")
    return Ids(array)


def _read_ids(ids: Any, name: str) -> np.ndarray[Any, Any]:
    if isinstance(ids, (str, bytes)):
        raise InvalidArgument(f"{name} must be a sequence of ids; got the single {ids!r}.")
    if isinstance(ids, (set, frozenset, dict, range)) or not hasattr(ids, "__len__"):
        ids = list(ids) if hasattr(ids, "__iter__") else [ids]
    array = np.asarray(ids)
    if len(array) == 0 and array.ndim == 1:
        return array.astype(np.int64)
    if array.ndim == 1 and array.dtype.kind in "iu" and array.max() <= np.iinfo(np.int64).max:
        return array.astype(np.int64)
    if array.ndim == 1 and array.dtype.kind in "OUT" and all(isinstance(i, str) for i in ids):
        return array.astype(str)
    raise InvalidArgument(
        f"{name} must be integers that fit int64, or strings; got dtype {array.dtype} "
        f"and {array.ndim} dimensions."
    )
