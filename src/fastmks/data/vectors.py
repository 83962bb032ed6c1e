"""Vectors of one length, dense or sparse."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Array, Int32s, Int64s, read_only
from fastmks._util.fork_safe import cached_property
from fastmks._util.validation import import_extra
from fastmks._util.wording import counted
from fastmks.data.base import Store
from fastmks.data.ragged import join_offsets, take_entries
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.errors import IndexFileError
from fastmks.files.record import Record, restoring

MOST_COLUMNS = 2**31 - 1
_CACHE_LINE = 64  # bytes
_MOST_PADDING = 8  # padding takes at most 1 / _MOST_PADDING of a row
_ROWS_AT_A_TIME = 1024  # few enough that their copy stays in the cache


@dataclass(frozen=True, eq=False)
class DenseStore(Store):
    """Rows of a float32 or float64 array, each contiguous; the caller's own when they are."""

    array: Array

    @cached_property
    def core(self) -> _core.VectorStore:
        """The rows, as a store of the core."""
        return _core.dense_store(read_only(self.array))

    def __len__(self) -> int:
        return int(self.array.shape[0])

    @property
    def n_columns(self) -> int:
        """Length of every vector."""
        return int(self.array.shape[1])

    @property
    def kind(self) -> str:
        """The objects, in words."""
        return f"vectors of {counted(self.n_columns, 'column')}"

    @property
    def n_bytes(self) -> int:
        """The memory of the rows, padding included."""
        return max(self.array.nbytes, len(self) * self.array.strides[0])

    def copy(self) -> "DenseStore":
        """A store of the same vectors, in memory of its own."""
        return DenseStore(self.array.copy())

    def take(self, positions: Int64s) -> "DenseStore":
        """The vectors at these positions, in this order, in memory of their own."""
        taken = _aligned_rows(len(positions), self.n_columns, self.array.dtype)
        for begin in range(0, len(positions), _ROWS_AT_A_TIME):
            part = slice(begin, begin + _ROWS_AT_A_TIME)
            taken[part] = self.array[positions[part]]
        return DenseStore(taken)

    def get(self, positions: Int64s) -> Array:
        """The vectors at these positions as the rows of an array, in the dtype of the store."""
        return np.ascontiguousarray(self.array[positions])

    def record(self) -> Record:
        """The rows, with their padding: mapped from a file, they stay aligned."""
        facts = {"kind": "dense", "n_columns": self.n_columns}
        return Record(facts, {"rows": _whole_rows(self.array)})


@dataclass(frozen=True, eq=False)
class SparseStore(Store):
    """Compressed sparse rows: columns increase within a row, none twice."""

    offsets: Int64s
    columns: Int32s
    values: Array
    n_columns: int
    has_exact_products: bool = False  # whole numbers whose squares add up to at most 2**53
    core: _core.VectorStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        core = _core.sparse_store(
            read_only(self.offsets),
            read_only(self.columns),
            read_only(self.values),
            self.n_columns,
            self.has_exact_products,
        )
        object.__setattr__(self, "core", core)

    def __len__(self) -> int:
        return int(self.offsets.shape[0]) - 1

    @property
    def kind(self) -> str:
        """The objects, in words."""
        return f"sparse vectors of {counted(self.n_columns, 'column')}"

    @property
    def n_bytes(self) -> int:
        """The memory of the entries and of where each row begins."""
        return self.offsets.nbytes + self.columns.nbytes + self.values.nbytes

    def copy(self) -> "SparseStore":
        """A store of the same vectors, in memory of its own."""
        return replace(
            self,
            offsets=self.offsets.copy(),
            columns=self.columns.copy(),
            values=self.values.copy(),
        )

    def take(self, positions: Int64s) -> "SparseStore":
        """The vectors at these positions, in this order, in memory of their own."""
        offsets, entries = take_entries(self.offsets, positions)
        return replace(
            self, offsets=offsets, columns=self.columns[entries], values=self.values[entries]
        )

    def get(self, positions: Int64s) -> Any:
        """The vectors at these positions as the rows of a scipy.sparse.csr_array."""
        sparse = import_extra("scipy.sparse", extra="sparse", needed_by="getting sparse vectors")
        offsets, entries = take_entries(self.offsets, positions)
        arrays = self.values[entries], self.columns[entries], offsets
        return sparse.csr_array(arrays, shape=(len(positions), self.n_columns))

    def record(self) -> Record:
        """The three arrays."""
        return Record(
            {
                "kind": "sparse",
                "n_columns": self.n_columns,
                "has_exact_products": self.has_exact_products,
            },
            {"offsets": self.offsets, "columns": self.columns, "values": self.values},
        )


