"""The kinds of vectors for interfaces.

In JSON vectors are arrays of numbers, or the columns and values of the entries that are not 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmks._util.arrays import Floats, Int64s
from fastmks._util.validation import import_extra
from fastmks.data.kinds import JsonFormat, ObjectKind, Schema, floats, is_of, refuse
from fastmks.data.object_lists import is_sparse
from fastmks.data.vectors import SparseStore
from fastmks.errors import InvalidArgument

_MOST_ENTRIES = 1 << 24  # of dense rows built from sparse ones: 128 MiB


@dataclass(frozen=True)
class SparseRow:
    """The entries of a row that are not zero."""

    columns: Int64s
    values: Floats


def vectors(n_columns: int | None, *, is_filled: bool) -> JsonFormat:
    """Return the format of rows of n_columns; `is_filled` where the index stores zeros too."""
    numbers: Schema = {"type": "array", "items": {"type": "number"}}
    if n_columns is None:
        schema = {**numbers, "description": "the values with all objects"}
        return JsonFormat(
            "vector", schema, lambda value, name: _read_row(value, name, None), _show_row
        )
    dense = {**numbers, "minItems": n_columns, "maxItems": n_columns}
    columns = {"type": "integer", "minimum": 0, "maximum": n_columns - 1}
    sparse: Schema = {
        "type": "object",
        "description": "the entries that are not zero; as many columns as values, each once",
        "properties": {"columns": {"type": "array", "items": columns}, "values": numbers},
        "required": ["columns", "values"],
        "additionalProperties": False,
    }

    def read(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return _read_sparse_row(value, name, n_columns)
        return _read_row(value, name, n_columns)

    def gather(rows: list[Any]) -> Any:
        return _gather_rows(rows, n_columns, is_filled=is_filled)

    return JsonFormat("vector", {"oneOf": [dense, sparse]}, read, _show_row, gather)


def _read_row(value: Any, name: str, n_columns: int | None) -> Any:
    if not is_of(value, int, float):
        raise refuse(name, "an array of numbers", value)
    if n_columns is not None and len(value) != n_columns:
        raise InvalidArgument(
            f"{name} must have {n_columns} numbers, as the objects of the index; got {len(value)}."
        )
    return floats(value, name)


def _read_sparse_row(value: dict[str, Any], name: str, n_columns: int) -> SparseRow:
    columns, values = value.get("columns"), value.get("values")
    if set(value) != {"columns", "values"} or not is_of(columns, int, float):
        raise refuse(name, "{'columns': [...], 'values': [...]}", value)
    assert isinstance(columns, list)
    if not all(column == int(column) and 0 <= column < n_columns for column in columns):
        raise InvalidArgument(f"columns of {name} must be whole numbers from 0 to {n_columns - 1}.")
    if not is_of(values, int, float) or len(values or []) != len(columns):
        raise InvalidArgument(f"{name} must have a number for each of its columns, as values.")
    if len(set(columns)) < len(columns):
        raise InvalidArgument(f"{name} must name each column once.")
    return SparseRow(np.array(columns, dtype=np.int64), floats(values or [], name))


def _gather_rows(rows: list[Any], n_columns: int, *, is_filled: bool) -> Any:
    if not any(isinstance(row, SparseRow) for row in rows):
        return np.array(rows, dtype=np.float64).reshape(len(rows), n_columns)
    if not is_filled:
        return _gather_sparse([_to_sparse(row) for row in rows], n_columns)
    if len(rows) * n_columns > _MOST_ENTRIES:
        raise InvalidArgument(
            f"sparse rows of a dense index are filled up with zeros: at most "
            f"{_MOST_ENTRIES // n_columns} at once; got {len(rows)}."
        )
    dense = np.zeros((len(rows), n_columns))
    for i, row in enumerate(rows):
        if isinstance(row, SparseRow):
            dense[i, row.columns] = row.values
        else:
            dense[i] = row
    return dense


def _to_sparse(row: Any) -> SparseRow:
    if isinstance(row, SparseRow):
        return row
    columns = np.flatnonzero(row)
    return SparseRow(columns, row[columns])


def _gather_sparse(rows: list[SparseRow], n_columns: int) -> Any:
    sparse = import_extra("scipy.sparse", extra="sparse", needed_by="an index of sparse vectors")
    offsets = np.concatenate([[0], np.cumsum([len(row.columns) for row in rows])])
    columns = np.concatenate([row.columns for row in rows])
    values = np.concatenate([row.values for row in rows])
    return sparse.csr_matrix((values, columns, offsets), shape=(len(rows), n_columns))


def _show_row(row: Any) -> Any:
    if is_sparse(row):
        row = row.tocoo()
        return {"columns": row.col.tolist(), "values": row.data.tolist()}
    return np.asarray(row).tolist()


VECTORS = ObjectKind(
    "vectors",
    lambda store: vectors(store.n_columns, is_filled=not isinstance(store, SparseStore)),
    in_files="vectors",
)
