"""An index in shards, one per partition of the data, on the workers of a Dask cluster."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from dask.sizeof import sizeof
from distributed import Client

from fastmks._util.check import check_count, check_function, check_k, check_threads
from fastmks._util.fork_safe import Lock
from fastmks.dask.advice import Advice, advise
from fastmks.dask.cluster import Cluster, pack
from fastmks.dask.folder import load_shards, save_shards
from fastmks.dask.living import LivingShards
from fastmks.dask.searchable import State
from fastmks.dask.shard_build import BuildSettings, Shard, build_shards, check_alike, check_unique
from fastmks.dask.shard_work import empty_copy
from fastmks.dask.sources import make_partitions
from fastmks.engines.traversal import check_base
from fastmks.errors import InvalidArgument
from fastmks.index.algorithms import check_algorithm
from fastmks.index.index import Index
from fastmks.index.view import view_of
from fastmks.kernels import Kernel, as_kernel
from fastmks.kernels.objects import joins_at_once

__all__ = ["ShardInfo", "ShardedIndex"]

sizeof.register(Index)(lambda index: index.nbytes)  # so that Dask moves queries, not shards


@dataclass(frozen=True)
class ShardInfo:
    """One shard: where it came from, what it holds, and which workers have it.

    Examples
    --------
    >>> from fastmks.dask import ShardInfo
    >>> ShardInfo("shard 0 (a.npy)", n_objects=1000, n_bytes=8000, workers=("tcp://node1:4000",))
    ShardInfo(name='shard 0 (a.npy)', n_objects=1000, n_bytes=8000, workers=('tcp://node1:4000',))
    """

    name: str
    n_objects: int
    n_bytes: int
    workers: tuple[str, ...]


class ShardedIndex(LivingShards):
    """An index whose objects lie on the workers of a Dask cluster, a shard for each partition.

    It answers as one `fastmks.Index` over all the objects would, to the last bit: the same values,
    positions and ids, equal values by the smaller position, whatever the number of shards and of
    workers. `build` and `load` make one. Lost workers cost time and nothing else: Dask builds their
    shards again, from the data.

    Examples
    --------
    >>> import dask.array as da, numpy as np
    >>> from distributed import Client
    >>> from fastmks.dask import ShardedIndex
    >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> X = da.from_array(np.arange(12.0).reshape(6, 2), chunks=(2, 2))
    >>> index = ShardedIndex.build(X, "linear")
    >>> index
    <ShardedIndex: 6 vectors of 2 columns in 3 shards, Linear(), auto>
    >>> index.search([[1.0, 0.0]], k=2).ids
    array([[5, 4]])
    >>> client.close()
    """

    def __init__(self, cluster: Cluster, shards: Sequence[Shard], next_id: int) -> None:
        check_alike(shards)
        self._cluster = cluster
        self._state = State(tuple(filter(len, shards)), next_id, len(shards))
        self._none: Index = cluster.result(
            cluster.submit(empty_copy, shards[0].index, name="describe")
        )
        self._view = view_of(self._none)
        self._changing = Lock(self, "is being changed by this thread.")

    @classmethod
    def build(
        cls,
        collection: Any,
        kernel: Kernel | str | Callable[[Any, Any], float] = "linear",
        client: Client | None = None,
        *,
        ids: Any = None,
        algorithm: str = "auto",
        base: float = 1.3,
        threads: int | None = None,
        progress: bool = False,
    ) -> "ShardedIndex":
        """Build one index for each partition of some data, where the partition is.

        Parameters
        ----------
        collection : dask collection, or list of delayed objects, futures or files
            A dask array (rows are vectors), bag (of objects), DataFrame (rows are vectors) or
            Series; or a list of delayed objects or futures, each of which gives what
            `fastmks.Index` takes; or a list of files (.npy, .parquet, FASTA, all also as fsspec
            URLs) that the workers can open. Nothing of it passes through the client.
        kernel : Kernel, str or function, default "linear"
            As that of `fastmks.Index`.
        client : distributed.Client, optional
            The cluster; the client that was made last when not given.
        ids : optional
            Names for the objects, each once: a dask array, Series or bag in as many partitions; the
            name of a column of a DataFrame or of Parquet files; or a sequence, for a dask array of
            known chunks. When not given, the names in FASTA files, and 0, 1, 2 and so on elsewhere.
        algorithm, base : optional
            As those of `fastmks.Index`.
        threads : int, optional
            Threads per search of a shard. When not given, the worker's OMP_NUM_THREADS, which Dask
            sets to 1: its workers run several searches at the same time instead.
        progress : bool, default False
            Show a progress bar.

        Examples
        --------
        >>> import dask.bag as db
        >>> from distributed import Client
        >>> from fastmks import kernels
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> words = db.from_sequence(["banana", "bandana", "cabana", "panama"], npartitions=2)
        >>> index = ShardedIndex.build(words, kernels.Spectrum(p=2), client)
        >>> index.search("anna").ids
        array([[0]])
        >>> client.close()
        """
        settings = BuildSettings(
            _shardable(as_kernel(kernel)), check_algorithm(algorithm), check_base(base), threads
        )
        if threads is not None:
            check_threads(threads)
        cluster = Cluster(client)
        partitions = make_partitions(collection, ids)
        shards = build_shards(cluster, partitions, settings, first_id=0, progress=bool(progress))
        if any(part.names_own for part in partitions):
            check_unique(cluster, shards)
        next_id = max(shard.facts.next_id for shard in shards)
        return cls(cluster, shards, next_id)

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        client: Client | None = None,
        *,
        kernel: Kernel | Callable[[Any, Any], float] | None = None,
        decode: Callable[[bytes], Any] | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> "ShardedIndex":
        """Load what `save` has written; each shard is read by the worker that will hold it.

        Parameters
        ----------
        folder : path-like or fsspec URL
            Where the workers find it.
        client : distributed.Client, optional
            The cluster; the client that was made last when not given.
        kernel, decode, threads : optional
            As those of `fastmks.load`.
        progress : bool, default False
            Show a progress bar.

        Examples
        --------
        >>> import tempfile
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index.save(folder)
        ...     ShardedIndex.load(folder, client)
        <ShardedIndex: 4 vectors of 2 columns in 2 shards, Linear(), auto>
        >>> client.close()
        """
        check_function("decode", decode)
        checked = None if kernel is None else as_kernel(kernel)
        if threads is not None:
            check_threads(threads)
        cluster = Cluster(client)
        shards, next_id = load_shards(
            cluster, folder, checked, decode, threads, progress=bool(progress)
        )
        return cls(cluster, shards, next_id)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        encode: Callable[[Any], bytes] | None = None,
        progress: bool = False,
    ) -> None:
        """Let every worker write its shards to a folder, each a file that `fastmks.load` reads too.

        A list of them is written last and at once: whatever happens, the folder holds the index
        that was there before or this one.

        Parameters
        ----------
        folder : path-like or fsspec URL
            Where all workers can write, and the same place for all of them.
        encode : callable (object) -> bytes, optional
            As that of `fastmks.Index.save`.
        progress : bool, default False
            Show a progress bar.

        Examples
        --------
        >>> import os, tempfile
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index.save(folder)
        ...     sorted(name.partition("-")[0] for name in os.listdir(folder))
        ['shard', 'shard', 'shards.json']
        >>> client.close()
        """
        check_function("encode", encode)
        state = self._state
        shards = state.shards or [self._empty_shard("shard 0 (empty)")]
        save_shards(self._cluster, shards, state.next_id, folder, encode, progress=bool(progress))

    def __repr__(self) -> str:
        state, settings = self._state, self._view.settings
        return (
            f"<ShardedIndex: {len(state)} {self._view.kind} in "
            f"{len(state.shards)} shards, {settings.kernel!r}, {settings.algorithm}>"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a ShardedIndex is a view of what a cluster holds, and cannot be pickled: save it to a "
            "folder, and load it where it is needed."
        )

    def __contains__(self, name: object) -> bool:
        try:
            wanted = self._read_ids([name], "ids")
        except InvalidArgument:
            return False
        return any(mask.any() for mask in self._find(self._state, wanted))

    @property
    def kernel(self) -> Kernel:
        """The kernel that ranks the objects."""
        return self._none.kernel

    @property
    def nbytes(self) -> int:
        """The memory of all shards when they were last built, loaded or changed, in bytes."""
        return sum(shard.facts.n_bytes for shard in self._state.shards)

    @property
    def shards(self) -> tuple[ShardInfo, ...]:
        """The shards in the order of their objects, and which workers have them now."""
        shards = self._state.shards
        where = self._cluster.who_has([shard.index for shard in shards])
        return tuple(
            ShardInfo(shard.name, len(shard), shard.facts.n_bytes, tuple(workers))
            for shard, workers in zip(shards, where, strict=True)
        )

    def advise(
        self,
        n_machines: int | None = None,
        *,
        queries: Any = None,
        k: int = 1,
        n_objects: int | None = None,
    ) -> Advice:
        """Time searches on this cluster, and forecast them for other numbers of machines.

        The paper's model: with m machines a query takes c₁·m to be sent and merged, and
        c₂·n/m in a scan of each shard, or c₂'·log(n/m) in a tree.

        Parameters
        ----------
        n_machines : int, optional
            The most machines that there could be; as many as there are workers when not given.
        queries : sequence, optional
            What to search for; some of the indexed objects when not given.
        k : int, default 1
            Results per query.
        n_objects : int, optional
            Forecast for so many objects; as many as there are when not given.

        Returns
        -------
        Advice
            Prints as a table: forecasts by number of machines, and the best numbers.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> X = da.ones((400, 2), chunks=200).cumsum(axis=0)
        >>> index = ShardedIndex.build(X, "linear", client)
        >>> advice = index.advise(n_machines=100, n_objects=10**9)
        >>> 1 <= advice.best("scan") <= 100
        True
        >>> client.close()
        """
        state = self._state
        if not state.shards:
            raise InvalidArgument("the index holds no objects, and so nothing can be timed.")
        most = self._cluster.n_workers if n_machines is None else n_machines
        return advise(
            self._cluster,
            state.shards,
            n_machines=check_count("n_machines", most),
            queries=queries,
            k=check_k(k, min(map(len, state.shards)), "objects of the smallest shard"),
            n_objects=len(state) if n_objects is None else check_count("n_objects", n_objects),
        )


def _shardable(kernel: Kernel) -> Kernel:
    if joins_at_once(kernel):
        raise InvalidArgument(
            f"kernel must compare objects by themselves; {kernel!r} looks values up in one matrix "
            "of all objects, which cannot be cut into shards. Pass the function that made them."
        )
    try:
        pack(kernel)
    except Exception as error:  # of whatever the user's function refers to
        raise InvalidArgument(
            f"kernel must be one that can be sent to workers; {kernel!r} cannot be pickled "
            f"({error}). A compiled function is one in this process only."
        ) from error
    return kernel
