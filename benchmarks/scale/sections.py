"""What is measured on a cluster: searches, merging, two rounds, and the model's forecasts."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.scale.cell import Cell, Key, Timed, measure
from benchmarks.scale.work import Work, write_shards
from fastmks import Index, kernels
from fastmks.dask import ShardedIndex

__all__ = [
    "Pace",
    "cluster",
    "measure_merging",
    "measure_model",
    "measure_rounds",
    "measure_search",
]


@dataclass(frozen=True)
class Pace:
    """How often everything is timed, and at which commit."""

    rounds: int
    commit: str


@contextmanager
def cluster(n_workers: int) -> Iterator[Client]:
    """A cluster of processes of one thread each, on this machine."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def files_of(work: Work, n_shards: int, order: Any = None) -> Iterator[list[Path]]:
    """The objects in files, for as long as this lasts."""
    with tempfile.TemporaryDirectory() as folder:
        yield write_shards(work, Path(folder), n_shards, order)


def key_of(section: str, work: Work, batch: int, k: int, n_workers: int, n_shards: int) -> Key:
    """Return the key of a cell."""
    return Key(
        section=section,
        problem=work.name,
        kernel=repr(work.kernel) if not isinstance(work.kernel, str) else work.kernel,
        n_objects=len(work),
        batch=batch,
        k=k,
        n_workers=n_workers,
        n_shards=n_shards,
    )


def count_differences(got: Any, wanted: Any) -> int:
    """Return for how many queries ids or values are not the same, bit for bit."""
    same = (got.indices == wanted.indices) & (got.values == wanted.values)
    return int((~same.all(axis=1)).sum())


