"""Read a sequence of objects of any type as a list; refuse collections without order."""

import reprlib
import sys
from collections.abc import ItemsView, KeysView, Mapping, Set
from typing import Any

from fastmks._util.validation import check_unmasked
from fastmks.data.frames import is_table
from fastmks.errors import InvalidArgument

_PLAIN = (str, bytes, int, type(None))


def list_objects(objects: Any, *, name: str, wanted: str, way_out: str = "") -> list[Any]:
    """Return the objects of a list, an array, a pandas Series, a generator ... as a list.

    `wanted` is the rule in errors, such as "a sequence of sets".
    """
    rule, hint = f"{name} must be {wanted}", f" {way_out}" if way_out else ""
    if is_table(objects):
        raise InvalidArgument(f"{rule}; got a table. Pass one of its columns.{hint}")
    if is_sparse(objects):
        raise InvalidArgument(f"{rule}; got a sparse matrix.{hint}")
    if isinstance(objects, Mapping):
        ids = ", with ids=list(d) to keep the keys" if name == "objects" else ""
        raise InvalidArgument(
            f"{rule}; got a {type(objects).__name__}. Pass list(d.values()){ids}."
        )
    if isinstance(objects, Set) and not isinstance(objects, (KeysView, ItemsView)):
        raise InvalidArgument(
            f"{rule}; got a {type(objects).__name__}. Pass a list: sets have no order."
        )
    is_iterable = not isinstance(objects, (str, bytes, bytearray))
    try:
        iter(objects)  # also what has no __iter__ may be a sequence; arrays without axes are not
    except TypeError:
        is_iterable = False
    if not is_iterable:
        raise InvalidArgument(f"{rule}; got {reprlib.repr(objects)}.{hint}")
    check_unmasked(objects, name)
    return list(objects)


def is_sparse(objects: Any) -> bool:
    """Whether something is a matrix or an array of scipy.sparse. Never imports it."""
    sparse = sys.modules.get("scipy.sparse")  # imported before such a matrix exists
    return sparse is not None and bool(sparse.issparse(objects))


def is_equal_to_itself(value: Any) -> bool:
    """Whether something hashable is equal to itself, unlike NaN, NaT and NA.

    Tuples and frozensets compare members by identity first, so members are checked one by one.
    """
    if isinstance(value, _PLAIN):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_equal_to_itself, value))
    try:
        return bool(value == value)
    except Exception:  # the comparison fails, or returns neither true nor false
        return False
