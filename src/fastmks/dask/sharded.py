"""An index in shards, one per partition of the data, on the workers of a Dask cluster."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from dask.sizeof import sizeof
from distributed import Client, Future

from fastmks._util.arrays import Array
from fastmks._util.fork_safe import Lock
from fastmks._util.validation import (
    check_count,
    check_function,
    check_k,
    check_number,
    check_threads,
    check_threshold,
)
from fastmks.dask.advice import Advice, advise
from fastmks.dask.cluster import Cluster, pack
from fastmks.dask.folder import load_shards, save_shards
from fastmks.dask.rounds import (
    ask_in_one_round,
    ask_in_two_rounds,
    make_digest,
    merge_blocks,
    merge_here,
)
from fastmks.dask.shard_build import (
    BuildSettings,
    Shard,
    build_shards,
    check_alike,
    check_unique,
    load_named,
)
from fastmks.dask.shard_snapshot import ShardSnapshot, is_collection
from fastmks.dask.shard_work import ShardSearch, empty_copy, find_nothing, search_shard_above
from fastmks.dask.sharded_hits import (
    Blocks,
    Context,
    DistributedHits,
    DistributedHitsAbove,
    make_hits,
    make_hits_above,
)
from fastmks.dask.sources import is_distributed, make_partitions
from fastmks.engines.approximation import make_approximation
from fastmks.engines.traversal import Traversal, check_base, check_traversal
from fastmks.errors import InvalidArgument
from fastmks.index.algorithms import check_algorithm
from fastmks.index.hits import Hits, HitsAbove
from fastmks.index.index import Index
from fastmks.kernels import Kernel, as_kernel
from fastmks.kernels.objects import joins_at_once

sizeof.register(Index)(lambda index: index.nbytes)  # so that Dask moves queries, not shards


@dataclass(frozen=True)
class ShardInfo:
    """One shard: its source, its size, and the workers that hold it.

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


