"""Results of searches: values and indices, best first, and the cost of the search."""

import operator
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fastmks._util.arrays import Array, Bools, Floats, Int64s
from fastmks._util.wording import counted
from fastmks.engines.base import Cost, proven_hits


@dataclass(frozen=True, kw_only=True)
class Stats:
    """The cost of a search.

    Attributes
    ----------
    algorithm : str
        The engine that answered.
    kernel_evaluations : int
        Evaluations of K(query, object); a linear scan needs ``n_queries * n_objects``.
    self_evaluations : int
        Evaluations of K(query, query), which trees, pivots and kernels with Normalized in them
        need. Known values are not counted: those of Cosine and Gaussian, and what was evaluated
        before.
    query_evaluations : int
        Evaluations of K(query, other query), which build the query tree of a dual-tree search.
    bounds : int
        Upper bounds computed.
    bound_operations : int
        Multiply-adds of these bounds, in any precision, or operations on 512 bits at once. An
        evaluation between vectors takes a multiply-add per column.
    nodes : int
        Nodes of a tree visited.
    pruned : mapping of str to int
        Subtrees and single objects pruned, by the bound that did it; "parent" bounds prune before
        anything below is evaluated.
    n_queries, n_objects : int
        Queries asked, and objects searched for each (fewer than the index holds with ``only=``).
    threads : int
        Threads allowed.
    seconds : float
        Time from the call to the answer, checks included.

    Examples
    --------
    >>> import fastmks
    >>> hits = fastmks.Index([[1.0], [2.0], [3.0]]).search([[1.0], [5.0]], k=1, threads=1)
    >>> hits.stats.kernel_evaluations, hits.stats.algorithm
    (6, 'scan')
    """

    algorithm: str
    kernel_evaluations: int
    self_evaluations: int
    n_queries: int
    n_objects: int
    threads: int
    seconds: float
    query_evaluations: int = 0
    bounds: int = 0
    bound_operations: int = 0
    nodes: int = 0
    pruned: Mapping[str, int] = field(default_factory=dict)

    @property
    def scan_share(self) -> float:
        """Kernel evaluations as a share of those of a linear scan."""
        scan = self.n_queries * self.n_objects
        return self.kernel_evaluations / scan if scan else 0.0


def make_stats(
    cost: Cost,
    algorithm: str,
    *,
    n_queries: int,
    n_objects: int,
    threads: int,
    started: float,
    prepared: int = 0,
) -> Stats:
    """Return the stats of a search that began at a time of `time.perf_counter`.

    `prepared` counts the evaluations for which the cost does not account: K(query, query), once.
    """
    return Stats(
        algorithm=algorithm,
        kernel_evaluations=cost.evaluations,
        self_evaluations=prepared + cost.self_evaluations,
        query_evaluations=cost.query_evaluations,
        n_queries=n_queries,
        n_objects=n_objects,
        threads=threads,
        seconds=time.perf_counter() - started,
        bounds=cost.bounds,
        bound_operations=cost.bound_operations,
        nodes=cost.nodes,
        pruned=cost.pruned,
    )


@dataclass(frozen=True, eq=False)
class Hits:
    """The k best objects of each query. Unpacks to ``values, indices``.

    Attributes
    ----------
    values : float64 array (n_queries, k)
        Kernel values, greatest first.
    indices : int64 array (n_queries, k)
        Positions of the objects; of equal values the smaller position comes first.
    ids : int64 or string array (n_queries, k)
        The same objects by the ids of the index, in an array of the same kind as `Index.ids`.
    stats : Stats
        The cost of the search.
    gap : float64 array (n_queries,)
        The true k-th value of a query is at most this much above the returned one. 0 means that
        the answer is proven exact, ties included.
    proven : bool array (n_queries, k)
        The hits that are certainly among the true k best, and at their true rank. They come first
        in each row; of an exact search all are proven.
    evaluated : bool array (n_objects,), or None
        With ``trace=True``, the objects whose values were evaluated for any of the queries, by
        position; bounds pruned the others.

    Examples
    --------
    >>> import fastmks
    >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0]], ids=["right", "up"])
    >>> hits = index.search([[1.0, 2.0]], k=2)
    >>> values, indices = hits
    >>> values
    array([[4., 3.]])
    >>> hits.ids
    array([['up', 'right']], dtype='<U5')
    """

    values: Floats
    indices: Int64s
    ids: Array
    stats: Stats
    gap: Floats
    evaluated: Bools | None = None

    @property
    def proven(self) -> Bools:
        """The hits that are certainly among the true k best.

        Examples
        --------
        >>> import numpy as np, fastmks
        >>> rng = np.random.default_rng(0)
        >>> X, Q = rng.normal(size=(1000, 4)), rng.normal(size=(30, 4))
        >>> index = fastmks.Index(X, algorithm="tree")
        >>> exact, quick = index.search(Q, k=5), index.search(Q, k=5, budget=60)
        >>> bool(exact.proven.all()), bool(quick.proven.any()), bool(quick.proven.all())
        (True, True, False)
        >>> bool((quick.indices == exact.indices)[quick.proven].all())
        True
        """
        return proven_hits(self.values, self.gap)

    def __iter__(self) -> Iterator[Array]:
        yield self.values
        yield self.indices

    def __repr__(self) -> str:
        n_queries, k = self.values.shape
        return f"<Hits: {k} best for each of {counted(n_queries, 'query')}, {_cost(self.stats)}>"


@dataclass(frozen=True, eq=False)
class HitsAbove:
    """Every object at or above a threshold, for each query: rows of different lengths.

    ``hits[i]`` is ``(values, indices)`` of query i, best first; iterating walks the queries.

    Attributes
    ----------
    offsets : int64 array (n_queries + 1)
        Query i has the entries ``offsets[i]:offsets[i + 1]`` of the arrays below.
    values, indices, ids : arrays
        As in `Hits`, the queries one after the other.
    stats : Stats
        The cost of the search.

    Examples
    --------
    >>> import fastmks
    >>> index = fastmks.Index([[1.0], [2.0], [3.0]])
    >>> hits = index.search_above([[1.0], [2.0]], threshold=2.0)
    >>> for values, indices in hits:
    ...     print(values, indices)
    [3. 2.] [2 1]
    [6. 4. 2.] [2 1 0]
    """

    offsets: Int64s
    values: Floats
    indices: Int64s
    ids: Array
    stats: Stats

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[Floats, Int64s]:
        part = self._part(query)
        return self.values[part], self.indices[part]

    def ids_of(self, query: int) -> Array:
        """Return the ids of one query's objects, best first.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[1.0], [2.0], [3.0]], ids=["a", "b", "c"])
        >>> index.search_above([[1.0], [2.0]], threshold=3.5).ids_of(1)
        array(['c', 'b'], dtype='<U1')
        """
        return self.ids[self._part(query)]

    def _part(self, query: int) -> slice:
        at = operator.index(query)
        if not -len(self) <= at < len(self):
            raise IndexError(f"there are {len(self)} queries; got query {query}.")
        at %= len(self)
        return slice(int(self.offsets[at]), int(self.offsets[at + 1]))

    def __iter__(self) -> Iterator[tuple[Floats, Int64s]]:
        return (self[query] for query in range(len(self)))

    def __repr__(self) -> str:
        asked = counted(len(self), "query")
        return f"<HitsAbove: {len(self.values)} for {asked}, {_cost(self.stats)}>"


def _cost(stats: Stats) -> str:
    return f"{counted(stats.kernel_evaluations, 'kernel evaluation')} in {stats.seconds:.3g} s"
