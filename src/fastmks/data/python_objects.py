"""Python objects of any kind, and the functions of the user that compare them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fastmks._util.arrays import Array, Floats, Int64s, read_only
from fastmks.data.base import Store
from fastmks.data.function_results import read_returned
from fastmks.data.ragged import offsets_of
from fastmks.data.worker_pool import WorkerPool
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record

PYTHON_OBJECTS = "Python objects"  # the key of every kernel that reads them
# The dtypes of arrays in a file: by kind, the bytes of each number.
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
PLAIN_DTYPES = tuple(np.dtype(f"{kind}{size}") for kind, sizes in _SIZES.items() for size in sizes)

_REFERENCE = 8  # bytes


class Functions(NamedTuple):
    """The functions of a kernel in Python; a block function is preferred to that of pairs."""

    value: Callable[[Any, Any], Any] | None = None
    value_block: Callable[[Any, Any], Any] | None = None
    self_block: Callable[[Any], Any] | None = None
    bound: Callable[[Any, Any], Any] | None = None
    bound_block: Callable[[Any, Any], Any] | None = None
    workers: WorkerPool | None = None  # evaluates `value` and `value_block` in other processes


class Calls:
    """Objects and functions as the core calls them.

    The core has a weak reference to this and none to the rest: the store keeps them alive, and the
    garbage collector sees every reference.
    """

    array_type = np.ndarray
    read = staticmethod(read_returned)

    def __init__(
        self, functions: Functions, objects: list[Any] | Array, self_values: Floats
    ) -> None:
        self.functions = functions
        self.value, self.value_block, self.self_block, self.bound, self.bound_block, _ = functions
        self.workers = functions.workers
        self.objects = objects
        self.self_values = self_values  # NaN where not evaluated yet
        self.take = _Rows(objects) if isinstance(objects, np.ndarray) else None


@dataclass(frozen=True)
class _Rows:
    """Picks rows of an array, by position."""

    array: Array

    def __call__(self, positions: Int64s) -> Array:
        return read_only(self.array[positions])


@dataclass(frozen=True, eq=False)
class PythonStore(Store):
    """References to the objects, or an array whose rows are the objects."""

    objects: list[Any] | Array
    known_calls: dict[Hashable, Calls] = field(default_factory=dict, repr=False)
    # Known values K(x, x) of a file, by the repr of the kernel: functions are not in files.
    known: Mapping[str, Floats] = field(default_factory=dict, repr=False)
    # Axes of the arrays in a list of arrays: known also after all objects were removed.
    n_axes: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.objects, list) and self.objects:
            first = self.objects[0]
            n_axes = first.ndim if isinstance(first, np.ndarray) else None
            object.__setattr__(self, "n_axes", n_axes)

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def kind(self) -> str:
        """The objects, in words."""
        return PYTHON_OBJECTS

    @property
    def form(self) -> Hashable:
        """A key: the shape and type of rows of numbers, or one key for all other objects."""
        if not isinstance(self.objects, np.ndarray):
            return PythonStore, None
        dtype = self.objects.dtype
        kind = dtype.kind if dtype.kind in "US" else dtype.str  # strings have one length in each
        return PythonStore, self.objects.shape[1:], kind

    @property
    def n_bytes(self) -> int:
        """The memory of the array, or of the references; what they refer to is not known."""
        if isinstance(self.objects, np.ndarray):
            return self.objects.nbytes
        return _REFERENCE * len(self.objects)

    def calls(self, kernel: Hashable, functions: Functions) -> Calls:
        """Return the calls of a kernel's functions for the core; one for each kernel."""
        # Hashing a kernel takes time.
        made = self.known_calls.get(kernel) if self.known_calls else None
        if made is None:
            known = self.known.get(repr(kernel)) if self.known else None
            self_values = np.full(len(self), np.nan) if known is None else known.copy()
            made = self.known_calls.setdefault(kernel, Calls(functions, self.objects, self_values))
        return made

    def copy(self) -> "PythonStore":
        """A store of the same objects: an array is copied, the objects of a list are not."""
        return self._with(self.objects.copy(), slice(None))

    def take(self, positions: Int64s) -> "PythonStore":
        """The objects at these positions, in this order, with the known values K(x, x)."""
        return self._with(self.get(positions), positions)

    def get(self, positions: Int64s) -> list[Any] | Array:
        """The objects at these positions: a list of them, or the rows of an array, copied."""
        if isinstance(self.objects, np.ndarray):
            rows: Array = self.objects[positions]
            return rows
        return [self.objects[i] for i in positions.tolist()]

    def record(self, *, encode: Callable[[Any], bytes] | None = None) -> Record:
        """An array of numbers, or the number of objects; and the known values K(x, x).

        `encode` returns the bytes of each object that is no row of an array of numbers. Without it
        these objects are not recorded: the caller passes them to `restore_python`.
        """
        if isinstance(self.objects, np.ndarray) and self.objects.dtype in PLAIN_DTYPES:
            facts: dict[str, Any] = {"form": "array", "shape": list(self.objects.shape)}
            arrays = {"objects": np.ascontiguousarray(self.objects).reshape(-1)}
        elif encode is None:
            facts, arrays = {"form": "left out", "n_objects": len(self)}, {}
        else:
            facts, arrays = {"form": "encoded"}, _encoded(self.objects, encode)
        known = self._self_values()
        facts |= {"kind": "python", "known": list(known), "n_axes": self.n_axes}
        return Record(facts, arrays | {f"known {i}": a for i, a in enumerate(known.values())})

    def _self_values(self) -> dict[str, Floats]:
        """Known values K(x, x), by the repr of the kernel; none where two have the same repr."""
        printed = [repr(kernel) for kernel in list(self.known_calls)]
        made = {
            name: calls.self_values
            for name, calls in zip(printed, list(self.known_calls.values()), strict=False)
            if printed.count(name) == 1
        }
        return {name: a for name, a in self.known.items() if name not in printed} | made

    def _with(self, objects: list[Any] | Array, positions: Any) -> "PythonStore":
        if isinstance(objects, np.ndarray):
            objects = read_only(objects)
        calls = {
            kernel: Calls(calls.functions, objects, calls.self_values[positions].copy())
            for kernel, calls in list(self.known_calls.items())
        }
        known = {name: values[positions].copy() for name, values in self.known.items()}
        return PythonStore(objects, calls, known, self.n_axes)