class ShardedIndex:
    """An index whose objects lie on the workers of a Dask cluster, a shard for each partition.

    Its answers are bit-identical to those of one `fastmks.Index` over all the objects: the same
    values, positions and ids, equal values by the smaller position, for any number of shards and of
    workers. `build` and `load` return one. A lost worker costs only time: Dask builds its shards
    again, from the data.

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
        none = cluster.result(cluster.submit(empty_copy, shards[0].index, name="describe"))
        self._snapshot = ShardSnapshot(
            cluster=cluster,
            none=none,
            shards=tuple(filter(len, shards)),
            next_id=next_id,
            n_made=len(shards),
        )
        self._changing = Lock(self, "is being changed by this thread.")
        self._digest: tuple[ShardSnapshot, Future] | None = None

    def __len__(self) -> int:
        return len(self._snapshot)

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
        """Build one index for each partition of some data, on the worker with the partition.

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
            The cluster; the client that was created last when not given.
        ids : optional
            Ids for the objects, each once: a dask array, Series or bag in as many partitions; the
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
        >>> from fastmks import kernels
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
        """Load an index that `save` has written; each worker reads the shards that it will hold.

        Parameters
        ----------
        folder : path-like or fsspec URL
            A folder that the workers can read.
        client : distributed.Client, optional
            The cluster; the client that was created last when not given.
        kernel, decode, threads : optional
            As those of `fastmks.load`.
        progress : bool, default False
            Show a progress bar.

        Examples
        --------
        >>> import tempfile
        >>> import dask.array as da
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

    def search(
        self,
        queries: Any,
        k: int = 1,
        *,
        epsilon: float | None = None,
        relative: float | None = None,
        rank: int | None = None,
        delta: float | None = None,
        budget: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
        only: Any = None,
        rounds: int = 1,
        algorithm: str | None = None,
        traversal: Traversal | None = None,
        threads: int | None = None,
    ) -> Hits | DistributedHits:
        """Return the k objects with the greatest kernel value for each query.

        Parameters
        ----------
        queries : sequence, or dask collection
            As those of `fastmks.Index.search`; a dask array, bag, DataFrame or Series is searched
            partition by partition, and its answers stay on the workers.
        k, epsilon, relative, rank, delta, seed, only, algorithm, traversal, threads : optional
            As those of `fastmks.Index.search`; their promise holds for the merged answer.
        budget : int, optional
            Kernel evaluations per query, shared among the shards: at least k for each.
        seconds : float, optional
            Time for the whole search; shards that must wait for others get less of it.
        rounds : {1, 2}, default 1
            With 2, each query first searches the shard whose sample has its best hit, and its k-th
            value lets the other shards prune more: fewer evaluations for two rounds of waiting,
            which pays where the kernel is expensive. The answers are the same.

        Returns
        -------
        Hits, or DistributedHits where the queries are distributed
            ``stats.kernel_evaluations`` counts those of all shards.

        Examples
        --------
        >>> import dask.array as da
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> values, indices = index.search([[1.0, 1.0]], k=2)
        >>> indices
        array([[3, 2]])
        >>> client.close()
        """
        started = time.perf_counter()
        snapshot = self._snapshot
        algorithm = snapshot.view.settings.chosen_algorithm(algorithm)
        traversal = check_traversal(traversal)
        only_of, sizes = snapshot.chosen(only)
        what = "indexed objects" if only is None else "objects that only= leaves"
        checked_k = check_k(k, sum(sizes), what)
        approximation = make_approximation(
            k=checked_k,
            n_objects=sum(sizes),
            epsilon=epsilon,
            relative=relative,
            rank=rank,
            delta=delta,
            budget=budget,
            seconds=seconds,
            seed=seed,
            is_filtered=only is not None,
        )
        if check_count("rounds", rounds, most=2) == 2 and approximation.given():
            raise InvalidArgument("rounds=2 is for exact searches; approximate ones take one.")
        promises = snapshot.promises(approximation, [n for n in sizes if n], checked_k)
        exact = ShardSearch(algorithm=algorithm, traversal=traversal, threads=threads, k=checked_k)
        asked = [
            (shard, replace(one, k=min(checked_k, sizes[one.number]), approximation=promise))
            for (shard, one), promise in zip(
                _addressed(snapshot, exact, only_of, sizes), promises, strict=True
            )
        ]
        digest = self._digest_of(snapshot) if rounds == 2 and len(asked) > 1 else None

        def ask(block: Any) -> list[Future]:
            if digest is None:
                return ask_in_one_round(snapshot.cluster, asked, block)
            return ask_in_two_rounds(snapshot.cluster, asked, block, checked_k, digest)

        context = _context(snapshot, sum(sizes), threads, started)
        if is_distributed(queries):
            blocks = _query_blocks(snapshot.cluster, queries)
            answers = merge_blocks(
                snapshot.cluster, [ask(block) for block in blocks.futures], checked_k
            )
            return DistributedHits(snapshot.cluster, answers, blocks, context, k=checked_k)
        snapshot.view.count_queries(queries)  # so that wrong queries are an error here
        answers = ask(snapshot.cluster.share(queries, len(asked)))
        return make_hits(merge_here(snapshot.cluster, answers, checked_k), context)

    def search_above(
        self,
        queries: Any,
        threshold: Any,
        *,
        only: Any = None,
        algorithm: str | None = None,
        traversal: Traversal | None = None,
        threads: int | None = None,
    ) -> HitsAbove | DistributedHitsAbove:
        """Return every object whose kernel value is at least `threshold`, for each query.

        Parameters
        ----------
        queries, only, algorithm, traversal, threads
            As in `search`.
        threshold : float or sequence of float
            One for all queries, or one for each; one for all where the queries are distributed.

        Returns
        -------
        HitsAbove, or DistributedHitsAbove where the queries are distributed
            ``hits[i]`` is ``(values, indices)`` of query i, best first.

        Examples
        --------
        >>> import dask.array as da
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.search_above([[1.0, 1.0]], threshold=6.0)[0]
        (array([8., 6.]), array([3, 2]))
        >>> client.close()
        """
        started = time.perf_counter()
        snapshot = self._snapshot
        algorithm = snapshot.view.settings.chosen_algorithm(algorithm)
        traversal = check_traversal(traversal)
        only_of, sizes = snapshot.chosen(only)
        if is_distributed(queries):
            thresholds = np.array([check_number("threshold", threshold)])
        else:
            n_queries = snapshot.view.count_queries(queries)
            thresholds = check_threshold(threshold, n_queries)
        search = ShardSearch(
            algorithm=algorithm, traversal=traversal, threads=threads, thresholds=thresholds
        )
        asked = _addressed(snapshot, search, only_of, sizes)

        def ask(block: Any) -> list[Future]:
            return snapshot.cluster.map(
                search_shard_above,
                [shard.index for shard, _ in asked],
                [block] * len(asked),
                [pack(search) for _, search in asked],
                name="above",
            )

        context = _context(snapshot, sum(sizes), threads, started)
        if is_distributed(queries):
            blocks = _query_blocks(snapshot.cluster, queries)
            answers = [ask(block) for block in blocks.futures]
            if not asked:
                none = pack(snapshot.none)
                answers = [
                    [snapshot.cluster.submit(find_nothing, none, block, name="above")]
                    for block in blocks.futures
                ]
            return DistributedHitsAbove(
                snapshot.cluster, merge_blocks(snapshot.cluster, answers, None), blocks, context
            )
        if not asked:
            return snapshot.none.search_above(queries, threshold)
        answers = ask(snapshot.cluster.share(queries, len(asked)))
        return make_hits_above(merge_here(snapshot.cluster, answers, None), context)

    def get(self, ids: Any) -> Any:
        """Return objects, in the order of their ids, as `fastmks.Index.get` does.

        Parameters
        ----------
        ids : sequence of int or of str
            Their ids.

        Examples
        --------
        >>> import dask.array as da
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.get([3, 0])
        array([[4., 4.],
               [1., 1.]])
        >>> client.close()
        """
        return self._snapshot.get(ids)

    def add(self, objects: Any, ids: Any = None) -> Array | None:
        """Add objects; the next search finds them.

        They come after the present ones. The last shard takes them, or a new one where the last is
        as large as the largest.

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
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.add([[9.0, 9.0]])
        array([4])
        >>> index.search([1.0, 1.0]).ids
        array([[4]])
        >>> client.close()
        """
        with self._changing.alone():
            if is_collection(objects):
                self._snapshot = self._snapshot.with_collection(objects, ids)
                return None
            self._snapshot, names = self._snapshot.with_added(objects, ids)
            return names

    def remove(self, ids: Any) -> None:
        """Remove objects; the next search no longer finds them.

        Parameters
        ----------
        ids : sequence of int or of str
            Their ids. One that is not in use is an error, and nothing is removed.

        Examples
        --------
        >>> import dask.array as da
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.remove([3])
        >>> index.search([1.0, 1.0]).ids
        array([[2]])
        >>> client.close()
        """
        with self._changing.alone():
            self._snapshot = self._snapshot.without(ids)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        encode: Callable[[Any], bytes] | None = None,
        progress: bool = False,
    ) -> None:
        """Let every worker write its shards to a folder, each a file that `fastmks.load` reads too.

        A list of them is written last and in one step: after a crash the folder holds the earlier
        index or this one.

        Parameters
        ----------
        folder : path-like or fsspec URL
            A folder that all workers can write to, and the same one for all of them.
        encode : callable (object) -> bytes, optional
            As that of `fastmks.Index.save`.
        progress : bool, default False
            Show a progress bar.

        Examples
        --------
        >>> import os, tempfile
        >>> import dask.array as da
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index.save(folder)
        ...     sorted(name.partition("-")[0] for name in os.listdir(folder))
        ['shard', 'shard', 'shards.json']
        >>> client.close()
        """
        check_function("encode", encode)
        snapshot = self._snapshot
        shards = snapshot.shards or [snapshot.empty_shard("shard 0 (empty)")]
        save_shards(
            snapshot.cluster, shards, snapshot.next_id, folder, encode, progress=bool(progress)
        )

    def __repr__(self) -> str:
        snapshot, settings = self._snapshot, self._snapshot.view.settings
        return (
            f"<ShardedIndex: {len(snapshot)} {snapshot.view.kind} in "
            f"{len(snapshot.shards)} shards, {settings.kernel!r}, {settings.algorithm}>"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a ShardedIndex is a view of data on a cluster, and cannot be pickled: save it to a "
            "folder, and load it where it is needed."
        )

    def __contains__(self, name: object) -> bool:
        snapshot = self._snapshot
        try:
            wanted = snapshot.read_ids([name], "ids")
        except InvalidArgument:
            return False
        return any(mask.any() for mask in snapshot.find(wanted))

    @property
    def kernel(self) -> Kernel:
        """The kernel that ranks the objects."""
        return self._snapshot.none.kernel

    @property
    def nbytes(self) -> int:
        """The memory of all shards when they were last built, loaded or changed, in bytes."""
        return sum(shard.facts.n_bytes for shard in self._snapshot.shards)

    @property
    def shards(self) -> tuple[ShardInfo, ...]:
        """The shards in the order of their objects, and the workers that hold them now."""
        shards = self._snapshot.shards
        where = self._snapshot.cluster.who_has([shard.index for shard in shards])
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
            The most machines to forecast for; the number of workers when not given.
        queries : sequence, optional
            The queries of the timed searches; some of the indexed objects when not given.
        k : int, default 1
            Results per query.
        n_objects : int, optional
            Forecast for this many objects; the number in the index when not given.

        Returns
        -------
        Advice
            Prints as a table: forecasts by number of machines, and the best numbers.

        Examples
        --------
        >>> import dask.array as da
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> X = da.ones((400, 2), chunks=200).cumsum(axis=0)
        >>> index = ShardedIndex.build(X, "linear", client)
        >>> advice = index.advise(n_machines=100, n_objects=10**9)
        >>> 1 <= advice.best("scan") <= 100
        True
        >>> client.close()
        """
        snapshot = self._snapshot
        if not snapshot.shards:
            raise InvalidArgument("the index holds no objects, and so nothing can be timed.")
        most = snapshot.cluster.n_workers if n_machines is None else n_machines
        return advise(
            snapshot.cluster,
            snapshot.shards,
            n_machines=check_count("n_machines", most),
            queries=queries,
            k=check_k(k, min(map(len, snapshot.shards)), "objects of the smallest shard"),
            n_objects=len(snapshot) if n_objects is None else check_count("n_objects", n_objects),
        )

    def _digest_of(self, snapshot: ShardSnapshot) -> Future:
        if self._digest is None or self._digest[0] is not snapshot:
            self._digest = snapshot, make_digest(snapshot.cluster, snapshot.shards)
        return self._digest[1]


