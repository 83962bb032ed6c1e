"""Who searches sparse rows by inner product: fastmks, scipy and sparse_dot_topn."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.harness import Answer, Contestant, Search
from benchmarks.peers.dense import prepare_fastmks

__all__ = ["contestants"]

_Ask: TypeAlias = Callable[[Any], NDArray[np.int64]]  # queries in, indices out
_Make: TypeAlias = Callable[[Problem, int, int], _Ask]
_BLOCK = 50  # queries: their products stay in cache


def contestants(*, one_by_one: bool = False) -> list[Contestant]:
    """Return everyone, the baseline "scipy float64" among them.

    With `one_by_one`, the peers are asked each query alone; fastmks is not among them then.
    """
    found = []
    for dtype in ("float64", "float32"):
        found += [
            Contestant(name=f"fastmks {dtype}", dtype=dtype, prepare=prepare_fastmks),
            Contestant(
                name=f"scipy {dtype}",
                dtype=dtype,
                prepare=partial(_prepare, _make_scipy, one_by_one),
                needs=("scipy",),
            ),
            Contestant(
                name=f"sparse_dot_topn {dtype}",
                dtype=dtype,
                prepare=partial(_prepare, _make_sparse_dot_topn, one_by_one),
                needs=("sparse_dot_topn",),
            ),
        ]
    return found[1:3] + found[4:] if one_by_one else found


def _prepare(make: _Make, one_by_one: bool, problem: Problem, k: int, threads: int) -> Search:
    ask = make(problem, k, threads)
    queries = problem.queries
    batches = [queries[[i]] for i in range(problem.n_queries)] if one_by_one else [queries]
    return lambda: Answer(np.concatenate([ask(batch) for batch in batches]))


def _make_scipy(problem: Problem, k: int, threads: int) -> _Ask:
    """CSR products of blocks of queries, and a selection among what is not zero in each row.

    The product runs in one thread but lets others run: threads take blocks of queries.
    """
    transposed = problem.objects.T.tocsr()

    def ask(queries: Any) -> NDArray[np.int64]:
        n_queries = queries.shape[0]
        if n_queries <= _BLOCK:
            return _best_of_rows(queries @ transposed, k)
        blocks = [queries[begin : begin + _BLOCK] for begin in range(0, n_queries, _BLOCK)]
        if threads == 1:
            return np.concatenate([_best_of_rows(block @ transposed, k) for block in blocks])
        with ThreadPoolExecutor(threads) as pool:
            found = pool.map(lambda block: _best_of_rows(block @ transposed, k), blocks)
            return np.concatenate(list(found))

    return ask


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


def _make_sparse_dot_topn(problem: Problem, k: int, threads: int) -> _Ask:
    from sparse_dot_topn import sp_matmul_topn

    transposed = problem.objects.T.tocsr()
    has_negative = any(rows.data.min() < 0.0 for rows in (problem.objects, problem.queries))
    threshold = None if has_negative else 0.0  # leaves out zeros only, and is a third faster
    multiply = partial(sp_matmul_topn, top_n=k, sort=True, n_threads=threads, threshold=threshold)

    return lambda queries: _padded(multiply(queries, transposed), k)


def _padded(products: Any, k: int) -> NDArray[np.int64]:
    """Return the columns of each row in their order, -1 behind them."""
    lengths = np.diff(products.indptr)
    found = np.full((products.shape[0], k), -1, dtype=np.int64)
    found[np.arange(k) < lengths[:, None]] = products.indices
    return found
