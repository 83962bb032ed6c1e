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

    def name(self, position: int) -> str:
        """Return how errors and pictures call the object at a position."""
        return f"object {self.array[position].item()!r}"

    def positions(self, ids: Any, *, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the positions of ids; an id that is not here is an error."""
        wanted = _read_ids(ids, name)
        if len(wanted) == 0:
            return np.empty(0, dtype=np.int64)
        if wanted.dtype.kind != self.array.dtype.kind:
            kind = "strings" if self.array.dtype.kind == "U" else "integers"
            raise InvalidArgument(
                f"{name} must hold {kind}, as the ids of the index are; got {wanted[0].item()!r}."
            )
        order = self._sorted_order()
        at = np.searchsorted(self.array, wanted, sorter=order)
        found = order[np.minimum(at, len(self) - 1)]
        missing = self.array[found] != wanted
        if missing.any():
            raise InvalidArgument(
                f"{name} must hold ids of the index only; {wanted[missing][0].item()!r} is not one."
            )
        return found

    def chosen(self, only: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the positions that `only`, ids or a mask, names, increasing."""
        is_list = isinstance(only, (list, tuple)) and len(only) > 0
        if is_list and all(isinstance(item, (bool, np.bool_)) for item in only):
            only = np.asarray(only)
        if str(getattr(only, "dtype", None)) in ("bool", "boolean"):  # numpy's and pandas'
            mask = np.asarray(only)
            if mask.dtype != np.dtype(bool) or mask.shape != (len(self),):
                raise InvalidArgument(
                    f"only must be ids or a mask of the {len(self)} indexed objects, without "
                    f"missing entries; got a mask of shape {mask.shape}."
                )
            return np.flatnonzero(mask).astype(np.int64)
        return np.unique(self.positions(only, name="only"))

    def _sorted_order(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        if self._order is None:
            self._order = np.argsort(self.array, kind="stable").astype(np.int64)
        return self._order


def make_ids(ids: Any, n_objects: int) -> Ids:
    """Return the ids of n objects: those given, each once, or 0 ... n-1."""
    if ids is None:
        return Ids(np.arange(n_objects, dtype=np.int64))
    if isinstance(ids, (set, frozenset, dict)):
        raise InvalidArgument("ids must be in the order of the objects; a set has no order.")
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
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        raise InvalidArgument(f"{name} must be a sequence of ids; got the single {ids!r}.")
    if isinstance(ids, np.ma.MaskedArray):
        raise InvalidArgument(f"{name} must not be masked; pass {name}.compressed().")
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind == "i":
        return np.array(ids, dtype=np.int64)
    rule = f"{name} must be integers that fit int64, or strings"
    try:
        items = list(ids)
    except TypeError as error:  # a zero-dimensional array says only now that it is one
        raise InvalidArgument(f"{rule}; got {ids!r}.") from error
    if all(isinstance(item, str) for item in items):
        strings = [str(item) for item in items]
        if any(item.endswith("\0") for item in strings):
            raise InvalidArgument(f"{name} must not end in a NUL character.")
        return np.array(strings, dtype=str) if strings else np.empty(0, dtype=np.int64)
    for item in items:
        is_integer = isinstance(item, (int, np.integer)) and not isinstance(item, bool)
        if not is_integer or not -(2**63) <= int(item) < 2**63:
            raise InvalidArgument(f"{rule}; got {item!r}.")
    return np.array([int(item) for item in items], dtype=np.int64)
