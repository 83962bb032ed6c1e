"""The entrants on float32 vectors, each in the best form we know for it.

By inner product or cosine; numpy takes powers of products too, others refuse them. An entrant is
made ready once for a set, a kernel and a number of threads, and then asked batches. Under the
cosine every peer gets unit vectors; what that took is shown, not timed.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import squares_of
from benchmarks.harness import Answer, map_in_threads, seconds_of, timed
from benchmarks.race.entrant import Entrant, Ready, RefusedError, Task
from benchmarks.race.mlpack import prepare_mlpack
from benchmarks.race.names import MLPACK
from benchmarks.race.numpy_search import prepare_numpy, select_by_groups, select_plainly
from benchmarks.race.ours import ours

_FAISS_QUERIES, _MOST_QUERIES_LIMIT = 16, 1000
_LEVEL_COLUMNS, _MOST_LEVELS = 32, 16  # of Panorama: what was best on MNIST, GloVe and Gowalla
_PANORAMA_BATCH = 1024
_MLPACK_QUERIES = 500
_MOST_LINKED = 100_000  # objects: a graph of more takes minutes to build
_LINKS, _BUILD_WIDTH, _WIDTH = 16, 200, 100  # M, ef_construction and ef: what people start with

_Rows = NDArray[Any]


def entrants() -> list[Entrant]:
    """Return all entrants, ours first."""
    flat, panorama = "faiss.IndexFlatIP", "faiss.IndexFlatIPPanorama"
    # numpy as people write it, with our selection, and in the float64 of their truth
    numpy = Entrant(
        name="numpy",
        prepare=partial(prepare_numpy, select_plainly),
        is_brute=True,
        own_threads=True,
    )
    by_groups = partial(prepare_numpy, select_by_groups)
    float64 = partial(prepare_numpy, select_plainly, dtype="float64")
    return [
        *(ours(name) for name in ("auto", "filter", "scan")),
        ours("tree", only_low=True),
        _brute("faiss flat", flat, _prepare_flat),
        _brute("faiss flat, tuned", flat, _prepare_tuned),
        _brute("faiss panorama", panorama, lambda task: _faiss(task, _panorama(task))),
        _brute("faiss panorama, rotated", panorama, _prepare_rotated),
        numpy,
        replace(numpy, name="numpy by groups", prepare=by_groups, in_bar=False),
        replace(numpy, name="numpy float64", prepare=float64, in_bar=False, whole_batch_only=True),
        _brute("usearch exact", "usearch.index", _prepare_usearch),
        replace(_brute("sklearn brute", "sklearn.neighbors", _prepare_sklearn), in_bar=False),
        replace(
            _brute("sklearn BallTree", "sklearn.neighbors", _prepare_ball_tree),
            is_brute=False,
            look_queries=4,
        ),
        *map(_mlpack, (1.3, 2.0)),  # the paper's base, and its own
        hnswlib(),
    ]


def _brute(name: str, needs: str, prepare: Callable[[Task], Ready]) -> Entrant:
    return Entrant(name=name, prepare=prepare, needs=(needs,), is_brute=True, only_products=True)


def _mlpack(base: float) -> Entrant:
    return Entrant(
        name=f"{MLPACK}, base {base:g}",
        prepare=partial(prepare_mlpack, base=base, n_queries=_MLPACK_QUERIES),
        needs=("mlpack",),
        in_bar=False,
        only_low=True,
        whole_batch_only=True,
    )


def hnswlib() -> Entrant:
    """Return an approximate graph index, which is in no bar; always one thread."""
    return Entrant(
        name="hnswlib",
        prepare=_prepare_hnswlib,
        needs=("hnswlib",),
        only_products=True,
        is_exact=False,
        in_bar=False,
        one_thread_only=True,
    )


def _prepare_flat(task: Task) -> Ready:
    return _faiss(task, import_module("faiss").IndexFlatIP(task.problem.n_columns))


def _prepare_tuned(task: Task) -> Ready:
    """FAISS with matrix products from 16 queries on: by itself it often waits for far more.

    From version 1.15 on its limit is a number of queries times columns; before, of queries.
    """
    cvar, ready = import_module("faiss").cvar, _prepare_flat(task)
    usual = cvar.distance_compute_blas_threshold
    limit = _FAISS_QUERIES * (task.problem.n_columns if usual > _MOST_QUERIES_LIMIT else 1)

    def search(queries: _Rows, k: int) -> Answer:
        cvar.distance_compute_blas_threshold = limit
        try:
            return ready.search(queries, k)
        finally:
            cvar.distance_compute_blas_threshold = usual

    return replace(ready, search=search)


def _prepare_rotated(task: Task) -> Ready:
    """Panorama needs its energy in the first columns: principal axes, queries turned in time."""
    started = time.perf_counter()
    rows = task.units.objects.astype(np.float64)
    axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1].astype(np.float32)
    rotated = np.ascontiguousarray(task.units.objects @ axes)
    seconds = time.perf_counter() - started
    ready = _faiss(task, _panorama(task), rotated)
    return replace(
        ready,
        search=lambda queries, k: ready.search(queries @ axes, k),
        prepare_seconds=ready.prepare_seconds + seconds,
    )


def _panorama(task: Task) -> Any:
    columns = task.problem.n_columns
    n_levels = min(columns, max(2, min(columns // _LEVEL_COLUMNS, _MOST_LEVELS)))
    return import_module("faiss").IndexFlatIPPanorama(columns, n_levels, _PANORAMA_BATCH)


def _faiss(task: Task, index: Any, objects: _Rows | None = None) -> Ready:
    rows = task.units.objects if objects is None else objects
    seconds = seconds_of(lambda: index.add(rows))
    n_sums = index.cum_sums.size() if hasattr(index, "cum_sums") else 0
    return task.ready(
        lambda queries, k: Answer(index.search(queries, k)[1]),
        n_bytes=lambda: int(rows.nbytes) + 4 * n_sums,
        build_seconds=seconds,
    )


def _prepare_usearch(task: Task) -> Ready:
    usearch, objects = import_module("usearch.index"), task.units.objects

    def search(queries: _Rows, k: int) -> Answer:
        metric = usearch.MetricKind.IP
        found = usearch.search(objects, queries, k, metric, exact=True, threads=task.threads)
        keys = np.atleast_2d(np.asarray(found.keys)).astype(np.int64)
        return Answer(keys, len(queries) * len(objects))

    return task.ready(search, n_bytes=lambda: 0)


def _prepare_sklearn(task: Task) -> Ready:
    objects, more = _augmented(task)
    neighbors = import_module("sklearn.neighbors").NearestNeighbors
    finder, seconds = timed(neighbors(algorithm="brute", n_jobs=task.threads).fit, objects)

    def search(some: _Rows, k: int) -> Answer:
        found = finder.kneighbors(some, n_neighbors=k, return_distance=False)
        return Answer(found, len(some) * len(objects))

    n_bytes = 0 if task.case.kernel.is_normalized else int(objects.nbytes)
    return task.ready(search, n_bytes=lambda: n_bytes, build_seconds=seconds, **more)


def _prepare_ball_tree(task: Task) -> Ready:
    objects, more = _augmented(task)
    tree, seconds = timed(import_module("sklearn.neighbors").BallTree, objects)

    def search(some: _Rows, k: int) -> Answer:
        n_parts = 1 if len(some) < 2 * task.threads else task.threads
        find = partial(tree.query, k=k, return_distance=False)
        found = map_in_threads(find, np.array_split(some, n_parts), n_parts)
        return Answer(np.concatenate(found).astype(np.int64))

    n_bytes = sum(int(np.asarray(part).nbytes) for part in tree.get_arrays())
    return task.ready(search, n_bytes=lambda: n_bytes, build_seconds=seconds, **more)


def _augmented(task: Task) -> tuple[_Rows, dict[str, Any]]:
    """Return objects whose nearest neighbours have the greatest inner products, and their queries.

    Objects get one more coordinate, which makes them equally long; queries get a zero there.
    """
    objects, queries, seconds = task.units
    if task.case.kernel.is_normalized:
        return objects, {}
    started = time.perf_counter()
    squares = squares_of(objects)
    more = np.sqrt(squares.max() - squares).astype(np.float32)
    objects = np.column_stack([objects, more])
    queries = np.column_stack([queries, np.zeros(len(queries), np.float32)])
    seconds += time.perf_counter() - started
    return objects, {"queries": queries, "prepare_seconds": seconds}


def _prepare_hnswlib(task: Task) -> Ready:
    problem = task.problem
    if problem.n_objects > _MOST_LINKED:
        raise RefusedError(f"over {_MOST_LINKED} objects: not built")
    space = "cosine" if task.case.kernel.is_normalized else "ip"
    started = time.perf_counter()
    index = import_module("hnswlib").Index(space=space, dim=problem.n_columns)
    index.set_num_threads(1)
    index.init_index(
        max_elements=problem.n_objects, M=_LINKS, ef_construction=_BUILD_WIDTH, random_seed=100
    )
    index.add_items(problem.objects, num_threads=1)
    seconds = time.perf_counter() - started
    index.set_ef(_WIDTH)

    def search(queries: _Rows, k: int) -> Answer:
        labels = index.knn_query(queries, k=k, num_threads=1)[0]
        return Answer(np.asarray(labels).astype(np.int64))

    return Ready(
        search=search,
        queries=problem.queries,
        n_bytes=lambda: int(index.index_file_size()),
        build_seconds=seconds,
    )