VectorStore: TypeAlias = DenseStore | SparseStore


def join_vectors(stores: Sequence[Store]) -> VectorStore:
    """Return a store of the vectors of several stores of one kind: float64 where dtypes differ."""
    if isinstance(stores[0], SparseStore):
        return join_sparse(cast("Sequence[SparseStore]", stores))
    arrays = [cast(DenseStore, store).array for store in stores]
    joined = _aligned_rows(
        sum(map(len, arrays)), arrays[0].shape[1], np.result_type(*{a.dtype for a in arrays})
    )
    begin = 0
    for array in arrays:
        joined[begin : begin + len(array)] = array
        begin += len(array)
    return DenseStore(joined)


def join_sparse(stores: Sequence[SparseStore]) -> SparseStore:
    """Return a store of the rows of several stores."""
    return SparseStore(
        join_offsets([store.offsets for store in stores]),
        np.concatenate([store.columns for store in stores]),
        np.concatenate([store.values for store in stores]),
        max(store.n_columns for store in stores),
        all(store.has_exact_products for store in stores),
    )


def restore_vectors(record: Record) -> VectorStore:
    """Return the store of a record. Whether dense numbers are finite is not checked."""
    if check_kind(record, "dense", "sparse") == "sparse":
        return restore_sparse(record)
    rows = restored(record, "rows", np.float32, np.float64, ndim=2)
    n_columns = record.count("n_columns", least=1, most=min(rows.shape[1], MOST_COLUMNS))
    with restoring("the objects"):
        return DenseStore(rows[:, :n_columns])


def restore_sparse(record: Record) -> SparseStore:
    """Return the store of sparse rows of a record."""
    check_kind(record, "sparse")
    columns = restored(record, "columns", np.int32)
    values = restored(record, "values", np.float32, np.float64)
    if _core.first_not_finite(values) >= 0:
        raise IndexFileError("the array 'values' must be finite.")
    with restoring("the objects"):
        return SparseStore(
            restored_offsets(record, "offsets", len(columns)),
            columns,
            values,
            record.count("n_columns", least=1, most=MOST_COLUMNS),
            record.fact("has_exact_products", bool),
        )


def _aligned_rows(n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> Array:
    """Return rows that begin at whole cache lines, where that takes little more memory.

    A register filled from two cache lines takes twice as long: see docs/developers/decisions.md.
    """
    in_line = _CACHE_LINE // dtype.itemsize
    padded = -(-n_columns // in_line) * in_line
    stride = padded if padded * _MOST_PADDING <= n_columns * (_MOST_PADDING + 1) else n_columns
    bytes_ = np.empty(n_rows * stride * dtype.itemsize + _CACHE_LINE, dtype=np.uint8)
    begin = -bytes_.ctypes.data % _CACHE_LINE
    end = begin + n_rows * stride * dtype.itemsize
    rows = bytes_[begin:end].view(dtype).reshape(n_rows, stride)
    rows[:, n_columns:] = 0.0  # it may go into a file: no old contents of memory
    return rows[:, :n_columns]


def _whole_rows(array: Array) -> Array:
    """Return rows with the padding after each if the array has it, else without."""
    n_rows, stride = len(array), array.strides[0]
    owner = array.base
    if n_rows > 0 and stride > array[0].nbytes and isinstance(owner, np.ndarray):
        begin, end = array.ctypes.data, array.ctypes.data + n_rows * stride
        first = owner.ctypes.data
        if owner.flags.c_contiguous and first <= begin and end <= first + owner.nbytes:
            shape = n_rows, stride // array.itemsize
            return np.lib.stride_tricks.as_strided(array, shape, writeable=False)
    return np.ascontiguousarray(array)
