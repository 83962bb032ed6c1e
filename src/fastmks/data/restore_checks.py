"""Read and check the arrays of a record for a store."""

from typing import Any

import numpy as np

from fastmks._util.arrays import Array
from fastmks.data.ragged import rising
from fastmks.errors import IndexFileError
from fastmks.files.record import Record


def restored(record: Record, name: str, *dtypes: Any, ndim: int = 1) -> Array:
    """Return an array as the core reads it: read-only and contiguous; copied only if need be."""
    array = np.asarray(record.array(name, *dtypes, ndim=ndim))
    view: Array = np.require(array, requirements=["C", "A"]).view()
    view.flags.writeable = False
    return view


def restored_offsets(record: Record, name: str, n_entries: int) -> Array:
    """Return the offsets of rows with n_entries in all."""
    offsets = restored(record, name, np.int64)
    if not rising(offsets, n_entries):
        raise IndexFileError(f"the array {name!r} must rise from 0 to {n_entries}.")
    return offsets


def check_kind(record: Record, *kinds: str) -> str:
    """Return which of these kinds of store a record is of."""
    kind = record.fact("kind", str)
    if kind not in kinds:
        raise IndexFileError(f"the objects must be {' or '.join(kinds)}: {kind!r}.")
    return kind
