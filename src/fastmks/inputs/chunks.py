"""Chunks of objects of a file with their ids, and how to join them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from fastmks._util.arrays import Array
from fastmks.errors import InvalidArgument

_Item = TypeVar("_Item")
_Names: TypeAlias = Sequence[str] | Array


class Chunk(NamedTuple):
    """Objects of a file and their ids, None where the file has none.

    Examples
    --------
    >>> from fastmks.inputs import Chunk
    >>> len(Chunk(["MKV", "MLV"], ["P1", "P2"]).objects)
    2
    """

    objects: Any
    ids: _Names | None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The arguments of reading a file."""

    chunk: int | None  # objects at a time; None for all
    kind: str | None = None  # the kind of the objects where the file alone does not say
    id_column: str | None = None
    has_ids: bool = True  # False: ids in the file are skipped
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    radius: int = 2
    bits: int = 2048

    @property
    def block(self) -> int:
        """Objects to read at a time where all of them are wanted, too."""
        return self.chunk or 4096


@dataclass(frozen=True)
class Opened:
    """A file whose beginning was read."""

    kind: str  # vectors, strings, fingerprints or series
    chunks: Iterator[Chunk]
    n_objects: int | None = None  # where the file gives their number
    n_columns: int | None = None  # of vectors, where the file gives their number
    has_header: bool | None = None  # of a table of text
    ids_from: str | None = None  # where ids come from, in words; None where there are none


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield lists of `size` items; the last may be shorter.

    Examples
    --------
    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def join_chunks(chunks: Sequence[Chunk]) -> Chunk:
    """Return all chunks as one.

    Examples
    --------
    >>> join_chunks([Chunk(["a"], ["1"]), Chunk(["b"], ["2"])])
    Chunk(objects=['a', 'b'], ids=['1', '2'])
    """
    if len(chunks) == 1:
        return chunks[0]
    objects = [chunk.objects for chunk in chunks]
    named = [chunk.ids for chunk in chunks if chunk.ids is not None]
    ids: _Names | None = None
    if named:
        are_arrays = all(isinstance(part, np.ndarray) for part in named)
        ids = np.concatenate(named) if are_arrays else [name for part in named for name in part]
    if isinstance(objects[0], np.ndarray):
        return Chunk(np.concatenate(objects), ids)
    if isinstance(objects[0], list):
        return Chunk([item for part in objects for item in part], ids)
    from scipy.sparse import vstack  # sparse matrices: scipy is installed then

    return Chunk(vstack(objects, format="csr"), ids)


def read_names(names: _Names, *, is_text: bool | None = None, where: str = "ids") -> _Names:
    """Return the ids of a file as those of an index.

    Whole numbers become int64 where all are, as Python writes them, and the index has such ids;
    `is_text` says whether it has strings, None that it is yet to be built.

    Examples
    --------
    >>> read_names(["3", "10"])
    array([ 3, 10])
    >>> read_names(["3", "x"])
    ['3', 'x']
    >>> read_names(["3", "007"])
    ['3', '007']
    """
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu":
        return [str(name) for name in names.tolist()] if is_text else names
    listed = [str(name) for name in names]
    if is_text:
        return listed
    try:
        numbers = [int(name) for name in listed]
        is_same = all(str(n) == name for n, name in zip(numbers, listed, strict=True))
        if is_same and listed:
            return np.array(numbers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    if is_text is False:
        odd = next((name for name in listed if not _is_number(name)), "none")
        raise InvalidArgument(
            f"{where} must be whole numbers, as the ids of the index are; got {odd!r}."
        )
    return listed


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text
