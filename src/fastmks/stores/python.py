"""Objects of any kind, kept as Python has them, and the functions of the user that compare them."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fastmks._validate import check_unmasked
from fastmks.errors import InvalidArgument
from fastmks.stores.base import Store
from fastmks.stores.listing import is_sparse, list_objects
from fastmks.stores.returned import read_returned

__all__ = ["Calls", "Functions", "PythonStore", "read_object", "read_python", "read_python_queries"]

_Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Array: TypeAlias = np.ndarray[Any, Any]
_WAY_OUT = "Pass a list, a tuple, an array, a pandas object or a generator of objects."


class Functions(NamedTuple):
    """What a kernel in Python is made of; a block function goes before that of pairs."""

    value: Callable[[Any, Any], Any] | None = None
    value_block: Callable[[Any, Any], Any] | None = None
    self_block: Callable[[Any], Any] | None = None
    bound: Callable[[Any, Any], Any] | None = None
    bound_block: Callable[[Any, Any], Any] | None = None


class Calls:
    """Objects and functions as the core calls them. It refers to this weakly, and to the rest not
    at all: whoever keeps the store keeps them, and the garbage collector sees every reference.
    """

    array_type = np.ndarray
    read = staticmethod(read_returned)

    def __init__(
        self,
        functions: Functions,
        objects: list[Any] | _Array,
        self_values: np.ndarray[Any, np.dtype[np.float64]],
    ) -> None:
        self.functions = functions
        self.value, self.value_block, self.self_block, self.bound, self.bound_block = functions
        self.objects = objects
        self.self_values = self_values  # not a number where not evaluated yet
        self.take = _Rows(objects) if isinstance(objects, np.ndarray) else None


@dataclass(frozen=True)
class _Rows:
    """Picks rows of an array, by position."""

    array: _Array

    def __call__(self, positions: _Positions) -> _Array:
        return _read_only(self.array[positions])


@dataclass(frozen=True, eq=False)
class PythonStore(Store):
    """References to the objects, or an array whose rows are the objects."""

    objects: list[Any] | _Array
    _calls: dict[Hashable, Calls] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def kind(self) -> str:
        """What the objects are."""
        return "Python objects"

    def calls(self, kernel: Hashable, functions: Functions) -> Calls:
        """Return what the core needs to call a kernel's functions; one for each kernel."""
        made = Calls(functions, self.objects, np.full(len(self), np.nan))
        return self._calls.setdefault(kernel, made)

    def copy(self) -> "PythonStore":
        """The same objects: an array is copied, the objects of a list are not."""
        return self._with(self.objects.copy(), slice(None))

    def take(self, positions: _Positions) -> "PythonStore":
        """The objects at these positions, in this order, with what is known of K(x, x)."""
        if isinstance(self.objects, np.ndarray):
            return self._with(self.objects[positions], positions)
        return self._with([self.objects[i] for i in positions.tolist()], positions)

    def _with(self, objects: list[Any] | _Array, positions: Any) -> "PythonStore":
        if isinstance(objects, np.ndarray):
            objects = _read_only(objects)
        known = {
            kernel: Calls(calls.functions, objects, calls.self_values[positions].copy())
            for kernel, calls in list(self._calls.items())
        }
        return PythonStore(objects, known)


def read_python(objects: Any, *, name: str) -> PythonStore:
    """Return a store of whatever a sequence holds."""
    if isinstance(objects, np.ndarray) and objects.ndim > 0:
        return PythonStore(_plain(objects, name))
    return PythonStore(_listed(objects, name))


def read_python_queries(queries: Any, like: PythonStore, *, name: str) -> PythonStore:
    """Return queries as a store. A string is one query, and so is an array that could be a row."""
    if isinstance(like.objects, np.ndarray):
        return PythonStore(_rows_like(queries, like.objects, name))
    if isinstance(queries, (str, bytes)):
        return PythonStore([queries])
    if isinstance(queries, np.ndarray) and _is_one_of(queries, like.objects):
        return PythonStore([queries])
    return read_python(queries, name=name)


def read_object(one: Any, like: PythonStore | None, *, name: str) -> PythonStore:
    """Return the store of a single object."""
    if isinstance(one, (np.ndarray, np.generic)):
        check_unmasked(one, name)
        return PythonStore(_read_only(np.asarray(one)[None]))
    if like is not None and isinstance(like.objects, np.ndarray):
        return PythonStore(_rows_like([one], like.objects, name))
    return PythonStore([one])


def _listed(objects: Any, name: str) -> list[Any]:
    if isinstance(objects, (str, bytes, dict, set, frozenset)):
        raise InvalidArgument(
            f"{name} must be a sequence of objects; got one {type(objects).__name__}. "
            f"Put a single object in a list. {_WAY_OUT}"
        )
    if hasattr(objects, "itertuples"):  # a pandas DataFrame, which itself iterates over columns
        return list(objects.itertuples(index=False))
    if hasattr(objects, "iter_rows"):  # a polars DataFrame
        return list(objects.iter_rows())
    if is_sparse(objects):
        return list(objects.tocsr())
    advice = f"Put a single object in a list. {_WAY_OUT}"
    return list_objects(objects, name=name, wanted="a sequence of objects", way_out=advice)


def _rows_like(queries: Any, array: _Array, name: str) -> _Array:
    """Return queries as an array of such rows."""
    check_unmasked(queries, name)
    try:
        read = np.asarray(queries)
    except Exception as error:  # objects may fail in ways of their own when numpy asks them
        raise InvalidArgument(f"{name} cannot be read as an array: {error}") from error
    wanted = array.shape[1:]
    if read.shape == wanted:
        read = read[None]
    elif read.size == 0 and read.ndim == 1:
        read = np.empty((0, *wanted), dtype=array.dtype)
    if read.shape[1:] != wanted or read.ndim == 0:
        raise InvalidArgument(
            f"{name} must be an array of rows of shape {wanted}, as the objects they are compared "
            f"with; got shape {read.shape}."
        )
    return _plain(read, name)


def _is_one_of(array: _Array, objects: list[Any]) -> bool:
    first = objects[0] if objects else None
    return isinstance(first, np.ndarray) and first.ndim == array.ndim


def _plain(array: _Array, name: str) -> _Array:
    check_unmasked(array, name)
    return _read_only(np.asarray(array))


def _read_only(array: _Array) -> _Array:
    """Return a view that a function cannot change by mistake."""
    view: _Array = array.view()
    view.flags.writeable = False
    return view
