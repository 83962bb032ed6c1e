"""Answers of a search of shards: on the client, or still on the workers."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import dask.array
import numpy as np
from dask.delayed import delayed
from distributed import Future

from fastmks.dask.cluster import Cluster
from fastmks.dask.paths import check_folder, make_folder, place_of
from fastmks.dask.shard_work import Answer, all_engines
from fastmks.engines.base import AboveFound, TopKFound
from fastmks.index.hits import Hits, HitsAbove, Stats, make_stats
from fastmks.index.merge import add_costs

_Answered = TypeVar("_Answered", Hits, HitsAbove)


@dataclass(frozen=True)
class Context:
    """Facts that all answers of a search share."""

    n_objects: int
    threads: int
    started: float
    id_dtype: str = "<i8"


@dataclass(frozen=True)
class Blocks:
    """Distributed queries by partition: loaded by workers, with names, and lengths where known."""

    futures: Sequence[Future]
    names: Sequence[str]
    lengths: Sequence[int | None]


def make_hits(answer: Answer, context: Context) -> Hits:
    """Return the merged answer of all shards as hits of an index."""
    found = answer.found
    assert isinstance(found, TopKFound)
    assert found.ids is not None
    return Hits(found.values, found.positions, found.ids, _stats(answer, context), found.gap)


def make_hits_above(answer: Answer, context: Context) -> HitsAbove:
    """Return the merged answer of all shards as hits of an index."""
    found = answer.found
    assert isinstance(found, AboveFound)
    assert found.ids is not None
    stats = _stats(answer, context)
    return HitsAbove(found.offsets, found.values, found.positions, found.ids, stats)


def _stats(answer: Answer, context: Context) -> Stats:
    found = answer.found
    return make_stats(
        found.cost,
        max(answer.engines, key=lambda name: answer.engines[name], default="scan"),
        n_queries=len(found.offsets) - 1 if isinstance(found, AboveFound) else len(found.values),
        n_objects=context.n_objects,
        threads=context.threads,
        started=context.started,
    )


class _Distributed(Generic[_Answered]):
    """Answers to distributed queries, one block for each partition of the queries."""

    def __init__(
        self, cluster: Cluster, answers: Sequence[Future], queries: Blocks, context: Context
    ) -> None:
        self._cluster = cluster
        self._context = context
        self._queries = queries
        self.blocks = tuple(answers)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.blocks)} blocks>"

    def write(self, folder: str | os.PathLike[str]) -> list[str]:
        """Let the workers write the answers, each block into a file of its own.

        Parameters
        ----------
        folder : path-like or fsspec URL
            A folder that the workers can write to; it is created if it does not exist. Block i
            becomes ``part-i.npz`` with the arrays of `Hits` (or `HitsAbove`); parts of an earlier
            call in it are removed.

        Returns
        -------
        list of str
            The files, in the order of the queries.

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> queries = da.ones((3, 2), chunks=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = index.search(queries, k=1).write(folder)
        ...     np.load(files[1])["ids"]
        array([[3]])
        >>> client.close()
        """
        path = check_folder(folder)
        names = [f"{path}/part-{i:05d}.npz" for i in range(len(self.blocks))]
        self._cluster.result(self._cluster.submit(make_folder, path, name="write"))
        written = self._cluster.map(_write, self.blocks, names, name="write")
        self._cluster.results(written, shards=self._queries.names)
        self._cluster.result(self._cluster.submit(_remove_others, path, names, name="write"))
        return names

    def _gather(self) -> list[Answer]:
        return self._cluster.results(self.blocks, shards=self._queries.names)


class DistributedHits(_Distributed[Hits]):
    """The k best objects of each query, on the workers.

    Attributes
    ----------
    values, indices, ids, gap, proven : dask arrays
        As those of `fastmks.Hits`, in blocks as the queries are.
    blocks : tuple of Future
        The answers themselves, one for each partition of the queries.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fastmks.dask import ShardedIndex
    >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
    >>> queries = da.ones((3, 2), chunks=2)
    >>> hits = index.search(queries, k=2)
    >>> hits.ids.shape, hits.ids.chunks
    ((3, 2), ((2, 1), (2,)))
    >>> hits.ids.compute()[0]
    array([3, 2])
    >>> client.close()
    """

    def __init__(
        self,
        cluster: Cluster,
        answers: Sequence[Future],
        queries: Blocks,
        context: Context,
        *,
        k: int,
    ) -> None:
        super().__init__(cluster, answers, queries, context)
        self._k = k

    @property
    def values(self) -> Any:
        """Kernel values, greatest first."""
        return self._array("values", "<f8", self._k)

    @property
    def indices(self) -> Any:
        """Positions of the objects."""
        return self._array("positions", "<i8", self._k)

    @property
    def ids(self) -> Any:
        """The same objects by their ids."""
        return self._array("ids", self._context.id_dtype, self._k)

    @property
    def gap(self) -> Any:
        """The most that the true k-th value of a query may lie above the returned one."""
        return self._array("gap", "<f8")

    @property
    def proven(self) -> Any:
        """The hits that are certainly among the true k best."""
        return self._array("proven", "?", self._k)

    def compute(self) -> Hits:
        """Bring the answers to the client.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> queries = da.ones((3, 2), chunks=2)
        >>> index.search(queries, k=1).compute().ids
        array([[3],
               [3],
               [3]])
        >>> client.close()
        """
        answers = self._gather()
        found = [answer.found for answer in answers]
        joined = TopKFound(
            np.concatenate([part.values for part in found]),
            np.concatenate([part.positions for part in found]),
            np.concatenate([part.gap for part in found if isinstance(part, TopKFound)]),
            add_costs([part.cost for part in found]),
            np.concatenate([part.ids for part in found if part.ids is not None]),
        )
        return make_hits(Answer(joined, all_engines(answers)), self._context)

    def _array(self, name: str, dtype: str, *columns: int) -> Any:
        take = delayed(_take, pure=True)
        blocks = [
            dask.array.from_delayed(
                take(block, name, dtype),
                shape=(math.nan if length is None else length, *columns),
                dtype=dtype,
            )
            for block, length in zip(self.blocks, self._queries.lengths, strict=True)
        ]
        return dask.array.concatenate(blocks, allow_unknown_chunksizes=True)


class DistributedHitsAbove(_Distributed[HitsAbove]):
    """Every object at or above a threshold for each query, on the workers.

    Attributes
    ----------
    blocks : tuple of Future
        The answers, one for each partition of the queries.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fastmks.dask import ShardedIndex
    >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
    >>> queries = da.ones((3, 2), chunks=2)
    >>> hits = index.search_above(queries, 6.0)
    >>> hits
    <DistributedHitsAbove: 2 blocks>
    >>> len(hits.compute())
    3
    >>> client.close()
    """

    def compute(self) -> HitsAbove:
        """Bring the answers to the client.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> queries = da.ones((3, 2), chunks=2)
        >>> index.search_above(queries, 6.0).compute()[2]
        (array([8., 6.]), array([3, 2]))
        >>> client.close()
        """
        answers = self._gather()
        found = [answer.found for answer in answers]
        offsets, behind = [np.zeros(1, np.int64)], 0
        for part in found:
            assert isinstance(part, AboveFound)
            offsets.append(part.offsets[1:] + behind)
            behind += len(part.values)
        joined = AboveFound(
            np.concatenate(offsets),
            np.concatenate([part.values for part in found]),
            np.concatenate([part.positions for part in found]),
            add_costs([part.cost for part in found]),
            np.concatenate([part.ids for part in found if part.ids is not None]),
        )
        return make_hits_above(Answer(joined, all_engines(answers)), self._context)


def _take(answer: Answer, name: str, dtype: str) -> Any:
    return getattr(answer.found, name).astype(dtype, copy=False)


def _write(answer: Answer, path: str) -> None:
    import fsspec

    found = answer.found
    ids = found.ids
    if ids is not None and ids.dtype == object:
        ids = ids.astype(str)  # else numpy would pickle them
    arrays: dict[str, Any] = {"values": found.values, "indices": found.positions, "ids": ids}
    if isinstance(found, AboveFound):
        arrays["offsets"] = found.offsets
    else:
        arrays |= {"gap": found.gap, "proven": found.proven}
    with fsspec.open(path, "wb") as file:
        np.savez(file, **arrays)


def _remove_others(path: str, names: Sequence[str]) -> None:
    """Remove parts of an earlier answer."""
    filesystem, place = place_of(path)
    kept = {name.rsplit("/", 1)[-1] for name in names}
    for file in filesystem.glob(f"{place}/part-*.npz"):
        if file.rsplit("/", 1)[-1] not in kept:
            filesystem.rm_file(file)
