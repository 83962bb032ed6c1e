"""The one object users hold: objects, their ids, a kernel, and the engines that search them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastmks._validate import check_k, check_threads, check_threshold
from fastmks.approximation import make_approximation
from fastmks.dual_tree import DualTree
from fastmks.engine import Cost, Engine, Search
from fastmks.engines import Engines
from fastmks.errors import InvalidArgument
from fastmks.fasta import Fasta
from fastmks.hits import Hits, HitsAbove, Stats
from fastmks.ids import make_ids
from fastmks.kernels import Kernel, as_kernel
from fastmks.objects import read_objects
from fastmks.planner import Plan, Planner
from fastmks.progress import Progress
from fastmks.spaces import Namer, Space, faults_named
from fastmks.traversal import Traversal, check_base, check_traversal
from fastmks.tree import Tree
from fastmks.walked_tree import WalkedTree

__all__ = ["Index"]

_ALGORITHMS = ("auto", "scan", "tree", "dual-tree", "filter")


@dataclass(frozen=True)
class _Choice:
    """What the caller wants to be searched with."""

    algorithm: str
    traversal: Traversal


class Index:
    """Objects and a kernel, to be searched.

    Parameters
    ----------
    objects : sequence
        Whatever the kernel compares: an n x d array, DataFrame or scipy.sparse matrix with one
        vector per row, or a list of strings, sets, graphs, time series, tuples of such, or objects
        of your own; the kernel's docstring says which. C-contiguous float32 and float64 arrays,
        and the values of CSR matrices with sorted columns, are not copied: leave them unchanged
        while the index is in use, or pass ``copy=True``. (A tree copies them, into its own order,
        when it is built.)
    kernel : Kernel, str or function, default "linear"
        A kernel from `fastmks.kernels`, the name of one with its default parameters, or your own
        function of two objects (see `fastmks.kernels.Custom`).
    algorithm : {"auto", "scan", "tree", "dual-tree", "filter"}, default "auto"
        How to search; every algorithm returns the same answers. "filter" bounds all values and
        evaluates what is left: docs/filter.md says for which kernels. "auto" measures, and chooses
        between "scan" and "filter" (see `explain`). What "filter", "tree" and "dual-tree" need is
        built now, and otherwise when it is first needed; "dual-tree" builds a tree on the queries
        of each search too, which pays for many queries close to each other.
    base : float, default 1.3
        Levels of the tree are this factor apart; greater than 1.
    ids : sequence of int or of str, optional
        Your names for the objects, each once; 0 ... n-1 when not given, or the names in a FASTA
        file that `read_fasta` read.
    copy : bool, default False
        Keep a copy of the objects instead of sharing the caller's memory.
    threads : int, optional
        Threads per search; OMP_NUM_THREADS or the usable CPUs when not given.
    progress : bool, default False
        Show a progress bar while a tree is built.

    Examples
    --------
    >>> import fastmks
    >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]], kernel="linear")
    >>> values, indices = index.search([[1.0, 2.0]], k=2)
    >>> indices
    array([[1, 0]])
    >>> index
    <Index: 3 vectors of 2 columns, Linear(), auto>
    """

    def __init__(
        self,
        objects: Any,
        kernel: Kernel | str | Callable[[Any, Any], float] = "linear",
        *,
        algorithm: str = "auto",
        base: float = 1.3,
        ids: Any = None,
        copy: bool = False,
        threads: int | None = None,
        progress: bool = False,
    ) -> None:
        checked_kernel = as_kernel(kernel)
        self._algorithm = _check_algorithm(algorithm)
        self._threads = check_threads(threads)
        read = read_objects(objects, checked_kernel)
        given = objects.ids if ids is None and isinstance(objects, Fasta) else ids
        self._ids = make_ids(given, len(read))
        self._engines = Engines(
            Space(read.copy() if copy else read, checked_kernel, name=self._ids.name),
            base=check_base(base),
            threads=self._threads,
            name=self._ids.name,
        )
        self._planner = Planner(self._engines)
        if self._algorithm in ("tree", "dual-tree"):
            self._engines.tree(Progress(bool(progress)))
        elif self._algorithm == "filter":
            self._engines.filter(Progress(bool(progress)))

    def __len__(self) -> int:
        return len(self._ids.array)

    def __repr__(self) -> str:
        return (
            f"<Index: {len(self)} {self._space.objects.kind}, {self.kernel!r}, {self._algorithm}>"
        )

    @property
    def _space(self) -> Space:
        return self._engines.space

    @property
    def tree(self) -> Tree:
        """The cover tree of the objects; built now if it was not needed before."""
        return self._engines.tree(Progress(False))

    @property
    def kernel(self) -> Kernel:
        """The kernel that ranks the objects."""
        return self._space.kernel

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        """The ids of the objects, by position; read-only."""
        view: np.ndarray[Any, Any] = self._ids.array.view()
        view.flags.writeable = False
        return view

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
        progress: bool = False,
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
            here to `seed` make a search approximate; `docs/approximate.md` says how they combine.
            ``hits.gap`` says what the answer may have missed.
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
        progress : bool, default False
            Show a progress bar.

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
        choice = self._choice(algorithm, traversal)
        among = None if only is None else self._ids.chosen(only)
        n_among = len(self) if among is None else len(among)
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
        search = Search(
            queries=self._space.queries(queries),
            among=among,
            skip_self=False,
            threads=self._allowed_threads(threads),
            progress=Progress(bool(progress)),
            approximation=approximation,
        )
        return self._top_k(choice, search, checked_k, started, "queries[{}]".format)

    def search_self(
        self,
        k: int = 1,
        *,
        algorithm: str | None = None,
        traversal: Traversal | None = None,
        threads: int | None = None,
        progress: bool = False,
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
        checked_k = check_k(k, len(self) - 1, "other objects")
        search = Search(
            queries=self._space,
            among=None,
            skip_self=True,
            threads=self._allowed_threads(threads),
            progress=Progress(bool(progress)),
        )
        return self._top_k(choice, search, checked_k, started, self._ids.name)

    def search_above(
        self,
        queries: Any,
        threshold: Any,
        *,
        only: Any = None,
        algorithm: str | None = None,
        traversal: Traversal | None = None,
        threads: int | None = None,
        progress: bool = False,
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
        choice = self._choice(algorithm, traversal)
        search = Search(
            queries=self._space.queries(queries),
            among=None if only is None else self._ids.chosen(only),
            skip_self=False,
            threads=self._allowed_threads(threads),
            progress=Progress(bool(progress)),
        )
        thresholds = check_threshold(threshold, len(search.queries))
        engine = self._engine(choice, search, 1)
        with faults_named(self.kernel, "queries[{}]".format, self._namer(engine.space)):
            found = engine.above(search, thresholds)
        return HitsAbove(
            found.offsets,
            found.values,
            found.positions,
            self._ids.array[found.positions],
            self._stats(engine, search, found.cost, started),
        )

    def explain(
        self, queries: Any, k: int = 1, *, only: Any = None, threads: int | None = None
    ) -> Plan:
        """Return what ``algorithm="auto"`` would do with a search, and why.

        Parameters
        ----------
        queries, k, only, threads
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
        among = None if only is None else self._ids.chosen(only)
        n_among = len(self) if among is None else len(among)
        checked_k = check_k(k, n_among, "objects to search")
        search = Search(
            queries=self._space.queries(queries),
            among=among,
            skip_self=False,
            threads=self._allowed_threads(threads),
            progress=Progress(False),
        )
        return self._planner.plan(search, checked_k)

    def _top_k(
        self, choice: _Choice, search: Search, k: int, started: float, name_query: Namer
    ) -> Hits:
        engine = self._engine(choice, search, k)
        name_object = self._namer(engine.space)
        if search.skip_self:  # the objects as this engine keeps them
            search = replace(search, queries=engine.space)
            name_query = name_object
        began = time.perf_counter()
        with faults_named(self.kernel, name_query, name_object):
            found = engine.top_k(search, k)
        self._planner.learn(engine.name, search, k, time.perf_counter() - began)
        return Hits(
            found.values,
            found.positions,
            self._ids.array[found.positions],
            self._stats(engine, search, found.cost, started),
            found.gap,
        )

    def _stats(self, engine: Engine, search: Search, cost: Cost, started: float) -> Stats:
        prepared = 0 if search.skip_self else search.queries.n_self_evaluations
        return Stats(
            algorithm=engine.name,
            kernel_evaluations=cost.evaluations,
            self_evaluations=prepared + cost.self_evaluations,
            query_evaluations=cost.query_evaluations,
            n_queries=len(search.queries),
            n_objects=len(self) if search.among is None else len(search.among),
            threads=search.threads,
            seconds=time.perf_counter() - started,
            bounds=cost.bounds,
            bound_operations=cost.bound_operations,
            nodes=cost.nodes,
            pruned=cost.pruned,
        )

    def _allowed_threads(self, threads: int | None) -> int:
        wanted = self._threads if threads is None else check_threads(threads)
        return self._space.threads(wanted)

    def _choice(self, algorithm: str | None, traversal: Any) -> _Choice:
        name = self._algorithm if algorithm is None else _check_algorithm(algorithm)
        return _Choice(name, check_traversal(traversal))

    def _engine(self, choice: _Choice, search: Search, k: int) -> Engine:
        match choice.algorithm:
            case "auto":
                return self._planner.choose(search, k)
            case "scan":
                return self._engines.scan
            case "filter":
                return self._engines.filter(search.progress)
            case "tree":
                return WalkedTree(self._engines.tree(search.progress), choice.traversal)
            case _:
                return DualTree(self._engines.tree(search.progress), choice.traversal)

    def _namer(self, space: Space) -> Namer:
        return lambda place: self._ids.name(space.position(place))


def _check_algorithm(algorithm: Any) -> str:
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        known = ", ".join(map(repr, _ALGORITHMS))
        raise InvalidArgument(f"algorithm must be one of {known}; got {algorithm!r}.")
    return algorithm
