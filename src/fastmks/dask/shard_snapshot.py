"""All shards at one moment, and their changes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastmks._util.arrays import Array
from fastmks.dask.cluster import Cluster, pack
from fastmks.dask.shard_build import BuildSettings, Shard, build_shards, check_alike, check_unique
from fastmks.dask.shard_work import (
    add_to_shard,
    describe_shard,
    find_in_shard,
    get_from_shard,
    remove_from_shard,
)
from fastmks.dask.sources import is_distributed, make_partitions
from fastmks.engines.approximation import Approximation, split_approximation
from fastmks.errors import InvalidArgument
from fastmks.index.current_snapshot import given_ids
from fastmks.index.ids import added_ids, check_kind, read_ids, read_mask, shown
from fastmks.index.index import Index
from fastmks.index.view import IndexView, view_of
from fastmks.kernels.objects import join_objects, read_more

_SMALL_SHARD = 1024  # objects; a shard with fewer takes added ones, however large the others are


@dataclass(frozen=True, kw_only=True)
class ShardSnapshot:
    """Shards in the order of their objects. A change returns another snapshot."""

    cluster: Cluster
    none: Index  # like the shards, without objects
    shards: tuple[Shard, ...]
    next_id: int
    n_made: int  # shards so far: the number of the next

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    @property
    def view(self) -> IndexView:
        """The view of an index like the shards, without objects."""
        return view_of(self.none)

    @property
    def starts(self) -> list[int]:
        """The position of the first object of each shard."""
        return [0, *np.cumsum([len(shard) for shard in self.shards]).tolist()][:-1]

    def chosen(self, only: Any) -> tuple[list[Any], list[int]]:
        """Return the part of `only` in each shard, and the number of these objects."""
        if only is None:
            return [None] * len(self.shards), [len(shard) for shard in self.shards]
        mask = read_mask(only, len(self))
        if mask is not None:
            masks = np.split(mask, self.starts[1:]) if self.shards else []
            return list(masks), [int(part.sum()) for part in masks]
        wanted = np.unique(self.read_ids(only, "only"))
        found = self.find_all(wanted, "only")
        chosen = [wanted[mask] for mask in found]
        return list(chosen), [len(ids) for ids in chosen]

    def promises(
        self, approximation: Approximation, sizes: Sequence[int], k: int
    ) -> list[Approximation]:
        """Return the approximation of each shard, so that the promise holds for all of them."""
        if approximation.budget is not None:
            least = sum(min(k, size) for size in sizes)
            if approximation.budget < least:
                raise InvalidArgument(
                    f"budget must be at least {least} evaluations per query, k={k} for each of the "
                    f"{len(sizes)} shards; got budget={approximation.budget}."
                )
        promises = split_approximation(approximation, sizes, k)
        if approximation.seconds is None:
            return promises
        share = min(1.0, self.cluster.n_slots / max(1, len(sizes)))
        return [replace(promise, seconds=approximation.seconds * share) for promise in promises]

    def read_ids(self, ids: Any, name: str) -> Array:
        """Return ids of the kind of those in the shards."""
        wanted = read_ids(ids, name)
        check_kind(wanted, is_text=self.view.settings.has_text_ids, name=name)
        return wanted

    def find(self, wanted: Array) -> list[Array]:
        """Return, for each shard, which of some ids it has."""
        if not self.shards or len(wanted) == 0:
            return [np.zeros(len(wanted), dtype=bool)] * len(self.shards)
        sent = self.cluster.share(wanted, len(self.shards))
        return self.cluster.results(
            self.cluster.map(
                find_in_shard,
                [shard.index for shard in self.shards],
                [sent] * len(self.shards),
                name="find",
            )
        )

    def find_all(self, wanted: Array, name: str) -> list[Array]:
        """Return the result of `find`; an id that no shard has is an error."""
        found = self.find(wanted)
        is_known = np.any(found, axis=0) if found else np.zeros(len(wanted), dtype=bool)
        if not is_known.all():
            unknown = wanted[~is_known][:1].tolist()[0]
            raise InvalidArgument(
                f"{name} must hold ids of the index only; {shown(unknown)} is not one."
            )
        return found

    def get(self, ids: Any) -> Any:
        """Return objects, in the order of their ids."""
        wanted = self.read_ids(ids, "ids")
        found = self.find_all(wanted, "ids")
        held = [(shard, mask) for shard, mask in zip(self.shards, found, strict=True) if mask.any()]
        if not held:
            return self.none.get([])
        futures = self.cluster.map(
            get_from_shard,
            [shard.index for shard, _ in held],
            [pack(wanted[mask]) for _, mask in held],
            name="get",
        )
        like, kernel = self.view.like, self.none.kernel
        chunks = [read_more(some, kernel, like) for some in self.cluster.results(futures)]
        order = np.concatenate([np.flatnonzero(mask) for _, mask in held])
        return join_objects(kernel, chunks).get(np.argsort(order, kind="stable"))

    # Changes.

    def with_collection(self, collection: Any, ids: Any) -> "ShardSnapshot":
        """Return the snapshot with a shard more for each partition of a collection."""
        own = self.view.settings
        settings = BuildSettings(self.none.kernel, own.algorithm, own.base, None)
        partitions = make_partitions(collection, ids, name="objects")
        first = self.n_made
        partitions = [
            replace(part, name=part.name.replace(f"shard {i}", f"added shard {first + i}", 1))
            for i, part in enumerate(partitions)
        ]
        has_own = any(part.names_own for part in partitions)
        if own.has_text_ids and not has_own:
            raise InvalidArgument("ids must be given, since those of the index are strings.")
        shards = build_shards(
            self.cluster, partitions, settings, first_id=self.next_id, progress=False
        )
        all_shards = [*self.shards, *shards]
        check_alike(all_shards)
        if has_own:
            check_unique(self.cluster, all_shards)
        next_id = max(self.next_id, *(shard.facts.next_id for shard in shards))
        n_made = self.n_made + len(partitions)
        return replace(self, shards=tuple(all_shards), next_id=next_id, n_made=n_made)

    def with_added(self, objects: Any, ids: Any) -> "tuple[ShardSnapshot, Array]":
        """Return the snapshot with more objects, and their ids."""
        n_objects = len(read_more(objects, self.none.kernel, self.view.like))
        names = self._new_ids(given_ids(objects, ids), n_objects)
        if n_objects == 0:
            return self, names
        shards, n_made = list(self.shards), self.n_made
        largest = max(map(len, shards), default=0)
        has_room = shards and (len(shards[-1]) < largest or len(shards[-1]) < _SMALL_SHARD)
        if has_room:
            last = shards.pop()
        else:
            last, n_made = self.empty_shard(f"added shard {n_made}"), n_made + 1
        sent = self.cluster.share(objects, 1), self.cluster.share(names, 1)
        grown = self.cluster.submit(add_to_shard, last.index, last.name, *sent, name="add")
        facts = self.cluster.result(self.cluster.submit(describe_shard, grown, name="describe"))
        next_id = max(self.next_id, facts.next_id)
        shards.append(replace(last, index=grown, facts=facts))
        changed = replace(self, shards=tuple(shards), next_id=next_id, n_made=n_made)
        return changed, names

    def empty_shard(self, name: str) -> Shard:
        """Return an empty shard."""
        index = self.cluster.submit(_copy, self.none, name="empty")
        return Shard(name, index, describe_shard(self.none))

    def without(self, ids: Any) -> "ShardSnapshot":
        """Return the snapshot without some objects."""
        wanted = np.unique(self.read_ids(ids, "ids"))
        found = self.find_all(wanted, "ids")
        losing = [i for i, mask in enumerate(found) if mask.any()]
        shrunk = self.cluster.map(
            remove_from_shard,
            [self.shards[i].index for i in losing],
            [self.shards[i].name for i in losing],
            [pack(wanted[found[i]]) for i in losing],
            name="remove",
        )
        facts = self.cluster.results(self.cluster.map(describe_shard, shrunk, name="describe"))
        changed = dict(zip(losing, zip(shrunk, facts, strict=True), strict=True))
        shards = [
            shard if i not in changed else replace(shard, index=changed[i][0], facts=changed[i][1])
            for i, shard in enumerate(self.shards)
        ]
        return replace(self, shards=tuple(filter(len, shards)))

    def _new_ids(self, ids: Any, n_objects: int) -> Array:
        is_text = self.view.settings.has_text_ids
        names = added_ids(ids, n_objects, next_id=self.next_id, is_text=is_text)
        if ids is None:
            return names
        for shard, mask in zip(self.shards, self.find(names), strict=True):
            if mask.any():
                raise InvalidArgument(
                    f"ids must be new; {shown(names[mask][:1].tolist()[0])} is in use, in "
                    f"{shard.name}."
                )
        return names


def is_collection(objects: Any) -> bool:
    """Whether objects are to be loaded by workers."""
    is_list = isinstance(objects, (list, tuple)) and len(objects) > 0
    is_loaded = is_list and (is_distributed(objects[0]) or isinstance(objects[0], os.PathLike))
    return is_distributed(objects) or is_loaded


def _copy(index: Index) -> Index:
    return index.copy()
