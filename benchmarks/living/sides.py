"""Who takes part: fastmks, FAISS and usearch behind the same few calls.

Peers are imported when they are needed, so that a process has only what it uses.
"""

import importlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FAISS",
    "FASTMKS",
    "USEARCH",
    "Bases",
    "Contestant",
    "Side",
    "contestants",
    "find_contestant",
]

_Rows: TypeAlias = NDArray[Any]
_Ids: TypeAlias = NDArray[np.int64]

FASTMKS = "fastmks filter"
FAISS = "faiss flat"
USEARCH = "usearch, smallest graph"
_OURS_LONGER = 4.0  # times: what we do should not be guessed
_SMALLEST_GRAPH = {"connectivity": 2, "expansion_add": 1}


class Side(ABC):
    """An index of one contestant."""

    def __init__(self, index: Any, threads: int) -> None:
        self.index = index
        self.threads = threads

    @abstractmethod
    def add(self, rows: _Rows, ids: _Ids) -> None:
        """Add rows under ids."""

    def append(self, rows: _Rows, ids: _Ids) -> None:
        """Add rows under the numbers that follow; a peer has to be told them."""
        self.add(rows, ids)

    @abstractmethod
    def remove(self, ids: _Ids) -> None:
        """Remove objects by their ids."""

    @abstractmethod
    def search(self, queries: _Rows, k: int) -> _Ids:
        """Return the ids of the k best of each query."""

    @abstractmethod
    def copy(self) -> "Side":
        """Return an index of the same objects that changes on its own."""

    @abstractmethod
    def save(self, file: Path) -> None:
        """Write a file, as its library does when told nothing else."""


class _Fastmks(Side):
    def add(self, rows: _Rows, ids: _Ids) -> None:
        self.index.add(rows, ids=ids)

    def append(self, rows: _Rows, ids: _Ids) -> None:
        self.index.add(rows)

    def remove(self, ids: _Ids) -> None:
        self.index.remove(ids)

    def search(self, queries: _Rows, k: int) -> _Ids:
        return np.asarray(self.index.search(queries, k).ids)

    def copy(self) -> Side:
        return _Fastmks(self.index.copy(), self.threads)

    def save(self, file: Path) -> None:
        self.index.save(file)


class _Faiss(Side):
    def add(self, rows: _Rows, ids: _Ids) -> None:
        self.index.add_with_ids(rows, ids)

    def remove(self, ids: _Ids) -> None:
        self.index.remove_ids(ids)

    def search(self, queries: _Rows, k: int) -> _Ids:
        return np.asarray(self.index.search(queries, k)[1])

    def copy(self) -> Side:
        faiss: Any = importlib.import_module("faiss")
        return _Faiss(faiss.clone_index(self.index), self.threads)

    def save(self, file: Path) -> None:
        faiss: Any = importlib.import_module("faiss")
        faiss.write_index(self.index, str(file))


class _Usearch(Side):
    def add(self, rows: _Rows, ids: _Ids) -> None:
        self.index.add(ids, rows, threads=self.threads)

    def remove(self, ids: _Ids) -> None:
        self.index.remove(ids, threads=self.threads)

    def search(self, queries: _Rows, k: int) -> _Ids:
        found = self.index.search(queries, k, exact=True, threads=self.threads)
        keys = np.asarray(found.keys).astype(np.int64)
        return keys.reshape(len(queries), -1)

    def copy(self) -> Side:
        return _Usearch(self.index.copy(), self.threads)

    def save(self, file: Path) -> None:
        self.index.save(str(file))


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """One library with its settings: how it builds an index, and the ways it reads one."""

    name: str
    build: Callable[[_Rows, "_Ids | None", int], Side]  # rows, ids, threads
    loads: dict[str, Callable[[str, int], Side]]  # by how: file, threads
    needs: tuple[str, ...] = ()  # modules
    dtypes: tuple[str, ...] = ("float32",)
    is_ours: bool = False
    most_objects: int | None = None  # to begin with, where more would take minutes
    note: str | None = None
    only: tuple[str, ...] = ()  # sections; none: all

    @property
    def missing(self) -> str | None:
        """Say what is not installed."""
        absent = [name for name in self.needs if not _is_installed(name)]
        return f"not installed: {', '.join(absent)}" if absent else None

    def patience(self, seconds: float) -> float:
        """Return how long adding or removing may take before it is extrapolated: ours, longer."""
        return _OURS_LONGER * seconds if self.is_ours else seconds

    def guard(self) -> AbstractContextManager[Any]:
        """Return what keeps readers and writers apart: nothing where the library does."""
        return nullcontext() if self.is_ours else threading.Lock()


