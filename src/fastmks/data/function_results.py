"""Read the result of a function of the user that is neither a float nor an array of floats."""

import math
import reprlib
from typing import Any, SupportsFloat

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Array, Floats


def read_returned(returned: Any, n: int | None) -> float | Floats | str:
    """Return the number or the n numbers, or a text that says what is wrong."""
    return _one(returned) if n is None else _many(returned, n)


def _one(returned: Any) -> float | str:
    if isinstance(returned, (np.ndarray, complex, np.complexfloating, str, bytes)):
        if not (isinstance(returned, np.ndarray) and _is_number(returned)):
            return f"returned {_described(returned)}; it must return one real number"
    elif not isinstance(returned, SupportsFloat):
        return f"returned {_described(returned)}; it must return one real number"
    try:
        return float(returned)
    except OverflowError:
        return f"returned {_described(returned)}, which is too large for a float"
    except (TypeError, ValueError):
        return f"returned {_described(returned)}; it must return one real number"


def _is_number(array: Array) -> bool:
    return array.ndim == 0 and array.dtype.kind in "biuf" and not np.ma.is_masked(array)


def _many(returned: Any, n: int) -> Floats | str:
    wanted = f"it must return {n} real number{'s' * (n != 1)}, one for each object of the block"
    if np.ma.is_masked(returned):
        return f"returned a masked array; {wanted}"
    try:
        array = np.asarray(returned)
    except Exception:  # rows of several lengths, or an object with errors of its own
        return f"returned {_described(returned)}; {wanted}"
    if array.shape != (n,):
        return f"returned {_described(returned)}, of shape {array.shape}; {wanted}"
    if array.dtype.kind not in "biuf":
        return f"returned {_described(returned)}, of dtype {array.dtype}; {wanted}"
    with own_arithmetic():  # longdouble beyond float64: infinite, and found by the core
        return np.ascontiguousarray(array, dtype=np.float64)


def _described(returned: Any) -> str:
    if returned is None:
        return "None"
    if isinstance(returned, float) and not math.isfinite(returned):
        return repr(returned)
    try:
        shown = reprlib.repr(returned).replace("\n", " ")
    except Exception:
        shown = "an object that cannot be printed"
    return f"{shown} ({type(returned).__name__})"
