"""Build one index per partition, on the worker with the partition."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import dask
import numpy as np
from distributed import Future

from fastmks._util.arrays import Array
from fastmks.dask.cluster import Cluster, Packed, pack, unpack
from fastmks.dask.shard_work import ShardFacts, describe_shard, shard_named
from fastmks.dask.sources import Loaded, Partition, load_partition
from fastmks.errors import InvalidArgument
from fastmks.index.ids import check_room, is_text, shown
from fastmks.index.index import Index
from fastmks.kernels import Kernel

_IDS_AT_ONCE = 2**28  # bytes of ids that one worker compares


@dataclass(frozen=True)
class BuildSettings:
    """The settings to build every shard."""

    kernel: Kernel
    algorithm: str
    base: float
    threads: int | None


@dataclass(frozen=True)
class Shard:
    """An index on a worker, and the facts of it on the client."""

    name: str
    index: Future
    facts: ShardFacts
    file: str | None = None  # that it was loaded from

    def __len__(self) -> int:
        return self.facts.n_objects


def build_shards(
    cluster: Cluster,
    partitions: Sequence[Partition],
    settings: BuildSettings,
    *,
    first_id: int,
    progress: bool,
) -> list[Shard]:
    """Build an index of each partition that is not empty; ids are numbered from `first_id`.

    Where that needs unknown lengths, all partitions are loaded and counted first, and stay on their
    workers until their indexes are built.
    """
    packed = pack(settings)
    build = dask.delayed(_build, pure=False)
    loaded = [load_named(part) for part in partitions]
    is_array = all(part.n_objects is not None for part in partitions)
    sizes = [part.n_objects for part in partitions]
    if any(part.n_objects is None and not part.names_own for part in partitions):
        loaded = cluster.compute(loaded)
        sizes = cluster.results(
            cluster.map(len, loaded, name="count"),
            shards=[part.name for part in partitions],
            progress=progress,
            unit=" partitions",
        )
    firsts = list(accumulate((size or 0 for size in sizes), initial=first_id))
    if not all(part.names_own for part in partitions):
        check_room(firsts[-1])
    # All partitions must have the column names of the first, where it has any.
    columns = None if is_array else dask.delayed(_columns_of, pure=False)(loaded[0])
    tasks = [
        build(data, part.name, None if part.names_own else first, packed, columns)
        for data, part, size, first in zip(loaded, partitions, sizes, firsts, strict=False)
        if size != 0
    ]
    names = [part.name for part, size in zip(partitions, sizes, strict=True) if size != 0]
    indexes = cluster.compute(tasks)
    described = cluster.map(_describe, indexes, name="describe")
    facts: list[ShardFacts | None] = cluster.results(described, shards=names, progress=progress)
    shards = [
        Shard(name, index, known)
        for name, index, known in zip(names, indexes, facts, strict=True)
        if known is not None
    ]
    if not shards:
        raise InvalidArgument("collection must hold at least one object; got none.")
    return shards


def load_named(partition: Partition) -> Any:
    """Return a task that loads a partition."""
    load = dask.delayed(_load, pure=False)
    return load(partition.data, partition.ids, partition.name)


def _load(data: Any, ids: Any, shard: str) -> Loaded:
    with shard_named(shard):
        return load_partition(data, ids, shard)


def _columns_of(loaded: Loaded) -> tuple[str, ...] | None:
    return loaded.columns


def _build(
    loaded: Loaded,
    shard: str,
    first: int | None,
    packed: Packed,
    columns: tuple[str, ...] | None,
) -> Index | None:
    settings: BuildSettings = unpack(packed)
    n_objects = len(loaded)
    if n_objects == 0:
        return None
    ids = loaded.ids if first is None else range(first, first + n_objects)
    with shard_named(shard):
        if loaded.columns is not None and columns is not None and loaded.columns != columns:
            raise InvalidArgument(
                f"all partitions must have the same columns in the same order; those of the first "
                f"are {list(columns)}, those here {list(loaded.columns)}."
            )
        return Index(
            loaded.objects,
            settings.kernel,
            algorithm=settings.algorithm,
            base=settings.base,
            ids=ids,
            threads=settings.threads,
        )


def _describe(index: Index | None) -> ShardFacts | None:
    return None if index is None else describe_shard(index)


def check_alike(shards: Sequence[Shard]) -> None:
    """Refuse shards whose objects cannot be compared, or whose ids are of different kinds."""
    first = shards[0]
    for other in shards[1:]:
        if other.facts.form != first.facts.form:
            raise InvalidArgument(
                f"all shards must hold the same kind of objects; {first.name} holds "
                f"{first.facts.kind}, {other.name} {other.facts.kind}."
            )
        if other.facts.has_text_ids != first.facts.has_text_ids:
            with_text = first if first.facts.has_text_ids else other
            raise InvalidArgument(
                f"ids must be all strings or all numbers; those of {with_text.name} are strings, "
                "those of others are not."
            )


def check_unique(cluster: Cluster, shards: Sequence[Shard]) -> None:
    """Refuse an id that is in two shards. Each worker compares a part of all ids."""
    n_bytes = 8 * sum(map(len, shards))
    n_groups = 1 + n_bytes // _IDS_AT_ONCE
    split = dask.delayed(_split_ids, pure=False, nout=n_groups)
    find = dask.delayed(_find_repeated, pure=False)
    pieces = [split(shard.index, n_groups) for shard in shards]
    tasks = [find([list(piece)[group] for piece in pieces]) for group in range(n_groups)]
    for repeated in cluster.results(cluster.compute(tasks)):
        if repeated is not None:
            name, first, second = repeated
            raise InvalidArgument(
                f"ids must differ; {shown(name)} is given in {shards[first].name} and in "
                f"{shards[second].name}."
            )


def _split_ids(index: Index, n_groups: int) -> list[Array]:
    """Return the ids in groups; equal ids are in the same group."""
    ids = index.ids
    if n_groups == 1:
        return [ids]
    if is_text(ids):
        sums = [zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in ids.tolist()]
        group = np.array(sums) % n_groups
    else:
        group = ids % n_groups
    return [ids[group == i] for i in range(n_groups)]


def _find_repeated(pieces: list[Array]) -> tuple[Any, int, int] | None:
    """Return an id that is in two of some arrays, and which arrays; None where none is."""
    ids = np.concatenate(pieces)
    of_shard = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(ids[order[1:]] == ids[order[:-1]])
    if len(same) == 0:
        return None
    first, second = order[same[0]], order[same[0] + 1]
    return ids[[first]].tolist()[0], int(of_shard[first]), int(of_shard[second])
