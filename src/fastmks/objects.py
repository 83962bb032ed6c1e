"""Objects as each part of a kernel wants them: one store for each way of reading them."""

import reprlib
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks.errors import InvalidArgument
from fastmks.fasta import Fasta
from fastmks.kernels.base import Kernel
from fastmks.kernels.object_kernel import ObjectKernel, leaves
from fastmks.stores import Store
from fastmks.stores.listing import list_objects

__all__ = ["Objects", "read_objects", "read_one", "read_queries"]

# The fields to follow from an object, and the key of the kernel that compares what is there.
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
        """What the objects are, in words."""
        if any(fields for fields, _ in self.stores):
            return "tuples"
        return self._first.kind

    def store(self, fields: tuple[int, ...], leaf: ObjectKernel) -> Store:
        """Return the store that a part of the kernel reads."""
        return self.stores[fields, leaf.store_key]

    def copy(self) -> "Objects":
        """The same objects in memory of their own."""
        return Objects({key: store.copy() for key, store in self.stores.items()})

    def take(self, positions: np.ndarray[Any, np.dtype[np.int64]]) -> "Objects":
        """The objects at these positions, in this order, in memory of their own."""
        return Objects({key: store.take(positions) for key, store in self.stores.items()})


def read_objects(objects: Any, kernel: Kernel, *, name: str = "objects") -> Objects:
    """Return a non-empty set of objects as the kernel wants them."""
    if isinstance(objects, Objects):  # read before, by a part of this package
        return objects
    objects = _listed(objects)
    stores: dict[_Key, Store] = {}
    for fields, leaf in leaves(kernel):
        if (fields, leaf.store_key) not in stores:
            part = _follow(objects, fields, name)
            with _part_named(kernel, leaf):
                stores[fields, leaf.store_key] = leaf.read(part, name=_named(name, fields))
    _check_lengths(stores, name)
    read = Objects(stores)
    if len(read) == 0:
        raise InvalidArgument(f"{name} must hold at least one object; got none.")
    return read


def read_queries(queries: Any, kernel: Kernel, like: Objects, *, name: str = "queries") -> Objects:
    """Return queries to be compared with `like`. A tuple is one query of objects with fields."""
    if isinstance(queries, Objects):  # read before, by a part of this package
        return queries
    queries = _listed(queries)
    stores: dict[_Key, Store] = {}
    for fields, leaf in leaves(kernel):
        if (fields, leaf.store_key) not in stores:
            given = [queries] if fields and isinstance(queries, tuple) else queries
            stores[fields, leaf.store_key] = leaf.read_queries(
                _follow(given, fields, name), like.store(fields, leaf), name=_named(name, fields)
            )
    _check_lengths(stores, name)
    return Objects(stores)


def read_one(one: Any, kernel: Kernel, like: Objects | None, *, name: str) -> Objects:
    """Return a single object, to be compared with `like` if given."""
    stores: dict[_Key, Store] = {}
    for fields, leaf in leaves(kernel):
        if (fields, leaf.store_key) not in stores:
            (part,) = _follow([one], fields, name)
            stores[fields, leaf.store_key] = leaf.read_one(
                part, None if like is None else like.store(fields, leaf), name=_named(name, fields)
            )
    return Objects(stores)


def _listed(objects: Any) -> Any:
    """Return what each part of the kernel can read: lists of what iterators and files hold."""
    if isinstance(objects, np.ndarray):
        return objects
    if isinstance(objects, Fasta):
        return objects.sequences
    return list(objects) if isinstance(objects, Iterator) else objects


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


def _follow(objects: Any, fields: tuple[int, ...], name: str) -> Any:
    """Return the parts of the objects that the fields lead to."""
    if not fields:
        return objects
    if hasattr(objects, "itertuples"):  # a pandas DataFrame: its columns are the fields
        objects = objects.itertuples(index=False, name=None)
    objects = list_objects(objects, name=name, wanted="a sequence of tuples")
    for depth, field in enumerate(fields):
        objects = [
            _part(item, field, _named(f"{name}[{i}]", fields[:depth]))
            for i, item in enumerate(objects)
        ]
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