class Bases:
    """Indexes to begin with, each built when it is first needed; whoever changes one copies it."""

    def __init__(self) -> None:
        self._sides: dict[tuple[Any, ...], Side] = {}
        self.rebuild_seconds: dict[tuple[Any, ...], float] = {}  # of everything, where kept

    def get(self, key: tuple[Any, ...], build: Callable[[], Side]) -> Side:
        """Return an index; `key` says of whom and of what."""
        if key not in self._sides:
            self._sides[key] = build()
        return self._sides[key]


def contestants() -> list[Contestant]:
    """Return everyone, ours first."""
    return [_fastmks(), _faiss(), _usearch(), _usearch_default()]


def find_contestant(name: str) -> Contestant:
    """Return one of them."""
    return next(one for one in contestants() if one.name == name)


def _fastmks() -> Contestant:
    import fastmks

    def build(rows: _Rows, ids: _Ids | None, threads: int) -> Side:
        return _Fastmks(fastmks.Index(rows, algorithm="filter", ids=ids, threads=threads), threads)

    def load(file: str, threads: int, **options: Any) -> Side:
        return _Fastmks(fastmks.load(file, threads=threads, **options), threads)

    return Contestant(
        name=FASTMKS,
        build=build,
        loads={
            "load": load,
            "load, verify=False": lambda file, threads: load(file, threads, verify=False),
            "load, mmap=False": lambda file, threads: load(file, threads, mmap=False),
        },
        dtypes=("float32", "float64"),
        is_ours=True,
    )


def _faiss() -> Contestant:
    def build(rows: _Rows, ids: _Ids | None, threads: int) -> Side:
        faiss: Any = importlib.import_module("faiss")
        index = faiss.IndexIDMap2(faiss.IndexFlatIP(rows.shape[1]))
        index.add_with_ids(rows, _numbers(rows) if ids is None else ids)
        return _Faiss(index, threads)

    def load(file: str, threads: int, flag: str | None = None) -> Side:
        faiss: Any = importlib.import_module("faiss")
        return _Faiss(faiss.read_index(file, getattr(faiss, flag) if flag else 0), threads)

    return Contestant(
        name=FAISS,
        build=build,
        loads={
            "read_index": load,
            "read_index, MMAP_IFC": lambda file, threads: load(file, threads, "IO_FLAG_MMAP_IFC"),
        },
        needs=("faiss",),
        note="IndexIDMap2 over IndexFlatIP; mapped, it is read-only: an add ends the process",
    )


def _usearch() -> Contestant:
    return Contestant(
        name=USEARCH,
        build=lambda rows, ids, threads: _build_usearch(rows, ids, threads, **_SMALLEST_GRAPH),
        loads={
            "load": lambda file, threads: _load_usearch(file, threads, is_view=False),
            "view": lambda file, threads: _load_usearch(file, threads, is_view=True),
        },
        needs=("usearch.index",),
        dtypes=("float32", "float64"),
        note="exact=True needs no graph: connectivity=2, expansion_add=1 make adding cheapest",
    )


def _usearch_default() -> Contestant:
    return Contestant(
        name="usearch",
        build=_build_usearch,
        loads={},
        needs=("usearch.index",),
        dtypes=("float32", "float64"),
        most_objects=20_000,
        note="as it comes, with a graph for approximate searches; on 20000 objects to begin with",
        only=("adding",),
    )


def _build_usearch(rows: _Rows, ids: _Ids | None, threads: int, **options: int) -> Side:
    usearch: Any = importlib.import_module("usearch.index")
    dtype = "f32" if rows.dtype == np.float32 else "f64"
    index = usearch.Index(ndim=rows.shape[1], metric="ip", dtype=dtype, **options)
    index.add(_numbers(rows) if ids is None else ids, rows, threads=threads)
    return _Usearch(index, threads)


def _load_usearch(file: str, threads: int, *, is_view: bool) -> Side:
    usearch: Any = importlib.import_module("usearch.index")
    return _Usearch(usearch.Index.restore(file, view=is_view), threads)


def _numbers(rows: _Rows) -> _Ids:
    return np.arange(len(rows), dtype=np.int64)


def _is_installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
