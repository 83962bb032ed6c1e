"""The header of a file: its facts and the places of its arrays (docs/reference/file-format.md)."""

import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.arrays import Array
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record

ALIGNMENT = 64  # every array begins at a multiple of this in the file
BLOCK = 1 << 20  # bytes that share a checksum
VERSION = 1
_CHECKSUMS = "~checksums"
_METADATA = "__metadata__"
_LONGEST_HEADER = 64 << 20
_MOST_AXES = 32
_MOST_BYTES = 2**63 - 1

# A function that reads bytes `begin` to `end`.
_Read: TypeAlias = Callable[[int, int], bytes]
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "U16": np.dtype(np.uint16),
    "U32": np.dtype(np.uint32),
    "U64": np.dtype(np.uint64),
    "I8": np.dtype(np.int8),
    "I16": np.dtype(np.int16),
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
# First bytes of other files that users take for an index, and their formats.
_KINDS = {
    b"PK\x03\x04": "a zip archive, as numpy's .npz files are",
    b"\x93NUMPY": "a numpy array",
    b"\x80": "a pickle",
    b"\x1f\x8b": "compressed with gzip",
    b"\x89HDF": "an HDF5 file",
    b"PAR1": "a Parquet file",
    b"SQLite": "a SQLite database",
}


@dataclass(frozen=True)
class Entry:
    """An array of a file: bytes `begin` to `end` of it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Layout:
    """The contents of a header; `checksums` are of the blocks before byte `covered`."""

    facts: Mapping[str, Any]
    entries: Mapping[str, Entry]
    covered: int
    checksums: tuple[int, ...]

    def block(self, number: int) -> tuple[int, int]:
        """Return the begin and the end of a block."""
        return number * BLOCK, min(self.covered, (number + 1) * BLOCK)

    def is_whole(self, number: int, data: Any) -> bool:
        """Whether the bytes of a block match its checksum."""
        return zlib.crc32(data) == self.checksums[number]

    def damage(self, number: int, name: str) -> IndexFileError:
        """Return the error about a damaged block."""
        begin, end = self.block(number)
        return IndexFileError(
            f"{name} is damaged: its bytes {begin} to {end - 1} are not those that were written."
        )


def make_header(record: Record) -> tuple[bytes, list[Array | bytes]]:
    """Return the header of a record, and the arrays after it up to the checksums.

    The header has its length before it. Arrays come in the order of their names, so that equal
    records make equal files.
    """
    facts = json.dumps(dict(record.facts), sort_keys=True, allow_nan=False, separators=(",", ":"))
    metadata = {"format": "fastmks", "version": str(VERSION), "facts": facts}
    header: dict[str, Any] = {_METADATA: metadata}
    parts: list[Array | bytes] = []
    at = 0
    for name, array in sorted(record.arrays.items()):
        header[name] = _describe(name, array, at)
        parts.append(array)
        at += array.nbytes
        padding = bytes(-at % ALIGNMENT)
        if padding:
            header[f"~pad{len(parts)}"] = _entry("U8", [len(padding)], at, len(padding))
            parts.append(padding)
            at += len(padding)
    # The more checksums, the longer the header, and more bytes have more checksums.
    text, n_checksums = b"", 0
    while n_checksums != _count_checksums(len(text) + at):
        n_checksums = _count_checksums(len(text) + at)
        header[_CHECKSUMS] = _entry("U32", [n_checksums], at, 4 * n_checksums)
        text = _with_length(json.dumps(header, ensure_ascii=False, separators=(",", ":")))
    if len(text) - 8 > _LONGEST_HEADER:
        raise InvalidArgument(f"facts must fit in {_LONGEST_HEADER} bytes; they take {len(text)}.")
    return text, parts


def _describe(name: str, array: Array, at: int) -> dict[str, Any]:
    if name.startswith("~") or name == _METADATA:
        raise InvalidArgument(f"an array cannot have the name {name!r}: the format needs it.")
    code = _CODES.get(array.dtype.newbyteorder("="))
    if code is None or array.ndim > _MOST_AXES:
        raise InvalidArgument(
            f"the array {name!r} must be of numbers or bools and have at most {_MOST_AXES} axes; "
            f"it is of {array.dtype} and has {array.ndim}."
        )
    return _entry(code, list(array.shape), at, array.nbytes)


def _entry(code: str, shape: list[int], begin: int, length: int) -> dict[str, Any]:
    return {"dtype": code, "shape": shape, "data_offsets": [begin, begin + length]}


def _count_checksums(covered: int) -> int:
    return -(-covered // BLOCK) + 1


def _with_length(header: str) -> bytes:
    """Return a header that ends at a multiple of the alignment, with its length before it."""
    text = header.encode("utf-8")
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def read_layout(read: _Read, size: int, name: str) -> Layout:
    """Return the contents of a file of `size` bytes, from its header and its checksums alone.

    Checks everything that does not need the arrays. Errors call the file `name`.
    """
    header, data = _read_header(read, size, name)
    facts = _read_facts(header.pop(_METADATA, None), name)
    entries = _read_entries(header, data, size, name)
    layout = _read_checksums(read, facts, entries, name)
    for number in range(-(-data // BLOCK)):
        if not layout.is_whole(number, read(*layout.block(number))):
            raise layout.damage(number, name)
    return layout


def _read_header(read: _Read, size: int, name: str) -> tuple[dict[str, Any], int]:
    """Return the header, and the byte where the data begin."""
    if size == 0:
        raise IndexFileError(f"{name} is empty.")
    head = read(0, min(size, 16))
    if head[8:9] != b"{":
        raise IndexFileError(f"{name} is not a fastmks index: {_tell(head, size)}.")
    length = int.from_bytes(head[:8], "little")
    if length > _LONGEST_HEADER:
        raise IndexFileError(
            f"{name} has a header of {length} bytes; {_LONGEST_HEADER} are the most allowed."
        )
    if 8 + length > size:
        raise IndexFileError(
            f"{name} is cut: it has {size} bytes, and its header alone ends at {8 + length}."
        )
    header = _read_json(read(8, 8 + length), f"the header of {name}")
    if not isinstance(header, dict):
        raise IndexFileError(f"the header of {name} must be a JSON object.")
    return header, 8 + length


def _tell(head: bytes, size: int) -> str:
    for start, kind in _KINDS.items():
        if head.startswith(start):
            return f"it is {kind}" if len(start) > 1 else f"it may be {kind}"
    return f"it has {size} bytes only" if size <= 8 else f"it begins with {head[:8]!r}"


def _read_json(text: str | bytes, name: str) -> Any:
    """Return the value of JSON text; an error where it is not JSON or repeats a name."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name occurs twice")
        return found

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no number")

    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        return json.loads(decoded, object_pairs_hook=unique, parse_constant=refuse)
    except RecursionError:
        raise IndexFileError(f"{name} is nested too deeply.") from None
    except ValueError as error:
        raise IndexFileError(f"{name} is not JSON: {error}.") from None


