"""The index: objects, their ids, a kernel, and the engines that search them."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from fastmks._util.arrays import Array, read_only
from fastmks._util.progress import Progress, as_progress
from fastmks._util.validation import check_k, check_threads, check_threshold
from fastmks.engines.approximation import make_approximation
from fastmks.engines.base import SearchRequest, Tracer
from fastmks.engines.traversal import Traversal, check_base, check_traversal
from fastmks.engines.tree.tree import Tree
from fastmks.errors import InvalidArgument
from fastmks.index.algorithms import ALGORITHMS, check_algorithm
from fastmks.index.current_snapshot import CurrentSnapshot, given_ids
from fastmks.index.hits import Hits, HitsAbove, make_stats
from fastmks.index.ids import check_kind, first_ids, read_ids
from fastmks.index.plan import Plan
from fastmks.index.segment import Settings
from fastmks.index.snapshot import Snapshot, first_snapshot
from fastmks.index.view import self_evaluations
from fastmks.kernels import Kernel, as_kernel
from fastmks.kernels.objects import read_objects


class Index:
    """An index of objects under a kernel.

    Parameters
    ----------
    objects : sequence
        Objects that the kernel compares: an n x d array, DataFrame or scipy.sparse matrix with one
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
        evaluates the rest: docs/how-it-works/filter.md says for which kernels. "auto" measures,
        and chooses between "scan" and "filter" (see `explain`). What "filter", "tree" and
        "dual-tree" need is built now, and otherwise when it is first needed; "dual-tree" builds a
        tree on the queries of each search too, which pays for many queries close to each other.
    base : float, default 1.3
        Levels of the tree are this factor apart; greater than 1.
    ids : sequence of int or of str, optional
        Your ids for the objects, each once; 0 ... n-1 when not given, or the names in a FASTA
        file that `read_fasta` read. Strings have at most 1000 characters, and no control
        characters.
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
        read = read_objects(objects, checked_kernel)
        names = first_ids(given_ids(objects, ids), len(read))
        settings = Settings(
            kernel=checked_kernel,
            algorithm=check_algorithm(algorithm),
            base=check_base(base),
            threads=check_threads(threads),
            has_text_ids=names.is_text,
        )
        snapshot = first_snapshot(read.copy() if copy else read, settings, names)
        self._current = CurrentSnapshot(snapshot)
        builds = ALGORITHMS[settings.algorithm].builds
        if builds is not None:
            snapshot.segments[0].data.engines.build(builds, Progress(bool(progress)))

    def __len__(self) -> int:
        return len(self._current.snapshot)

    def __repr__(self) -> str:
        snapshot = self._current.snapshot
        kind, settings = snapshot.like.kind, snapshot.settings
        return f"<Index: {len(snapshot)} {kind}, {settings.kernel!r}, {settings.algorithm}>"

    def __contains__(self, name: object) -> bool:
        snapshot = self._current.snapshot
        try:
            wanted = read_ids([name], "ids")
            check_kind(wanted, is_text=snapshot.settings.has_text_ids, name="ids")
        except InvalidArgument:
            return False
        return bool(snapshot.has(wanted)[0])

    @property
    def tree(self) -> Tree:
        """The cover tree of all objects; built now if it was not needed before.

        An index that has changed since is put into one segment for it.
        """
        snapshot = self._current.merged()
        if len(snapshot) == 0:
            raise InvalidArgument("the index holds no objects, and so has no tree.")
        return snapshot.segments[0].data.engines.tree(Progress(False))

    @property
    def kernel(self) -> Kernel:
        """The kernel that ranks the objects."""
        return self._current.snapshot.settings.kernel

    @property
    def ids(self) -> Array:
        """The ids of the objects, by position; read-only.

        Strings are an array of numpy's, of one width, or one of Python's strings (dtype object)
        where one width would take much more memory.
        """
        return read_only(self._current.snapshot.ids)

    @property
    def nbytes(self) -> int:
        """The memory of objects, ids and the engines built for them, in bytes."""
        return sum(segment.data.n_bytes for segment in self._current.snapshot.segments)

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
            Kernel evaluations per query, at least k: the best answer they allow. Needs a tree or a
            filter; "auto" takes the filter where the kernel has one.
        seconds : float, optional
            Time for the whole search: the best answers it allows. Needs what `budget` needs; the
            time to build that does not count.
        seed : int, default 0
            Seed of the random draws of `rank`: pass another for each call whose failures are to be
            independent.
        only : sequence of ids or boolean mask, optional
            Search among these objects only.
        algorithm : str, optional
            Algorithm of this search, instead of the index's own.
        traversal : Traversal, optional
            How to walk a tree: for experiments. Exact answers stay the same.
        threads : int, optional
            Threads of this search, instead of the index's own.
        progress : bool or Progress, default False
            Show a progress bar; or a `fastmks.progress.Progress` whose ``check`` may stop the
            search.
        trace : bool, default False
            Record which objects were evaluated, as ``hits.evaluated``.

        Returns
        -------
        Hits
            Unpacks to ``values, indices``, both (n_queries, k): best first, equal values by
            smaller index. ``stats.kernel_evaluations`` is the cost of the search.

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
        snapshot = self._current.snapshot
        algorithm = snapshot.settings.chosen_algorithm(algorithm)
        traversal = check_traversal(traversal)
        among = snapshot.chosen(only)
        n_among = snapshot.n_among(among)
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
            snapshot = self._current.merged()
            among, n_among = snapshot.chosen(only), len(snapshot)
            check_k(k, n_among, what)  # another thread may have changed it meanwhile
        spaces = snapshot.queries(queries)
        threads, progress = snapshot.threads(threads), as_progress(progress)
        requests = [
            SearchRequest(
                queries=space,
                among=slots,
                algorithm=algorithm,
                traversal=traversal,
                approximation=approximation,
                threads=threads,
                progress=progress,
                tracer=Tracer() if trace else None,
            )
            for space, slots in zip(spaces, among, strict=True)
        ]
        return _top_k(snapshot, requests, checked_k, n_among, started)

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

        An object is excluded from its own answer by its id, not by its value: a duplicate of it
        is found. A scan evaluates each pair once where values are expensive and the kernel is
        symmetric bit for bit: alignments, series, and functions declared ``symmetric=True``.

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
        algorithm = self._current.snapshot.settings.chosen_algorithm(algorithm)
        traversal = check_traversal(traversal)
        check_k(k, max(0, len(self) - 1), "other objects")
        snapshot = self._current.merged()
        checked_k = check_k(k, max(0, len(snapshot) - 1), "other objects")
        requests = [
            SearchRequest(
                queries=segment.space,
                skip_self=True,
                algorithm=algorithm,
                traversal=traversal,
                threads=snapshot.threads(threads),
                progress=as_progress(progress),
            )
            for segment in snapshot.segments
        ]
        return _top_k(snapshot, requests, checked_k, len(snapshot), started)

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
        snapshot = self._current.snapshot
        algorithm = snapshot.settings.chosen_algorithm(algorithm)
        traversal = check_traversal(traversal)
        spaces = snapshot.queries(queries)
        among = snapshot.chosen(only)
        threads, progress = snapshot.threads(threads), as_progress(progress)
        n_queries = len(spaces[0]) if spaces else snapshot.count_queries(queries)
        thresholds = check_threshold(threshold, n_queries)
        requests = [
            SearchRequest(
                queries=space,
                among=slots,
                algorithm=algorithm,
                traversal=traversal,
                threads=threads,
                progress=progress,
            )
            for space, slots in zip(spaces, among, strict=True)
        ]
        found, engine = snapshot.above(requests, thresholds)
        return HitsAbove(
            found.offsets,
            found.values,
            found.positions,
            snapshot.ids_at(found.positions),
            make_stats(
                found.cost,
                engine,
                n_queries=n_queries,
                n_objects=snapshot.n_among(among),
                threads=threads,
                started=started,
                prepared=self_evaluations(requests),
            ),
        )

    def explain(
        self,
        queries: Any,
        k: int = 1,
        *,
        only: Any = None,
        algorithm: str | None = None,
        threads: int | None = None,
        progress: bool | Progress = False,
    ) -> Plan:
        """Return the plan of a search: the engine that this index uses for it, and why.

        Parameters
        ----------
        queries, k, only, algorithm, threads, progress
            As in `search`.

        Returns
        -------
        Plan
            Prints as a table: the cost of each engine, and the reason for or against it.
            ``plan.as_dict()`` has the same as plain values.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
        >>> index.explain([[1.0, 2.0]], k=2).algorithm
        'scan'
        """
        snapshot = self._current.snapshot
        algorithm = snapshot.settings.chosen_algorithm(algorithm)
        among = snapshot.chosen(only)
        checked_k = check_k(k, snapshot.n_among(among), "objects to search")
        spaces = snapshot.queries(queries)
        threads, progress = snapshot.threads(threads), as_progress(progress)
        requests = [
            SearchRequest(
                queries=space,
                among=slots,
                algorithm=algorithm,
                threads=threads,
                progress=progress,
            )
            for space, slots in zip(spaces, among, strict=True)
        ]
        return snapshot.plan(requests, checked_k)

    def add(self, objects: Any, ids: Any = None) -> Array:
        """Add objects; the next search finds them.

        They are copied, and come after the present ones: of equal values the older object ranks
        first. Searches that run meanwhile find all of them or none.

        Parameters
        ----------
        objects : sequence
            Objects of the kind that is indexed; one alone (a 1-D vector, a string, a set, a graph)
            will do.
        ids : sequence of int or of str, optional
            Their ids, none of which may be in use. When not given, numbers from 0 that follow the
            greatest ever used, or the names in a FASTA file; an index whose ids are strings needs
            them.

        Returns
        -------
        array of int64 or of str
            The ids of the objects.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0]])
        >>> index.add([[4.0, 4.0], [5.0, 0.0]])
        array([2, 3])
        >>> index.search([1.0, 1.0], k=2).ids
        array([[2, 3]])
        """
        return self._current.add(objects, ids)

    def remove(self, ids: Any) -> None:
        """Remove objects; the next search no longer finds them.

        Parameters
        ----------
        ids : sequence of int or of str
            Their ids. One that is not in use is an error, and nothing is removed.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0], [2.0], [1.0]], ids=["a", "b", "c"])
        >>> index.remove(["a"])
        >>> index.search([1.0], k=2).ids
        array([['b', 'c']], dtype='<U1')
        >>> "a" in index, len(index)
        (False, 2)
        """
        self._current.remove(ids)

    def get(self, ids: Any) -> Any:
        """Return objects, in the order of the given ids and in the format of the index.

        Vectors are rows of an array or of a sparse matrix, fingerprints rows of booleans, graphs
        pairs (edges, node_labels); strings, sets, series and objects of your own come in a list.
        The returned objects can be used as queries, and added again.

        Parameters
        ----------
        ids : sequence of int or of str
            Their ids.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0]], ids=["right", "up"])
        >>> index.get(["up", "right"])
        array([[0., 2.],
               [3., 0.]])
        """
        return self._current.snapshot.get(ids)

    def check(self, *, progress: bool | Progress = False) -> None:
        """Raise an error unless all that was built to be searched follows from the objects.

        Checksums detect changed bytes. This check detects wrong bounds, whether forged or caused by
        broken memory or a fault of fastmks: with them an exact search can miss objects. Every
        figure that a bound of a tree or a filter relies on is proven for every object, and so are
        counts of strings and of graphs, known values of K(x, x), and that ids are unique.
        Takes about as long as building, and the memory of the largest filter besides.

        A kernel with functions of your own must give bit-identical values to those when the index
        was built.

        Parameters
        ----------
        progress : bool, default False
            Show a progress bar.

        Raises
        ------
        IndexFileError
            Names the part and the segment that do not follow from the objects, and where.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0]], algorithm="tree")
        >>> index.check()
        """
        from fastmks.index.check import check_snapshot

        check_snapshot(self._current.snapshot, as_progress(progress))

    def copy(self) -> "Index":
        """Return a copy of the index: changes of one do not affect the other.

        Takes no time: unchanged parts are shared.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0], [2.0]])
        >>> other = index.copy()
        >>> other.remove([0])
        >>> len(index), len(other)
        (2, 1)
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._current = CurrentSnapshot(self._current.snapshot)
        return twin

    __copy__ = copy

    def save(
        self, path: str | os.PathLike[str], *, encode: Callable[[Any], bytes] | None = None
    ) -> None:
        """Write the index to a file: objects, ids, kernel, and the engines built for them.

        The file is replaced as a whole: after a crash it is the old one or the new one. It is
        in the format that ``docs/reference/file-format.md`` describes, holds no code, and is read
        by `load`.

        Parameters
        ----------
        path : path-like
            The file; an existing one is replaced, unless a running service changes it. ``.fmks``
            is a usual ending.
        encode : callable (object) -> bytes, optional
            Converts objects that only your own kernel knows to bytes. Without it, the file omits
            them, and `load` must be given them again. All other objects need no `encode`.

        Examples
        --------
        >>> import fastmks, tempfile, pathlib
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0]], ids=["right", "up"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "arrows.fmks")
        ...     index.save(path)
        ...     fastmks.load(path).search([1.0, 2.0]).ids
        array([['up']], dtype='<U5')
        """
        # Imported here, since most programs do not save, and the import takes long.
        from fastmks.files.index_lock import not_served
        from fastmks.index.index_file import write_index

        with not_served(path):
            write_index(self, path, encode=encode)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes of a file; functions and Python objects, which no file holds, apart."""
        from fastmks.index.index_file import snapshot_to_bytes

        state = {name: value for name, value in self.__dict__.items() if name != "_current"}
        # The state of a class that the user derived from this one.
        data = snapshot_to_bytes(self._current.snapshot)
        return self._unpickled, data, state or None

    @classmethod
    def _unpickled(cls, data: bytes, kernel: Kernel | None, objects: Any) -> "Index":
        from fastmks.index.index_file import snapshot_from_bytes

        return index_of(snapshot_from_bytes(data, kernel, objects), cls)


def index_of(snapshot: Snapshot, kind: type[Index] = Index) -> Index:
    """Return the index of a snapshot."""
    index = object.__new__(kind)
    index._current = CurrentSnapshot(snapshot)
    return index


def _top_k(
    snapshot: Snapshot, requests: Sequence[SearchRequest], k: int, n_objects: int, started: float
) -> Hits:
    found, engine = snapshot.top_k(requests, k)
    ids = snapshot.ids_at(found.positions)
    evaluated = None if requests[0].tracer is None else snapshot.evaluated(requests)
    stats = make_stats(
        found.cost,
        engine,
        n_queries=len(found.values),
        n_objects=n_objects,
        threads=requests[0].threads,
        started=started,
        prepared=self_evaluations(requests),
    )
    return Hits(found.values, found.positions, ids, stats, found.gap, evaluated)
