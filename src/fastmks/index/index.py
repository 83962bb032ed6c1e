"""The one object users hold: objects, their ids, a kernel, and the engines that search them."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmks._util.check import check_function, check_threads
from fastmks._util.fork_safe import Lock
from fastmks._util.progress import Progress
from fastmks.data.fasta import Fasta
from fastmks.engines.space import Space
from fastmks.engines.tree.traversal import check_base
from fastmks.engines.tree.tree import Tree
from fastmks.errors import InvalidArgument
from fastmks.index.ids import added_ids, check_kind, first_ids, read_ids, shown
from fastmks.index.searchable import Searchable, check_algorithm
from fastmks.index.segment import Content, Settings
from fastmks.index.snapshot import Forest, find_ids, plant
from fastmks.kernels import Kernel, as_kernel
from fastmks.kernels.objects import read_more, read_objects

__all__ = ["Index"]

_OWN = ("_changing", "_recent", "_forest")  # what an index is made of


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
        self._begin(plant(read.copy() if copy else read, settings, names))
        engines = self._forest.parts[0].content.engines
        if settings.algorithm in ("tree", "dual-tree"):
            engines.tree(Progress(bool(progress)))
        elif settings.algorithm == "filter":
            engines.filter(Progress(bool(progress)))

    def __repr__(self) -> str:
        algorithm = self._forest.settings.algorithm
        return f"<Index: {len(self)} {self._forest.like.kind}, {self.kernel!r}, {algorithm}>"

    def __contains__(self, name: object) -> bool:
        try:
            wanted = read_ids([name], "ids")
            check_kind(wanted, is_text=self._forest.settings.has_text_ids, name="ids")
        except InvalidArgument:
            return False
        return bool(self._forest.has(wanted)[0])

    @property
    def tree(self) -> Tree:
        """The cover tree of all objects; built now if it was not needed before.

        An index that has grown or shrunk is put into one part for it.
        """
        forest = self._whole_forest()
        if len(forest) == 0:
            raise InvalidArgument("the index holds no objects, and so has no tree.")
        return forest.parts[0].content.engines.tree(Progress(False))

    @property
    def kernel(self) -> Kernel:
        """The kernel that ranks the objects."""
        return self._forest.settings.kernel

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        """The ids of the objects, by position; read-only.

        Strings are an array of numpy's, of one width, or one of Python's strings (dtype object)
        where one width would take much more memory.
        """
        view: np.ndarray[Any, Any] = self._forest.ids.view()
        view.flags.writeable = False
        return view

    @property
    def nbytes(self) -> int:
        """The memory of objects, ids, and what was built to search them, in bytes."""
        return sum(part.content.n_bytes for part in self._forest.parts)

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
            forest = self._forest
            settings = forest.settings
            read = read_more(objects, settings.kernel, forest.like_all())
            names = self._new_ids(_given_ids(objects, ids), len(read), is_new=is_new)
            if len(names) == 0:
                return forest.ids[:0]
            read = read.copy()
            if settings.can_fault and not settings.has_one_part:  # then it is known now
                Space(read, settings.kernel, name="objects[{}]".format)
            grown = forest.grown(read, names)
            self._recent.add(forest, grown, names)
            self._forest = grown
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
            forest = self._forest
            names = read_ids(ids, "ids")
            found = forest.find(names, name="ids")
            shrunk = forest.shrunk([np.unique(part[part >= 0]) for part in found])
            self._recent.remove(forest, shrunk, names)
            self._forest = shrunk

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
        return self._forest.get(ids)

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
        twin._begin(self._forest)
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
        from fastmks.index.index_file import record_forest

        write_record(path, record_forest(self._forest, encode=encode), mode=mode)

    def _to_bytes(self, encode: Callable[[Any], bytes] | None = None) -> bytes:
        """Return what `save` would write to a file."""
        from fastmks.files.container import to_bytes
        from fastmks.index.index_file import record_forest

        return to_bytes(record_forest(self._forest, encode=encode))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes of a file, and only what a file cannot hold as pickle does."""
        from fastmks.index.index_file import forest_to_bytes

        state = {name: value for name, value in self.__dict__.items() if name not in _OWN}
        # The state is that of a class of the user's that is derived from this one.
        return type(self)._unpickled, forest_to_bytes(self._forest), state or None

    @classmethod
    def _unpickled(cls, data: bytes, kernel: Kernel | None, objects: Any) -> "Index":
        from fastmks.index.index_file import forest_from_bytes

        return cls._of(forest_from_bytes(data, kernel, objects))

    @classmethod
    def _of(cls, forest: Forest) -> "Index":
        """Return the index of a forest that was restored."""
        index = object.__new__(cls)
        index._begin(forest)
        return index

    def _begin(self, forest: Forest) -> None:
        self._changing = Lock(
            forest.settings.kernel,
            "changes, from its own function, the index that is being changed with it. Change "
            "another index there.",
        )
        self._recent = _Recent()
        self._forest = forest

    @property
    def _content(self) -> Content:
        """What the largest part holds: for those who look inside."""
        return max(self._forest.parts, key=len).content

    def _look_into(self) -> None:
        """Make everything that searches need, so that nothing is left to be wrong."""
        for part in self._forest.parts:
            _ = part.content.ids, part.content.engines

    def _new_ids(self, ids: Any, n_objects: int, *, is_new: bool) -> np.ndarray[Any, Any]:
        """Return the ids of objects that are to be added."""
        forest = self._forest
        if ids is None:
            for part in forest.parts:
                _ = part.content.ids  # those of a file are known to be smaller then
        is_text = forest.settings.has_text_ids
        names = added_ids(ids, n_objects, next_id=forest.next_id, is_text=is_text, is_new=is_new)
        if ids is None:
            return names
        is_known = self._recent.find(forest, names)
        if is_known.any():
            raise InvalidArgument(
                f"ids must be new; {shown(names[is_known][:1].tolist()[0])} is in use. Remove it "
                "first, to put another object in its place."
            )
        return names

    def _whole_forest(self) -> Forest:
        forest = self._forest
        if not forest.is_whole:
            with self._changing.alone():
                forest = self._forest = self._forest.whole()
        return forest


