"""The one object users hold: objects, their ids, a kernel, and the engines that search them."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmks._util.check import check_function, check_threads
from fastmks._util.fork_safe import Lock
from fastmks._util.progress import Progress, as_progress
from fastmks.data.fasta import Fasta
from fastmks.engines.space import Space
from fastmks.engines.traversal import check_base
from fastmks.engines.tree.tree import Tree
from fastmks.errors import InvalidArgument
from fastmks.index.ids import added_ids, check_kind, first_ids, read_ids, shown
from fastmks.index.searchable import Searchable, check_algorithm
from fastmks.index.segment import SegmentData, Settings
from fastmks.index.snapshot import Snapshot, find_ids, first_snapshot
from fastmks.kernels import Kernel, as_kernel
from fastmks.kernels.objects import read_more, read_objects

__all__ = ["Index"]

_OWN = ("_changing", "_recent", "_snapshot")  # what an index is made of


class Index(Searchable):
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
        evaluates what is left: docs/how-it-works/filter.md says for which kernels. "auto" measures,
        and chooses between "scan" and "filter" (see `explain`). What "filter", "tree" and
        "dual-tree" need is built now, and otherwise when it is first needed; "dual-tree" builds a
        tree on the queries of each search too, which pays for many queries close to each other.
    base : float, default 1.3
        Levels of the tree are this factor apart; greater than 1.
    ids : sequence of int or of str, optional
        Your names for the objects, each once; 0 ... n-1 when not given, or the names in a FASTA
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
        given = _given_ids(objects, ids)
        names = first_ids(given, len(read))
        settings = Settings(
            kernel=checked_kernel,
            algorithm=check_algorithm(algorithm),
            base=check_base(base),
            threads=check_threads(threads),
            has_text_ids=names.is_text,
        )
        self._begin(first_snapshot(read.copy() if copy else read, settings, names))
        engines = self._snapshot.segments[0].data.engines
        if settings.algorithm in ("tree", "dual-tree"):
            engines.tree(Progress(bool(progress)))
        elif settings.algorithm == "filter":
            engines.filter(Progress(bool(progress)))

    def __repr__(self) -> str:
        algorithm = self._snapshot.settings.algorithm
        return f"<Index: {len(self)} {self._snapshot.like.kind}, {self.kernel!r}, {algorithm}>"

    def __contains__(self, name: object) -> bool:
        try:
            wanted = read_ids([name], "ids")
            check_kind(wanted, is_text=self._snapshot.settings.has_text_ids, name="ids")
        except InvalidArgument:
            return False
        return bool(self._snapshot.has(wanted)[0])

    @property
    def tree(self) -> Tree:
        """The cover tree of all objects; built now if it was not needed before.

        An index that has changed since is put into one segment for it.
        """
        snapshot = self._merge_segments()
        if len(snapshot) == 0:
            raise InvalidArgument("the index holds no objects, and so has no tree.")
        return snapshot.segments[0].data.engines.tree(Progress(False))

    @property
    def kernel(self) -> Kernel:
        """The kernel that ranks the objects."""
        return self._snapshot.settings.kernel

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        """The ids of the objects, by position; read-only.

        Strings are an array of numpy's, of one width, or one of Python's strings (dtype object)
        where one width would take much more memory.
        """
        view: np.ndarray[Any, Any] = self._snapshot.ids.view()
        view.flags.writeable = False
        return view

    @property
    def nbytes(self) -> int:
        """The memory of objects, ids, and what was built to search them, in bytes."""
        return sum(segment.data.n_bytes for segment in self._snapshot.segments)

    def add(self, objects: Any, ids: Any = None) -> np.ndarray[Any, Any]:
        """Add objects; the next search finds them.

        They are copied, and come behind those that are there: equal values rank by who came first.
        Searches that run meanwhile see all of them or none.

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
        return self._add(objects, ids)

    def _add(self, objects: Any, ids: Any, *, is_new: bool = True) -> np.ndarray[Any, Any]:
        """Add objects; `is_new` unless an earlier version has taken their ids."""
        with self._changing.alone():
            snapshot = self._snapshot
            settings = snapshot.settings
            read = read_more(objects, settings.kernel, snapshot.like_all())
            names = self._new_ids(_given_ids(objects, ids), len(read), is_new=is_new)
            if len(names) == 0:
                return snapshot.ids[:0]
            read = read.copy()
            if settings.can_fault and not settings.has_one_segment:  # then it is known now
                Space(read, settings.kernel, name="objects[{}]".format)
            changed = snapshot.with_added(read, names)
            self._recent.add(snapshot, changed, names)
            self._snapshot = changed
            return names

    def remove(self, ids: Any) -> None:
        """Remove objects; the next search no longer finds them.

        Parameters
        ----------
        ids : sequence of int or of str
            Their names. One that is not in use is an error, and nothing is removed.

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
        with self._changing.alone():
            snapshot = self._snapshot
            names = read_ids(ids, "ids")
            found = snapshot.find(names, name="ids")
            changed = snapshot.with_removed([np.unique(slots[slots >= 0]) for slots in found])
            self._recent.remove(snapshot, changed, names)
            self._snapshot = changed

    def get(self, ids: Any) -> Any:
        """Return objects, in the order of their ids and in the form in which the index holds them.

        Vectors are rows of an array or of a sparse matrix, fingerprints rows of booleans, graphs
        pairs (edges, node_labels); strings, sets, series and objects of your own come in a list.
        What comes back can be searched for, and added again.

        Parameters
        ----------
        ids : sequence of int or of str
            Their names.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0]], ids=["right", "up"])
        >>> index.get(["up", "right"])
        array([[0., 2.],
               [3., 0.]])
        """
        return self._snapshot.get(ids)

    def check(self, *, progress: bool | Progress = False) -> None:
        """Raise an error unless all that was built to be searched follows from the objects.

        Checksums tell bytes that have changed; this tells bounds that were forged, or that broken
        memory or a fault of fastmks made false: with them an exact search can miss objects. Every
        figure that a bound of a tree or a filter relies on is proven for every object, and so are
        counts of strings and of graphs, known values of K(x, x), and that ids are unique.
        Takes about as long as building, and the memory of the largest filter besides.

        A kernel with functions of your own must give the same values, to the last bit, as when the
        index was built.

        Parameters
        ----------
        progress : bool, default False
            Show a progress bar.

        Raises
        ------
        IndexFileError
            Which part of which segment does not follow from the objects, and where.

        Examples
        --------
        >>> import fastmks
        >>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0]], algorithm="tree")
        >>> index.check()
        """
        from fastmks.index.check import check_snapshot

        check_snapshot(self._snapshot, as_progress(progress))

    def copy(self) -> "Index":
        """Return an index of the same objects that changes on its own.

        Takes no time: what neither of them changes is shared.

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
        twin._begin(self._snapshot)
        return twin

    __copy__ = copy

    def save(
        self, path: str | os.PathLike[str], *, encode: Callable[[Any], bytes] | None = None
    ) -> None:
        """Write the index to a file: objects, ids, kernel, and what was built to search them.

        The file is replaced as a whole: whatever happens, it is the old one or the new one. It is
        in the format that ``docs/developers/format.md`` describes, holds no code, and is read by
        `load`.

        Parameters
        ----------
        path : path-like
            The file; an existing one is replaced, unless a running service changes it. ``.fmks``
            is a usual ending.
        encode : callable (object) -> bytes, optional
            Makes bytes of objects that only your own kernel knows. Without it, these are left out,
            and handed to `load` again. Everything else needs none.

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
        from fastmks.files.index_lock import not_served

        with not_served(path):
            self._write(path, encode=encode)

    def _write(
        self,
        path: str | os.PathLike[str],
        *,
        encode: Callable[[Any], bytes] | None = None,
        mode: int | None = None,
    ) -> None:
        """Write the index to a file that nobody else changes; its mode stays if not given."""
        check_function("encode", encode)
        # Here, since importing them takes longer than many a program that does not save.
        from fastmks.files.container import write_record
        from fastmks.index.index_file import record_snapshot

        write_record(path, record_snapshot(self._snapshot, encode=encode), mode=mode)

    def _to_bytes(self, encode: Callable[[Any], bytes] | None = None) -> bytes:
        """Return what `save` would write to a file."""
        from fastmks.files.container import to_bytes
        from fastmks.index.index_file import record_snapshot

        return to_bytes(record_snapshot(self._snapshot, encode=encode))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes of a file, and only what a file cannot hold as pickle does."""
        from fastmks.index.index_file import snapshot_to_bytes

        state = {name: value for name, value in self.__dict__.items() if name not in _OWN}
        # The state is that of a class of the user's that is derived from this one.
        return type(self)._unpickled, snapshot_to_bytes(self._snapshot), state or None

    @classmethod
    def _unpickled(cls, data: bytes, kernel: Kernel | None, objects: Any) -> "Index":
        from fastmks.index.index_file import snapshot_from_bytes

        return cls._of(snapshot_from_bytes(data, kernel, objects))

    @classmethod
    def _of(cls, snapshot: Snapshot) -> "Index":
        """Return the index of a snapshot that was restored."""
        index = object.__new__(cls)
        index._begin(snapshot)
        return index

    def _begin(self, snapshot: Snapshot) -> None:
        self._changing = Lock(
            snapshot.settings.kernel,
            "changes, from its own function, the index that is being changed with it. Change "
            "another index there.",
        )
        self._recent = _Recent()
        self._snapshot = snapshot

    @property
    def _largest_data(self) -> SegmentData:
        """The data of the largest segment."""
        return max(self._snapshot.segments, key=len).data

    def _look_into(self) -> None:
        """Build all engines now, so that errors in the file appear at load."""
        for segment in self._snapshot.segments:
            _ = segment.data.ids, segment.data.engines

    def _new_ids(self, ids: Any, n_objects: int, *, is_new: bool) -> np.ndarray[Any, Any]:
        """Return the ids of objects that are to be added."""
        snapshot = self._snapshot
        if ids is None:
            for segment in snapshot.segments:
                _ = segment.data.ids  # those of a file are known to be smaller then
        is_text = snapshot.settings.has_text_ids
        names = added_ids(ids, n_objects, next_id=snapshot.next_id, is_text=is_text, is_new=is_new)
        if ids is None:
            return names
        is_known = self._recent.find(snapshot, names)
        if is_known.any():
            raise InvalidArgument(
                f"ids must be new; {shown(names[is_known][:1].tolist()[0])} is in use. Remove it "
                "first, to put another object in its place."
            )
        return names

    def _merge_segments(self) -> Snapshot:
        snapshot = self._snapshot
        if not snapshot.is_single:
            with self._changing.alone():
                snapshot = self._snapshot = self._snapshot.merged()
        return snapshot


