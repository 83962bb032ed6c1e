"""Shards that grow and shrink: the last one takes what is added, each loses what is removed."""

import os
from abc import ABC
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.fork_safe import Lock
from fastmks.dask.cluster import pack
from fastmks.dask.searchable import SearchableShards, State
from fastmks.dask.shard_build import BuildSettings, Shard, build_shards, check_alike, check_unique
from fastmks.dask.shard_work import (
    add_to_shard,
    describe_shard,
    get_from_shard,
    remove_from_shard,
)
from fastmks.dask.sources import is_distributed, make_partitions
from fastmks.data.fasta import Fasta
from fastmks.errors import InvalidArgument
from fastmks.index.ids import added_ids, shown
from fastmks.index.index import Index
from fastmks.kernels.objects import join_objects, read_more

__all__ = ["LivingShards"]

_Array: TypeAlias = np.ndarray[Any, Any]
_SMALL_SHARD = 1024  # objects; a shard with fewer takes what is added, whatever the others have


class LivingShards(SearchableShards, ABC):
    """Objects by their ids, and changes, one at a time; searches go on meanwhile."""

    _changing: Lock

    def get(self, ids: Any) -> Any:
        """Return objects, in the order of their ids, as `fastmks.Index.get` does.

        Parameters
        ----------
        ids : sequence of int or of str
            Their names.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.get([3, 0])
        array([[4., 4.],
               [1., 1.]])
        >>> client.close()
        """
        state = self._state
        wanted = self._read_ids(ids, "ids")
        found = self._find_all(state, wanted, "ids")
        held = [
            (shard, mask) for shard, mask in zip(state.shards, found, strict=True) if mask.any()
        ]
        if not held:
            return self._none.get([])
        futures = self._cluster.map(
            get_from_shard,
            [shard.index for shard, _ in held],
            [pack(wanted[mask]) for _, mask in held],
            name="get",
        )
        like, kernel = self._view.like, self._none.kernel
        chunks = [read_more(some, kernel, like) for some in self._cluster.results(futures)]
        order = np.concatenate([np.flatnonzero(mask) for _, mask in held])
        return join_objects(kernel, chunks).get(np.argsort(order, kind="stable"))

    def add(self, objects: Any, ids: Any = None) -> _Array | None:
        """Add objects; the next search finds them.

        They come behind those that are there. The last shard takes them, or a new one where that
        is as large as the largest.

        Parameters
        ----------
        objects : sequence, or what `build` takes
            Objects of the kind that is indexed. The partitions of a dask collection, or of a list
            of delayed objects, futures or files (as `pathlib.Path`, since strings may be objects),
            become shards of their own.
        ids : optional
            As that of `fastmks.Index.add`, or of `build`.

        Returns
        -------
        array of int64 or of str, or None
            The ids of the objects; None where they are distributed.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.add([[9.0, 9.0]])
        array([4])
        >>> index.search([1.0, 1.0]).ids
        array([[4]])
        >>> client.close()
        """
        with self._changing.alone():
            if _is_collection(objects):
                self._add_shards(objects, ids)
                return None
            return self._add_some(objects, ids)

    def _add_shards(self, collection: Any, ids: Any) -> None:
        state, own = self._state, self._view.settings
        settings = BuildSettings(self._none.kernel, own.algorithm, own.base, None)
        partitions = make_partitions(collection, ids, name="objects")
        first = state.n_made
        partitions = [
            replace(part, name=part.name.replace(f"shard {i}", f"added shard {first + i}", 1))
            for i, part in enumerate(partitions)
        ]
        has_own = any(part.names_own for part in partitions)
        if own.has_text_ids and not has_own:
            raise InvalidArgument("ids must be given, since those of the index are strings.")
        shards = build_shards(
            self._cluster, partitions, settings, first_id=state.next_id, progress=False
        )
        all_shards = [*state.shards, *shards]
        check_alike(all_shards)
        if has_own:
            check_unique(self._cluster, all_shards)
        next_id = max(state.next_id, *(shard.facts.next_id for shard in shards))
        self._state = State(tuple(all_shards), next_id, state.n_made + len(partitions))

    def _add_some(self, objects: Any, ids: Any) -> _Array:
        state = self._state
        n_objects = len(read_more(objects, self._none.kernel, self._view.like))
        given = objects.ids if ids is None and isinstance(objects, Fasta) else ids
        names = self._new_ids(state, given, n_objects)
        if n_objects == 0:
            return names
        shards, n_made = list(state.shards), state.n_made
        largest = max(map(len, shards), default=0)
        has_room = shards and (len(shards[-1]) < largest or len(shards[-1]) < _SMALL_SHARD)
        if has_room:
            last = shards.pop()
        else:
            last, n_made = self._empty_shard(f"added shard {n_made}"), n_made + 1
        sent = self._cluster.share(objects, 1), self._cluster.share(names, 1)
        grown = self._cluster.submit(add_to_shard, last.index, last.name, *sent, name="add")
        facts = self._cluster.result(self._cluster.submit(describe_shard, grown, name="describe"))
        next_id = max(state.next_id, facts.next_id)
        self._state = State((*shards, replace(last, index=grown, facts=facts)), next_id, n_made)
        return names

    def _empty_shard(self, name: str) -> Shard:
        """Return a shard that holds nothing yet."""
        index = self._cluster.submit(_copy, self._none, name="empty")
        return Shard(name, index, describe_shard(self._none))

    def _new_ids(self, state: State, ids: Any, n_objects: int) -> _Array:
        is_text = self._view.settings.has_text_ids
        names = added_ids(ids, n_objects, next_id=state.next_id, is_text=is_text)
        if ids is None:
            return names
        for shard, mask in zip(state.shards, self._find(state, names), strict=True):
            if mask.any():
                raise InvalidArgument(
                    f"ids must be new; {shown(names[mask][:1].tolist()[0])} is in use, in "
                    f"{shard.name}."
                )
        return names

    def remove(self, ids: Any) -> None:
        """Remove objects; the next search no longer finds them.

        Parameters
        ----------
        ids : sequence of int or of str
            Their names. One that is not in use is an error, and nothing is removed.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.remove([3])
        >>> index.search([1.0, 1.0]).ids
        array([[2]])
        >>> client.close()
        """
        with self._changing.alone():
            state = self._state
            wanted = np.unique(self._read_ids(ids, "ids"))
            found = self._find_all(state, wanted, "ids")
            losing = [i for i, mask in enumerate(found) if mask.any()]
            shrunk = self._cluster.map(
                remove_from_shard,
                [state.shards[i].index for i in losing],
                [state.shards[i].name for i in losing],
                [pack(wanted[found[i]]) for i in losing],
                name="remove",
            )
            facts = self._cluster.results(
                self._cluster.map(describe_shard, shrunk, name="describe")
            )
            changed = dict(zip(losing, zip(shrunk, facts, strict=True), strict=True))
            shards = [
                shard
                if i not in changed
                else replace(shard, index=changed[i][0], facts=changed[i][1])
                for i, shard in enumerate(state.shards)
            ]
            self._state = State(tuple(filter(len, shards)), state.next_id, state.n_made)


def _is_collection(objects: Any) -> bool:
    """Whether objects are to be loaded by workers."""
    is_list = isinstance(objects, (list, tuple)) and len(objects) > 0
    is_loaded = is_list and (is_distributed(objects[0]) or isinstance(objects[0], os.PathLike))
    return is_distributed(objects) or is_loaded


def _copy(index: Index) -> Index:
    return index.copy()
