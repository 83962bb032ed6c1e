"""What can be searched in shards: every way to ask them, checked, and answered as one."""

import time
from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from distributed import Future

from fastmks._util.check import (
    check_count,
    check_k,
    check_number,
    check_threads,
    check_threshold,
)
from fastmks.dask.cluster import FAN_IN, Cluster, pack
from fastmks.dask.rounds import ask_in_one_round, ask_in_two_rounds, make_digest
from fastmks.dask.shard_build import Shard, load_named
from fastmks.dask.shard_work import (
    Answer,
    ShardSearch,
    find_in_shard,
    find_nothing,
    merge_answers,
    search_shard_above,
)
from fastmks.dask.sharded_hits import (
    Blocks,
    Context,
    DistributedHits,
    DistributedHitsAbove,
    make_hits,
    make_hits_above,
)
from fastmks.dask.sources import is_distributed, make_partitions
from fastmks.engines.approximation import Approximation, make_approximation, split_approximation
from fastmks.engines.traversal import Traversal, check_traversal
from fastmks.errors import InvalidArgument
from fastmks.index.hits import Hits, HitsAbove
from fastmks.index.ids import check_kind, read_ids, read_mask, shown
from fastmks.index.index import Index
from fastmks.index.view import IndexView

__all__ = ["SearchableShards", "State"]

_Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True)
class State:
    """All shards at one moment, in the order of their objects. Never changed."""

    shards: tuple[Shard, ...]
    next_id: int
    n_made: int  # shards so far: the number of the next

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    @property
    def starts(self) -> list[int]:
        """The position of the first object of each shard."""
        return [0, *np.cumsum([len(shard) for shard in self.shards]).tolist()][:-1]


