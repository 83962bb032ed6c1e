"""Every way to search an index: arguments checked, one answer of all segments."""

import time
from abc import ABC, abstractmethod
from typing import Any

from fastmks._util.check import check_k, check_threads, check_threshold
from fastmks._util.progress import Progress, as_progress
from fastmks.engines.approximation import make_approximation
from fastmks.engines.base import Cost, Tracer
from fastmks.engines.traversal import Traversal, check_traversal
from fastmks.errors import InvalidArgument
from fastmks.index.hits import Hits, HitsAbove, Stats
from fastmks.index.planner import Plan
from fastmks.index.segment import Choice
from fastmks.index.snapshot import Asked, Snapshot

__all__ = ["Searchable", "check_algorithm"]

_ALGORITHMS = ("auto", "scan", "tree", "dual-tree", "filter")


class Searchable(ABC):
    """Searches of the snapshot that is current when they begin."""

    _snapshot: Snapshot

    def __len__(self) -> int:
        return len(self._snapshot)

    def search(
        self,
        queries: Any,
        k: int = 1,
        *,
        epsilon: float | None = None,
        relative: float | None = None,
        rank: int | None = None,
        delta: float | None = None,
        budget: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
        only: Any = None,
        algorithm: str | None = None,
        traversal: Traversal | None = None,
        threads: int | None = None,
        progress: bool | Progress = False,
        trace: bool = False,
    ) -> Hits:
        """Return the k objects with the greatest kernel value for each query.

        Parameters
        ----------
        queries : sequence
            Objects of the kind that is indexed. Vectors must be as long as the indexed ones, dense
            or sparse; a 1-D vector, a string, a set, a graph or a tuple is one query.
        k : int, default 1
            Results per query, at most the objects searched.
        epsilon : float, optional
            Each returned value may be this much below the true one of its rank. The options from
            here to `seed` make a search approximate; `docs/guides/approximate.md` says how they
            combine. ``hits.gap`` says what the answer may have missed.
        relative : float, optional
            Each returned value may be below the true one by this share of the true one's magnitude.
        rank : int, optional
            With probability 1 - `delta`, all k returned objects are among the `rank` best.
        delta : float, optional
            How often `rank` may fail; 0.05 when not given.
        budget : int, optional
            Kernel evaluations per query, at least k: the best answer they allow. Needs a tree.
        seconds : float, optional
            Time for the whole search: the best answers it allows. Needs a tree; building one that
            is not there yet does not count.
        seed : int, default 0
            Of the random draws of `rank`: pass another for each call whose failures are to be
            independent.
        only : sequence of ids or boolean mask, optional
            Search among these objects only.
        algorithm : str, optional
            For this search, instead of the index's own.
        traversal : Traversal, optional
            How to walk a tree: for experiments. Exact answers stay the same.
        threads : int, optional
            For this search, instead of the index's own.
        progress : bool or Progress, default False
            Show a progress bar; or a `fastmks.progress.Progress` whose ``check`` may stop the
            search.
        trace : bool, default False
            Note whose values were evaluated, as ``hits.evaluated``.

        Returns
        -------
        Hits
            Unpacks to ``values, indices``, both (n_queries, k): best first, equal values by
            smaller index. ``stats.kernel_evaluations`` is what the search cost.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]], kernel="cosine")
        >>> index.search([5.0, 5.0]).indices
        array([[2]])
        >>> index.search([5.0, 5.0], only=[0, 1]).indices
        array([[0]])
        """
        started = time.perf_counter()
        snapshot = self._snapshot
        choice = self._choice(algorithm, traversal)
        among = None if only is None else snapshot.chosen(only)
        n_among = len(snapshot) if among is None else sum(map(len, among))
        what = "indexed objects" if only is None else "objects that only= leaves"
        checked_k = check_k(k, n_among, what)
        approximation = make_approximation(
            k=checked_k,
            n_objects=n_among,
            epsilon=epsilon,
            relative=relative,
            rank=rank,
            delta=delta,
            budget=budget,
            seconds=seconds,
            seed=seed,
            is_filtered=only is not None,
        )
        if not snapshot.can_afford(approximation, checked_k):
            snapshot = self._merge_segments()
            check_k(k, len(snapshot), what)  # others may have changed it meanwhile
        asked = Asked(
            choice=choice,
            queries=snapshot.queries(queries),
            among=among,
            threads=self._allowed_threads(snapshot, threads),
            progress=as_progress(progress),
            approximation=approximation,
            tracers=[Tracer() for _ in snapshot.segments] if trace else None,
        )
        return _top_k(snapshot, asked, checked_k, started)

    def search_self(
        self,
        k: int = 1,
        *,
        algorithm: str | None = None,
        traversal: Traversal | None = None,
        threads: int | None = None,
        progress: bool | Progress = False,
    ) -> Hits:
        """Return, for every indexed object, the k others with the greatest kernel value.

        An object is left out of its own answer by its id, not by its value: a duplicate of it
        is found.

        Parameters
        ----------
        k : int, default 1
            Results per object, at most ``len(self) - 1``.
        algorithm, traversal, threads, progress
            As in `search`.

        Returns
        -------
        Hits
            Row i is the answer for object i.

        Examples
        --------
        >>> import fastmks
        >>> fastmks.Index([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).search_self(k=1).indices
        array([[1],
               [0],
               [0]])
        """
        started = time.perf_counter()
        choice = self._choice(algorithm, traversal)
        check_k(k, max(0, len(self) - 1), "other objects")
        snapshot = self._merge_segments()
        checked_k = check_k(k, max(0, len(snapshot) - 1), "other objects")
        asked = Asked(
            choice=choice,
            queries=[segment.space for segment in snapshot.segments],
            among=None,
            threads=self._allowed_threads(snapshot, threads),
            progress=as_progress(progress),
            skip_self=True,
        )
        return _top_k(snapshot, asked, checked_k, started)

    def search_above(
        self,
        queries: Any,
        threshold: Any,
        *,
        only: Any = None,
        algorithm: str | None = None,
        traversal: Traversal | None = None,
        threads: int | None = None,
        progress: bool | Progress = False,
    ) -> HitsAbove:
        """Return every object whose kernel value is at least `threshold`, for each query.

        Parameters
        ----------
        queries, only, algorithm, traversal, threads, progress
            As in `search`.
        threshold : float or sequence of float
            One for all queries, or one for each.

        Returns
        -------
        HitsAbove
            ``hits[i]`` is ``(values, indices)`` of query i, best first, of any length.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[1.0], [2.0], [3.0]])
        >>> values, indices = index.search_above([2.0], threshold=4.0)[0]
        >>> indices
        array([2, 1])
        """
        started = time.perf_counter()
        snapshot = self._snapshot
        asked = Asked(
            choice=self._choice(algorithm, traversal),
            queries=snapshot.queries(queries),
            among=None if only is None else snapshot.chosen(only),
            threads=self._allowed_threads(snapshot, threads),
            progress=as_progress(progress),
        )
        n_queries = snapshot.count_queries(queries) if not asked.queries else len(asked.queries[0])
        thresholds = check_threshold(threshold, n_queries)
        found, engine = snapshot.above(asked, thresholds)
        return HitsAbove(
            found.offsets,
            found.values,
            found.positions,
            snapshot.ids_at(found.positions),
            _stats(snapshot, asked, n_queries, found.cost, engine, started),
        )

    def explain(
        self,
        queries: Any,
        k: int = 1,
        *,
        only: Any = None,
        threads: int | None = None,
        progress: bool | Progress = False,
    ) -> Plan:
        """Return what ``algorithm="auto"`` would do with a search, and why.

        Parameters
        ----------
        queries, k, only, threads, progress
            As in `search`.

        Returns
        -------
        Plan
            Prints as a table: what each engine would cost, and from what it is known.
            ``plan.as_dict()`` has the same as plain values.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
        >>> index.explain([[1.0, 2.0]], k=2).algorithm
        'scan'
        """
        snapshot = self._snapshot
        among = None if only is None else snapshot.chosen(only)
        n_among = len(snapshot) if among is None else sum(map(len, among))
        checked_k = check_k(k, n_among, "objects to search")
        asked = Asked(
            choice=self._choice("auto", None),
            queries=snapshot.queries(queries),
            among=among,
            threads=self._allowed_threads(snapshot, threads),
            progress=as_progress(progress),
        )
        return snapshot.plan(asked, checked_k)

    def _choice(self, algorithm: str | None, traversal: Any) -> Choice:
        own = self._snapshot.settings.algorithm
        name = own if algorithm is None else check_algorithm(algorithm)
        return Choice(name, check_traversal(traversal))

    def _allowed_threads(self, snapshot: Snapshot, threads: int | None) -> int:
        wanted = snapshot.settings.threads if threads is None else check_threads(threads)
        return snapshot.segments[0].space.threads(wanted) if snapshot.segments else wanted

    @abstractmethod
    def _merge_segments(self) -> Snapshot:
        """Put the objects into one segment, and return that snapshot."""


