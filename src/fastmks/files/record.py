"""Records: the content of files, as plain facts and arrays by name."""

import math
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from fastmks._util.arrays import Array
from fastmks.errors import IndexFileError

_T = TypeVar("_T")
_KINDS = {dict: "an object", list: "a list", str: "a string", int: "a whole number", bool: "a bool"}


@dataclass(frozen=True)
class Record:
    """Facts as JSON values, and arrays of numbers. Every read is checked: files are not trusted.

    Records hold records: `nest` puts them into one, and `part` takes one out again.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)

    def part(self, name: str) -> "Record":
        """Return the record that was nested under a name."""
        prefix = f"{name}/"
        arrays = {
            key.removeprefix(prefix): array
            for key, array in self.arrays.items()
            if key.startswith(prefix)
        }
        return Record(self.fact(name, dict), arrays)

    def fact(self, name: str, kind: type[_T]) -> _T:
        """Return a fact, which must be present and of this type."""
        value = self.facts.get(name)
        is_kind = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not is_kind:
            wanted = _KINDS.get(kind, kind.__name__)
            raise IndexFileError(f"{name!r} must be {wanted}: {reprlib.repr(value)}.")
        return value  # type: ignore[return-value]

    def count(self, name: str, *, least: int = 0, most: int = 2**62) -> int:
        """Return a whole number within limits."""
        value = self.fact(name, int)
        if not least <= value <= most:
            raise IndexFileError(f"{name!r} must be between {least} and {most}: {value}.")
        return value

    def number(self, name: str) -> float:
        """Return a number that is finite."""
        value = self.fact(name, float)
        if not math.isfinite(value):
            raise IndexFileError(f"{name!r} must be finite: {value}.")
        return value

    def array(self, name: str, *dtypes: Any, ndim: int = 1) -> Array:
        """Return an array, which must be present, of one of these types, and of n axes."""
        array = self.arrays.get(name)
        if array is None:
            raise IndexFileError(f"the array {name!r} is missing.")
        if array.dtype not in [np.dtype(dtype) for dtype in dtypes] or array.ndim != ndim:
            wanted = " or ".join(np.dtype(dtype).name for dtype in dtypes)
            raise IndexFileError(
                f"the array {name!r} must be of {wanted} and have {ndim} axes: it is of "
                f"{array.dtype.name} and has the shape {array.shape}."
            )
        return array


def nest(parts: Mapping[str, Record], facts: Mapping[str, Any] | None = None) -> Record:
    """Return one record of several, each under its name, and of some facts beside them."""
    arrays = {
        f"{name}/{key}": array for name, part in parts.items() for key, array in part.arrays.items()
    }
    return Record({**(facts or {}), **{name: part.facts for name, part in parts.items()}}, arrays)


def first_difference(stored: Mapping[str, Array], rebuilt: Mapping[str, Array]) -> str:
    """Return where arrays differ from those built again, in any bit; empty where none does."""
    for name, right in rebuilt.items():
        array = stored[name]
        if array.dtype != right.dtype or array.shape != right.shape:
            return (
                f"the array {name!r} is of {array.dtype} and has the shape {array.shape}; the "
                f"objects give {right.dtype} and {right.shape}"
            )
        if array.size == 0:
            continue
        bits, right_bits = (
            np.ascontiguousarray(one).view(np.uint8).reshape(len(one), -1) for one in (array, right)
        )
        if not np.array_equal(bits, right_bits):
            row = int((bits != right_bits).any(axis=1).argmax())
            return f"the array {name!r} is not what the objects give, first at {row}"
    return ""


@contextmanager
def restoring(what: str) -> Iterator[None]:
    """Turn errors about arguments, which a file gave, into errors about the file."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        raise IndexFileError(f"{what} cannot be restored: {error}") from error
