"""Read fingerprints of all formats: bits in arrays, bit vectors, or sets of positions."""

import reprlib
from collections.abc import Hashable, Sequence
from numbers import Integral, Number
from typing import Any, cast

import numpy as np

from fastmks._util.validation import check_unmasked
from fastmks.data.bits import (
    FORMS,
    BitStore,
    bits_of_members,
    is_bit_vector,
    join_bits,
    read_bit_array,
    read_bit_vectors,
    read_sparse_bits,
    restore_bits,
)
from fastmks.data.frames import is_table
from fastmks.data.kinds import JsonFormat, ObjectKind, Schema, is_of, refuse
from fastmks.data.object_lists import is_sparse, list_objects
from fastmks.data.restore_checks import check_kind
from fastmks.data.sets import (
    MemberStore,
    is_set,
    join_sets,
    number_members,
    read_sets,
    restore_sets,
)
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record

_SETS = (
    "An index of sets takes sets of positions: set(v.GetOnBits()) of a bit vector, "
    "set(np.flatnonzero(row).tolist()) of booleans."
)


def read_fingerprints(objects: Any, *, name: str, single: bool) -> BitStore | MemberStore:
    """Return fingerprints as a store. One alone is one where `single`."""
    read = _read(objects, name, single=single)
    if isinstance(read, BitStore):
        return read
    return number_members(read, None, name=name, check=_check_position)


def read_fingerprint_queries(
    queries: Any, like: BitStore | MemberStore, *, name: str
) -> BitStore | MemberStore:
    """Return fingerprints, or one alone, that can be compared with those of `like`."""
    if isinstance(like, MemberStore):
        sets = read_sets(queries, name=name, single=True, way_out=_SETS)
        return number_members(sets, like, name=name, check=_check_position)
    is_flat = isinstance(queries, (list, tuple)) or getattr(queries, "ndim", 0) == 1
    is_none = is_flat and not is_sparse(queries) and len(queries) == 0
    read = [] if is_none else _read(queries, name, single=True)
    if isinstance(read, BitStore):
        if read.n_bits != like.n_bits:
            raise InvalidArgument(
                f"{name} must have {like.n_bits} bits, as the fingerprints they are compared "
                f"with; got {read.n_bits}.{_packing_hint(read.n_bits, like.n_bits, name)}"
            )
        return read
    for i, one in enumerate(read):
        for member in one:
            _check_position(member, f"{name}[{i}]")
            if member >= like.n_bits:
                raise InvalidArgument(
                    f"{name} must be positions below the {like.n_bits} bits of the fingerprints "
                    f"they are compared with; {name}[{i}] has {member}."
                )
    return bits_of_members(read, like.n_bits, name=name)


def read_more_fingerprints(
    objects: Any, like: BitStore | MemberStore, *, name: str
) -> BitStore | MemberStore:
    """Return fingerprints, or one alone, that can be added to those of `like`."""
    if isinstance(like, BitStore):
        return read_fingerprint_queries(objects, like, name=name)
    sets = read_sets(objects, name=name, single=True, way_out=_SETS)
    return number_members(sets, None, name=name, check=_check_position)


def join_fingerprints(stores: Sequence[BitStore | MemberStore]) -> BitStore | MemberStore:
    """Return a store of the fingerprints of several stores of one kind."""
    if isinstance(stores[0], BitStore):
        return join_bits(cast("Sequence[BitStore]", stores))
    return join_sets(cast("Sequence[MemberStore]", stores))


def restore_fingerprints(record: Record) -> BitStore | MemberStore:
    """Return the store of a record."""
    if check_kind(record, "bits", "sets") == "bits":
        return restore_bits(record)
    return restore_sets(record, check=_check_position)


def _read(objects: Any, name: str, *, single: bool) -> BitStore | list[Any]:
    """Return bits as a store, or sets as a list."""
    if is_sparse(objects):
        return read_sparse_bits(objects, name=name)
    if single and is_bit_vector(objects):
        return read_bit_vectors([objects], name=name)
    if is_set(objects):
        return read_sets(objects, name=name, single=single)
    if is_table(objects) or _is_array(objects):
        return read_bit_array(objects, name=name, single=single)
    listed = list_objects(objects, name=name, wanted="bits", way_out=FORMS)
    if not listed or is_set(listed[0]):
        return read_sets(listed, name=name, single=False)
    if is_bit_vector(listed[0]):
        return read_bit_vectors(listed, name=name)
    if not isinstance(listed[0], (Number, np.generic)):  # those would be one flat list of bits
        _check_rows(listed, name)
    return read_bit_array(listed, name=name, single=single)


def _is_array(objects: Any) -> bool:
    """Whether something is an array, or a pandas Series, but not one whose entries are objects."""
    n_axes = getattr(objects, "ndim", 0)
    return n_axes > 1 or (
        n_axes == 1 and getattr(getattr(objects, "dtype", None), "kind", "") != "O"
    )