def _addressed(
    snapshot: ShardSnapshot, search: ShardSearch, only_of: Sequence[Any], sizes: Sequence[int]
) -> list[tuple[Shard, ShardSearch]]:
    """Return the search for each shard that has objects to search among."""
    if search.threads is not None and any(sizes):
        check_threads(search.threads)
    numbered = enumerate(zip(snapshot.shards, snapshot.starts, only_of, strict=True))
    return [
        (shard, replace(search, shard=shard.name, number=i, start=start, only=only))
        for i, (shard, start, only) in numbered
        if sizes[i]
    ]


def _context(
    snapshot: ShardSnapshot, n_objects: int, threads: int | None, started: float
) -> Context:
    own = max((shard.facts.threads for shard in snapshot.shards), default=1)
    least = "<U1" if snapshot.view.settings.has_text_ids else "<i8"
    id_dtype = np.result_type(least, *(shard.facts.id_dtype for shard in snapshot.shards)).str
    return Context(n_objects, own if threads is None else threads, started, id_dtype)


def _query_blocks(cluster: Cluster, queries: Any) -> Blocks:
    partitions = [
        replace(part, name=part.name.replace("shard", "queries, partition", 1))
        for part in make_partitions(queries, None, name="queries")
    ]
    futures = cluster.compute([load_named(part) for part in partitions])
    return Blocks(
        futures, [part.name for part in partitions], [part.n_objects for part in partitions]
    )


def _shardable(kernel: Kernel) -> Kernel:
    if joins_at_once(kernel):
        raise InvalidArgument(
            f"kernel must compare objects by themselves; {kernel!r} looks values up in one matrix "
            "of all objects, which cannot be cut into shards. Pass the function that computed them."
        )
    try:
        pack(kernel)
    except Exception as error:  # any error, of the objects that the user's function refers to
        raise InvalidArgument(
            f"kernel must be one that can be sent to workers; {kernel!r} cannot be pickled "
            f"({error}). A compiled function exists in this process only."
        ) from error
    return kernel
