"""Read strings from sequences of any type."""

import reprlib
from itertools import pairwise
from typing import Any

import numpy as np

from fastmks._util.arrays import Array, Int64s
from fastmks.data.kinds import JsonFormat, ObjectKind, refuse
from fastmks.data.object_lists import is_equal_to_itself, list_objects
from fastmks.errors import InvalidArgument

# Advice where strings are given to a kernel of other objects.
FOR_STRINGS = "For strings pass a kernel that compares them, such as kernels.Spectrum(3)."

_BUFFERS = (bytearray, memoryview)


def read_strings(strings: Any, *, name: str, single: bool = False) -> list[str] | list[bytes]:
    """Return a list of str, or of bytes. One string is one query where `single`.

    Lists, tuples, numpy arrays, pandas Series and generators will do.
    """
    if isinstance(strings, (str, bytes, *_BUFFERS)):
        if not single:
            raise InvalidArgument(
                f"{name} must be a sequence of strings; got one string. Put it in a list."
            )
        strings = [strings]
    listed = list_objects(strings, name=name, wanted="a sequence of strings")
    read = [bytes(string) if isinstance(string, _BUFFERS) else string for string in listed]
    wanted = bytes if read and isinstance(read[0], bytes) else str
    for i, string in enumerate(read):
        if not isinstance(string, (str, bytes)):
            raise InvalidArgument(
                f"{name} must be strings, since the kernel compares strings; {name}[{i}] is "
                f"{reprlib.repr(string)}. {_advice(string)}"
            )
        if not isinstance(string, wanted):
            raise InvalidArgument(
                f"{name} must all be str or all be bytes; {name}[{i}] is {reprlib.repr(string)}. "
                f"{_advice(string)}"
            )
    return read


def check_same_strings(
    has_bytes: bool, wants_bytes: bool, *, name: str, done: str = "compared with"
) -> None:
    """Refuse bytes where the others are str, and str where they are bytes."""
    if has_bytes != wants_bytes:
        wanted, seen = ("bytes", "str") if wants_bytes else ("str", "bytes")
        raise InvalidArgument(
            f"{name} must be {wanted}, as the objects they are {done}; {name}[0] is {seen}."
        )


def cut_strings(letters: Array, offsets: Int64s, *, has_bytes: bool) -> list[str] | list[bytes]:
    """Return the strings of an array of code points or bytes, cut at the offsets."""
    at = offsets.tolist()
    if has_bytes:
        content = letters.astype(np.uint8, copy=False).tobytes()
        return [content[begin:end] for begin, end in pairwise(at)]
    if letters.dtype == np.uint8:
        text = letters.tobytes().decode("latin-1")
    else:
        text = letters.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")
    return [text[begin:end] for begin, end in pairwise(at)]


def _advice(item: Any) -> str:
    if isinstance(item, (str, bytes)):
        return "Decode the bytes, or encode the others."
    if item is None or not is_equal_to_itself(item):
        return "Drop or fill missing strings first."
    if isinstance(item, list) and all(isinstance(part, str) for part in item):
        return "read_fasta gives (ids, sequences): pass its .sequences, or a part of them."
    return "Turn what prints as its letters into strings first: [str(s) for s in ...]."


def _read_string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise refuse(name, "a string", value)
    return value


def _read_bytes(value: Any, name: str) -> bytes:
    try:
        return _read_string(value, name).encode("latin-1")
    except UnicodeEncodeError:
        raise refuse(name, "a string of letters up to U+00FF, each a byte", value) from None


_JSON = JsonFormat("string", {"type": "string"}, _read_string, lambda one: one, sizes=("letters",))
_BYTES_JSON = JsonFormat(
    "bytes",
    {"type": "string", "pattern": "^[\\u0000-\\u00ff]*$", "description": "a letter for each byte"},
    _read_bytes,
    lambda one: one.decode("latin-1"),
    sizes=("letters",),
)
STRINGS = ObjectKind(
    "strings",
    lambda store: _BYTES_JSON if store.has_bytes else _JSON,
    in_files="strings",
    file_kernel=lambda _: "normalized:spectrum:p=3",
)
