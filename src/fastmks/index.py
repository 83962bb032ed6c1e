"""The one object users hold: objects, their ids, a kernel, and the engines that search them."""

import time
from typing import Any

import numpy as np

from fastmks._validate import check_k, check_threads
from fastmks.errors import InvalidArgument
from fastmks.hits import Hits, HitsAbove, Stats
from fastmks.ids import make_ids
from fastmks.kernels import Kernel, as_kernel
from fastmks.progress import Progress
from fastmks.scan import Scan, Search
from fastmks.spaces import Namer, Space, faults_named
from fastmks.stores import make_store

__all__ = ["Index"]

_ALGORITHMS = ("scan",)


class Index:
    """Objects and a kernel, to be searched.

    Parameters
    ----------
    objects : array-like or scipy.sparse matrix, (n, d)
        One vector per row. C-contiguous float32 and float64 arrays, and the values of CSR
        matrices with sorted columns, are not copied: leave them unchanged while the index is in
        use, or pass ``copy=True``.
    kernel : Kernel or str, default "linear"
        A kernel from `fastmks.kernels`, or the name of one with its default parameters.
    algorithm : {"scan"}, default "scan"
        How to search; every algorithm returns the same answers.
    ids : sequence of int or of str, optional
        Your names for the objects, each once; 0 ... n-1 when not given.
    copy : bool, default False
        Keep a copy of the objects instead of sharing the caller's memory.
    threads : int, optional
        Threads per search; OMP_NUM_THREADS or the usable CPUs when not given.

    Examples
    --------
    >>> import fastmks
    >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]], kernel="linear")
    >>> values, indices = index.search([[1.0, 2.0]], k=2)
    >>> indices
    array([[1, 0]])
    >>> index
    <Index: 3 objects of 2 columns, Linear(), scan>
    """

    def __init__(
        self,
        objects: Any,
        kernel: Kernel | str = "linear",
        *,
        algorithm: str = "scan",
        ids: Any = None,
        copy: bool = False,
        threads: int | None = None,
    ) -> None:
        checked_kernel = as_kernel(kernel)
        self._algorithm = _check_algorithm(algorithm)
        self._threads = check_threads(threads)
        store = make_store(objects)
        self._ids = make_ids(ids, len(store))
        self._space = Space(store.copy() if copy else store, checked_kernel, name=self._name)
        self._scan = Scan(self._space)

    def __len__(self) -> int:
        return len(self._space)

    def __repr__(self) -> str:
        return (
            f"<Index: {len(self)} objects of {self._space.store.n_columns} columns, "
            f"{self.kernel!r}, {self._algorithm}>"
        )

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
        only: Any = None,
        algorithm: str | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> Hits:
        """Return the k objects with the greatest kernel value for each query.

        Parameters
        ----------
        queries : array-like or scipy.sparse matrix, (n_queries, d)
            Vectors as long as the indexed ones, dense or sparse; a 1-D vector is one query.
        k : int, default 1
            Results per query, at most the objects searched.
        only : sequence of ids or boolean mask, optional
            Search among these objects only.
        algorithm : str, optional
            For this search, instead of the index's own.
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
        search = self._prepare(self._space.queries(queries), only, algorithm, threads, progress)
        what = "indexed objects" if only is None else "objects that only= leaves"
        checked_k = check_k(k, self._scan.n_among(search), what)
        return self._top_k(search, checked_k, started, "queries[{}]".format)

    def search_self(
        self,
        k: int = 1,
        *,
        algorithm: str | None = None,
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
        algorithm, threads, progress
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
        search = self._prepare(self._space, None, algorithm, threads, progress, skip_self=True)
        checked_k = check_k(k, len(self) - 1, "other objects")
        return self._top_k(search, checked_k, started, self._name)

    def search_above(
        self,
        queries: Any,
        threshold: Any,
        *,
        only: Any = None,
        algorithm: str | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> HitsAbove:
        """Return every object whose kernel value is at least `threshold`, for each query.

        Parameters
        ----------
        queries, only, algorithm, threads, progress
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
        search = self._prepare(self._space.queries(queries), only, algorithm, threads, progress)
        thresholds = _check_threshold(threshold, len(search.queries))
        with faults_named(self.kernel, "queries[{}]".format, self._name):
            offsets, values, indices = self._scan.above(search, thresholds)
        stats = self._stats(search, started)
        return HitsAbove(offsets, values, indices, self._ids.array[indices], stats)

    def _top_k(self, search: Search, k: int, started: float, name_query: Namer) -> Hits:
        with faults_named(self.kernel, name_query, self._name):
            values, indices = self._scan.top_k(search, k)
        return Hits(values, indices, self._ids.array[indices], self._stats(search, started))

    def _stats(self, search: Search, started: float) -> Stats:
        return Stats(
            algorithm=self._scan.name,
            kernel_evaluations=self._scan.evaluations(search),
            self_evaluations=0 if search.skip_self else search.queries.n_self_evaluations,
            n_queries=len(search.queries),
            n_objects=self._scan.n_among(search),
            threads=search.threads,
            seconds=time.perf_counter() - started,
        )

    def _prepare(
        self,
        queries: Space,
        only: Any,
        algorithm: str | None,
        threads: int | None,
        progress: bool,
        *,
        skip_self: bool = False,
    ) -> Search:
        _check_algorithm(self._algorithm if algorithm is None else algorithm)
        return Search(
            queries=queries,
            among=None if only is None else self._positions(only),
            skip_self=skip_self,
            threads=self._threads if threads is None else check_threads(threads),
            progress=Progress(bool(progress)),
        )

    def _positions(self, only: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the positions that `only` names, increasing."""
        if (
            isinstance(only, (list, tuple))
            and only
            and all(isinstance(item, (bool, np.bool_)) for item in only)
        ):
            only = np.asarray(only)
        if str(getattr(only, "dtype", None)) in ("bool", "boolean"):  # numpy's and pandas'
            mask = np.asarray(only)
            if mask.dtype != np.dtype(bool) or mask.shape != (len(self),):
                raise InvalidArgument(
                    f"only must be ids or a mask of the {len(self)} indexed objects, without "
                    f"missing entries; got a mask of shape {mask.shape}."
                )
            return np.flatnonzero(mask).astype(np.int64)
        return np.unique(self._ids.positions(only, name="only"))

    def _name(self, position: int) -> str:
        return f"object {self._ids.array[position].item()!r}"


def _check_algorithm(algorithm: Any) -> str:
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        known = " or ".join(map(repr, _ALGORITHMS))
        raise InvalidArgument(f"algorithm must be {known}; got {algorithm!r}.")
    return algorithm


def _check_threshold(threshold: Any, n_queries: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        given = np.asarray(threshold)
        array = np.array(given, dtype=np.float64) if given.dtype.kind in "iuf" else None
    except (TypeError, ValueError):
        array = None
    if array is not None and array.ndim == 0:
        array = np.full(n_queries, float(array))
    if array is None or array.shape != (n_queries,) or np.isnan(array).any():
        raise InvalidArgument(
            f"threshold must be a number, or one for each of the {n_queries} queries; "
            f"got {threshold!r}."
        )
    return array
