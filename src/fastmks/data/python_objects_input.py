"""Read objects of any kind: those of the caller, and those of a record."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Array, read_only
from fastmks._util.validation import check_unmasked
from fastmks.data.frames import rows_of
from fastmks.data.object_lists import is_sparse, list_objects
from fastmks.data.python_objects import PLAIN_DTYPES, PythonStore
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record

_MOST_AXES = 32  # that every version of numpy allows
_WAY_OUT = "Pass a list, a tuple, an array, a pandas object or a generator of objects."


def read_python(objects: Any, *, name: str) -> PythonStore:
    """Return a store of the objects of a sequence."""
    if isinstance(objects, np.ndarray) and objects.ndim > 0:
        return PythonStore(_plain(objects, name))
    return PythonStore(_listed(objects, name))


def read_python_queries(queries: Any, like: PythonStore, *, name: str) -> PythonStore:
    """Return queries as a store. A string is one query, and so is an array that could be a row."""
    if isinstance(like.objects, np.ndarray):
        return PythonStore(_rows_like(queries, like.objects, name))
    if isinstance(queries, (str, bytes)):
        return PythonStore([queries])
    if isinstance(queries, np.ndarray) and queries.ndim == like.n_axes:
        return PythonStore([queries])
    return read_python(queries, name=name)


def read_object(one: Any, like: PythonStore | None, *, name: str) -> PythonStore:
    """Return the store of a single object."""
    if isinstance(one, (np.ndarray, np.generic)):
        check_unmasked(one, name)
        return PythonStore(read_only(np.asarray(one)[None]))
    if like is not None and isinstance(like.objects, np.ndarray):
        return PythonStore(_rows_like([one], like.objects, name))
    return PythonStore([one])


def read_more_python(objects: Any, like: PythonStore, *, name: str) -> PythonStore:
    """Return objects to be added to `like`: rows of its dtype where it has an array, else a list.

    A function may treat numbers of another type in another way, so all rows have one.
    """
    read = read_python_queries(objects, like, name=name).objects
    if not isinstance(like.objects, np.ndarray):
        return PythonStore(list(read))
    rows = _in_dtype(np.asarray(read), like.objects.dtype)
    if rows is None:
        raise InvalidArgument(
            f"{name} must be rows of dtype {like.objects.dtype}, as those they are added to, or of "
            f"numbers that it holds; got {np.asarray(read).dtype}. Convert them with .astype(...)."
        )
    return PythonStore(read_only(rows))


def _in_dtype(rows: Array, dtype: np.dtype[Any]) -> Array | None:
    """Return rows in another dtype, or None where that would change them."""
    if rows.dtype == dtype or (rows.dtype.kind == dtype.kind and dtype.kind in "US"):
        return rows
    if dtype.kind == "O":
        return rows.astype(object)
    if dtype not in PLAIN_DTYPES or rows.dtype not in PLAIN_DTYPES:
        return None
    with own_arithmetic():
        cast = rows.astype(dtype)
        is_same = (cast.astype(rows.dtype) == rows) | (rows != rows)
    is_lost = dtype.kind != "f" and rows.dtype.kind == "f" and not np.isfinite(rows).all()
    return cast if is_same.all() and not is_lost else None


def restore_python(
    record: Record, *, objects: Any = None, decode: Callable[[bytes], Any] | None = None
) -> PythonStore:
    """Return the store of a record, of the objects given where the record has none."""
    check_kind(record, "python")
    form = record.fact("form", str)
    if form == "array":
        store = PythonStore(_restored_rows(record))
    elif form == "encoded":
        store = PythonStore(_decoded(record, decode))
    else:
        store = _given_again(objects, record.count("n_objects"))
    known = {}
    for i, name in enumerate(record.fact("known", list)):
        values = restored(record, f"known {i}", np.float64)
        if not isinstance(name, str) or len(values) != len(store):
            raise IndexFileError("the known values of a kernel must be one for each object.")
        known[name] = values
    n_axes = None if record.facts.get("n_axes") is None else record.count("n_axes", most=_MOST_AXES)
    return PythonStore(store.objects, {}, known, n_axes)


def _restored_rows(record: Record) -> Array:
    flat = restored(record, "objects", *PLAIN_DTYPES)
    shape = record.fact("shape", list)
    is_shape = len(shape) > 0 and all(type(n) is int and n >= 0 for n in shape)
    if not is_shape or len(shape) > _MOST_AXES or math.prod(shape) != len(flat):
        raise IndexFileError(f"'shape' must be that of {len(flat)} numbers: {shape}.")
    return flat.reshape(shape)


def _decoded(record: Record, decode: Callable[[bytes], Any] | None) -> list[Any]:
    if decode is None:
        raise InvalidArgument("the objects in the file are encoded: pass decode=function.")
    content = restored(record, "bytes", np.uint8)
    offsets = restored_offsets(record, "offsets", len(content)).tolist()
    return [decode(content[begin:end].tobytes()) for begin, end in pairwise(offsets)]


def _given_again(objects: Any, n_objects: int) -> PythonStore:
    if n_objects == 0:
        return PythonStore([])
    if objects is None:
        raise InvalidArgument(
            f"the {n_objects} Python objects are not in the file: pass objects=..., the same in "
            "the same order."
        )
    store = read_python(objects, name="objects")
    if len(store) != n_objects:
        raise InvalidArgument(
            f"objects must be the {n_objects} that were indexed, in the same order; got "
            f"{len(store)}."
        )
    return store


def _listed(objects: Any, name: str) -> list[Any]:
    if isinstance(objects, (str, bytes, dict, set, frozenset)):
        raise InvalidArgument(
            f"{name} must be a sequence of objects; got one {type(objects).__name__}. "
            f"Put a single object in a list. {_WAY_OUT}"
        )
    if hasattr(objects, "itertuples"):  # of pandas: its rows have names
        return list(objects.itertuples(index=False))
    if is_sparse(objects):
        return list(objects.tocsr())
    advice = f"Put a single object in a list. {_WAY_OUT}"
    return list_objects(rows_of(objects), name=name, wanted="a sequence of objects", way_out=advice)


def _rows_like(queries: Any, array: Array, name: str) -> Array:
    """Return queries as an array of such rows."""
    check_unmasked(queries, name)
    try:
        read = np.asarray(queries)
    except Exception as error:  # numpy calls methods of objects, which may raise anything
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


def _plain(array: Array, name: str) -> Array:
    check_unmasked(array, name)
    return read_only(np.asarray(array))