class SearchableShards(ABC):
    """Searches of the shards that were there when a search began, whatever happens meanwhile."""

    _cluster: Cluster
    _state: State
    _none: Index  # like the shards, without objects
    _view: IndexView  # of that
    _digest: tuple[State, Future] | None = None

    def __len__(self) -> int:
        return len(self._state)

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
            As those of `fastmks.Index.search`; what they promise holds for the merged answer.
        budget : int, optional
            Kernel evaluations per query, shared among the shards: at least k for each.
        seconds : float, optional
            Time for the whole search; shards that must wait for others get less of it.
        rounds : {1, 2}, default 1
            With 2, each query first goes to the shard that promises most, and what it finds there
            lets the other shards leave out more: fewer evaluations for twice the waiting, which
            pays where the kernel is expensive. The answers are the same.

        Returns
        -------
        Hits, or DistributedHits where the queries are distributed
            ``stats.kernel_evaluations`` counts those of all shards.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> values, indices = index.search([[1.0, 1.0]], k=2)
        >>> indices
        array([[3, 2]])
        >>> client.close()
        """
        started = time.perf_counter()
        state = self._state
        algorithm = self._view.settings.chosen_algorithm(algorithm)
        traversal = check_traversal(traversal)
        only_of, sizes = self._only(state, only)
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
        promises = self._promises(approximation, [n for n in sizes if n], checked_k)
        searched = [i for i, n in enumerate(sizes) if n]
        asked = [
            (
                state.shards[i],
                ShardSearch(
                    shard=state.shards[i].name,
                    number=i,
                    start=start,
                    algorithm=algorithm,
                    traversal=traversal,
                    threads=None if threads is None else check_threads(threads),
                    k=min(checked_k, sizes[i]),
                    approximation=promise,
                    only=only_of[i],
                ),
            )
            for i, start, promise in zip(
                searched, [state.starts[i] for i in searched], promises, strict=True
            )
        ]
        digest = self._digest_of(state) if rounds == 2 and len(asked) > 1 else None

        def ask(block: Any) -> list[Future]:
            if digest is None:
                return ask_in_one_round(self._cluster, asked, block)
            return ask_in_two_rounds(self._cluster, asked, block, checked_k, digest)

        context = self._context(state, sum(sizes), threads, started)
        if is_distributed(queries):
            blocks = self._query_blocks(queries)
            answers = self._merge_blocks([ask(block) for block in blocks.futures], checked_k)
            return DistributedHits(self._cluster, answers, blocks, context, k=checked_k)
        self._view.count_queries(queries)  # so that what is wrong with them is known here
        answers = ask(self._cluster.share(queries, len(asked)))
        return make_hits(self._merge_here(answers, checked_k), context)

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
        >>> from distributed import Client
        >>> from fastmks.dask import ShardedIndex
        >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
        >>> index = ShardedIndex.build(da.ones((4, 2), chunks=2).cumsum(axis=0), "linear", client)
        >>> index.search_above([[1.0, 1.0]], threshold=6.0)[0]
        (array([8., 6.]), array([3, 2]))
        >>> client.close()
        """
        started = time.perf_counter()
        state = self._state
        algorithm = self._view.settings.chosen_algorithm(algorithm)
        traversal = check_traversal(traversal)
        only_of, sizes = self._only(state, only)
        if is_distributed(queries):
            thresholds = np.array([check_number("threshold", threshold)])
        else:
            n_queries = self._view.count_queries(queries)
            thresholds = check_threshold(threshold, n_queries)
        asked = [
            (
                shard,
                ShardSearch(
                    shard=shard.name,
                    number=i,
                    start=start,
                    algorithm=algorithm,
                    traversal=traversal,
                    threads=None if threads is None else check_threads(threads),
                    only=only_of[i],
                    thresholds=thresholds,
                ),
            )
            for i, (shard, start) in enumerate(zip(state.shards, state.starts, strict=True))
            if sizes[i]
        ]

        def ask(block: Any) -> list[Future]:
            return self._cluster.map(
                search_shard_above,
                [shard.index for shard, _ in asked],
                [block] * len(asked),
                [pack(search) for _, search in asked],
                name="above",
            )

        context = self._context(state, sum(sizes), threads, started)
        if is_distributed(queries):
            blocks = self._query_blocks(queries)
            answers = [ask(block) for block in blocks.futures]
            if not asked:
                none = pack(self._none)
                answers = [
                    [self._cluster.submit(find_nothing, none, block, name="above")]
                    for block in blocks.futures
                ]
            return DistributedHitsAbove(
                self._cluster, self._merge_blocks(answers, None), blocks, context
            )
        if not asked:
            return self._none.search_above(queries, threshold)
        answers = ask(self._cluster.share(queries, len(asked)))
        return make_hits_above(self._merge_here(answers, None), context)

    def _merge_blocks(self, blocks: Sequence[Sequence[Future]], k: int | None) -> list[Future]:
        """Return one answer for each block of queries, merged by the workers."""
        return [
            self._cluster.reduce(answers, merge_answers, k, name="merge")[0] for answers in blocks
        ]

    def _merge_here(self, answers: Sequence[Future], k: int | None) -> Answer:
        """Return the merged answer; workers leave the last few to the client."""
        few = self._cluster.reduce(answers, merge_answers, k, name="merge", to=FAN_IN)
        return merge_answers(self._cluster.results(few), k)

    def _context(
        self, state: State, n_objects: int, threads: int | None, started: float
    ) -> Context:
        own = max((shard.facts.threads for shard in state.shards), default=1)
        least = "<U1" if self._view.settings.has_text_ids else "<i8"
        id_dtype = np.result_type(least, *(shard.facts.id_dtype for shard in state.shards)).str
        return Context(n_objects, own if threads is None else threads, started, id_dtype)

    def _query_blocks(self, queries: Any) -> Blocks:
        partitions = [
            replace(part, name=part.name.replace("shard", "queries, partition", 1))
            for part in make_partitions(queries, None, name="queries")
        ]
        futures = self._cluster.compute([load_named(part) for part in partitions])
        return Blocks(
            futures, [part.name for part in partitions], [part.n_objects for part in partitions]
        )

    def _only(self, state: State, only: Any) -> tuple[list[Any], list[int]]:
        """Return what `only` leaves of each shard, and how many objects that are."""
        if only is None:
            return [None] * len(state.shards), [len(shard) for shard in state.shards]
        mask = read_mask(only, len(state))
        if mask is not None:
            masks = np.split(mask, state.starts[1:]) if state.shards else []
            return list(masks), [int(part.sum()) for part in masks]
        wanted = np.unique(self._read_ids(only, "only"))
        found = self._find_all(state, wanted, "only")
        chosen = [wanted[mask] for mask in found]
        return list(chosen), [len(ids) for ids in chosen]

    def _promises(
        self, approximation: Approximation, sizes: Sequence[int], k: int
    ) -> list[Approximation]:
        """Return what each shard may leave undone, so that the promise holds for all of them."""
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
        share = min(1.0, self._cluster.n_slots / max(1, len(sizes)))
        return [replace(promise, seconds=approximation.seconds * share) for promise in promises]

    def _digest_of(self, state: State) -> Future:
        if self._digest is None or self._digest[0] is not state:
            self._digest = state, make_digest(self._cluster, state.shards)
        return self._digest[1]

    def _read_ids(self, ids: Any, name: str) -> _Array:
        wanted = read_ids(ids, name)
        check_kind(wanted, is_text=self._view.settings.has_text_ids, name=name)
        return wanted

    def _find(self, state: State, wanted: _Array) -> list[_Array]:
        """Return, for each shard, which of some ids it has."""
        if not state.shards or len(wanted) == 0:
            return [np.zeros(len(wanted), dtype=bool)] * len(state.shards)
        sent = self._cluster.share(wanted, len(state.shards))
        return self._cluster.results(
            self._cluster.map(
                find_in_shard,
                [shard.index for shard in state.shards],
                [sent] * len(state.shards),
                name="find",
            )
        )

    def _find_all(self, state: State, wanted: _Array, name: str) -> list[_Array]:
        """Return the same; an id that no shard has is an error."""
        found = self._find(state, wanted)
        is_known = np.any(found, axis=0) if found else np.zeros(len(wanted), dtype=bool)
        if not is_known.all():
            unknown = wanted[~is_known][:1].tolist()[0]
            raise InvalidArgument(
                f"{name} must hold ids of the index only; {shown(unknown)} is not one."
            )
        return found
