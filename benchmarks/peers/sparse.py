"""The entrants on sparse rows by inner product or cosine, each in the best form we know.

fastmks is given the objects as they are (counts, or strings); peers get rows of counts, divided by
their lengths under the cosine. Those of float32 rows are shown, but no peers of the bar.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import bytes_of
from benchmarks.harness import Answer, map_in_threads, timed
from benchmarks.race.entrant import POOL_QUERIES, Entrant, Ready, Task
from benchmarks.race.ours import ours

_BLOCK = 50  # queries: their products stay in cache


class _Given(NamedTuple):
    """The transposed matrix of the objects, and the seconds to build it."""

    transposed: Any
    queries: Any
    seconds: float
    has_negative: bool


def sparse_entrants() -> list[Entrant]:
    """Return all entrants, ours first; our filter is the engine of inverted lists."""
    given_of = lru_cache(_given)  # the matrices are built once for all entrants
    return [
        *(ours(name) for name in ("auto", "filter", "scan")),
        *(
            Entrant(
                name=library if dtype == "float64" else f"{library} {dtype}",
                prepare=partial(_prepare, search, given_of, dtype),
                needs=(library,),
                in_bar=dtype == "float64",
                is_brute=True,
                own_threads=True,
            )
            for dtype in ("float64", "float32")
            for library, search in (("scipy", _scipy), ("sparse_dot_topn", _topn))
        ),
    ]


def _given(task: Task, dtype: str) -> _Given:
    """Return the rows of a task in a type."""
    units = (task.units.objects, task.units.queries)
    objects, queries = (rows.astype(dtype, copy=False) for rows in units)
    transposed, seconds = timed(lambda: objects.T.tocsr())
    has_negative = any((rows.data < 0.0).any() for rows in (objects, queries))
    return _Given(transposed, queries, seconds, has_negative)


def _prepare(
    search: Callable[..., Answer], given_of: Callable[[Task, str], _Given], dtype: str, task: Task
) -> Ready:
    given = given_of(task, dtype)
    return task.ready(
        partial(search, given, task.threads),
        queries=given.queries,
        n_bytes=lambda: bytes_of(given.transposed),
        build_seconds=given.seconds,
    )


def _scipy(given: _Given, threads: int, queries: Any, k: int) -> Answer:
    """CSR products of blocks of queries, and a selection among what is not zero in each row.

    The product runs in one thread but lets others run: threads take blocks of queries.
    """
    blocks = [queries[at : at + _BLOCK] for at in range(0, queries.shape[0], _BLOCK)]
    return Answer(np.concatenate(map_in_threads(partial(_best, given, k), blocks, threads)))


def _best(given: _Given, k: int, queries: Any) -> NDArray[np.int64]:
    products = queries @ given.transposed
    found = np.full((products.shape[0], k), -1, dtype=np.int64)
    for row in range(products.shape[0]):
        part = slice(products.indptr[row], products.indptr[row + 1])
        values, indices = products.data[part], products.indices[part]
        if len(values) > k:
            best = np.argpartition(values, len(values) - k)[len(values) - k :]
            values, indices = values[best], indices[best]
        order = np.lexsort((indices, -values))
        found[row, : len(order)] = indices[order]
    return found


def _topn(given: _Given, threads: int, queries: Any, k: int) -> Answer:
    """sparse_dot_topn: products and selection at once. Few queries are faster in one thread."""
    import sparse_dot_topn

    products = sparse_dot_topn.sp_matmul_topn(
        queries,
        given.transposed,
        top_n=k,
        n_threads=threads if queries.shape[0] >= POOL_QUERIES else 1,
        sort=True,
        threshold=None if given.has_negative else 0.0,  # omits zeros only, and is a third faster
    )
    lengths = np.diff(products.indptr)
    found = np.full((products.shape[0], k), -1, dtype=np.int64)
    found[np.arange(k) < lengths[:, None]] = products.indices
    return Answer(found)
