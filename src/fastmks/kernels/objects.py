"""Objects in the formats of the parts of a kernel: one store for each way of reading them."""

import reprlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.arrays import Int64s
from fastmks.data import Store
from fastmks.data.bits import BitStore
from fastmks.data.fasta import Fasta
from fastmks.data.frames import column_values, rows_of
from fastmks.data.object_lists import list_objects
from fastmks.data.python_objects import PYTHON_OBJECTS, PythonStore
from fastmks.data.python_objects_input import restore_python
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record, nest
from fastmks.kernels.base import Kernel
from fastmks.kernels.object_kernel import ObjectKernel, leaves

# The fields to follow from an object, and the key of the kernel that compares that part.
_Key: TypeAlias = tuple[tuple[int, ...], Hashable]


@dataclass(frozen=True, eq=False)
class Objects:
    """The same objects in every store that a kernel needs, most often one."""

    stores: Mapping[_Key, Store]

    def __len__(self) -> int:
        return len(self._first)

    @property
    def _first(self) -> Store:
        return next(iter(self.stores.values()))

    @property
    def kind(self) -> str:
        """The kind of the objects, in words."""
        if any(fields for fields, _ in self.stores):
            return "tuples"
        return self._first.kind

    def store(self, fields: tuple[int, ...], leaf: ObjectKernel) -> Store:
        """Return the store that a part of the kernel reads."""
        return self.stores[fields, leaf.store_key]

    def copy(self) -> "Objects":
        """The same objects in memory of their own."""
        return Objects({key: store.copy() for key, store in self.stores.items()})

    def take(self, positions: Int64s) -> "Objects":
        """The objects at these positions, in this order, in memory of their own."""
        return Objects({key: store.take(positions) for key, store in self.stores.items()})

    def get(self, positions: Int64s) -> Any:
        """The objects at these positions, as something that `read_objects` reads.

        Objects with fields are tuples; a field that no part of the kernel reads is None.
        """
        found: dict[tuple[int, ...], Any] = {}
        for (fields, _), store in sorted(self.stores.items(), key=_faithfulness):
            if fields not in found:
                found[fields] = store.get(positions)
        return found[()] if () in found else _put_together(found, len(positions))

    @property
    def form(self) -> tuple[Hashable, ...]:
        """A key that is equal for objects that can be joined."""
        return tuple(store.form for store in self.stores.values())

    @property
    def numbers_features(self) -> bool:
        """Whether queries must be read for these very objects."""
        return any(store.numbers_features for store in self.stores.values())

    @property
    def n_bytes(self) -> int:
        """The memory that the objects take."""
        return sum(store.n_bytes for store in self.stores.values())

    def record(self, *, encode: Callable[[Any], bytes] | None = None) -> Record:
        """Return the record of the stores; `encode` turns a Python object into bytes.

        Without it, objects that only Python knows are omitted, and handed in again at
        `restore_objects`.
        """
        parts = {
            f"store {i}": store.record()
            if encode is None or not isinstance(store, PythonStore)
            else store.record(encode=encode)
            for i, store in enumerate(self.stores.values())
        }
        return nest(parts, {"fields": [list(fields) for fields, _ in self.stores]})


def read_objects(objects: Any, kernel: Kernel, *, name: str = "objects") -> Objects:
    """Return one or more objects in the stores of the kernel."""
    if isinstance(objects, Objects):  # already read by a part of this package
        return objects
    objects = listed(objects)
    stores: dict[_Key, Store] = {}
    for fields, leaf in leaves(kernel):
        if (fields, leaf.store_key) not in stores:
            part = _follow(objects, fields, leaf, name)
            with _part_named(kernel, leaf):
                stores[fields, leaf.store_key] = leaf.read(part, name=_named(name, fields))
    _check_lengths(stores, name)
    read = Objects(stores)
    if len(read) == 0:
        raise InvalidArgument(f"{name} must hold at least one object; got none.")
    return read


