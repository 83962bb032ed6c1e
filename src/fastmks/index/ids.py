"""The ids of objects: int64s or strings, each once.

Strings are stored in a numpy array of one width, unless a few long ones would make it much larger
than the strings themselves: then in an array of Python's strings (see `as_array`).
"""

import re
from collections.abc import Sequence
from sys import getsizeof
from typing import Any

import numpy as np

from fastmks._util.arrays import Array, Bools, Int64s
from fastmks._util.fork_safe import cached_property
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record
from fastmks.files.values import from_plain, to_plain

_GREATEST = 2**63 - 1
LONGEST = 1000  # characters of a new id; files of earlier versions may have longer ones
_REFUSED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # in new ids
_SHOWN = 80  # characters of an id in a message
_SPARE = 32  # characters by which a width may exceed twice the mean length
_BYTES_AT_ONCE = 1 << 24  # of ids that are searched for


def is_text(array: Array) -> bool:
    """Whether an array of ids holds strings."""
    return array.dtype.kind in "UO"


def as_array(strings: Sequence[str]) -> Array:
    """Return strings as an array, which takes little more memory than they do.

    It has one width where that is at most twice their mean length and some; else it holds Python's
    strings, which numpy compares, sorts and joins as well.

    Examples
    --------
    >>> as_array(["a", "bc"]).dtype, as_array(["a", "b", "c" * 1000]).dtype
    (dtype('<U2'), dtype('O'))
    """
    longest = max(map(len, strings), default=0)
    is_even = _is_even(longest, len(strings), sum(map(len, strings)))
    return np.array(strings, dtype=str if is_even else object)


def _is_even(width: int, n_strings: int, n_characters: int) -> bool:
    return width * n_strings <= _SPARE * n_strings + 2 * n_characters