def measure_search(
    work: Work, batches: list[int], k: int, n_workers: int, pace: Pace
) -> Iterator[Cell]:
    """Build and search, beside one index in this process and beside distributed scans."""
    with files_of(work, n_workers) as files, cluster(n_workers) as client:

        def build() -> ShardedIndex:
            return ShardedIndex.build(files, work.kernel, client, algorithm="filter")

        sharded = build()
        builds = [
            Timed("one index, 1 thread", lambda: _one(work, 1)),
            Timed("one index, 2 threads", lambda: _one(work, 2)),
            Timed("sharded", build),
        ]
        few = Pace(max(1, pace.rounds // 2), pace.commit)
        yield measure(
            key_of("build", work, 0, k, n_workers, n_workers),
            builds,
            rounds=few.rounds,
            origin=work.origin,
            commit=pace.commit,
        )
        one, two = _one(work, 1), _one(work, 2)
        for batch in batches:
            queries = work.queries[:batch]
            contestants = [
                Timed("one index, 1 thread", partial(one.search, queries, k)),
                Timed("one index, 2 threads", partial(two.search, queries, k)),
                Timed("sharded", partial(sharded.search, queries, k)),
                Timed("sharded scan", partial(sharded.search, queries, k, algorithm="scan")),
                Timed("one scan, 1 thread", partial(one.search, queries, k, algorithm="scan")),
            ]
            yield measure(
                key_of("search", work, len(queries), k, n_workers, n_workers),
                contestants,
                rounds=pace.rounds,
                origin=work.origin,
                commit=pace.commit,
                differ=count_differences(sharded.search(queries, k), one.search(queries, k)),
            )


def _one(work: Work, threads: int) -> Index:
    return Index(work.objects, work.kernel, algorithm="filter", threads=threads)


def measure_merging(
    work: Work, batches: list[int], k: int, n_shards: int, n_workers: int, pace: Pace
) -> Iterator[Cell]:
    """Searches of shards that hold next to nothing: what is left is distribution itself."""
    with files_of(work, n_shards) as files, cluster(n_workers) as client:
        sharded = ShardedIndex.build(files, work.kernel, client, algorithm="scan")
        one = Index(work.objects, work.kernel, algorithm="scan")
        for batch in batches:
            queries = work.queries[:batch]
            yield measure(
                key_of("merging", work, len(queries), k, n_workers, n_shards),
                [
                    Timed("one index", partial(one.search, queries, k)),
                    Timed("sharded", partial(sharded.search, queries, k)),
                    Timed("empty tasks", partial(_do_nothing, client, n_shards)),
                ],
                rounds=3 * pace.rounds,
                origin=work.origin,
                commit=pace.commit,
                differ=count_differences(sharded.search(queries, k), one.search(queries, k)),
            )


def _do_nothing(client: Client, n_tasks: int) -> None:
    """Send Dask as many tasks that do nothing, and wait for them."""
    client.gather(client.map(_same, range(n_tasks), pure=False))


def _same(value: int) -> int:
    return value


def measure_rounds(
    work: Work, k: int, n_shards: int, n_workers: int, pace: Pace, *, is_sorted: bool
) -> Iterator[Cell]:
    """One round and two rounds, of objects that are mixed or lie together with their likes."""
    order = similar_together(work, n_shards) if is_sorted else None
    with files_of(work, n_shards, order) as files, cluster(n_workers) as client:
        sharded = ShardedIndex.build(files, work.kernel, client, algorithm="tree")
        one = Index(work.objects, work.kernel, algorithm="tree")
        answers: dict[str, Any] = {
            "one index": one.search(work.queries, k),
            "one round": sharded.search(work.queries, k),
            "two rounds": sharded.search(work.queries, k, rounds=2),
        }
        n_queries = len(work.queries)
        facts = {
            f"{name}, evaluations": hits.stats.kernel_evaluations / n_queries
            for name, hits in answers.items()
        }
        section = "rounds, sorted" if is_sorted else "rounds, mixed"
        differ = int(
            (answers["one round"].values != answers["two rounds"].values).any(axis=1).sum()
        )
        yield measure(
            key_of(section, work, n_queries, k, n_workers, n_shards),
            [
                Timed("one round", lambda: sharded.search(work.queries, k)),
                Timed("two rounds", lambda: sharded.search(work.queries, k, rounds=2)),
            ],
            rounds=pace.rounds,
            origin=work.origin,
            commit=pace.commit,
            facts=facts,
            differ=differ,
        )


def similar_together(work: Work, n_groups: int) -> Any:
    """Return an order in which each object is with the one of a few that it resembles most."""
    is_vectors = isinstance(work.objects, np.ndarray)
    leaders = [work.objects[i] for i in range(n_groups)]
    leading = Index(
        np.array(leaders) if is_vectors else leaders,
        kernels.Cosine() if is_vectors else kernels.Normalized(kernels.Spectrum(p=2)),
        algorithm="scan",
    )
    return np.argsort(leading.search(work.objects, 1).indices[:, 0], kind="stable")


def measure_model(work: Work, k: int, numbers: list[int], pace: Pace) -> Iterator[Cell]:
    """The model, fitted on one worker, and what searches of m shards on m workers really took."""
    facts: dict[str, float] = {}
    for n_workers in numbers:
        with files_of(work, n_workers) as files, cluster(n_workers) as client:
            sharded = ShardedIndex.build(files, work.kernel, client, algorithm="tree")
            if not facts:
                advice = sharded.advise(1000, queries=work.queries, k=k)
                facts = {
                    "c0": advice.overhead.at_zero,
                    "c1": advice.overhead.slope,
                    "c1 misfit": advice.overhead.misfit,
                    "scan at zero": advice.scan.at_zero,
                    "c2": advice.scan.slope,
                    "c2 misfit": advice.scan.misfit,
                    "tree at zero": advice.tree.at_zero,
                    "c2'": advice.tree.slope,
                    "c2' misfit": advice.tree.misfit,
                    "tree exponent": advice.tree_exponent,
                    "tree timed, objects": 2.0 ** advice.tree.points[-1][0],
                    "tree timed, seconds": advice.tree.points[-1][1],
                }
            yield measure(
                key_of("model", work, len(work.queries), k, n_workers, n_workers),
                [
                    Timed("scan", partial(sharded.search, work.queries, k, algorithm="scan")),
                    Timed("tree", partial(sharded.search, work.queries, k, algorithm="tree")),
                ],
                rounds=pace.rounds,
                origin=work.origin,
                commit=pace.commit,
                facts=facts,
            )