def read_queries(queries: Any, kernel: Kernel, like: Objects, *, name: str = "queries") -> Objects:
    """Return queries to be compared with `like`. A tuple is one query of objects with fields."""
    if isinstance(queries, Objects):  # already read by a part of this package
        return queries
    queries = listed(queries)
    stores: dict[_Key, Store] = {}
    for fields, leaf in leaves(kernel):
        if (fields, leaf.store_key) not in stores:
            given = [queries] if fields and isinstance(queries, tuple) else queries
            stores[fields, leaf.store_key] = leaf.read_queries(
                _follow(given, fields, leaf, name),
                like.store(fields, leaf),
                name=_named(name, fields),
            )
    _check_lengths(stores, name)
    return Objects(stores)


def read_more(objects: Any, kernel: Kernel, like: Objects, *, name: str = "objects") -> Objects:
    """Return objects to be added to `like`, in stores of their own: any number of them, or one.

    A tuple is one object of those with fields.
    """
    if isinstance(objects, Objects):
        return objects
    objects = listed(objects)
    if isinstance(objects, (list, tuple)) and len(objects) == 0:
        return like.take(np.zeros(0, dtype=np.int64))
    stores: dict[_Key, Store] = {}
    for fields, leaf in leaves(kernel):
        if (fields, leaf.store_key) not in stores:
            given = [objects] if fields and isinstance(objects, tuple) else objects
            with _part_named(kernel, leaf):
                stores[fields, leaf.store_key] = leaf.read_more(
                    _follow(given, fields, leaf, name),
                    like.store(fields, leaf),
                    name=_named(name, fields),
                )
    _check_lengths(stores, name)
    return Objects(stores)


def join_objects(kernel: Kernel, parts: Sequence[Objects]) -> Objects:
    """Return the objects of several parts, in order, in memory of their own."""
    return Objects(
        {
            key: leaf.join([part.stores[key] for part in parts])
            for key, leaf in _readers(kernel).items()
        }
    )


def joins_at_once(kernel: Kernel) -> bool:
    """Whether objects that are added must be in one store with those before them."""
    return any(leaf.joins_at_once for _, leaf in leaves(kernel))


def restore_objects(
    record: Record,
    kernel: Kernel,
    *,
    like: Objects | None = None,
    objects: Any = None,
    decode: Callable[[bytes], Any] | None = None,
) -> Objects:
    """Return the objects that were recorded, in the arrays of the record as they are.

    Where they are to be searched and joined with others, they must match `like`. Python objects
    that the record omits are taken from `objects`, all of them in order; `decode` restores those
    that were encoded.
    """
    readers = _readers(kernel)
    fields = [list(followed) for followed, _ in readers]
    if record.fact("fields", list) != fields:
        raise IndexFileError(f"the objects in the file are not those of the kernel {kernel!r}.")
    objects = listed(objects)
    stores: dict[_Key, Store] = {}
    for i, (key, leaf) in enumerate(readers.items()):
        part = record.part(f"store {i}")
        if leaf.store_key == PYTHON_OBJECTS:
            given = None if objects is None else _follow(objects, key[0], leaf, "objects")
            stores[key] = restore_python(part, objects=given, decode=decode)
        else:
            stores[key] = leaf.restore(part)
    if len({len(store) for store in stores.values()}) > 1:
        raise IndexFileError("the stores of the objects differ in length.")
    read = Objects(stores)
    if like is not None and read.form != like.form:
        raise IndexFileError(f"the objects must be {like.kind}, as others are: {read.kind}.")
    return read


def _readers(kernel: Kernel) -> dict[_Key, ObjectKernel]:
    """Return the part of the kernel that reads each of the stores."""
    readers: dict[_Key, ObjectKernel] = {}
    for fields, leaf in leaves(kernel):
        readers.setdefault((fields, leaf.store_key), leaf)
    return readers


