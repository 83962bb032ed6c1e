"""Read strings from whatever sequence holds them."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from fastmks.errors import InvalidArgument

__all__ = ["FOR_STRINGS", "read_strings"]

# What to say where strings are given to a kernel of something else.
FOR_STRINGS = "For strings pass a kernel that compares them, such as kernels.Spectrum(3)."


def read_strings(strings: Any, *, name: str, single: bool = False) -> list[str] | list[bytes]:
    """Return a list of str, or of bytes. One string is one query where `single`.

    Lists, tuples, numpy arrays, pandas Series and generators will do.
    """
    if isinstance(strings, (str, bytes)):
        if not single:
            raise InvalidArgument(
                f"{name} must be a sequence of strings; got one string. Put it in a list."
            )
        strings = [strings]
    if hasattr(strings, "columns"):
        raise InvalidArgument(
            f"{name} must be a sequence of strings; got a table. Pass one of its columns."
        )
    if isinstance(strings, (Mapping, Set)):
        raise InvalidArgument(
            f"{name} must be strings in an order; got a {type(strings).__name__}. Pass a list; for "
            "a dict of names and strings, list(d.values()) with ids=list(d)."
        )
    if not isinstance(strings, Iterable):
        raise InvalidArgument(f"{name} must be a sequence of strings; got {strings!r}.")
    read = list(strings)
    wanted = bytes if read and isinstance(read[0], bytes) else str
    for i, string in enumerate(read):
        if not isinstance(string, (str, bytes)):
            raise InvalidArgument(
                f"{name} must be strings, since the kernel compares strings; {name}[{i}] is "
                f"{string!r}."
            )
        if not isinstance(string, wanted):
            raise InvalidArgument(
                f"{name} must all be str or all be bytes; {name}[{i}] is {string!r}."
            )
    return read
