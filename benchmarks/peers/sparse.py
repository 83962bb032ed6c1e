"""Who searches sparse rows by inner product: fastmks, scipy and sparse_dot_topn."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.harness import Answer, Contestant, Search
from benchmarks.peers.dense import prepare_fastmks

__all__ = ["contestants"]

_BLOCK = 50  # queries: their products stay in cache


def contestants() -> list[Contestant]:
    """Return everyone, the baseline "scipy float64" among them."""
    found = []
    for dtype in ("float64", "float32"):
        found += [
            Contestant(name=f"fastmks {dtype}", dtype=dtype, prepare=prepare_fastmks),
            Contestant(
                name=f"scipy {dtype}", dtype=dtype, prepare=_prepare_scipy, needs=("scipy",)
            ),
            Contestant(
                name=f"sparse_dot_topn {dtype}",
                dtype=dtype,
                prepare=_prepare_sparse_dot_topn,
                needs=("sparse_dot_topn",),
            ),
        ]
    return found


def _prepare_scipy(problem: Problem, k: int, threads: int) -> Search:
    """CSR products of blocks of queries, and a selection among what is not zero in each row.

    The product runs in one thread but lets others run: threads take blocks of queries.
    """
    transposed = problem.objects.T.tocsr()
    starts = range(0, problem.n_queries, _BLOCK)

    def search_block(begin: int) -> NDArray[np.int64]:
        return _best_of_rows(problem.queries[begin : begin + _BLOCK] @ transposed, k)

    def search() -> Answer:
        if threads == 1:
            return Answer(np.concatenate(list(map(search_block, starts))))
        with ThreadPoolExecutor(threads) as pool:
            return Answer(np.concatenate(list(pool.map(search_block, starts))))

    return search


def _best_of_rows(products: Any, k: int) -> NDArray[np.int64]:
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


def _prepare_sparse_dot_topn(problem: Problem, k: int, threads: int) -> Search:
    from sparse_dot_topn import sp_matmul_topn

    transposed = problem.objects.T.tocsr()
    has_negative = any(rows.data.min() < 0.0 for rows in (problem.objects, problem.queries))
    threshold = None if has_negative else 0.0  # leaves out zeros only, and is a third faster
    multiply = partial(sp_matmul_topn, top_n=k, sort=True, n_threads=threads, threshold=threshold)

    def search() -> Answer:
        products = multiply(problem.queries, transposed)
        return Answer(_padded(products, k))

    return search


def _padded(products: Any, k: int) -> NDArray[np.int64]:
    """Return the columns of each row in their order, -1 behind them."""
    lengths = np.diff(products.indptr)
    found = np.full((products.shape[0], k), -1, dtype=np.int64)
    found[np.arange(k) < lengths[:, None]] = products.indices
    return found
