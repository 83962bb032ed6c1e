"""How objects of one kind are written in JSON, and what all kinds check alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks.data.object_lists import is_sparse
from fastmks.errors import InvalidArgument

__all__ = ["Form", "Schema", "floats", "is_of", "refuse"]

Schema: TypeAlias = dict[str, Any]
_SHOWN = 80  # characters of a value in a message


@dataclass(frozen=True)
class Form:
    """How objects of one kind are written in JSON."""

    name: str
    schema: Schema
    read: Callable[[Any, str], Any]  # the value, and what errors call it
    show: Callable[[Any], Any]
    gather: Callable[[list[Any]], Any] = list  # of several objects, what an index takes

    def read_all(self, values: Sequence[Any], name: str) -> Any:
        """Return several objects as an index takes them; errors call them ``name[i]``."""
        return self.gather([self.read(value, f"{name}[{i}]") for i, value in enumerate(values)])

    def show_first(self, objects: Any) -> Any:
        """Return the first of what `Index.get` returned, as JSON has it."""
        return self.show(objects[[0]] if is_sparse(objects) else objects[0])


def refuse(name: str, rule: str, value: Any) -> InvalidArgument:
    """Return the error about a value that is not what it must be."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return InvalidArgument(f"{name} must be {rule}; got {shown}.")


def is_of(value: Any, *kinds: type) -> bool:
    """Whether something is an array of nothing but these types."""
    return isinstance(value, list) and set(map(type, value)) <= set(kinds)


def floats(value: list[Any], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return numbers as an array."""
    try:
        return np.array(value, dtype=np.float64)
    except (OverflowError, ValueError, TypeError):
        raise InvalidArgument(f"{name} must be numbers within float64.") from None
