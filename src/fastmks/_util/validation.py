"""Check arguments, once, before anything is computed. Every message says what is accepted."""

import importlib
import math
import operator
import os
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats
from fastmks.errors import InvalidArgument

_MOST_THREADS = 1024


def check_number(name: str, value: Any, *, positive: bool = False) -> float:
    """Return a finite float, greater than 0 where `positive`."""
    rule = "a positive finite number" if positive else "a finite number"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidArgument(f"{name} must be {rule}; got {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (positive and number <= 0.0):
        raise InvalidArgument(f"{name} must be {rule}; got {value!r}.")
    return number + 0.0  # never -0.0, which prints differently


def check_count(name: str, value: Any, *, most: int | None = None) -> int:
    """Return an int of at least 1 and at most `most`."""
    rule = "a whole number of at least 1" if most is None else f"a whole number from 1 to {most}"
    try:
        if isinstance(value, bool):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{name} must be {rule}; got {value!r}.") from None
    if count < 1 or (most is not None and count > most):
        raise InvalidArgument(f"{name} must be {rule}; got {name}={count}.")
    return count


def check_k(k: Any, n_objects: int, what: str = "indexed objects") -> int:
    """Return k as an int between 1 and the number of objects."""
    count = check_count("k", k)
    if count > n_objects:
        raise InvalidArgument(f"k must be between 1 and the {n_objects} {what}; got k={count}.")
    return count


def import_extra(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """Return a module of an optional extra; an error says how to install a missing one.

    The command is that of README.md: fastmks is installed from its sources, not from an index.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{needed_by} needs {module}, of the extra {extra!r} of fastmks: "
            f'pip install ".[{extra}]" in the folder of its sources'
        ) from error


def check_function(name: str, function: Any) -> None:
    """Refuse a value that cannot be called; None stands for not given."""
    if function is not None and not callable(function):
        raise InvalidArgument(f"{name} must be a function; got {function!r}.")


def check_seed(seed: Any) -> int:
    """Return the seed of a random choice, a whole number of at least 0."""
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise InvalidArgument(f"seed must be a whole number of at least 0; got {seed!r}.")
    return number


def check_threads(threads: Any) -> int:
    """Return a number of threads; None means default_threads()."""
    return (
        default_threads()
        if threads is None
        else check_count("threads", threads, most=_MOST_THREADS)
    )


def check_unmasked(array: Any, name: str) -> None:
    """Refuse an array with masked entries: other libraries ignore the mask."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise InvalidArgument(f"{name} must have no masked entries. Fill them first: .filled(0).")


def default_threads() -> int:
    """OMP_NUM_THREADS where it is set, as numpy and scikit-learn users expect, else usable CPUs."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isascii() and wanted.isdigit() and int(wanted) > 0:
        return min(int(wanted), _MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def check_threshold(threshold: Any, n_queries: int) -> Floats:
    """Return a threshold for each query."""
    try:
        given = np.asarray(threshold)
        with own_arithmetic():
            array = np.array(given, dtype=np.float64) if given.dtype.kind in "iuf" else None
    except (TypeError, ValueError):
        array = None
    if array is not None and array.ndim == 0:
        array = np.full(n_queries, float(array))
    if array is None or array.shape != (n_queries,) or np.isnan(array).any():
        raise InvalidArgument(
            f"threshold must be a number, or one for each of the {n_queries} queries; "
            f"got {threshold!r}."
        )
    return array
