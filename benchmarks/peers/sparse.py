"""Who searches sparse rows by inner product or cosine, each in the best form we know for it.

fastmks is given the objects as they are (counts, or strings); peers get rows of counts, divided by
their lengths under the cosine. Those of float32 rows are shown, but no peers of the bar.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Answer
from benchmarks.race.entrant import POOL_QUERIES, Entrant, Ready, Task
from benchmarks.race.ours import ours

_BLOCK = 50  # queries: their products stay in cache


def sparse_entrants() -> list[Entrant]:
    """Return everyone, ours first; our filter is the engine of inverted lists."""
    shared = _Columns()
    return [
        *(ours(name) for name in ("auto", "filter", "scan")),
        *(
            _peer(search, shared, dtype)
            for dtype in ("float64", "float32")
            for search in (_Scipy, _Topn)
        ),
    ]


def _peer(search: "type[_Scipy] | type[_Topn]", shared: "_Columns", dtype: str) -> Entrant:
    is_usual = dtype == "float64"
    return Entrant(
        name=search.library if is_usual else f"{search.library} {dtype}",
        prepare=partial(_prepare, search, shared, dtype),
        needs=(search.library,),
        in_bar=is_usual,
        is_brute=True,
        own_threads=True,
    )


@dataclass(frozen=True, eq=False)
class _Given:
    """Objects as a matrix with a row for each column of theirs, and what making it took."""

    transposed: Any
    queries: Any
    seconds: float
    has_negative: bool

    @property
    def n_bytes(self) -> int:
        rows = self.transposed
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)


class _Columns:
    """The matrices of one task, made once for all who multiply by them."""

    def __init__(self) -> None:
        self._made: dict[tuple[Task, str], _Given] = {}

    def of(self, task: Task, dtype: str) -> _Given:
        """Return the rows of a task in a type."""
        if (task, dtype) not in self._made:
            objects, queries = (
                rows.astype(dtype, copy=False) for rows in (task.units.objects, task.units.queries)
            )
            has_negative = any((rows.data < 0.0).any() for rows in (objects, queries))
            started = time.perf_counter()
            transposed = objects.T.tocsr()
            seconds = time.perf_counter() - started
            self._made[task, dtype] = _Given(transposed, queries, seconds, has_negative)
        return self._made[task, dtype]


def _prepare(
    search: "type[_Scipy] | type[_Topn]", shared: _Columns, dtype: str, task: Task
) -> Ready:
    given = shared.of(task, dtype)
    return Ready(
        search=search(given, task.threads),
        queries=given.queries,
        n_bytes=lambda: given.n_bytes,
        build_seconds=given.seconds,
        prepare_seconds=task.units.seconds,
    )


class _Scipy:
    """CSR products of blocks of queries, and a selection among what is not zero in each row.

    The product runs in one thread but lets others run: threads take blocks of queries.
    """

    library: ClassVar[str] = "scipy"

    def __init__(self, given: _Given, threads: int) -> None:
        self._transposed, self._threads = given.transposed, threads

    def __call__(self, queries: Any, k: int) -> Answer:
        n_queries = queries.shape[0]
        blocks = [queries[begin : begin + _BLOCK] for begin in range(0, n_queries, _BLOCK)]
        search = partial(self._search, k)
        if self._threads == 1 or len(blocks) == 1:
            return Answer(np.concatenate(list(map(search, blocks))))
        with ThreadPoolExecutor(self._threads) as pool:
            return Answer(np.concatenate(list(pool.map(search, blocks))))

    def _search(self, k: int, queries: Any) -> NDArray[np.int64]:
        products = queries @ self._transposed
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


class _Topn:
    """sparse_dot_topn: products and selection at once. Few queries are faster in one thread."""

    library: ClassVar[str] = "sparse_dot_topn"

    def __init__(self, given: _Given, threads: int) -> None:
        import sparse_dot_topn

        # A threshold of 0 leaves out zeros only, and is a third faster.
        threshold = None if given.has_negative else 0.0
        self._transposed, self._threads = given.transposed, threads
        self._multiply = partial(sparse_dot_topn.sp_matmul_topn, sort=True, threshold=threshold)

    def __call__(self, queries: Any, k: int) -> Answer:
        threads = self._threads if queries.shape[0] >= POOL_QUERIES else 1
        products = self._multiply(queries, self._transposed, top_n=k, n_threads=threads)
        lengths = np.diff(products.indptr)
        found = np.full((products.shape[0], k), -1, dtype=np.int64)
        found[np.arange(k) < lengths[:, None]] = products.indices
        return Answer(found)
