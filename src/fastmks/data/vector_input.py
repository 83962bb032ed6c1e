"""Read vectors: arrays, lists of rows, tables, sparse matrices."""

from collections.abc import Mapping, Set, ValuesView
from typing import Any

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Array, read_only
from fastmks._util.validation import check_unmasked
from fastmks._util.wording import counted
from fastmks.data.frames import read_table
from fastmks.data.object_lists import is_sparse, list_objects
from fastmks.data.strings import FOR_STRINGS
from fastmks.data.vectors import (
    MOST_COLUMNS,
    DenseStore,
    SparseStore,
    VectorStore,
)
from fastmks.errors import InvalidArgument

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
_WAY_OUT = "Pass an n x d array, a list of equally long rows, a DataFrame or a scipy.sparse matrix."
_OTHER_KERNELS = (
    "For objects that are not vectors pass a kernel that compares them: kernels.Spectrum(3) for "
    "strings, Jaccard() for sets, GlobalAlignment(1.0) for series, WeisfeilerLehman() for graphs, "
    "or your own function."
)


def make_store(objects: Any, *, name: str = "objects") -> VectorStore:
    """Return the store of a non-empty set of vectors."""
    store = _read_vectors(objects, name, single=False)
    if len(store) == 0:
        raise InvalidArgument(f"{name} must hold at least one object; got none.")
    return store


def make_queries(
    queries: Any, like: VectorStore | None = None, *, name: str = "queries"
) -> VectorStore:
    """Return queries as a store of the kind of `like`. A 1-D vector is one query."""
    store = _read_vectors(queries, name, single=True)
    if like is None:
        return store
    if store.n_columns != like.n_columns:
        raise InvalidArgument(
            f"{name} must have {counted(like.n_columns, 'column')}, as the objects they are "
            f"compared with; got {store.n_columns}."
        )
    if isinstance(like, DenseStore) and isinstance(store, SparseStore):
        return _to_dense(store)
    if isinstance(like, SparseStore) and isinstance(store, DenseStore):
        return _to_sparse(store)
    return store


def _read_vectors(vectors: Any, name: str, *, single: bool) -> VectorStore:
    return _sparse(vectors, name) if is_sparse(vectors) else _dense(vectors, name, single=single)


