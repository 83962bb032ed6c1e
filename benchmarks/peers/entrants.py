"""Who searches float32 vectors by inner product or cosine, each in the best form we know for it.

An entrant is made ready once for a set, a kernel and a number of threads, and then asked batches.
Under the cosine every peer gets unit vectors; what that took is shown, not timed.
"""

import importlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastmks
from benchmarks.datasets import Problem
from benchmarks.harness import Answer
from benchmarks.kernels import COSINE, LINEAR
from benchmarks.peers.dense import search_numpy, select_by_groups, select_plainly
from benchmarks.peers.mlpack_tree import MlpackTree

__all__ = ["POOL_QUERIES", "Entrant", "Ready", "Task", "entrants"]

POOL_QUERIES = 32  # from this batch on, numpy's threads take blocks of queries instead of BLAS
_FAISS_QUERIES, _MOST_QUERIES_LIMIT = 16, 1000
_LEVEL_COLUMNS, _MOST_LEVELS = 32, 16  # of Panorama: what was best on MNIST, GloVe and Gowalla
_PANORAMA_BATCH = 1024
_MLPACK_QUERIES = 500
_WARM_K = 10

_Rows = NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """What is searched: float32 rows as given, and as peers get them."""

    problem: Problem
    kernel: str  # "linear" or "cosine"
    threads: int
    patience: float  # seconds, for a build or a search of mlpack
    objects: _Rows
    queries: _Rows
    unit_seconds: float  # what making unit vectors took

    @staticmethod
    def of(problem: Problem, kernel: str, *, threads: int, patience: float) -> "Task":
        """Make the rows that peers get."""
        started = time.perf_counter()
        objects, queries = problem.objects, problem.queries
        if kernel == "cosine":
            objects, queries = _unit(objects), _unit(queries)
        return Task(
            problem=problem,
            kernel=kernel,
            threads=threads,
            patience=patience,
            objects=objects,
            queries=queries,
            unit_seconds=time.perf_counter() - started if kernel == "cosine" else 0.0,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Ready:
    """An entrant that can be asked."""

    search: Callable[[_Rows, int], Answer]  # some of `queries`, k
    queries: _Rows  # as it takes them
    n_bytes: Callable[[], int | None]  # beside the objects as given; asked after the searches
    build_seconds: float
    prepare_seconds: float = 0.0  # unit, augmented or rotated rows: before the index is built
    n_fixed: int | None = None  # it is always asked its first so many queries at once
    cpu_elsewhere: Callable[[], float] = field(default=float)  # seconds, in another process
    close: Callable[[], object] = field(default=lambda: None)


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """One way to search."""

    name: str
    prepare: Callable[[Task], Ready]
    needs: tuple[str, ...] = ()  # modules, and names in them: "faiss.IndexFlatIP"
    is_ours: bool = False
    in_bar: bool = True  # peers: whether the bars are about it
    is_brute: bool = False
    only_low: bool = False  # on sets of low dimension only
    whole_batch_only: bool = False  # the largest batch in one thread only
    look_queries: int = POOL_QUERIES  # how many tell how fast it is
    own_threads: bool = False  # runs threads of its own, so BLAS gets one in each


def entrants() -> list[Entrant]:
    """Return everyone, ours first."""
    return [
        *(_ours(name) for name in ("auto", "filter", "scan")),
        _ours("tree", only_low=True),
        _brute("faiss flat", _prepare_flat, "faiss.IndexFlatIP"),
        _brute("faiss flat, tuned", _prepare_tuned, "faiss.IndexFlatIP"),
        _brute("faiss panorama", _prepare_panorama, "faiss.IndexFlatIPPanorama"),
        _brute("faiss panorama, rotated", _prepare_rotated, "faiss.IndexFlatIPPanorama"),
        _brute("numpy", partial(_prepare_numpy, select_plainly), own_threads=True),
        _brute(
            "numpy by groups",
            partial(_prepare_numpy, select_by_groups),
            own_threads=True,
            in_bar=False,
        ),
        _brute("usearch exact", _prepare_usearch, "usearch.index"),
        _brute("sklearn brute", _prepare_sklearn, "sklearn.neighbors", in_bar=False),
        Entrant(
            name="sklearn BallTree",
            prepare=_prepare_ball_tree,
            needs=("sklearn.neighbors",),
            look_queries=4,
        ),
        Entrant(
            name="mlpack single-tree",
            prepare=_prepare_mlpack,
            needs=("mlpack",),
            in_bar=False,
            only_low=True,
            whole_batch_only=True,
        ),
    ]


def _ours(algorithm: str, *, only_low: bool = False) -> Entrant:
    return Entrant(
        name=f"fastmks {algorithm}",
        prepare=partial(_prepare_fastmks, algorithm),
        is_ours=True,
        only_low=only_low,
    )


def _brute(
    name: str,
    prepare: Callable[[Task], Ready],
    *needs: str,
    in_bar: bool = True,
    own_threads: bool = False,
) -> Entrant:
    return Entrant(
        name=name,
        prepare=prepare,
        needs=needs,
        in_bar=in_bar,
        is_brute=True,
        own_threads=own_threads,
    )


def _prepare_fastmks(algorithm: str, task: Task) -> Ready:
    started = time.perf_counter()
    index = fastmks.Index(
        task.problem.objects, task.kernel, algorithm=algorithm, threads=task.threads
    )
    # Filter and tree are built at the first search; auto is ready once it has seen some queries.
    seen = task.problem.queries if algorithm == "auto" else task.problem.queries[:1]
    index.search(seen, min(_WARM_K, task.problem.n_objects))
    build_seconds = time.perf_counter() - started

    def search(queries: _Rows, k: int) -> Answer:
        hits = index.search(queries, k)
        stats = hits.stats  # a tree's bounds are counted, not their operations: one each, at least
        operations = stats.bound_operations or stats.bounds
        return Answer(hits.indices, stats.kernel_evaluations, operations)

    return Ready(
        search=search,
        queries=task.problem.queries,
        n_bytes=partial(_bytes_beside, index),
        build_seconds=build_seconds,
    )


def _bytes_beside(index: fastmks.Index) -> int | None:
    """Memory of whatever engines the index has built so far."""
    built = getattr(index._content.engines, "_built", None)
    engines = (getattr(built, name, None) for name in ("filter", "tree"))
    return sum(int(getattr(engine, "n_bytes", 0)) for engine in engines if engine is not None)


def _prepare_flat(task: Task) -> Ready:
    import faiss

    return _faiss(task, faiss.IndexFlatIP(task.problem.n_columns))


def _prepare_tuned(task: Task) -> Ready:
    """FAISS with matrix products from 16 queries on: by itself it often waits for far more.

    From version 1.15 on its limit is a number of queries times columns; before, of queries.
    """
    import faiss

    ready = _prepare_flat(task)
    usual = faiss.cvar.distance_compute_blas_threshold
    is_product = usual > _MOST_QUERIES_LIMIT
    limit = _FAISS_QUERIES * (task.problem.n_columns if is_product else 1)

    def search(queries: _Rows, k: int) -> Answer:
        faiss.cvar.distance_compute_blas_threshold = limit
        try:
            return ready.search(queries, k)
        finally:
            faiss.cvar.distance_compute_blas_threshold = usual

    return replace(ready, search=search)


def _prepare_panorama(task: Task) -> Ready:
    return _faiss(task, _panorama(task))


def _prepare_rotated(task: Task) -> Ready:
    """Panorama wants its energy in the first columns: principal axes, queries turned in time."""
    started = time.perf_counter()
    rows = task.objects.astype(np.float64)
    axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1].astype(np.float32)
    rotated = np.ascontiguousarray(task.objects @ axes)
    return _faiss(
        task,
        _panorama(task),
        objects=rotated,
        turn=lambda queries: queries @ axes,
        more_seconds=time.perf_counter() - started,
    )


