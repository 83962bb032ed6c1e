"""Brute force by numpy in its best form: products over tiles of scores, and a selection in each."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Answer
from benchmarks.race.entrant import POOL_QUERIES, Ready, RefusedError, Task

_TILE_BYTES = 16_000_000  # of scores: within the cache, and large enough for BLAS
_TILE_QUERIES = 128
_LEAST_TILE_QUERIES = 16

# Of each row of scores, the columns that hold its k greatest, in any order.
_Select: TypeAlias = Callable[[NDArray[Any], int], NDArray[np.int64]]


def prepare_numpy(select: _Select, task: Task, *, dtype: str | None = None) -> Ready:
    """Make numpy ready for the linear kernel, the cosine, powers of products, and tanh.

    tanh keeps the order of the products, so they are selected as they are. A dtype other than
    that of the rows means a copy of them.
    """
    if task.problem.kind == "sparse":
        raise RefusedError("takes dense rows only")
    given, task = task, task if dtype is None else task.cast(dtype)
    objects, queries = task.units.objects, task.units.queries
    n_bytes = 0 if task.problem.objects is given.problem.objects else int(objects.nbytes)

    def search(some: NDArray[Any], k: int) -> Answer:
        threads = task.threads if len(some) >= POOL_QUERIES else 1
        degree = task.case.degree
        found = search_numpy(objects, some, k, threads=threads, select=select, degree=degree)
        return Answer(found, len(some) * len(objects))

    return Ready(
        search=search,
        queries=queries,
        n_bytes=lambda: n_bytes,
        prepare_seconds=task.units.seconds,
    )


def search_numpy(
    objects: NDArray[Any],
    queries: NDArray[Any],
    k: int,
    *,
    threads: int,
    select: _Select,
    degree: int = 1,
) -> NDArray[np.int64]:
    """Powers of matrix products over tiles of scores, and a selection in each.

    Threads take blocks of queries: BLAS would leave the selection to one of them.
    """
    tile_scores = _TILE_BYTES // objects.itemsize
    n_together = min(_TILE_QUERIES, -(-len(queries) // threads))
    width = min(len(objects), max(tile_scores // n_together, 32 * k))
    block = min(max(tile_scores // width, _LEAST_TILE_QUERIES), -(-len(queries) // threads))
    starts = range(0, len(queries), block)

    def search_block(begin: int) -> NDArray[np.int64]:
        return _best_of_tiles(objects, queries[begin : begin + block], width, select, k, degree)

    if threads == 1 or len(starts) == 1:
        found = list(map(search_block, starts))
    else:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(search_block, starts))
    return np.concatenate(found)


def _best_of_tiles(
    objects: NDArray[Any],
    queries: NDArray[Any],
    width: int,
    select: _Select,
    k: int,
    degree: int,
) -> NDArray[np.int64]:
    memory = np.empty(len(queries) * width, objects.dtype)
    values, indices = [], []
    for begin in range(0, len(objects), width):
        tile = objects[begin : begin + width]
        scores = memory[: len(queries) * len(tile)].reshape(len(queries), len(tile))
        np.matmul(queries, tile.T, out=scores)
        _raise_to(degree, scores)
        best = select(scores, min(k, len(tile)))
        values.append(np.take_along_axis(scores, best, axis=1))
        indices.append(best + begin)
    return _sorted_best(np.concatenate(values, axis=1), np.concatenate(indices, axis=1), k)


def _raise_to(degree: int, scores: NDArray[Any]) -> None:
    """Raise scores to a power by repeated squaring: several times as fast as numpy's power.

    What float32 cannot hold becomes infinite, and so equal: that is how it behaves.
    """
    if degree == 1:
        return
    base, rest = scores.copy(), degree - 1
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        while rest:
            if rest % 2:
                scores *= base
            rest //= 2
            if rest:
                base *= base


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