class _Recent:
    """The ids of all parts but the first, for who changes them: putting them in order takes longer.

    Made when ids are first given with objects, and kept up with the forest from then on; whenever
    that has not worked out, made again.
    """

    def __init__(self) -> None:
        self._forest: Forest | None = None  # that has them
        self._ids: set[Any] = set()

    def find(
        self, forest: Forest, names: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which of some ids are in use."""
        if self._forest is not forest:
            self._ids = {name for part in forest.parts[1:] for name in part.ids.tolist()}
            self._forest = forest
        is_known: np.ndarray[Any, np.dtype[np.bool_]] = find_ids(forest.parts[:1], names)
        is_known |= np.array([name in self._ids for name in names.tolist()], dtype=bool)
        return is_known

    def add(self, before: Forest, after: Forest, names: np.ndarray[Any, Any]) -> None:
        """Note what has come to a forest."""
        if self._follows(before, after):
            self._ids.update(names.tolist())
            self._forest = after

    def remove(self, before: Forest, after: Forest, names: np.ndarray[Any, Any]) -> None:
        """Note what has left."""
        if self._follows(before, after):
            self._ids.difference_update(names.tolist())
            self._forest = after

    def _follows(self, before: Forest, after: Forest) -> bool:
        is_known = self._forest is before and len(before.parts) > 0 and len(after.parts) > 0
        self._forest = None
        return is_known and before.parts[0].content is after.parts[0].content


def _given_ids(objects: Any, ids: Any) -> Any:
    return objects.ids if ids is None and isinstance(objects, Fasta) else ids
