"""Kernels of the user's own: a function, a compiled function, or a similarity with bounds."""

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, ClassVar, cast

import numpy as np

from fastmks import _core
from fastmks._util.arrays import read_only
from fastmks._util.fork_safe import cached_property
from fastmks._util.validation import check_count, check_number
from fastmks.data import DenseStore, Store, make_queries, make_store
from fastmks.data.python_objects import PYTHON_OBJECTS, Functions, PythonStore, join_python
from fastmks.data.python_objects_input import (
    read_more_python,
    read_object,
    read_python,
    read_python_queries,
    restore_python,
)
from fastmks.data.vectors import join_vectors, restore_vectors
from fastmks.data.worker_pool import WorkerPool
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.base import Kernel, how_to_write
from fastmks.kernels.compiled import Compiled, find_compiled
from fastmks.kernels.object_kernel import ObjectKernel, leaves

_DEFAULT_RTOL = 1e-10
_GREATEST_RTOL = 0.01


class _PythonKernel(ObjectKernel):
    """The base of kernels written in Python: their objects, and how they compare and print."""

    is_normalized = False
    value_range = (-math.inf, math.inf)
    finite_advice = "Make the function return a finite number for every pair."
    is_expensive = True
    mercer_advice = "If the function is, use Custom(function)."

    name: str | None
    function: Any
    block: Callable[[Any, Any], Any] | None
    symmetric: bool
    workers: int | None
    costs: ClassVar[tuple[str, ...]] = ("symmetric", "workers")

    def close(self) -> None:
        """End the worker processes, if any run; they start again when they are needed.

        Examples
        --------
        >>> kernel = Custom(len, workers=2)
        >>> kernel.close()
        """
        if self._pool is not None:
            self._pool.close()

    @cached_property
    def _pool(self) -> WorkerPool | None:
        if self.workers is None or self.workers == 1:
            return None
        return WorkerPool(self.function, self.block, self.workers)

    def _check_common(self) -> None:
        """Check the parameters that all kernels in Python have."""
        _check_name(self.name)
        if not isinstance(self.symmetric, bool):
            raise InvalidArgument(f"symmetric must be True or False; got {self.symmetric!r}.")
        if self.workers is not None:
            object.__setattr__(self, "workers", check_count("workers", self.workers))

    @property
    @abstractmethod
    def _functions(self) -> Functions: ...

    @property
    @abstractmethod
    def _arguments(self) -> dict[str, Any]:
        """The functions, by the names of their parameters; None for those that were not given."""

    @property
    def _options(self) -> dict[str, Any]:
        """The other parameters that distinguish kernels; only those that are not the default."""
        return {"symmetric": True} if self.symmetric else {}

    @property
    def _identity(self) -> tuple[Any, ...]:
        *functions, _workers = self._functions  # workers change no value
        return (repr(self), *map(_identity, functions))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PythonKernel) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        """The expression that creates it, with the functions' names, or with its own name."""
        given = {
            option: function_label(f) for option, f in self._arguments.items() if f is not None
        }
        if self.name is not None:
            given = {"function": self.name}
        given |= {option: repr(value) for option, value in self._options.items()}
        shown = (text if key == "function" else f"{key}={text}" for key, text in given.items())
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def store_key(self) -> Hashable:
        """The key that all kernels which call Python share."""
        return PYTHON_OBJECTS

    def read(self, objects: Any, *, name: str) -> Store:
        """Return a store of references to the objects."""
        return read_python(objects, name=name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> Store:
        """Return a store of references to the queries."""
        return read_python_queries(queries, cast(PythonStore, like), name=name)

    def read_one(self, one: Any, like: Store | None, *, name: str) -> Store:
        """Return a store of the object."""
        return read_object(one, cast("PythonStore | None", like), name=name)

    def read_more(self, objects: Any, like: Store, *, name: str) -> Store:
        """Return a store of references to the objects."""
        return read_more_python(objects, cast(PythonStore, like), name=name)

    def join(self, stores: Sequence[Store]) -> Store:
        """Return the objects of several stores in one."""
        return join_python(cast("Sequence[PythonStore]", stores))

    def restore(self, record: Record) -> Store:
        """Return the recorded array; a record holds other objects only where they were encoded."""
        return restore_python(record)

    def find_fault(self, store: Store, isa: str) -> str:
        """Return which known K(x, x) differs from that of the function; empty where none does."""
        if not isinstance(store, PythonStore):  # a compiled function is given vectors
            return ""
        known = store.calls(self, self._functions).self_values.copy()
        is_known = ~np.isnan(known)
        if not is_known.any():
            return ""
        bare = PythonStore(store.objects)  # its space refers to it weakly
        values = self.make_space(bare, isa).self_values()
        is_false = is_known & (values != known)
        if not is_false.any():
            return ""
        at = int(is_false.argmax())
        return f"the known value {known[at]} of K(x, x) at {at} is {values[at]}"

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the space that calls the functions."""
        return self._make_python_space(store, math.inf, isa)

    def _make_python_space(self, store: Store, rtol: float, isa: str) -> _core.Space:
        calls = cast(PythonStore, store).calls(self, self._functions)
        return _core.python_space(calls, rtol, self.symmetric, isa)


class _FunctionKernel(_PythonKernel):
    """A function in Python, or a compiled one."""

    rtol: float

    @cached_property
    def _compiled(self) -> Compiled | None:
        return find_compiled(self.function)

    @property
    def store_key(self) -> Hashable:
        """Compiled functions read rows of float64."""
        return "float64 rows" if self._compiled else super().store_key

    def read(self, objects: Any, *, name: str) -> Store:
        """Return the objects in the form for this function."""
        if self._compiled is None:
            return super().read(objects, name=name)
        return _float64_rows(make_store(objects, name=name), name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> Store:
        """Return the queries in the form for this function."""
        if self._compiled is None:
            return super().read_queries(queries, like, name=name)
        return _float64_rows(make_queries(queries, cast(DenseStore, like), name=name), name)

    def read_one(self, one: Any, like: Store | None, *, name: str) -> Store:
        """Return one object in the form for this function."""
        if self._compiled is None:
            return super().read_one(one, like, name=name)
        return _float64_rows(make_queries(one, cast("DenseStore | None", like), name=name), name)

    def read_more(self, objects: Any, like: Store, *, name: str) -> Store:
        """Return more objects in the form for this function."""
        if self._compiled is None:
            return super().read_more(objects, like, name=name)
        return self.read_queries(objects, like, name=name)

    def join(self, stores: Sequence[Store]) -> Store:
        """Return the objects of several stores in one."""
        return super().join(stores) if self._compiled is None else join_vectors(stores)

    def restore(self, record: Record) -> Store:
        """Return the store that was recorded."""
        if self._compiled is None:
            return super().restore(record)
        store = restore_vectors(record)
        if not isinstance(store, DenseStore) or store.array.dtype != float:
            raise IndexFileError(f"the objects must be dense rows of float64: {store.kind}.")
        return store

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the space that calls the function."""
        rtol = math.inf if self.is_mercer is False else self.rtol
        if self._compiled is None:
            return self._make_python_space(store, rtol, isa)
        rows = read_only(cast(DenseStore, store).array)
        owner, address = self._compiled.owner, self._compiled.address
        return _core.function_space(rows, owner, address, rtol, self.symmetric, isa)


@dataclass(frozen=True, eq=False, repr=False)
class Custom(_FunctionKernel):
    """Your own function of two objects of any kind.

    The value of a query and an object is ``function(query, object)``, always in this order, so
    a function that is symmetric only up to rounding is accepted.
    ``docs/reference/kernels/your-own.md`` has examples.

    Parameters
    ----------
    function : callable (x, y) -> float, or compiled, optional
        Compares two objects. Instead of a Python function, a numba ``cfunc`` or a
        ``scipy.LowLevelCallable`` of signature ``double(const double*, const double*, intp)``
        compares two rows of float64, on all threads; it must be safe to call on several at once.
    block : callable (x, ys) -> sequence of float, optional
        Compares one object with several at once; `ys` is a list, or an array whose rows are the
        objects where the objects were given as an array. Where it is given, all values come from
        it, and `function` is not called. A value must not depend on what else is in `ys`.
    self_values : callable (xs) -> sequence of float, optional
        K(x, x) of several objects; trees and `Normalized` need it. From the functions above where
        it is not given.
    rtol : float, default 1e-10
        A promise that trees rely on: each value is off from that of an exact Mercer kernel by at
        most ``rtol * sqrt(K(x, x) * K(y, y))``. At most 0.01; for arithmetic in float32 use 1e-5.
    name : str, optional
        The name to print.
    is_mercer : bool, optional
        Whether the function is a Mercer kernel, which trees and pivots need. With True,
        ``algorithm="auto"`` uses them where they save time. Where it is not given, they are used
        only in searches that ask for them by name. Values that contradict it are a
        `NotMercerError`, but not every function that is none gets caught: say True only if you
        know it.
    symmetric : bool, default False
        Whether ``function(x, y)`` and ``function(y, x)`` are always the same float64, bit for bit.
        `Index.search_self` then evaluates each pair once, when it scans. One pair of each object
        is evaluated in both orders: a difference is a `KernelValueError`.
    workers : int, optional
        Evaluate in this many processes, where values take long (about 10 microseconds or more).
        The function must be one that can be pickled, as the objects must; with cloudpickle that is
        nearly every function. `close` ends the processes, as do Ctrl-C, an error and the end of
        the program.

    Examples
    --------
    >>> def common_letters(x, y):
    ...     return float(len(set(x) & set(y)))
    >>> kernel = Custom(common_letters)
    >>> kernel("kernel", "colonel")
    3.0
    >>> kernel
    Custom(common_letters)
    >>> import fastmks
    >>> index = fastmks.Index(["search", "match", "tree"], kernel=common_letters)
    >>> index.search(["research"]).indices
    array([[0]])
    """

    python_example: ClassVar[str] = "Custom(function)"
    functions: ClassVar[tuple[str, ...]] = ("function", "block", "self_values")

    function: Any = None
    block: Callable[[Any, Any], Any] | None = field(default=None, kw_only=True)
    self_values: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    rtol: float = field(default=_DEFAULT_RTOL, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    is_mercer: bool | None = field(default=None, kw_only=True)
    symmetric: bool = field(default=False, kw_only=True)
    workers: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rtol", check_rtol(self.rtol))
        self._check_common()
        if self.is_mercer is not None and not isinstance(self.is_mercer, bool):
            raise InvalidArgument(f"is_mercer must be True, False or None; got {self.is_mercer!r}.")
        if self._compiled is not None:
            for option in ("block", "self_values", "workers"):
                if getattr(self, option) is not None:
                    raise InvalidArgument(f"{option} goes with functions in Python only.")
            return
        if isinstance(self.function, Kernel):
            raise InvalidArgument(
                f"{self.function!r} is a kernel already: use it as it is, without Custom."
            )
        if self.function is None and self.block is None:
            raise InvalidArgument("Custom needs a function, or block=...; got neither.")
        for option in ("function", "block", "self_values"):
            _check_callable(option, getattr(self, option))
        _ = self._pool  # a function that cannot be pickled is an error now

    @property
    def mercer_columns(self) -> float:
        """Always, or never where the user says that it is not Mercer."""
        return 0.0 if self.is_mercer is False else math.inf

    @property
    def is_trusted(self) -> bool:
        """Whether the user says that it is Mercer."""
        return self.is_mercer is True

    @property
    def _functions(self) -> Functions:
        return Functions(
            value=self.function,
            value_block=self.block,
            self_block=self.self_values,
            workers=self._pool,
        )

    @property
    def _arguments(self) -> dict[str, Any]:
        return {"function": self.function, "block": self.block, "self_values": self.self_values}

    @property
    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = super()._options
        if self.rtol != _DEFAULT_RTOL:
            options["rtol"] = self.rtol
        if self.is_mercer is not None:
            options["is_mercer"] = self.is_mercer
        return options


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(_PythonKernel):
    """Your own similarity of two objects that need not be a Mercer kernel.

    With an upper bound that costs much less than the similarity itself, a search is still exact
    and evaluates few objects: those with the greatest bounds, until no other can be a hit
    (``algorithm="filter"``, which "auto" chooses). Without one it scans.

    Parameters
    ----------
    function : callable (x, y) -> float, optional
        The similarity of a query x and an object y. It need not be symmetric.
    upper_bound : callable (x, y) -> float, optional
        At least the similarity, for every pair. A value seen above its bound is a
        `KernelValueError`; NaN stands for no bound.
    block, bounds_block : callable (x, ys) -> sequence of float, optional
        The same for one query and several objects at once, as in `Custom`; where one is given,
        all values or bounds come from it.
    name : str, optional
        The name to print.
    symmetric, workers : optional
        As in `Custom`.

    Examples
    --------
    >>> from difflib import SequenceMatcher
    >>> def ratio(x, y):
    ...     return SequenceMatcher(None, x, y).ratio()
    >>> def quick_ratio(x, y):
    ...     return SequenceMatcher(None, x, y).real_quick_ratio()
    >>> import fastmks
    >>> words = ["exact", "search", "kernel", "a", "it"]
    >>> index = fastmks.Index(words, Similarity(ratio, upper_bound=quick_ratio))
    >>> index.search(["research"]).indices
    array([[1]])
    """

    python_example: ClassVar[str] = "Similarity(function, upper_bound)"
    functions: ClassVar[tuple[str, ...]] = ("function", "upper_bound", "block", "bounds_block")

    function: Callable[[Any, Any], Any] | None = None
    upper_bound: Callable[[Any, Any], Any] | None = None
    block: Callable[[Any, Any], Any] | None = field(default=None, kw_only=True)
    bounds_block: Callable[[Any, Any], Any] | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    symmetric: bool = field(default=False, kw_only=True)
    workers: int | None = field(default=None, kw_only=True)

    mercer_columns = 0.0
    tree_advice = (
        "Give Similarity an upper_bound and pass algorithm='filter', or pass algorithm='scan'; "
        "if the function is a Mercer kernel, use Custom."
    )

    def __post_init__(self) -> None:
        self._check_common()
        if find_compiled(self.function) is not None:
            raise InvalidArgument(
                "Similarity takes functions in Python; for a compiled one without bounds use "
                "Custom(function, is_mercer=False)."
            )
        if self.function is None and self.block is None:
            raise InvalidArgument("Similarity needs a function, or block=...; got neither.")
        for option in ("function", "upper_bound", "block", "bounds_block"):
            _check_callable(option, getattr(self, option))
        _ = self._pool  # a function that cannot be pickled is an error now

    @property
    def _functions(self) -> Functions:
        return Functions(
            value=self.function,
            value_block=self.block,
            bound=self.upper_bound,
            bound_block=self.bounds_block,
            workers=self._pool,
        )

    @property
    def _arguments(self) -> dict[str, Any]:
        return {
            "function": self.function,
            "upper_bound": self.upper_bound,
            "block": self.block,
            "bounds_block": self.bounds_block,
        }


def has_functions(kernel: Kernel) -> bool:
    """Whether a kernel has the user's functions, which no file can hold."""
    return any(isinstance(leaf, _PythonKernel) for _, leaf in leaves(kernel))


def check_rtol(rtol: Any) -> float:
    """Return a relative error that trees can work with."""
    number = check_number("rtol", rtol)
    if not 0.0 <= number <= _GREATEST_RTOL:
        raise InvalidArgument(f"rtol must be between 0 and {_GREATEST_RTOL}; got {rtol!r}.")
    return number


def _check_name(name: Any) -> None:
    if name is not None and (not isinstance(name, str) or not name):
        raise InvalidArgument(f"name must be a string that is not empty; got {name!r}.")


def _check_callable(option: str, function: Any) -> None:
    if function is not None and (not callable(function) or isinstance(function, type)):
        hint = f" {how_to_write(function)}" if isinstance(function, type) else ""
        raise InvalidArgument(f"{option} must be a function; got {function!r}.{hint}")


def function_label(function: Any) -> str:
    """Return the name of a function."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return str(name) if name else type(function).__qualname__


def _identity(function: Any) -> Any:
    """Return a key that is unique to a function, whatever its own comparison does."""
    return function if isinstance(function, MethodType) else id(function)


def _float64_rows(store: Store, name: str) -> DenseStore:
    if not isinstance(store, DenseStore):
        raise InvalidArgument(
            f"{name} must be dense rows for a compiled function; got a sparse matrix. "
            "Use .toarray()."
        )
    is_float64 = store.array.dtype == float
    return store if is_float64 else DenseStore(store.array.astype(float))