def _top_k(snapshot: Snapshot, asked: Asked, k: int, started: float) -> Hits:
    found, engine = snapshot.top_k(asked, k)
    return Hits(
        found.values,
        found.positions,
        snapshot.ids_at(found.positions),
        _stats(snapshot, asked, len(found.values), found.cost, engine, started),
        found.gap,
        None if asked.tracers is None else snapshot.evaluated(asked.tracers),
    )


def _stats(
    snapshot: Snapshot, asked: Asked, n_queries: int, cost: Cost, engine: str, started: float
) -> Stats:
    prepared = 0
    if not asked.skip_self:
        prepared = sum(space.n_self_evaluations for space in dict.fromkeys(asked.queries))
    among = asked.among
    return Stats(
        algorithm=engine,
        kernel_evaluations=cost.evaluations,
        self_evaluations=prepared + cost.self_evaluations,
        query_evaluations=cost.query_evaluations,
        n_queries=n_queries,
        n_objects=len(snapshot) if among is None else sum(map(len, among)),
        threads=asked.threads,
        seconds=time.perf_counter() - started,
        bounds=cost.bounds,
        bound_operations=cost.bound_operations,
        nodes=cost.nodes,
        pruned=cost.pruned,
    )


def check_algorithm(algorithm: Any) -> str:
    """Return the name of an algorithm."""
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        known = ", ".join(map(repr, _ALGORITHMS))
        raise InvalidArgument(f"algorithm must be one of {known}; got {algorithm!r}.")
    return algorithm