def _faithfulness(keyed: tuple[_Key, Store]) -> int:
    """The rank of a store to read the objects back from: first the one that has them as given.

    Numbers that were read as bits can be read as numbers, not the other way round.
    """
    return {PythonStore: 0, BitStore: 1}.get(type(keyed[1]), 2)


def _put_together(found: Mapping[tuple[int, ...], Any], n_objects: int) -> list[tuple[Any, ...]]:
    """Return tuples of the fields that were found, nested as the fields are."""
    inner: dict[int, dict[tuple[int, ...], Any]] = {}
    for (field, *more), values in found.items():
        inner.setdefault(field, {})[tuple(more)] = values
    columns = [
        _put_together(inner[field], n_objects)
        if () not in inner.get(field, {(): None})
        else _rows(inner.get(field, {}).get(()), n_objects)
        for field in range(max(inner) + 1)
    ]
    return list(zip(*columns, strict=True))


def _rows(values: Any, n_objects: int) -> list[Any]:
    return [None] * n_objects if values is None else [values[i] for i in range(n_objects)]


def read_one(one: Any, kernel: Kernel, like: Objects | None, *, name: str) -> Objects:
    """Return a single object, to be compared with `like` if given."""
    stores: dict[_Key, Store] = {}
    for fields, leaf in leaves(kernel):
        if (fields, leaf.store_key) not in stores:
            (part,) = _follow([one], fields, leaf, name)
            stores[fields, leaf.store_key] = leaf.read_one(
                part, None if like is None else like.store(fields, leaf), name=_named(name, fields)
            )
    return Objects(stores)


def listed(objects: Any) -> Any:
    """Return objects that every part of the kernel can read: iterators and files as lists."""
    if isinstance(objects, np.ndarray):
        return objects
    if isinstance(objects, Fasta):
        return objects.sequences
    return list(objects) if isinstance(objects, Iterator) else column_values(objects)


@contextmanager
def _part_named(kernel: Kernel, part: Kernel) -> Iterator[None]:
    """Add to an error which part of a sum or product could not read the objects."""
    try:
        yield
    except InvalidArgument as error:
        if all(fields or leaf == part for fields, leaf in leaves(kernel)):
            raise
        raise InvalidArgument(
            f"{error} (Read so for {part!r}: all parts of {kernel!r} compare the same objects, "
            "unless OnField gives each its own.)"
        ) from error


def _follow(objects: Any, fields: tuple[int, ...], leaf: ObjectKernel, name: str) -> Any:
    """Return the parts of the objects that the fields lead to; a number is a vector of one."""
    if not fields:
        return objects
    # The columns of a table are the fields.
    objects = list_objects(rows_of(objects), name=name, wanted="a sequence of tuples")
    for depth, field in enumerate(fields):
        objects = [
            _part(item, field, _named(f"{name}[{i}]", fields[:depth]))
            for i, item in enumerate(objects)
        ]
    if leaf.kind.words.startswith("vectors") and all(isinstance(one, Real) for one in objects):
        return [[one] for one in objects]
    return objects


def _part(item: Any, field: int, name: str) -> Any:
    try:
        if isinstance(item, (str, bytes)):  # not even where it has letters enough
            raise TypeError
        return item[field]
    except (TypeError, IndexError, KeyError):
        raise InvalidArgument(
            f"{name} must be a tuple with a field {field}, which OnField({field}, ...) compares; "
            f"got {reprlib.repr(item)}."
        ) from None


def _named(name: str, fields: tuple[int, ...]) -> str:
    return f"field {'.'.join(map(str, fields))} of {name}" if fields else name


def _check_lengths(stores: Mapping[_Key, Store], name: str) -> None:
    if len(stores) == 1:
        return
    lengths = {len(store) for store in stores.values()}
    if len(lengths) > 1:
        raise InvalidArgument(
            f"{name} are read as {' and as '.join(map(str, sorted(lengths)))} objects by the "
            "parts of the kernel. Pass a list of objects."
        )
