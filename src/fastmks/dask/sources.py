"""Sources of the objects of a ShardedIndex: partitions that workers load themselves."""

import glob
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed
from distributed import Future

from fastmks.data.fasta import Fasta, read_fasta
from fastmks.errors import InvalidArgument
from fastmks.index.ids import read_ids

_FASTA = (".fasta", ".fa", ".faa", ".fna", ".ffn")
_PARQUET = (".parquet", ".pq")
_WANTED = (
    "a dask array, bag, DataFrame or Series, a list of delayed objects or futures, or a list of "
    "files (.npy, .parquet, .fasta)"
)


@dataclass(frozen=True)
class File:
    """A file that a worker opens."""

    path: str


@dataclass(frozen=True)
class Partition:
    """The objects of one shard, not loaded yet."""

    name: str  # the shard's name in errors
    data: Any  # delayed, a future, or a File
    ids: Any = None  # the same for ids; the name of a column; None to number them
    n_objects: int | None = None  # where known before they are loaded
    names_own: bool = False  # the source has ids


def is_distributed(collection: Any) -> bool:
    """Whether a collection is distributed: held by a cluster, or to be computed there."""
    return is_dask_collection(collection) or isinstance(collection, Future)


def make_partitions(collection: Any, ids: Any, *, name: str = "collection") -> list[Partition]:
    """Return the partitions of a collection for `ShardedIndex.build`, with ids where given."""
    if isinstance(collection, (Delayed, Future)):
        raise InvalidArgument(f"{name} must be {_WANTED}; got one alone: pass [{name}].")
    if is_dask_collection(collection):
        partitions = _of_collection(collection, name)
    elif isinstance(collection, (list, tuple)) and collection:
        partitions = [_of_item(item, i, name) for i, item in enumerate(collection)]
    else:
        raise InvalidArgument(f"{name} must be {_WANTED}; got {_described(collection)}.")
    return partitions if ids is None else _with_ids(partitions, ids)


def _of_collection(collection: Any, name: str) -> list[Partition]:
    sizes: Sequence[float]
    if hasattr(collection, "rechunk"):  # an array: objects are its first axis, whole
        if collection.ndim == 0:
            raise InvalidArgument(f"{name} must be an array of objects; got one number.")
        whole = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
        parts = list(whole.to_delayed().ravel())
        sizes = whole.chunks[0]
        names = [
            f"shard {i}"
            if math.isnan(end)
            else f"shard {i} (rows {end - size:.0f} to {end - 1:.0f})"
            for i, (size, end) in enumerate(zip(sizes, np.cumsum(sizes), strict=True))
        ]
    elif hasattr(collection, "to_delayed"):
        parts = list(collection.to_delayed())
        sizes = [math.nan] * len(parts)
        names = [f"shard {i} (partition {i})" for i in range(len(parts))]
    else:
        raise InvalidArgument(f"{name} must be {_WANTED}; got {_described(collection)}.")
    return [
        Partition(called, part, n_objects=None if math.isnan(size) else int(size))
        for called, part, size in zip(names, parts, sizes, strict=True)
    ]


def _of_item(item: Any, i: int, name: str) -> Partition:
    if isinstance(item, (str, os.PathLike)):
        path = os.fspath(item)
        plain = path.lower().removesuffix(".gz")
        if not plain.endswith((".npy", *_PARQUET, *_FASTA)):
            raise InvalidArgument(
                f"{name}[{i}] must be the name of a .npy, .parquet or FASTA file; got {path!r}."
            )
        if glob.has_magic(path):
            raise InvalidArgument(f"{name}[{i}] must be one file, not a pattern; got {path!r}.")
        return Partition(f"shard {i} ({path})", File(path), names_own=plain.endswith(_FASTA))
    if isinstance(item, (Delayed, Future)):
        return Partition(f"shard {i} ({item.key})", item)
    raise InvalidArgument(f"{name} must be {_WANTED}; {name}[{i}] is {_described(item)}.")


