"""Measurements on a cluster: searches, merging, two rounds, and the model's forecasts."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.datasets import Table
from benchmarks.harness import run_rounds, seconds_of
from benchmarks.scale.tables import Cell, Key
from benchmarks.sequences import read_sequences
from fastmks import Index, kernels
from fastmks.dask import ShardedIndex

_MNIST = Table(name="mnist", file="mnist.npz", scale=1.0 / 255.0)


class Work(NamedTuple):
    """A problem: objects, queries, and the kernel that compares them."""

    name: str
    kernel: Any
    objects: Any
    queries: Any
    origin: str


def decaying(n_objects: int, n_queries: int, *, kernel: Any = "linear") -> Work:
    """Normal vectors whose axes matter less and less."""
    rng = np.random.default_rng(0)
    scales = (0.9 ** np.arange(50)).astype(np.float32)
    rows = rng.standard_normal((n_objects + n_queries, 50), dtype=np.float32) * scales
    origin = "generated, seed 0: normal, axis i times 0.9^i"
    return Work("decaying", kernel, rows[n_queries:], rows[:n_queries], origin)


def product(x: Any, y: Any) -> float:
    """Return the inner product, as slowly as a kernel written in Python."""
    return float(np.dot(x, y))


def mnist(folder: Path, n_queries: int) -> Work | None:
    """Return the pixels of MNIST, if the folder has them."""
    if not (folder / _MNIST.file).exists():
        return None
    problem = _MNIST.read(folder, "float32")
    return Work("mnist", "linear", problem.objects, problem.queries[:n_queries], problem.origin)


def proteins(folder: Path | None, n_objects: int, n_queries: int, kernel: Any) -> Work:
    """Protein sequences."""
    sequences, origin = read_sequences(folder, n_objects + n_queries)
    return Work("proteins", kernel, sequences[n_queries:], sequences[:n_queries], origin)


def write_shards(
    work: Work, folder: Path, n_shards: int, order: Sequence[int] | None = None
) -> list[Path]:
    """Write the objects, in an order, to this many files, for the workers to read."""
    at = np.arange(len(work.objects)) if order is None else np.asarray(order)
    paths = []
    for i, part in enumerate(np.array_split(at, n_shards)):
        if isinstance(work.objects, np.ndarray):
            path = folder / f"part-{i:03d}.npy"
            np.save(path, work.objects[part])
        else:
            path = folder / f"part-{i:03d}.fasta"
            path.write_text("".join(f">{j}\n{work.objects[j]}\n" for j in part))
        paths.append(path)
    return paths


K = 10


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
def _sharded(
    work: Work, key: Key, algorithm: str, order: Any = None
) -> Iterator[tuple[Client, Callable[[], ShardedIndex]]]:
    """Give a cluster, and a function that builds an index of files there."""
    with tempfile.TemporaryDirectory() as folder, cluster(key.n_workers) as client:
        files = write_shards(work, Path(folder), key.n_shards, order)
        yield client, partial(ShardedIndex.build, files, work.kernel, client, algorithm=algorithm)


def key_of(section: str, work: Work, batch: int, n_workers: int, n_shards: int) -> Key:
    """Return the key of a cell."""
    return Key(
        section=section,
        problem=work.name,
        kernel=repr(work.kernel) if not isinstance(work.kernel, str) else work.kernel,
        n_objects=len(work.objects),
        batch=batch,
        k=K,
        n_workers=n_workers,
        n_shards=n_shards,
    )


def _timed(
    key: Key,
    contestants: Mapping[str, Callable[[], object]],
    work: Work,
    rounds: int,
    *,
    facts: Mapping[str, float] | None = None,
    differ: int = 0,
) -> Cell:
    """Time all contestants round after round, each in turn."""
    laps = run_rounds([partial(seconds_of, run) for run in contestants.values()], rounds=rounds)
    return Cell(
        **key.__dict__,
        origin=work.origin,
        rounds={name: tuple(lap) for name, lap in zip(contestants, laps, strict=True)},
        facts=facts or {},
        differ=differ,
    )


def _count_differences(got: Any, wanted: Any) -> int:
    """Return the number of queries whose ids or values are not bit-identical."""
    same = (got.indices == wanted.indices) & (got.values == wanted.values)
    return int((~same.all(axis=1)).sum())


def measure_search(work: Work, keys: Sequence[Key], rounds: int) -> Iterator[Cell]:
    """Build and search, beside one index in this process and beside distributed scans."""
    build_one = partial(Index, work.objects, work.kernel, algorithm="filter")
    with _sharded(work, keys[0], "filter") as (_, build):
        sharded = build()
        yield _timed(
            keys[0],
            {
                "one index, 1 thread": partial(build_one, threads=1),
                "one index, 2 threads": partial(build_one, threads=2),
                "sharded": build,
            },
            work,
            max(1, rounds // 2),
        )
        one, two = build_one(threads=1), build_one(threads=2)
        for key in keys[1:]:
            asked = (work.queries[: key.batch], K)
            yield _timed(
                key,
                {
                    "one index, 1 thread": partial(one.search, *asked),
                    "one index, 2 threads": partial(two.search, *asked),
                    "sharded": partial(sharded.search, *asked),
                    "sharded scan": partial(sharded.search, *asked, algorithm="scan"),
                    "one scan, 1 thread": partial(one.search, *asked, algorithm="scan"),
                },
                work,
                rounds,
                differ=_count_differences(sharded.search(*asked), one.search(*asked)),
            )


def measure_merging(work: Work, keys: Sequence[Key], rounds: int) -> Iterator[Cell]:
    """Search shards of very few objects: the time is that of distribution itself."""
    with _sharded(work, keys[0], "scan") as (client, build):
        sharded, one = build(), Index(work.objects, work.kernel, algorithm="scan")
        for key in keys:
            asked = (work.queries[: key.batch], K)
            yield _timed(
                key,
                {
                    "one index": partial(one.search, *asked),
                    "sharded": partial(sharded.search, *asked),
                    "empty tasks": partial(_do_nothing, client, key.n_shards),
                },
                work,
                3 * rounds,
                differ=_count_differences(sharded.search(*asked), one.search(*asked)),
            )


def _do_nothing(client: Client, n_tasks: int) -> None:
    """Send Dask as many tasks that do nothing, and wait for them."""
    client.gather(client.map(_same, range(n_tasks), pure=False))


def _same(value: int) -> int:
    return value


def measure_rounds(work: Work, keys: Sequence[Key], rounds: int) -> Iterator[Cell]:
    """Compare one round with two, on shards of mixed or of similar objects."""
    (key,) = keys
    order = similar_together(work, key.n_shards) if key.section == "rounds, sorted" else None
    with _sharded(work, key, "tree", order) as (_, build):
        sharded, one = build(), Index(work.objects, work.kernel, algorithm="tree")
        ways: dict[str, Callable[[], Any]] = {
            "one index": partial(one.search, work.queries, K),
            "one round": partial(sharded.search, work.queries, K),
            "two rounds": partial(sharded.search, work.queries, K, rounds=2),
        }
        hits = {name: way() for name, way in ways.items()}
        del ways["one index"]  # is not timed
        n_queries = len(work.queries)
        other = hits["one round"].values != hits["two rounds"].values
        yield _timed(
            key,
            ways,
            work,
            rounds,
            facts={
                f"{name}, evaluations": found.stats.kernel_evaluations / n_queries
                for name, found in hits.items()
            },
            differ=int(other.any(axis=1).sum()),
        )


def similar_together(work: Work, n_groups: int) -> Any:
    """Return an order that groups objects by the most similar one of a few."""
    is_vectors = isinstance(work.objects, np.ndarray)
    leaders = [work.objects[i] for i in range(n_groups)]
    leading = Index(
        np.array(leaders) if is_vectors else leaders,
        kernels.Cosine() if is_vectors else kernels.Normalized(kernels.Spectrum(p=2)),
        algorithm="scan",
    )
    return np.argsort(leading.search(work.objects, 1).indices[:, 0], kind="stable")


def measure_model(work: Work, keys: Sequence[Key], rounds: int) -> Iterator[Cell]:
    """Fit the model on one worker, and compare it with searches of m shards on m workers."""
    facts: dict[str, float] = {}
    for key in keys:
        with _sharded(work, key, "tree") as (_, build):
            sharded = build()
            search = partial(sharded.search, work.queries, K)
            if not facts:
                advice = sharded.advise(1000, queries=work.queries, k=K)
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
            yield _timed(
                key,
                {name: partial(search, algorithm=name) for name in ("scan", "tree")},
                work,
                rounds,
                facts=facts,
            )