def join_python(stores: Sequence[PythonStore]) -> PythonStore:
    """Return a store of the objects of several stores: rows of one array where all are rows."""
    objects = _joined([store.objects for store in stores])
    functions = {
        kernel: calls.functions
        for store in stores
        for kernel, calls in list(store.known_calls.items())
    }
    calls = {
        kernel: Calls(
            those,
            objects,
            np.concatenate([store.calls(kernel, those).self_values for store in stores]),
        )
        for kernel, those in functions.items()
    }
    names = {name for store in stores for name in store.known}
    known = {
        name: np.concatenate(
            [store.known.get(name, np.full(len(store), np.nan)) for store in stores]
        )
        for name in names
    }
    n_axes = next((store.n_axes for store in stores if store.n_axes is not None), None)
    return PythonStore(objects, calls, known, n_axes)


def _joined(parts: Sequence[list[Any] | Array]) -> list[Any] | Array:
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) < len(parts) or len({array.shape[1:] for array in arrays}) > 1:
        return [one for part in parts for one in part]
    return read_only(np.concatenate(arrays))


def _encoded(objects: list[Any] | Array, encode: Callable[[Any], bytes]) -> dict[str, Array]:
    parts = [encode(one) for one in objects]
    for i, part in enumerate(parts):
        if not isinstance(part, bytes):
            raise InvalidArgument(
                f"encode must return bytes; for objects[{i}] it returned {type(part).__name__}."
            )
    return {
        "bytes": np.frombuffer(b"".join(parts), dtype=np.uint8),
        "offsets": offsets_of([len(part) for part in parts]),
    }
