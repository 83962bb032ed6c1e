"""Sets as rows of bits: packed and boolean arrays, and the bit vectors of RDKit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, cast

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Array, Bools, Bytes, Int64s
from fastmks._util.validation import check_unmasked
from fastmks.data.base import Store
from fastmks.data.frames import is_table
from fastmks.data.restore_checks import check_kind, restored
from fastmks.data.vector_input import make_queries
from fastmks.data.vectors import SparseStore
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record, restoring

FORMS = "Pass packed bits as uint8 or uint64, booleans, RDKit bit vectors or sets of ints."

_LINE = 64  # bytes of a cache line: rows are whole ones
_MOST_BITS = 2**30 - 1
_ROWS_AT_A_TIME = 1024
_BITS_AT_A_TIME = 2**25  # a byte each before they are packed
_REVERSED = np.packbits(  # the byte with its bits in the other order
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little"), axis=1
)[:, 0]


@dataclass(frozen=True, eq=False)
class BitStore(Store):
    """Rows of bits in whole cache lines, in the order of numpy.packbits; zeros after the last."""

    words: np.ndarray[Any, np.dtype[np.uint64]]
    n_bits: int
    core: _core.SetStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        view = self.words.view()
        view.flags.writeable = False
        object.__setattr__(self, "core", _core.bit_store(view))

    def __len__(self) -> int:
        return int(self.words.shape[0])

    @property
    def kind(self) -> str:
        """The objects, in words."""
        return f"sets of {self.n_bits} bits"

    @property
    def n_bytes(self) -> int:
        """The memory of the rows."""
        return self.words.nbytes

    def copy(self) -> "BitStore":
        """This store: its rows are in memory of their own and never change."""
        return self

    def take(self, positions: Int64s) -> "BitStore":
        """The sets at these positions, in this order."""
        taken = _empty_rows(len(positions), self.n_bits)
        np.take(self.words, positions, axis=0, out=taken.view(np.uint64))
        return BitStore(taken.view(np.uint64), self.n_bits)

    def get(self, positions: Int64s) -> Bools:
        """The sets at these positions as the rows of an array of booleans."""
        rows = self.words[positions].view(np.uint8)
        return np.unpackbits(rows, axis=1, count=self.n_bits).view(np.bool_)

    def record(self) -> Record:
        """The rows, and the number of bits of each."""
        return Record({"kind": "bits", "n_bits": self.n_bits}, {"words": self.words})


def join_bits(stores: Sequence[BitStore]) -> BitStore:
    """Return a store of the rows of several stores with the same number of bits."""
    n_bits = stores[0].n_bits
    rows = _empty_rows(sum(map(len, stores)), n_bits).view(np.uint64)
    begin = 0
    for store in stores:
        rows[begin : begin + len(store)] = store.words
        begin += len(store)
    return BitStore(rows, n_bits)


def restore_bits(record: Record) -> BitStore:
    """Return the store of a record. Bits after the last must not be set."""
    check_kind(record, "bits")
    words = restored(record, "words", np.uint64, ndim=2)
    n_bits = record.count("n_bits", least=1, most=_MOST_BITS)
    if words.shape[1] * 8 != _n_bytes(n_bits):
        raise IndexFileError(f"rows of {n_bits} bits must be whole cache lines: {words.shape[1]}.")
    last, used = divmod(n_bits, 64)
    behind = np.packbits(np.arange(64) >= used).view(np.uint64)[0]
    if words[:, last + 1 :].any() or (last < words.shape[1] and (words[:, last] & behind).any()):
        raise IndexFileError(f"rows of {n_bits} bits must have no bits set after them.")
    with restoring("the objects"):
        return BitStore(words, n_bits)


def is_bit_vector(one: Any) -> bool:
    """Whether something is an RDKit bit vector, or has its methods. Never imports RDKit."""
    return hasattr(one, "GetNumBits") and hasattr(one, "GetOnBits")


def read_bit_array(objects: Any, *, name: str, single: bool) -> BitStore:
    """Return the rows of an array, a table or a list. A 1-D one is one query where `single`."""
    array = _as_array(objects, name)
    if array.dtype not in (np.bool_, np.uint8, np.uint64):
        hint = " Booleans are made by X.astype(bool)." if array.dtype.kind in "iuf" else ""
        if is_table(objects) and not hint:
            hint = " Pass one of the columns of the table."
        raise InvalidArgument(
            f"{name} must be bits; got an array of dtype {array.dtype}.{hint} {FORMS}"
        )
    if array.ndim == 1 and single:
        array = array.reshape(1, -1)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidArgument(
            f"{name} must be two-dimensional, one set of bits per row; got shape {array.shape}."
        )
    if array.dtype == np.bool_:
        return _packed(array, int(array.shape[1]), name)
    if array.dtype == np.uint8:
        return _from_bytes(array, name)
    little = np.ascontiguousarray(array).astype("<u8", copy=False)
    return _from_bytes(_REVERSED[little.view(np.uint8)], name)


def _as_array(objects: Any, name: str) -> Array:
    check_unmasked(objects, name)
    try:
        array = np.asarray(objects)
        dtypes = np.atleast_1d(np.asarray(getattr(objects, "dtypes", []), dtype=object))
        if len(dtypes) and all(str(dtype) == "boolean" for dtype in dtypes):  # pandas' own
            array = array.astype(bool)
    except Exception as error:  # numpy calls methods of foreign objects, which may raise anything
        seen = str(error).rstrip(".")
        raise InvalidArgument(f"{name} cannot be read as bits: {seen}. {FORMS}") from error
    return array


def read_sparse_bits(matrix: Any, *, name: str) -> BitStore:
    """Return the rows of a sparse matrix of zeros and ones."""
    rows = cast(SparseStore, make_queries(matrix, name=name))
    is_set = rows.values != 0
    bad = np.flatnonzero(is_set & (rows.values != 1))
    row_of_entry = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    if len(bad):
        at = bad[0]
        raise InvalidArgument(
            f"{name} must be zeros and ones; {name}[{row_of_entry[at]}, {rows.columns[at]}] is "
            f"{rows.values[at]}. Counts are for MinMax(); to forget them pass X != 0."
        )
    begins = np.searchsorted(row_of_entry[is_set], np.arange(1, len(rows)))
    sets = np.split(rows.columns[is_set], begins) if len(rows) else []
    return bits_of_members(sets, rows.n_columns, name=name)


def read_bit_vectors(vectors: list[Any], *, name: str) -> BitStore:
    """Return RDKit bit vectors, all of one length, as rows of bits."""
    for i, vector in enumerate(vectors):
        if not is_bit_vector(vector):
            raise InvalidArgument(
                f"{name} must all be bit vectors, as {name}[0] is; {name}[{i}] is {vector!r}."
            )
    lengths = [int(vector.GetNumBits()) for vector in vectors]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise InvalidArgument(
                f"{name} must have one number of bits; {name}[0] has {lengths[0]}, {name}[{i}] "
                f"has {length}."
            )
    return bits_of_members([vector.GetOnBits() for vector in vectors], lengths[0], name=name)


def bits_of_members(sets: list[Any], n_bits: int, *, name: str) -> BitStore:
    """Return sets of numbers below n_bits as rows of bits."""
    _check_length(n_bits, name)
    rows = _empty_rows(len(sets), n_bits)
    at_a_time = max(1, min(_ROWS_AT_A_TIME, _BITS_AT_A_TIME // n_bits))
    for begin in range(0, len(sets), at_a_time):
        part = sets[begin : begin + at_a_time]
        bits = np.zeros((len(part), n_bits), dtype=bool)
        for i, members in enumerate(part):
            try:
                positions = np.fromiter(members, dtype=np.int64)
                if positions.min(initial=0) < 0:  # numpy would count from the end
                    raise IndexError
                bits[i, positions] = True
            except (IndexError, TypeError, ValueError, OverflowError):
                raise _bad_member(members, n_bits, f"{name}[{begin + i}]") from None
        rows[begin : begin + len(part), : -(-n_bits // 8)] = np.packbits(bits, axis=1)
    return BitStore(rows.view(np.uint64), n_bits)


def _bad_member(members: Any, n_bits: int, name: str) -> InvalidArgument:
    bad = next((m for m in members if not (isinstance(m, Integral) and 0 <= int(m) < n_bits)), None)
    return InvalidArgument(
        f"{name} must have whole numbers from 0 to {n_bits - 1} as its bits, of which there are "
        f"{n_bits}; it has {bad!r}."
    )


def _packed(array: Array, n_bits: int, name: str) -> BitStore:
    _check_length(n_bits, name)
    rows = _empty_rows(len(array), n_bits)
    for begin in range(0, len(array), _ROWS_AT_A_TIME):
        part = slice(begin, begin + _ROWS_AT_A_TIME)
        rows[part, : -(-n_bits // 8)] = np.packbits(array[part], axis=1)
    return BitStore(rows.view(np.uint64), n_bits)


def _from_bytes(array: Array, name: str) -> BitStore:
    n_bits = 8 * int(array.shape[1])
    _check_length(n_bits, name)
    rows = _empty_rows(len(array), n_bits)
    rows[:, : array.shape[1]] = array
    return BitStore(rows.view(np.uint64), n_bits)


def _check_length(n_bits: int, name: str) -> None:
    if not 1 <= n_bits <= _MOST_BITS:
        raise InvalidArgument(
            f"{name} must have between 1 and 2**30 - 1 bits; got {n_bits}. For long and sparse "
            "ones pass sets: [set(v.GetOnBits()) for v in vectors]."
        )


def _empty_rows(n_rows: int, n_bits: int) -> Bytes:
    """Return rows of zero bytes, each beginning at a cache line."""
    n_bytes = _n_bytes(n_bits)
    room = np.zeros(n_rows * n_bytes + _LINE, dtype=np.uint8)
    begin = -room.ctypes.data % _LINE
    return room[begin : begin + n_rows * n_bytes].reshape(n_rows, n_bytes)


def _n_bytes(n_bits: int) -> int:
    """Return the bytes of a row: whole cache lines."""
    return -(-n_bits // (8 * _LINE)) * _LINE
