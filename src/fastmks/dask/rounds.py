"""Search shards in one round, or in two: first the most promising shard of each query."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Future

from fastmks._util.arrays import Floats, Int64s
from fastmks.dask.cluster import FAN_IN, Cluster, pack
from fastmks.dask.shard_build import Shard
from fastmks.dask.shard_work import (
    Answer,
    ShardSearch,
    given_queries,
    merge_answers,
    queries_named,
    search_routed,
    search_shard,
)
from fastmks.engines.base import Cost
from fastmks.index.index import Index
from fastmks.index.merge import add_costs
from fastmks.index.view import view_of
from fastmks.kernels.objects import join_objects, read_objects

_N_SAMPLED = 16  # objects of each shard in the digest


@dataclass(frozen=True)
class Digest:
    """Some objects of every shard, in an index of their own, and the shard of each."""

    index: Index
    shards: Int64s


@dataclass(frozen=True)
class Routes:
    """The shard that each query is sent to first, and the cost of that choice."""

    shards: Int64s
    cost: Cost


def ask_in_one_round(
    cluster: Cluster, asked: Sequence[tuple[Shard, ShardSearch]], queries: Any
) -> list[Future]:
    """Search all shards at once; return their answers, to be merged."""
    return cluster.map(
        search_shard,
        [shard.index for shard, _ in asked],
        [queries] * len(asked),
        [pack(search) for _, search in asked],
        name="search",
    )


def ask_in_two_rounds(
    cluster: Cluster,
    asked: Sequence[tuple[Shard, ShardSearch]],
    queries: Any,
    k: int,
    digest: Future,
) -> list[Future]:
    """Search the most promising shard of each query first, then the others; return the answers.

    The k-th value of the first answer lets the other shards prune from the beginning on.
    """
    indexes = [shard.index for shard, _ in asked]
    searches = [pack(search) for _, search in asked]
    n = len(asked)
    routes = cluster.submit(_route, digest, queries, name="route")
    numbers = cluster.submit(_shards_of, routes, name="route")
    first = cluster.map(
        search_routed, indexes, [queries] * n, searches, [numbers] * n, [None] * n, name="first"
    )
    (best,) = cluster.reduce(first, merge_answers, k, name="merge")
    floors = cluster.submit(_floors_of, best, k, name="floors")
    second = cluster.map(
        search_routed,
        indexes,
        [queries] * n,
        searches,
        [numbers] * n,
        [floors] * n,
        name="second",
    )
    return [cluster.submit(_with_routing, best, routes, name="merge"), *second]


def merge_blocks(
    cluster: Cluster, blocks: Sequence[Sequence[Future]], k: int | None
) -> list[Future]:
    """Return one answer for each block of queries, merged by the workers."""
    return [cluster.reduce(answers, merge_answers, k, name="merge")[0] for answers in blocks]


def merge_here(cluster: Cluster, answers: Sequence[Future], k: int | None) -> Answer:
    """Return the merged answer; the client merges the last few."""
    few = cluster.reduce(answers, merge_answers, k, name="merge", to=FAN_IN)
    return merge_answers(cluster.results(few), k)


def make_digest(cluster: Cluster, shards: Sequence[Shard]) -> Future:
    """Return some objects of each shard on one worker."""
    samples = cluster.map(_sample, [shard.index for shard in shards], name="sample")
    return cluster.submit(_digest, samples, name="digest")


def _sample(index: Index) -> Index:
    """Return an index of a few objects of another, evenly spread."""
    n_objects = len(index)
    spread = np.linspace(0, n_objects - 1, min(n_objects, _N_SAMPLED)).astype(np.int64)
    ids = index.ids[np.unique(spread)]
    return Index(index.get(ids), index.kernel, ids=ids)


def _digest(samples: list[Index]) -> Digest:
    kernel = samples[0].kernel
    chunks = [chunk for sample in samples for chunk in view_of(sample).chunks]
    joined = join_objects(kernel, chunks)
    sizes = [len(sample) for sample in samples]
    numbers = np.repeat(np.arange(len(samples), dtype=np.int64), sizes)
    return Digest(Index(read_objects(joined, kernel), kernel), numbers)


def _route(digest: Digest, queries: Any) -> Routes:
    with queries_named(queries):
        hits = digest.index.search(given_queries(queries), k=1, algorithm="scan")
    stats = hits.stats
    cost = Cost(evaluations=stats.kernel_evaluations, self_evaluations=stats.self_evaluations)
    return Routes(digest.shards[hits.indices[:, 0]], cost)


def _shards_of(routes: Routes) -> Int64s:
    return routes.shards


def _floors_of(best: Answer, k: int) -> Floats:
    """Return the k-th value of each query; -infinity where it has fewer hits."""
    values = best.found.values
    if values.shape[1] < k:
        return np.full(len(values), -np.inf)
    return np.ascontiguousarray(values[:, k - 1])


def _with_routing(answer: Answer, routes: Routes) -> Answer:
    found = answer.found
    return Answer(replace(found, cost=add_costs([found.cost, routes.cost])), answer.engines)