def _read_facts(metadata: Any, name: str) -> Mapping[str, Any]:
    """Return the facts; another format or an unknown version is an error."""
    is_text = isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())
    if not is_text or metadata.get("format") != "fastmks":
        raise IndexFileError(
            f"{name} is not a fastmks index: it looks like a safetensors file of something else."
        )
    version = metadata.get("version")
    if version != str(VERSION):
        raise IndexFileError(
            f"{name} is of version {version!s:.20} of the format; this fastmks reads version "
            f"{VERSION}. Read it with the fastmks that wrote it, or a later one."
        )
    facts = _read_json(metadata.get("facts", ""), f"the text of the facts of {name}")
    if not isinstance(facts, dict):
        raise IndexFileError(f"the facts of {name} must be a JSON object.")
    return facts


def _read_entries(header: dict[str, Any], data: int, size: int, name: str) -> dict[str, Entry]:
    """Return the places of all arrays: each begins where the one before ends, without gaps."""
    entries = {}
    at = data
    for key, value in header.items():
        entry = _read_entry(value, at, data)
        if entry is None:
            raise IndexFileError(f"the header of {name} has a wrong entry for {key!r:.80}.")
        if entry.begin % ALIGNMENT and not key.startswith("~"):
            raise IndexFileError(
                f"the array {key!r:.80} of {name} begins at byte {entry.begin}, which is no "
                f"multiple of {ALIGNMENT}."
            )
        entries[key] = entry
        at = entry.end
    if at != size:
        state = "is cut" if size < at else "is damaged"
        raise IndexFileError(f"{name} {state}: it has {size} bytes, its header says {at}.")
    return entries


def _read_entry(value: Any, at: int, data: int) -> Entry | None:
    """Return an entry that must begin at byte `at`; None where it does not."""
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        return None
    code, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        return None
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        return None
    dtype, begin, end = _DTYPES[code], data + offsets[0], data + offsets[1]
    # Also an array without entries must not have more than numpy can count along the other axes.
    is_countable = math.prod(max(1, n) for n in shape) * dtype.itemsize <= _MOST_BYTES
    if len(shape) > _MOST_AXES or not is_countable:
        return None
    if begin != at or end - begin != math.prod(shape) * dtype.itemsize:
        return None
    return Entry(dtype, tuple(shape), begin, end)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and v >= 0 for v in values)


def _read_checksums(
    read: _Read, facts: Mapping[str, Any], entries: dict[str, Entry], name: str
) -> Layout:
    last = next(reversed(entries), None)
    if last != _CHECKSUMS:
        raise IndexFileError(f"{name} has no checksums at its end.")
    entry = entries[last]
    if entry.dtype != np.uint32 or entry.shape != (_count_checksums(entry.begin),):
        raise IndexFileError(f"the checksums of {name} are not one for each block.")
    text = read(entry.begin, entry.end)
    *checksums, own = np.frombuffer(text, dtype="<u4").tolist()
    if zlib.crc32(text[:-4]) != own:
        raise IndexFileError(
            f"{name} is damaged: its checksums, from byte {entry.begin}, are not those that were "
            "written."
        )
    arrays = {key: value for key, value in entries.items() if not key.startswith("~")}
    return Layout(facts, MappingProxyType(arrays), entry.begin, tuple(checksums))