def _join(chunks: Sequence[Array]) -> Array:
    """Return one array of several."""
    if len(chunks) == 1:
        return chunks[0]
    widths = {chunk.dtype.itemsize // 4 for chunk in chunks if chunk.dtype.kind == "U"}
    has_objects = any(chunk.dtype.kind == "O" for chunk in chunks)
    if has_objects or (len(widths) > 1 and max(widths) > _SPARE):
        return as_array([name for chunk in chunks for name in chunk.tolist()])
    return np.concatenate(chunks)


def shown(name: Any) -> str:
    """Return an id as shown in messages: escaped, and not too long."""
    text = repr(name[: _SHOWN + 1] if isinstance(name, str) else name)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class Ids:
    """Ids by position, and positions by id. Never changed; joined when first read."""

    def __init__(self, *chunks: Array) -> None:
        self._chunks = chunks
        self._size = sum(map(len, chunks))
        self._first: int | None = None

    @staticmethod
    def counted(first: int, size: int) -> "Ids":
        """Return consecutive numbers, which take no memory until all of them are read."""
        ids = Ids()
        ids._first, ids._size = first, size
        return ids

    def __len__(self) -> int:
        return self._size

    def extended(self, more: Array) -> "Ids":
        """Return these ids and more of them."""
        ids = Ids()
        ids._chunks, ids._size = (*self.chunks, more), self._size + len(more)
        return ids

    @property
    def chunks(self) -> tuple[Array, ...]:
        """The ids in chunks, as they were added."""
        return self._chunks or (self.array,)

    @cached_property
    def array(self) -> Array:
        """All ids, by position."""
        if self._first is not None:
            return np.arange(self._first, self._first + self._size, dtype=np.int64)
        return _join(self._chunks)

    @property
    def is_text(self) -> bool:
        """Whether they are strings."""
        return self._first is None and is_text(self._chunks[0])

    @property
    def next_number(self) -> int:
        """A number from 0 that is greater than all of them."""
        if self._first is not None:
            return max(0, self._first + self._size)
        if self.is_text or self._size == 0:
            return 0
        array = self.array
        return max(0, int(array[0] if self._size == 1 else array.max()) + 1)

    def at(self, positions: Int64s) -> Array:
        """Return the ids at some positions."""
        return self.array[positions] if self._first is None else self._first + positions

    def name(self, position: int) -> str:
        """Return the text that errors and pictures use for the object at a position."""
        (name,) = self.at(np.array([position])).tolist()
        return f"object {shown(name)}"

    def may_have(self, name: Any) -> bool:
        """Whether an id lies between the least and the greatest: a fast check."""
        return self._size > 0 and bool(self._least <= name <= self._greatest)

    def find(self, wanted: Array) -> Int64s:
        """Return the positions of ids, -1 for unknown ones."""
        if self._size == 0 or len(wanted) == 0:
            return np.full(len(wanted), -1, dtype=np.int64)
        first = self._counted_from
        if first is not None:
            is_here = (wanted >= first) & (wanted <= first + self._size - 1)
            return np.where(is_here, wanted - np.int64(first), -1)
        ordered, _ = self._order
        step = max(1, _BYTES_AT_ONCE // max(ordered.itemsize, wanted.itemsize))
        begins = range(0, len(wanted), step)
        return np.concatenate([self._find_some(wanted[begin : begin + step]) for begin in begins])

    def _find_some(self, wanted: Array) -> Int64s:
        """Return the positions of some ids, -1 for unknown ones, which may be longer than all."""
        ordered, order = self._order
        alike = wanted.astype(ordered.dtype, copy=False)
        at = np.minimum(np.searchsorted(ordered, alike), self._size - 1)
        return np.where(ordered[at] == wanted, order[at], -1)

    @property
    def n_bytes(self) -> int:
        """The memory of the ids."""
        strings = [chunk for chunk in self._chunks if chunk.dtype.kind == "O"]
        return sum(chunk.nbytes for chunk in self._chunks) + sum(
            sum(map(getsizeof, chunk.tolist())) for chunk in strings
        )

    @cached_property
    def _order(self) -> tuple[Array, Int64s]:
        """The ids in order, and the position of each."""
        array = self.array
        order = np.argsort(array, kind="stable").astype(np.int64)
        ordered = array[order]
        if bool((ordered[1:] == ordered[:-1]).any()):  # those that were given were checked
            raise IndexFileError("the ids must differ.")
        return ordered, order

    @cached_property
    def _least(self) -> Any:
        first = self._counted_from
        return self._order[0][:1].tolist()[0] if first is None else first

    @cached_property
    def _greatest(self) -> Any:
        first = self._counted_from
        return self._order[0][-1:].tolist()[0] if first is None else first + self._size - 1

    @cached_property
    def _counted_from(self) -> int | None:
        """The first of consecutive numbers; None where they are not."""
        if self._first is not None or self.is_text or self._size == 0:
            return self._first
        array = self.array
        is_counted = array[-1] >= array[0] and bool((np.diff(array) == 1).all())
        return int(array[0]) if is_counted else None

    def record(self) -> Record:
        """Return the ids as a record, for a file."""
        if self.is_text and self.array.dtype.kind == "O":
            return Record({"kind": "strings"}, to_plain(self.array.tolist()).arrays)
        if self.is_text:
            width = self.array.dtype.itemsize // 4
            letters = np.ascontiguousarray(self.array).view(np.uint32)
            return Record({"kind": "text", "width": width}, {"letters": letters})
        first = self._counted_from
        if first is not None:
            return Record({"kind": "range", "first": first, "count": self._size})
        return Record({"kind": "numbers"}, {"numbers": self.array})


def restore_ids(record: Record, n_objects: int, *, is_text: bool) -> Ids:
    """Return the ids of a file; they must be as many.

    That they differ is checked when the first is searched for.
    """
    match record.fact("kind", str):
        case "range":
            first = record.count("first", least=-(2**63), most=_GREATEST)
            if record.count("count") != n_objects or first + n_objects - 1 > _GREATEST:
                raise IndexFileError("the ids are not as many as the objects.")
            ids = Ids.counted(first, n_objects)
        case "text":
            width = record.count("width", least=1, most=2**24)
            letters = record.array("letters", np.uint32)
            if len(letters) != n_objects * width or letters.max(initial=0) > 0x10FFFF:
                raise IndexFileError("the ids are no strings, or not as many as the objects.")
            ids = Ids(_narrowed(letters.view(f"<U{width}")))
        case "strings":
            names = from_plain(record)
            if not all(isinstance(name, str) and not name.endswith("\0") for name in names):
                raise IndexFileError("the ids must be strings that do not end in a NUL character.")
            ids = Ids(np.array(names, dtype=object))
        case "numbers":
            ids = Ids(record.array("numbers", np.int64))
        case other:
            raise IndexFileError(f"ids of the kind {other!r} are not known.")
    if len(ids) != n_objects:
        raise IndexFileError("the ids are not as many as the objects.")
    if ids.is_text != is_text:
        raise IndexFileError("the ids must be all strings, or all numbers.")
    return ids


def _narrowed(array: Array) -> Array:
    """Return strings of one width as Python's strings where that takes much less memory."""
    width = array.dtype.itemsize // 4
    if width <= _SPARE or _is_even(width, len(array), int(np.char.str_len(array).sum())):
        return array
    return array.astype(object)


def read_mask(only: Any, n_objects: int) -> Bools | None:
    """Return `only` as a mask of the indexed objects, or None where it is none, and so ids."""
    is_list = isinstance(only, (list, tuple)) and len(only) > 0
    if is_list and all(isinstance(item, (bool, np.bool_)) for item in only):
        only = np.asarray(only)
    if str(getattr(only, "dtype", None)) not in ("bool", "boolean"):  # numpy's and pandas'
        return None
    mask = np.asarray(only)
    if mask.dtype != np.dtype(bool) or mask.shape != (n_objects,):
        raise InvalidArgument(
            f"only must be ids or a mask of the {n_objects} indexed objects, without "
            f"missing entries; got a mask of shape {mask.shape}."
        )
    return mask


def added_ids(
    ids: Any, n_objects: int, *, next_id: int, is_text: bool, is_new: bool = True
) -> Array:
    """Return the ids of objects that are to be added; whether they are in use is not known yet."""
    if ids is not None:
        names = make_ids(ids, n_objects, is_new=is_new)
        check_kind(names, is_text=is_text, name="ids")
        return names
    if is_text and n_objects:
        raise InvalidArgument("ids must be given, since those of the index are strings; got none.")
    return number_from(next_id, n_objects)


def make_ids(ids: Any, n_objects: int, *, is_new: bool = True) -> Array:
    """Return the ids given for n objects, each once; `is_new` unless earlier versions took them."""
    if isinstance(ids, (set, frozenset, dict)):
        raise InvalidArgument("ids must be in the order of the objects; a set has no order.")
    array = read_ids(ids, "ids")
    if len(array) != n_objects:
        raise InvalidArgument(
            f"ids must name each of the {n_objects} objects; got {len(array)} ids."
        )
    if is_new and is_text(array):
        _check_new(array)
    if len(array) > 1:
        ordered = np.sort(array, kind="stable")
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(repeated):
            raise InvalidArgument(
                f"ids must differ; {shown(repeated[:1].tolist()[0])} is given more than once."
            )
    return array


def _check_new(array: Array) -> None:
    """Refuse new ids that are too long, or that hold characters which some readers refuse."""
    names = array.tolist()
    if max(map(len, names), default=0) <= LONGEST and _REFUSED.search("".join(names)) is None:
        return
    for i, name in enumerate(names):
        if len(name) > LONGEST:
            raise InvalidArgument(
                f"ids must have at most {LONGEST} characters; ids[{i}] has {len(name)}: "
                f"{shown(name)} Shorten it."
            )
        refused = _REFUSED.search(name)
        if refused is not None:
            raise InvalidArgument(
                "ids must not have control characters or halves of surrogate pairs; "
                f"ids[{i}] has {refused[0]!r}: {shown(name)}. Remove or replace them."
            )


def first_ids(ids: Any, n_objects: int) -> Ids:
    """Return the first ids of an index: those given, or 0, 1, 2 and so on."""
    if ids is None:
        return Ids.counted(0, n_objects)
    is_counted = isinstance(ids, range) and ids.step == 1 and len(ids) == n_objects > 0
    if is_counted and ids.start >= -_GREATEST and ids.stop <= _GREATEST:
        return Ids.counted(ids.start, n_objects)  # takes no memory
    return Ids(make_ids(ids, n_objects))


def check_room(next_id: int) -> None:
    """Refuse numbers as ids where the next number would not fit int64."""
    if next_id - 1 > _GREATEST:
        raise InvalidArgument("ids must be given: the greatest int64 is one already.")


def number_from(first: int, n_objects: int) -> Array:
    """Return the next n numbers as ids."""
    check_room(first + n_objects)
    return np.arange(first, first + n_objects, dtype=np.int64)


def check_kind(array: Array, *, is_text: bool, name: str) -> None:
    """Refuse numbers where the ids of the index are strings, and the other way round."""
    if len(array) and (array.dtype.kind in "UO") != is_text:
        kind = "strings" if is_text else "integers"
        raise InvalidArgument(
            f"{name} must hold {kind}, as the ids of the index are; "
            f"got {shown(array[:1].tolist()[0])}."
        )


def read_ids(ids: Any, name: str) -> Array:
    """Return ids as an array of int64 or of strings."""
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        raise InvalidArgument(f"{name} must be a sequence of ids; got the single {ids!r}.")
    if isinstance(ids, np.ma.MaskedArray):
        raise InvalidArgument(f"{name} must not be masked; pass {name}.compressed().")
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind == "i":
        return np.array(ids, dtype=np.int64)
    rule = f"{name} must be integers that fit int64, or strings"
    try:
        items = list(ids)
    except TypeError as error:  # refuses a zero-dimensional array
        raise InvalidArgument(f"{rule}; got {ids!r}.") from error
    if all(isinstance(item, str) for item in items):
        strings = [str(item) for item in items]
        if any(item.endswith("\0") for item in strings):
            raise InvalidArgument(f"{name} must not end in a NUL character.")
        return as_array(strings) if strings else np.empty(0, dtype=np.int64)
    has_text = any(isinstance(item, str) for item in items)
    for item in items:
        if has_text and isinstance(item, str):  # the odd one is of another kind
            continue
        is_integer = isinstance(item, (int, np.integer))
        is_integer = is_integer and not isinstance(item, (bool, np.timedelta64))
        if not is_integer or not -(2**63) <= int(item) < 2**63:
            raise InvalidArgument(f"{rule}; got {item!r}.")
    if has_text:
        number = next(item for item in items if not isinstance(item, str))
        raise InvalidArgument(f"{rule}; got {number!r} beside strings.")
    return np.array([int(item) for item in items], dtype=np.int64)
