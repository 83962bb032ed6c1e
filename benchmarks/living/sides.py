"""The contestants: fastmks, FAISS and usearch, with one interface.

Peers are imported when they are needed, so that a process has only what it uses.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import is_installed

_Rows: TypeAlias = NDArray[Any]
_Ids: TypeAlias = NDArray[np.int64]

K = 10
FASTMKS = "fastmks filter"
_OURS_LONGER = 4.0  # times: what we do should not be guessed


class Side:
    """An index of fastmks; subclasses wrap those of peers."""

    def __init__(self, index: Any, threads: int) -> None:
        self.index, self.threads = index, threads

    def add(self, rows: _Rows, ids: _Ids) -> None:
        """Add rows under ids."""
        self.index.add(rows, ids=ids)

    def append(self, rows: _Rows, ids: _Ids) -> None:
        """Add rows under the next ids; a peer must be given these."""
        self.index.add(rows)

    def remove(self, ids: _Ids) -> None:
        """Remove objects by their ids."""
        self.index.remove(ids)

    def search(self, queries: _Rows, k: int) -> _Ids:
        """Return the ids of the k best of each query."""
        return np.asarray(self.index.search(queries, k).ids)

    def copy(self) -> "Side":
        """Return an independent copy of the index."""
        return type(self)(self.index.copy(), self.threads)

    def save(self, file: Path) -> None:
        """Write a file, with the default options of the library."""
        self.index.save(str(file))


class _Faiss(Side):
    def add(self, rows: _Rows, ids: _Ids) -> None:
        self.index.add_with_ids(rows, ids)

    append = add

    def remove(self, ids: _Ids) -> None:
        self.index.remove_ids(ids)

    def search(self, queries: _Rows, k: int) -> _Ids:
        return np.asarray(self.index.search(queries, k)[1])

    def copy(self) -> Side:
        return _Faiss(import_module("faiss").clone_index(self.index), self.threads)

    def save(self, file: Path) -> None:
        import_module("faiss").write_index(self.index, str(file))


class _Usearch(Side):
    def add(self, rows: _Rows, ids: _Ids) -> None:
        self.index.add(ids, rows, threads=self.threads)

    append = add

    def remove(self, ids: _Ids) -> None:
        self.index.remove(ids, threads=self.threads)

    def search(self, queries: _Rows, k: int) -> _Ids:
        found = self.index.search(queries, k, exact=True, threads=self.threads)
        return np.asarray(found.keys).astype(np.int64).reshape(len(queries), -1)


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """One library with its settings: how it builds an index, and the ways it reads one."""

    name: str
    build: Callable[[_Rows, "_Ids | None", int], Side]  # rows, ids, threads
    loads: dict[str, Callable[[str, int], Side]]  # by how: file, threads
    needs: str | None = None  # a module
    dtypes: tuple[str, ...] = ("float32", "float64")
    is_ours: bool = False
    most_objects: int | None = None  # to begin with, where more would take minutes
    note: str | None = None
    only: str | None = None  # a section; none: all

    @property
    def missing(self) -> str | None:
        """The reason why it cannot run: a module that is not installed."""
        is_missing = self.needs is not None and not is_installed(self.needs)
        return f"not installed: {self.needs}" if is_missing else None

    def patience(self, seconds: float) -> float:
        """Return how long adding or removing may take before it is extrapolated: ours, longer."""
        return _OURS_LONGER * seconds if self.is_ours else seconds

    def guard(self) -> AbstractContextManager[Any]:
        """Return the lock between readers and writers; none where the library has its own."""
        return nullcontext() if self.is_ours else threading.Lock()


def contestants(section: str | None = None) -> list[Contestant]:
    """Return all contestants, or those of a section, ours first."""
    everyone = [
        Contestant(
            name=FASTMKS,
            build=_build_fastmks,
            loads={
                "load": _load_fastmks,
                "load, verify=False": partial(_load_fastmks, verify=False),
                "load, mmap=False": partial(_load_fastmks, mmap=False),
            },
            needs="fastmks",
            is_ours=True,
        ),
        Contestant(
            name="faiss flat",
            build=_build_faiss,
            loads={
                "read_index": _load_faiss,
                "read_index, MMAP_IFC": partial(_load_faiss, flag="IO_FLAG_MMAP_IFC"),
            },
            needs="faiss",
            dtypes=("float32",),
            note="IndexIDMap2 over IndexFlatIP; mapped, it is read-only: an add ends the process",
        ),
        Contestant(
            name="usearch, smallest graph",
            build=partial(_build_usearch, connectivity=2, expansion_add=1),
            loads={how: partial(_load_usearch, is_view=how == "view") for how in ("load", "view")},
            needs="usearch.index",
            note="exact=True needs no graph: connectivity=2, expansion_add=1 make adding cheapest",
        ),
        Contestant(
            name="usearch",
            build=_build_usearch,
            loads={},
            needs="usearch.index",
            most_objects=20_000,
            note="as it comes, with a graph for approximate searches; 20000 objects to begin with",
            only="adding",
        ),
    ]
    return [one for one in everyone if section is None or one.only in (None, section)]


def find_contestant(name: str) -> Contestant:
    """Return one of them."""
    return next(one for one in contestants() if one.name == name)


def _build_fastmks(rows: _Rows, ids: _Ids | None, threads: int) -> Side:
    index = import_module("fastmks").Index(rows, algorithm="filter", ids=ids, threads=threads)
    return Side(index, threads)


def _load_fastmks(file: str, threads: int, **options: Any) -> Side:
    return Side(import_module("fastmks").load(file, threads=threads, **options), threads)


def _build_faiss(rows: _Rows, ids: _Ids | None, threads: int) -> Side:
    faiss = import_module("faiss")
    index = faiss.IndexIDMap2(faiss.IndexFlatIP(rows.shape[1]))
    index.add_with_ids(rows, _numbers(rows) if ids is None else ids)
    return _Faiss(index, threads)


def _load_faiss(file: str, threads: int, flag: str | None = None) -> Side:
    faiss = import_module("faiss")
    return _Faiss(faiss.read_index(file, getattr(faiss, flag) if flag else 0), threads)


def _build_usearch(rows: _Rows, ids: _Ids | None, threads: int, **options: int) -> Side:
    dtype = "f32" if rows.dtype == np.float32 else "f64"
    usearch = import_module("usearch.index")
    index = usearch.Index(ndim=rows.shape[1], metric="ip", dtype=dtype, **options)
    index.add(_numbers(rows) if ids is None else ids, rows, threads=threads)
    return _Usearch(index, threads)


def _load_usearch(file: str, threads: int, *, is_view: bool) -> Side:
    return _Usearch(import_module("usearch.index").Index.restore(file, view=is_view), threads)


def _numbers(rows: _Rows) -> _Ids:
    return np.arange(len(rows), dtype=np.int64)