def _with_ids(partitions: Sequence[Partition], ids: Any) -> list[Partition]:
    """Return the partitions with ids: a column's name, a collection cut alike, or all in order."""
    n = len(partitions)
    if isinstance(ids, str):
        chosen: list[Any] = [ids] * n
    elif is_dask_collection(ids) and hasattr(ids, "to_delayed"):
        chosen = list(np.ravel(np.asarray(ids.to_delayed(), dtype=object)))
        if len(chosen) != n:
            raise InvalidArgument(
                f"ids must be cut into partitions as the objects are, {n} of them; got "
                f"{len(chosen)}."
            )
    else:
        chosen = _cut(partitions, ids)
    return [
        Partition(part.name, part.data, own, part.n_objects, names_own=True)
        for part, own in zip(partitions, chosen, strict=True)
    ]


def _cut(partitions: Sequence[Partition], ids: Any) -> list[Any]:
    sizes = [part.n_objects for part in partitions]
    if any(size is None for size in sizes):
        raise InvalidArgument(
            "ids must be a dask collection cut as the objects are, or the name of a column, where "
            "the lengths of the partitions are not known; got a sequence."
        )
    given = read_ids(ids, "ids")
    known = [int(size or 0) for size in sizes]
    if len(given) != sum(known):
        raise InvalidArgument(
            f"ids must name each of the {sum(known)} objects; got {len(given)} ids."
        )
    ends = np.cumsum(known).tolist()
    return [given[end - size : end] for size, end in zip(known, ends, strict=True)]


@dataclass(frozen=True)
class Loaded:
    """Objects and their ids, on a worker; None to number them."""

    objects: Any
    ids: Any
    name: str = ""  # the partition's name in errors

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The column names of a DataFrame."""
        names = getattr(self.objects, "columns", None)
        return None if names is None else tuple(map(str, names))

    def __len__(self) -> int:
        if isinstance(self.objects, Fasta):
            return len(self.objects.sequences)
        shape = getattr(self.objects, "shape", None)  # sparse matrices have no length
        return int(shape[0]) if shape else len(self.objects)


def load_partition(data: Any, ids: Any, name: str) -> Loaded:
    """Return the objects of a partition: read from its file, or the result of its task."""
    if isinstance(data, File):
        data = _read_file(data.path)
    elif isinstance(data, Iterator):
        data = list(data)
    if isinstance(ids, str):
        if not hasattr(data, "columns") or ids not in data.columns:
            raise InvalidArgument(f"ids must be the name of a column; there is no {ids!r}.")
        ids, data = data[ids].tolist(), data.drop(columns=[ids])
    elif isinstance(ids, Iterator):
        ids = list(ids)
    if isinstance(data, Fasta) and ids is None:
        ids = data.ids
    if hasattr(data, "iloc") and not hasattr(data, "columns"):  # a Series
        data = data.tolist()
    shape = getattr(data, "shape", None)
    is_sequence = hasattr(data, "__len__") if shape is None else len(shape) > 0
    if not is_sequence or isinstance(data, (str, bytes)):
        raise InvalidArgument(
            f"a partition must hold what fastmks.Index takes, a sequence of objects; got {data!r}."
        )
    return Loaded(data, ids, name)


def _read_file(path: str) -> Any:
    import fsspec

    plain = path.lower().removesuffix(".gz")
    compression = "gzip" if path.lower().endswith(".gz") and not plain.endswith(_FASTA) else None
    with fsspec.open(path, "rb", compression=compression) as file:
        if plain.endswith(".npy"):
            try:
                return np.load(file, allow_pickle=False)
            except (ValueError, EOFError) as error:
                raise InvalidArgument(f"{path} is no .npy file of numbers ({error}).") from error
        if plain.endswith(_FASTA):
            return _named_fasta(file, path)
        import pandas

        return pandas.read_parquet(file)


def _named_fasta(file: Any, path: str) -> Fasta:
    try:
        return read_fasta(file)
    except InvalidArgument as error:
        raise InvalidArgument(str(error).replace("the open file", path)) from error


def _described(thing: Any) -> str:
    shape = getattr(thing, "shape", None)
    what = f"a {type(thing).__name__}" + (f" of shape {shape}" if shape else "")
    if isinstance(thing, np.ndarray):
        return f"{what} (dask.array.from_array(X, chunks=...) cuts it into partitions)"
    return what