class _Recent:
    """The ids of all segments but the first, for changes: sorting them would take longer.

    Collected when ids are first given with objects, and updated with each snapshot from then on;
    collected again whenever another snapshot took its place.
    """

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None  # that has them
        self._ids: set[Any] = set()

    def find(
        self, snapshot: Snapshot, names: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which of some ids are in use."""
        if self._snapshot is not snapshot:
            self._ids = {name for segment in snapshot.segments[1:] for name in segment.ids.tolist()}
            self._snapshot = snapshot
        is_known: np.ndarray[Any, np.dtype[np.bool_]] = find_ids(snapshot.segments[:1], names)
        is_known |= np.array([name in self._ids for name in names.tolist()], dtype=bool)
        return is_known

    def add(self, before: Snapshot, after: Snapshot, names: np.ndarray[Any, Any]) -> None:
        """Note the ids that were added."""
        if self._follows(before, after):
            self._ids.update(names.tolist())
            self._snapshot = after

    def remove(self, before: Snapshot, after: Snapshot, names: np.ndarray[Any, Any]) -> None:
        """Note the ids that were removed."""
        if self._follows(before, after):
            self._ids.difference_update(names.tolist())
            self._snapshot = after

    def _follows(self, before: Snapshot, after: Snapshot) -> bool:
        is_known = self._snapshot is before and len(before.segments) > 0 and len(after.segments) > 0
        self._snapshot = None
        return is_known and before.segments[0].data is after.segments[0].data


def _given_ids(objects: Any, ids: Any) -> Any:
    return objects.ids if ids is None and isinstance(objects, Fasta) else ids
