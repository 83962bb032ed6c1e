"""The types of arrays, and views of them."""

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Int64s: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Int32s: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]


def read_only(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view: Array = array.view()
    view.flags.writeable = False
    return view