def _float_dtype(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return float32 where it holds every value of `dtype`, else float64."""
    if dtype in (_FLOAT32, _FLOAT64):
        return dtype
    if dtype.kind not in "biuf":
        kinds = {"c": "complex", "O": "object", "U": "string", "S": "bytes", "M": "datetime"}
        way_out = {"O": _OTHER_KERNELS, "U": FOR_STRINGS, "S": FOR_STRINGS}.get(dtype.kind)
        raise InvalidArgument(
            f"{name} must be real numbers; got {kinds.get(dtype.kind, 'non-numeric')} "
            f"dtype {dtype}. Convert numbers first, for example with .astype(float)."
            f"{'' if way_out is None else ' ' + way_out}"
        )
    return _FLOAT32 if np.can_cast(dtype, _FLOAT32) else _FLOAT64


def _dense(objects: Any, name: str, *, single: bool) -> DenseStore:
    array = _read(objects, name)
    dtype = _float_dtype(array.dtype, name)
    if array.ndim == 1 and single:
        array = array.reshape(1, -1)
    if array.ndim != 2:
        hint = (
            f" For one object pass {name}.reshape(1, -1), for one column {name}.reshape(-1, 1)."
            if array.ndim == 1
            else f" {_WAY_OUT}"
        )
        raise InvalidArgument(
            f"{name} must be two-dimensional, one object per row; got {array.ndim} "
            f"dimension{'s' * (array.ndim != 1)}, shape {array.shape}.{hint}"
        )
    _check_columns(array.shape[1], name)
    if array.dtype != dtype or not (array.flags.c_contiguous and array.flags.aligned):
        with own_arithmetic():  # longdouble beyond float64: infinite, refused below
            array = np.require(array, dtype=dtype, requirements=["C", "A"])
    at = _core.first_not_finite(read_only(array.reshape(-1)))
    if at >= 0:
        row, column = divmod(at, array.shape[1])
        raise InvalidArgument(
            f"{name} must be finite; {name}[{row}, {column}] is {array[row, column]}. "
            "Drop or fill such entries first."
        )
    return DenseStore(array)


def _read(objects: Any, name: str) -> Array:
    """Return anything that numpy can read, as an array of any dtype."""
    if type(objects) is np.ndarray and objects.dtype.kind in "biuf":
        return objects
    check_unmasked(objects, name)
    if isinstance(objects, (Mapping, Set, ValuesView)) or _is_column_of_rows(objects):
        objects = list_objects(objects, name=name, wanted="vectors, one for each object")
    objects = read_table(objects, name)
    _check_rows(objects, name)
    try:
        return np.asarray(objects)
    except Exception as error:
        # numpy calls methods of foreign objects, which may raise anything.
        raise InvalidArgument(
            f"{name} cannot be read as an array: {error} {_WAY_OUT} {_OTHER_KERNELS}"
        ) from error


def _is_column_of_rows(objects: Any) -> bool:
    """Whether something is a pandas Series or an array of objects, each a vector."""
    kind = getattr(getattr(objects, "dtype", None), "kind", "")
    if getattr(objects, "ndim", 0) != 1 or kind != "O":
        return False
    return len(objects) > 0 and isinstance(next(iter(objects)), (list, tuple, np.ndarray))


def _check_rows(objects: Any, name: str) -> None:
    """Refuse rows of several lengths, and masked ones: errors of numpy do not say which."""
    if not isinstance(objects, (list, tuple)) or not objects:
        return
    for i, row in enumerate(objects):
        if isinstance(row, np.ma.MaskedArray):
            check_unmasked(row, f"{name}[{i}]")
    if not all(isinstance(row, (list, tuple)) or _is_flat(row) for row in objects):
        return
    for i, row in enumerate(objects):
        if len(row) != len(objects[0]):
            raise InvalidArgument(
                f"{name} must have rows of one length; row 0 has {len(objects[0])} entries, "
                f"row {i} has {len(row)}. {_OTHER_KERNELS}"
            )


def _is_flat(row: Any) -> bool:
    return isinstance(row, np.ndarray) and row.ndim == 1


def _check_columns(n_columns: int, name: str) -> None:
    if not 1 <= n_columns <= MOST_COLUMNS:
        raise InvalidArgument(f"{name} must have between 1 and 2**31 - 1 columns; got {n_columns}.")


@own_arithmetic()
def _sparse(objects: Any, name: str) -> SparseStore:
    dtype = _float_dtype(objects.dtype, name)
    if objects.ndim == 1:
        objects = objects.reshape(1, -1)
    if objects.format != "csr" and dtype != objects.dtype:
        dtype = np.dtype(np.float64)
        objects = objects.astype(dtype)  # before repeated entries are summed: integers wrap around
    matrix = objects.tocsr()
    _check_columns(matrix.shape[1], name)
    _check_csr(matrix, name)
    if not matrix.has_canonical_format:
        # In floats, where small integers cannot wrap around; on a copy, not on the caller's matrix.
        wide = dtype if matrix.dtype.kind == "f" else np.dtype(np.float64)
        matrix = matrix.astype(wide, copy=True)
        matrix.sum_duplicates()
        dtype = wide
    n_entries = int(matrix.indptr[-1])  # the arrays may have unused room after them
    values = np.require(matrix.data[:n_entries], dtype=dtype, requirements=["C", "A"])
    at = _core.first_not_finite(read_only(values))
    if at >= 0:
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise InvalidArgument(
            f"{name} must be finite; {name}[{row}, {matrix.indices[at]}] is {values[at]}. "
            "Drop or fill such entries first."
        )
    # Offsets and columns are copied: if the caller changed them, reads would be out of bounds.
    offsets = np.array(matrix.indptr, dtype=np.int64)
    columns = np.array(matrix.indices[:n_entries], dtype=np.int32)
    try:
        return SparseStore(offsets, columns, values, int(matrix.shape[1]))
    except ValueError as error:  # flagged as sorted, but changed since
        raise InvalidArgument(f"{name} is not a valid sparse matrix: {error}.") from error


def _check_csr(matrix: Any, name: str) -> None:
    """Refuse matrices that scipy would read outside their arrays; it checks little itself."""
    offsets, columns, values = matrix.indptr, matrix.indices, matrix.data
    is_valid = (
        all(part.ndim == 1 for part in (offsets, columns, values))
        and offsets.dtype.kind == columns.dtype.kind == "i"
        and len(offsets) == matrix.shape[0] + 1
        and offsets[0] == 0
        and bool((np.diff(offsets) >= 0).all())
        and offsets[-1] <= min(len(columns), len(values))
    )
    if is_valid:
        used = columns[: offsets[-1]]
        is_valid = len(used) == 0 or (used.min() >= 0 and used.max() < matrix.shape[1])
    if not is_valid:
        raise InvalidArgument(
            f"{name} is not a valid sparse matrix: its indptr must rise from 0 to at most the "
            "number of entries, and its indices must be columns that exist."
        )


def _to_dense(store: SparseStore) -> DenseStore:
    array = np.zeros((len(store), store.n_columns), dtype=store.values.dtype)
    array[np.repeat(np.arange(len(store)), np.diff(store.offsets)), store.columns] = store.values
    return DenseStore(array)


def _to_sparse(store: DenseStore) -> SparseStore:
    rows, columns = np.nonzero(store.array)
    offsets = np.zeros(len(store) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(store)), out=offsets[1:])
    values = store.array[rows, columns]
    return SparseStore(offsets, columns.astype(np.int32), values, store.n_columns)
