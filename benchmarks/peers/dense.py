"""Who searches dense rows by inner product: fastmks, numpy and FAISS."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.harness import Answer, Contestant, Search

__all__ = [
    "contestants",
    "evaluation_and_selection",
    "prepare_fastmks",
    "search_numpy",
    "select_by_groups",
    "select_plainly",
]

_TILE_BYTES = 16_000_000  # of scores: within the cache, and large enough for BLAS
_TILE_QUERIES = 128
_LEAST_TILE_QUERIES = 16

# Of each row of scores, the columns that hold its k greatest, in any order.
_Select: TypeAlias = Callable[[NDArray[Any], int], NDArray[np.int64]]


def contestants() -> list[Contestant]:
    """Return everyone, the baseline "numpy float64" among them."""
    return [
        Contestant(name="fastmks float64", dtype="float64", prepare=prepare_fastmks),
        Contestant(name="fastmks float32", dtype="float32", prepare=prepare_fastmks),
        _numpy("numpy float64", "float64", select_by_groups),
        _numpy("numpy float32", "float32", select_by_groups),
        _numpy("numpy float64, argpartition only", "float64", select_plainly),
        Contestant(name="faiss float32", dtype="float32", prepare=_prepare_faiss, needs=("faiss",)),
    ]


def evaluation_and_selection(ks: tuple[int, ...]) -> list[Contestant]:
    """Return fastmks for each k, and beside it the evaluation alone as numpy does it."""
    return [
        *(
            Contestant(
                name=f"fastmks float64, k={k}", dtype="float64", prepare=prepare_fastmks, k=k
            )
            for k in ks
        ),
        Contestant(name="fastmks float64, no hits kept", dtype="float64", prepare=_prepare_above),
        *(_numpy(f"numpy float64, k={k}", "float64", select_by_groups, k=k) for k in ks),
        Contestant(
            name="numpy float64, product only",
            dtype="float64",
            prepare=partial(_prepare_numpy, None),
            own_threads=True,
        ),
    ]


def prepare_fastmks(problem: Problem, k: int, threads: int) -> Search:
    """Return the search by fastmks' scan; sparse rows too."""
    import fastmks

    index = fastmks.Index(problem.objects, kernel="linear", algorithm="scan", threads=threads)

    def search() -> Answer:
        hits = index.search(problem.queries, k)
        return Answer(hits.indices, hits.stats.kernel_evaluations)

    return search


def _prepare_above(problem: Problem, k: int, threads: int) -> Search:
    import fastmks

    index = fastmks.Index(problem.objects, kernel="linear", algorithm="scan", threads=threads)

    def search() -> Answer:
        hits = index.search_above(problem.queries, threshold=math.inf)
        return Answer(None, hits.stats.kernel_evaluations)

    return search


def _prepare_faiss(problem: Problem, k: int, threads: int) -> Search:
    import faiss

    index = faiss.IndexFlatIP(problem.n_columns)
    index.add(problem.objects)
    return lambda: Answer(index.search(problem.queries, k)[1])


def _numpy(name: str, dtype: str, select: _Select, *, k: int | None = None) -> Contestant:
    prepare = partial(_prepare_numpy, select)
    return Contestant(name=name, dtype=dtype, prepare=prepare, own_threads=True, k=k)


def _prepare_numpy(select: _Select | None, problem: Problem, k: int, threads: int) -> Search:
    objects, queries = problem.objects, problem.queries

    def search() -> Answer:
        found = search_numpy(objects, queries, k, threads=threads, select=select)
        return Answer(found, len(queries) * len(objects))

    return search


def search_numpy(
    objects: NDArray[Any],
    queries: NDArray[Any],
    k: int,
    *,
    threads: int,
    select: _Select | None,
) -> NDArray[np.int64] | None:
    """Matrix products over tiles of scores, and a selection in each.

    Threads take blocks of queries: BLAS would leave the selection to one of them.
    """
    tile_scores = _TILE_BYTES // objects.itemsize
    n_together = min(_TILE_QUERIES, -(-len(queries) // threads))
    width = min(len(objects), max(tile_scores // n_together, 32 * k))
    block = min(max(tile_scores // width, _LEAST_TILE_QUERIES), -(-len(queries) // threads))
    starts = range(0, len(queries), block)

    def search_block(begin: int) -> NDArray[np.int64] | None:
        return _best_of_tiles(objects, queries[begin : begin + block], width, select, k)

    if threads == 1 or len(starts) == 1:
        found = list(map(search_block, starts))
    else:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(search_block, starts))
    kept = [part for part in found if part is not None]
    return np.concatenate(kept) if kept else None


def _best_of_tiles(
    objects: NDArray[Any], queries: NDArray[Any], width: int, select: _Select | None, k: int
) -> NDArray[np.int64] | None:
    memory = np.empty(len(queries) * width, objects.dtype)
    values, indices = [], []
    for begin in range(0, len(objects), width):
        tile = objects[begin : begin + width]
        scores = memory[: len(queries) * len(tile)].reshape(len(queries), len(tile))
        np.matmul(queries, tile.T, out=scores)
        if select is None:
            continue
        best = select(scores, min(k, len(tile)))
        values.append(np.take_along_axis(scores, best, axis=1))
        indices.append(best + begin)
    if select is None:
        return None
    return _sorted_best(np.concatenate(values, axis=1), np.concatenate(indices, axis=1), k)


def _sorted_best(values: NDArray[Any], indices: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    if values.shape[1] > 2 * k:
        best = select_plainly(values, k)
        values = np.take_along_axis(values, best, axis=1)
        indices = np.take_along_axis(indices, best, axis=1)
    order = np.lexsort((indices, -values), axis=1)[:, :k]
    return np.take_along_axis(indices, order, axis=1)


def select_plainly(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Partition each row."""
    n_columns = scores.shape[1]
    return np.argpartition(scores, n_columns - k, axis=1)[:, n_columns - k :]


def select_by_groups(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Look only into the k groups with the greatest maxima: they hold the k greatest scores.

    numpy finds maxima about twenty times as fast as it partitions.
    """
    n_queries, n_columns = scores.shape
    size = int(math.sqrt(n_columns / k))
    if size < 3:
        return select_plainly(scores, k)
    n_groups = n_columns // size  # group g holds the columns g, g + n_groups, ...
    grouped = scores[:, : size * n_groups].reshape(n_queries, size, n_groups)
    groups = select_plainly(grouped.max(axis=1), k)
    inside = groups[:, :, None] + np.arange(size) * n_groups
    rest = np.broadcast_to(np.arange(size * n_groups, n_columns), (n_queries, n_columns % n_groups))
    columns = np.concatenate((inside.reshape(n_queries, -1), rest), axis=1)
    best = select_plainly(np.take_along_axis(scores, columns, axis=1), k)
    return np.take_along_axis(columns, best, axis=1)