def _panorama(task: Task) -> Any:
    import faiss

    columns = task.problem.n_columns
    n_levels = min(columns, max(2, min(columns // _LEVEL_COLUMNS, _MOST_LEVELS)))
    return faiss.IndexFlatIPPanorama(columns, n_levels, _PANORAMA_BATCH)


def _faiss(
    task: Task,
    index: Any,
    *,
    objects: _Rows | None = None,
    turn: Callable[[_Rows], _Rows] = lambda queries: queries,
    more_seconds: float = 0.0,
) -> Ready:
    rows = task.objects if objects is None else objects
    started = time.perf_counter()
    index.add(rows)
    build_seconds = time.perf_counter() - started
    n_sums = index.cum_sums.size() if hasattr(index, "cum_sums") else 0
    return Ready(
        search=lambda queries, k: Answer(index.search(turn(queries), k)[1]),
        queries=task.queries,
        n_bytes=lambda: int(rows.nbytes) + 4 * n_sums,
        build_seconds=build_seconds,
        prepare_seconds=task.unit_seconds + more_seconds,
    )


def _prepare_numpy(select: Any, task: Task) -> Ready:
    def search(queries: _Rows, k: int) -> Answer:
        threads = task.threads if len(queries) >= POOL_QUERIES else 1
        found = search_numpy(task.objects, queries, k, threads=threads, select=select)
        return Answer(found, len(queries) * len(task.objects))

    return Ready(
        search=search,
        queries=task.queries,
        n_bytes=lambda: 0,
        build_seconds=0.0,
        prepare_seconds=task.unit_seconds,
    )


def _prepare_usearch(task: Task) -> Ready:
    usearch: Any = importlib.import_module("usearch.index")

    def search(queries: _Rows, k: int) -> Answer:
        found = usearch.search(
            task.objects, queries, k, usearch.MetricKind.IP, exact=True, threads=task.threads
        )
        keys = np.atleast_2d(np.asarray(found.keys)).astype(np.int64)
        return Answer(keys, len(queries) * len(task.objects))

    return Ready(
        search=search,
        queries=task.queries,
        n_bytes=lambda: 0,
        build_seconds=0.0,
        prepare_seconds=task.unit_seconds,
    )


def _prepare_sklearn(task: Task) -> Ready:
    from sklearn.neighbors import NearestNeighbors

    objects, queries, seconds = _augmented(task)
    started = time.perf_counter()
    finder = NearestNeighbors(algorithm="brute", n_jobs=task.threads).fit(objects)
    return Ready(
        search=lambda some, k: Answer(
            finder.kneighbors(some, n_neighbors=k, return_distance=False),
            len(some) * len(objects),
        ),
        queries=queries,
        n_bytes=lambda: 0 if task.kernel == "cosine" else int(objects.nbytes),
        build_seconds=time.perf_counter() - started,
        prepare_seconds=task.unit_seconds + seconds,
    )


def _prepare_ball_tree(task: Task) -> Ready:
    from sklearn.neighbors import BallTree

    objects, queries, seconds = _augmented(task)
    started = time.perf_counter()
    tree = BallTree(objects)
    build_seconds = time.perf_counter() - started

    def find(some: _Rows, k: int) -> NDArray[np.int64]:
        return np.asarray(tree.query(some, k, return_distance=False)).astype(np.int64)

    def search(some: _Rows, k: int) -> Answer:
        if task.threads == 1 or len(some) < 2 * task.threads:
            return Answer(find(some, k))
        with ThreadPoolExecutor(task.threads) as pool:
            parts = np.array_split(some, task.threads)
            return Answer(np.concatenate(list(pool.map(lambda part: find(part, k), parts))))

    return Ready(
        search=search,
        queries=queries,
        n_bytes=lambda: sum(int(np.asarray(part).nbytes) for part in tree.get_arrays()),
        build_seconds=build_seconds,
        prepare_seconds=task.unit_seconds + seconds,
    )


def _augmented(task: Task) -> tuple[_Rows, _Rows, float]:
    """Vectors whose nearest neighbours have the greatest inner products, and what they took.

    Objects get one more coordinate, which makes them equally long; queries get a zero there.
    """
    if task.kernel == "cosine":
        return task.objects, task.queries, 0.0
    started = time.perf_counter()
    squares = np.einsum("ij,ij->i", task.objects, task.objects, dtype=np.float64)
    more = np.sqrt(squares.max() - squares).astype(np.float32)
    objects = np.column_stack([task.objects, more])
    queries = np.column_stack([task.queries, np.zeros(len(task.queries), np.float32)])
    return objects, queries, time.perf_counter() - started


def _prepare_mlpack(task: Task) -> Ready:
    """mlpack's single tree at base 1.3, in one thread and a process of its own, on float64 rows."""
    case = COSINE if task.kernel == "cosine" else LINEAR
    asked = task.problem.head(task.problem.n_objects, _MLPACK_QUERIES).cast("float64")
    tree = MlpackTree(asked, case, patience=task.patience)
    built = tree.build()
    if built is None:
        raise RuntimeError(tree.failure)

    def search(_: _Rows, k: int) -> Answer:
        found = tree.search(k)
        if found is None:
            raise RuntimeError(tree.failure)
        return Answer(found.indices, found.evaluations, seconds=found.seconds)

    return Ready(
        search=search,
        queries=asked.queries,
        n_bytes=lambda: None,
        build_seconds=built.seconds,
        n_fixed=asked.n_queries,
        cpu_elsewhere=lambda: tree.cpu_seconds,
        close=tree.close,
    )


def _unit(rows: _Rows) -> _Rows:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return (rows / np.where(norms > 0.0, norms, 1.0)[:, None]).astype(np.float32)