def _check_rows(rows: list[Any], name: str) -> None:
    """Refuse rows of several lengths or dtypes: numpy would mix them, or not say which they are."""
    first = rows[0]
    for i, row in enumerate(rows):
        if isinstance(row, np.ma.MaskedArray):
            check_unmasked(row, f"{name}[{i}]")
        is_flat = getattr(row, "ndim", 0) == 1 and not is_sparse(row)
        if not isinstance(row, (list, tuple)) and not is_flat:
            raise InvalidArgument(
                f"{name}[{i}] must be a fingerprint; got {reprlib.repr(row)}. {_row_advice(row)}"
            )
        if len(row) != len(first):
            raise InvalidArgument(
                f"{name} must have rows of one length; {name}[0] has {len(first)} entries, "
                f"{name}[{i}] has {len(row)}."
            )
        kinds = getattr(first, "dtype", None), getattr(row, "dtype", None)
        if kinds[0] != kinds[1]:
            raise InvalidArgument(
                f"{name} must be rows of one kind; {name}[0] has dtype {kinds[0]}, {name}[{i}] "
                f"has dtype {kinds[1]}. {FORMS}"
            )


def _row_advice(row: Any) -> str:
    if isinstance(row, (bytes, bytearray)):
        return (
            "For packed bits pass np.frombuffer(b''.join(rows), np.uint8).reshape(len(rows), -1)."
        )
    if hasattr(row, "GetNonzeroElements"):  # RDKit's count fingerprints
        return "Counts are for MinMax(); without the counts pass set(v.GetNonzeroElements())."
    return FORMS


def _packing_hint(n_bits: int, n_wanted: int, name: str) -> str:
    """Return a hint where zeros and ones in bytes were read as packed bits, on one side only."""
    if n_bits == 8 * n_wanted:
        return f" A uint8 array holds eight bits a byte: for zeros and ones pass {name} as bool."
    if n_wanted == 8 * n_bits:
        return (
            " A uint8 array holds eight bits a byte: if the indexed ones are zeros and ones, index "
            "them as bool."
        )
    return ""


def _check_position(member: Hashable, name: str) -> None:
    if not isinstance(member, (Integral, np.integer)) or int(member) < 0:
        raise InvalidArgument(
            f"{name} must be a set of whole numbers from 0; it has {member!r}. For sets of "
            "anything else use Jaccard()."
        )


def _bits(n_bits: int) -> JsonFormat:
    n_bytes = -(-n_bits // 8)
    hex_digits: Schema = {
        "type": "string",
        "pattern": f"^[0-9a-fA-F]{{{2 * n_bytes}}}$",
        "description": f"{n_bits} bits, hexadecimal, first bit highest",
    }
    bits: Schema = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 1}}
    bits |= {"minItems": n_bits, "maxItems": n_bits}
    rule = f"{n_bits} bits: an array of 0 and 1, or {2 * n_bytes} hexadecimal digits"

    def read(value: Any, name: str) -> Any:
        if isinstance(value, str) and len(value) == 2 * n_bytes and value.isascii():
            try:
                packed = np.frombuffer(bytes.fromhex(value), dtype=np.uint8)
            except ValueError:
                raise refuse(name, rule, value) from None
            row = np.unpackbits(packed).view(np.bool_)
            if len(packed) == n_bytes and not row[n_bits:].any():
                return row[:n_bits]
        elif is_of(value, int, float) and len(value) == n_bits and set(value) <= {0, 1}:
            return np.array(value, dtype=np.bool_)
        raise refuse(name, rule, value)

    def show(row: Any) -> str:
        return np.packbits(np.asarray(row, dtype=np.bool_)).tobytes().hex()

    def gather(rows: list[Any]) -> Any:
        return np.array(rows, dtype=np.bool_).reshape(len(rows), n_bits)

    return JsonFormat("fingerprint", {"oneOf": [hex_digits, bits]}, read, show, gather)


def _read_positions(value: Any, name: str) -> set[int]:
    is_counts = is_of(value, int, float) and all(x >= 0 and x == int(x) for x in value)
    if not is_counts:
        raise refuse(name, "an array of whole numbers from 0, the bits that are set", value)
    return set(map(int, value))


_POSITIONS = JsonFormat(
    "positions",
    {"type": "array", "items": {"type": "integer", "minimum": 0}},
    _read_positions,
    lambda one: sorted(int(member) for member in one),
    sizes=("members",),
)
FINGERPRINTS = ObjectKind(
    "fingerprints",
    lambda store: _bits(store.n_bits) if isinstance(store, BitStore) else _POSITIONS,
    in_files="fingerprints",
    file_kernel=lambda _: "tanimoto",
)
