"""The kinds of objects for interfaces: how each is written, drawn, and found in files.

Each kind has one record, in the module that reads it; its kernels name it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.arrays import Floats
from fastmks.data.object_lists import is_sparse
from fastmks.errors import FastmksError, InvalidArgument

Schema: TypeAlias = dict[str, Any]
_SHOWN = 80  # characters of a value in a message


class NotJsonError(FastmksError):
    """An object that JSON would change."""


@dataclass(frozen=True)
class JsonFormat:
    """The JSON format of one kind of objects."""

    name: str
    schema: Schema  # of one object
    read: Callable[[Any, str], Any]  # from the value, and its name in errors
    show: Callable[[Any], Any]
    gather: Callable[[list[Any]], Any] = list  # the argument of an index, from several objects
    # The limits of a service that apply: to the length of a string or an array, or to the lengths
    # of the properties of these names.
    sizes: tuple[str, ...] = ()

    def read_all(self, values: Sequence[Any], name: str) -> Any:
        """Return several objects as an index takes them; errors call them ``name[i]``."""
        return self.gather([self.read(value, f"{name}[{i}]") for i, value in enumerate(values)])

    def show_first(self, objects: Any) -> Any:
        """Return the first of what `Index.get` returned, as a JSON value."""
        return self.show(objects[[0]] if is_sparse(objects) else objects[0])


def _represent(thing: Any) -> tuple[str, int]:
    text = repr(thing)
    return text, len(text)


@dataclass(frozen=True)
class ObjectKind:
    """A kind of objects, in words, and how each interface deals with it."""

    words: str
    json: Callable[[Any], JsonFormat]  # for the objects of a store
    drawing: str = "other"  # the name of its drawing on the page
    describe: Callable[[Any], tuple[str, int]] = _represent  # the text drawn, and the whole length
    in_files: str = ""  # its name in readers of files; empty where no file holds any
    # The default kernel of objects in a file, as text.
    file_kernel: Callable[[Any], str] = lambda _: "linear"


def refuse(name: str, rule: str, value: Any) -> InvalidArgument:
    """Return the error about a value that breaks a rule."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return InvalidArgument(f"{name} must be {rule}; got {shown}.")


def is_of(value: Any, *kinds: type) -> bool:
    """Whether something is an array of nothing but these types."""
    return isinstance(value, list) and set(map(type, value)) <= set(kinds)


def floats(value: list[Any], name: str) -> Floats:
    """Return numbers as an array."""
    try:
        return np.array(value, dtype=np.float64)
    except (OverflowError, ValueError, TypeError):
        raise InvalidArgument(f"{name} must be numbers within float64.") from None


PLAIN: Schema = {"type": ["string", "number", "boolean", "null", "array"]}


def hashable(value: Any, name: str) -> Any:
    """Return a member or a label: arrays become tuples, and objects are refused."""
    if isinstance(value, list):
        return tuple(hashable(item, name) for item in value)
    if isinstance(value, dict):
        raise refuse(name, "a string, a number, a boolean, null, or an array of such", value)
    return value


def shown_plain(value: Any) -> Any:
    """Return a member or a label as JSON, and refuse those that JSON would change."""
    if isinstance(value, tuple):
        return [shown_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise NotJsonError(f"JSON has no value for {value!r}.")


def _show_anything(one: Any) -> Any:
    if isinstance(one, np.ndarray | np.generic):
        return one.tolist()
    if isinstance(one, list):
        return [_show_anything(item) for item in one]
    if isinstance(one, dict) and all(isinstance(key, str) for key in one):
        return {key: _show_anything(item) for key, item in one.items()}
    return shown_plain(one)


_ANY = JsonFormat("any", {}, lambda value, name: value, _show_anything)
ANYTHING = ObjectKind("any objects", lambda _: _ANY)
