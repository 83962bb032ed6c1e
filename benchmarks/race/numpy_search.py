"""Brute force by numpy in its best form: products over tiles of scores, and a selection in each."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Answer, map_in_threads
from benchmarks.race.entrant import POOL_QUERIES, Ready, RefusedError, Task

_TILE_BYTES = 16_000_000  # of scores: within the cache, and large enough for BLAS
_TILE_QUERIES = 128
_LEAST_TILE_QUERIES = 16

# Of each row of scores, the columns that hold its k greatest, in any order.
_Select: TypeAlias = Callable[[NDArray[Any], int], NDArray[np.int64]]


def prepare_numpy(select: _Select, task: Task, *, dtype: str | None = None) -> Ready:
    """Make numpy ready for the linear kernel, the cosine, powers of products, and tanh.

    tanh keeps the order of the products, so they are selected as they are. A dtype other than
    that of the rows means a copy of them. Threads take blocks of queries: BLAS would leave the
    selection to one of them.
    """
    if task.problem.kind == "sparse":
        raise RefusedError("takes dense rows only")
    given = task.problem
    task = replace(task, problem=given.cast(dtype) if dtype else given)
    objects = task.units.objects
    n_bytes = 0 if task.problem.objects is given.objects else int(objects.nbytes)
    tile_scores = _TILE_BYTES // objects.itemsize

    def search(some: NDArray[Any], k: int) -> Answer:
        threads = task.threads if len(some) >= POOL_QUERIES else 1
        each = -(-len(some) // threads)
        width = min(len(objects), max(tile_scores // min(_TILE_QUERIES, each), 32 * k))
        block = min(max(tile_scores // width, _LEAST_TILE_QUERIES), each)
        blocks = [some[begin : begin + block] for begin in range(0, len(some), block)]
        find = partial(_best_of_tiles, objects, width, select, k, task.case.degree)
        return Answer(
            np.concatenate(map_in_threads(find, blocks, threads)), len(some) * len(objects)
        )

    return task.ready(search, n_bytes=lambda: n_bytes)


def _best_of_tiles(
    objects: NDArray[Any], width: int, select: _Select, k: int, degree: int, queries: NDArray[Any]
) -> NDArray[np.int64]:
    """Powers of matrix products over tiles of scores, and a selection in each."""
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
    """Select from the k groups with the greatest maxima only: they hold the k greatest scores.

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
