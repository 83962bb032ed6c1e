"""Plain Python values, such as members of sets and labels of nodes, as arrays for a file."""

import json
import math
import reprlib
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmks._util.arrays import Array
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record

_MOST_DEPTH = 32  # of tuples within tuples
_LEAST, _MOST = -(2**63), 2**63 - 1
# How a value is kept: most are strings, whole numbers or bytes, and JSON is for the rest.
_OTHER, _TEXT, _NUMBER, _BYTES = range(4)
_KINDS = {str: _TEXT, int: _NUMBER, bytes: _BYTES}


def to_plain(values: Sequence[Hashable], *, name: str = "values") -> Record:
    """Return values as a record, whose types are kept; `name` is what errors call them.

    They may be None, bools, whole numbers of any size, floats, strings, bytes, and tuples and
    frozensets of these. A numpy scalar is kept as the Python value that it is equal to.

    Examples
    --------
    >>> record = to_plain(["salt", 3, ("C", None), 2.5])
    >>> from_plain(record)
    ['salt', 3, ('C', None), 2.5]
    """
    groups: tuple[list[Any], ...] = ([], [], [], [])
    kinds = bytearray()
    for given in values:
        value = _from_numpy(given) if isinstance(given, np.generic) else given
        kind = _KINDS.get(type(value), _OTHER)
        if kind == _NUMBER and not _LEAST <= value <= _MOST:  # type: ignore[operator]
            kind = _OTHER
        kinds.append(kind)
        groups[kind].append(value)
    arrays: dict[str, Array] = {"kinds": np.frombuffer(kinds, dtype=np.uint8)}
    others, texts, numbers, byte_strings = groups
    if texts:
        arrays |= _joined("text", *_encode_all(texts))
    if byte_strings:
        arrays |= _joined("bytes", b"".join(byte_strings), byte_strings)
    if numbers:
        arrays["numbers"] = np.array(numbers, dtype=np.int64)
    if others:
        encoded = [_encode(value, name, 0) for value in others]
        text = json.dumps(encoded, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        arrays["json"] = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    return Record({}, arrays)


def from_plain(record: Record) -> list[Any]:
    """Return the values in a record."""
    kinds = record.array("kinds", np.uint8)
    if kinds.max(initial=0) > _BYTES:
        raise IndexFileError("the array 'kinds' has kinds of values that are not known.")
    counts = np.bincount(kinds, minlength=_BYTES + 1).tolist()
    groups: list[list[Any]] = [[], [], [], []]
    if counts[_OTHER]:
        groups[_OTHER] = _read_json(record.array("json", np.uint8))
    if counts[_TEXT]:
        groups[_TEXT] = _decode_all(*_cut(record, "text"))
    if counts[_NUMBER]:
        groups[_NUMBER] = record.array("numbers", np.int64).tolist()
    if counts[_BYTES]:
        data, offsets = _cut(record, "bytes")
        groups[_BYTES] = [data[begin:end] for begin, end in pairwise(offsets)]
    if [len(group) for group in groups] != counts:
        raise IndexFileError("the array 'kinds' does not have one entry for each value.")
    if max(counts) == len(kinds):
        return groups[counts.index(len(kinds))]
    left = [iter(group) for group in groups]
    return [next(left[kind]) for kind in kinds.tolist()]


def _from_numpy(value: np.generic) -> Any:
    """Return the Python value that a numpy scalar is equal to, or itself where none is."""
    if isinstance(value, (np.timedelta64, np.datetime64)):
        return value
    item = value.item()
    return item if item == value and hash(item) == hash(value) else value


def _encode_all(texts: list[str]) -> tuple[bytes, list[Any]]:
    """Return strings one after the other in UTF-8, and their lengths."""
    joined = "".join(texts)
    if joined.isascii():
        return joined.encode("ascii"), texts
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join(encoded), encoded


def _joined(name: str, data: bytes, parts: list[Any]) -> dict[str, Array]:
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    return {name: np.frombuffer(data, dtype=np.uint8), f"{name}_offsets": offsets}


def _cut(record: Record, name: str) -> tuple[bytes, list[int]]:
    """Return bytes, and where each part begins and the last ends."""
    data = record.array(name, np.uint8).tobytes()
    offsets = record.array(f"{name}_offsets", np.int64)
    is_bounded = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(data)
    if not is_bounded or (offsets[1:] < offsets[:-1]).any():
        raise IndexFileError(
            f"the array '{name}_offsets' must go from 0 to {len(data)}, never down."
        )
    return data, offsets.tolist()


def _decode_all(data: bytes, offsets: list[int]) -> list[str]:
    if data.isascii():
        text = data.decode("ascii")
        return [text[begin:end] for begin, end in pairwise(offsets)]
    try:
        return [
            data[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(offsets)
        ]
    except UnicodeDecodeError as error:
        raise IndexFileError(f"the array 'text' is not UTF-8: {error}.") from None


def _encode(value: Any, name: str, depth: int) -> Any:
    """Return a value as JSON; a type that JSON lacks is a list that begins with its name."""
    if isinstance(value, np.generic):
        value = _from_numpy(value)
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if _LEAST <= value <= _MOST else ["int", hex(value)]
    if kind is float and not math.isnan(value):
        return value if math.isfinite(value) else ["float", str(value)]
    if kind is bytes:
        return ["bytes", value.decode("latin-1")]
    if kind in (tuple, frozenset) and depth < _MOST_DEPTH:
        items = [_encode(item, name, depth + 1) for item in value]
        return [kind.__name__, *(items if kind is tuple else sorted(items, key=json.dumps))]
    raise InvalidArgument(
        f"{name} must be None, bools, numbers, str, bytes, or tuples or frozensets of these, at "
        f"most {_MOST_DEPTH} deep, to be saved; got {reprlib.repr(value)} of the type "
        f"{kind.__qualname__}. Use a str or an int that stands for it."
    )


def _read_json(array: Array) -> list[Any]:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no value")

    try:
        text = array.tobytes().decode("utf-8", "surrogatepass")
        values = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise IndexFileError(f"the array 'json' is not JSON: {error}.") from None
    if not isinstance(values, list):
        raise IndexFileError("the array 'json' must hold a list.")
    return [_decode(value, 0) for value in values]


def _decode(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth <= _MOST_DEPTH and isinstance(value, list):
        match value:
            case ["int", str(text)]:
                return _read_int(text)
            case ["float", "inf" | "-inf" as text]:
                return float(text)
            case ["bytes", str(text)] if all(letter < "\u0100" for letter in text):
                return text.encode("latin-1")
            case ["tuple", *items]:
                return tuple(_decode(item, depth + 1) for item in items)
            case ["frozenset", *items]:
                return frozenset(_decode(item, depth + 1) for item in items)
    raise IndexFileError(f"the array 'json' has a value that is not known: {reprlib.repr(value)}.")


def _read_int(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise IndexFileError(f"the array 'json' has no whole number {text!r:.80}.") from None
