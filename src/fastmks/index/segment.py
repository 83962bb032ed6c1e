"""The parts of an index: objects that stay as they are, with ids and engines, and who has left."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.fork_safe import Lock, cached_property
from fastmks._util.progress import Progress
from fastmks.engines.approximation import EXACT
from fastmks.engines.base import AboveFound, Engine, Search, TopKFound
from fastmks.engines.filters.base import CoreFilter
from fastmks.engines.space import Namer, Space, faults_named, has_normalization
from fastmks.engines.tree.dual_search import DualTree
from fastmks.engines.tree.search import WalkedTree
from fastmks.engines.tree.traversal import Traversal
from fastmks.errors import FastmksError, KernelValueError
from fastmks.index.built_engines import Engines
from fastmks.index.ids import Ids
from fastmks.index.merge import add_costs
from fastmks.index.planner import Planner
from fastmks.kernels import Kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.objects import Objects, join_objects, joins_at_once

__all__ = ["Choice", "Content", "Part", "Settings"]

_Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_NOBODY: _Positions = np.zeros(0, dtype=np.int64)
_FRESH, _FRESH_DEAR = 1024, 64  # objects; the latter where evaluations take long
_MOST_CHUNKS = 64  # of objects that wait to be put together
_SPARE = 8  # hits asked for beyond twice as many as wanted, where some may have left
_MOST_LEFT = 0.25  # a part is made anew once such a share of it has left


@dataclass(frozen=True)
class Settings:
    """What all parts of an index have in common."""

    kernel: Kernel
    algorithm: str
    base: float
    threads: int
    has_text_ids: bool

    @cached_property
    def n_fresh(self) -> int:
        """Fewer objects than this are soon scanned."""
        is_dear = any(leaf.is_dear for _, leaf in leaves(self.kernel))
        return _FRESH_DEAR if is_dear else _FRESH

    @cached_property
    def can_fault(self) -> bool:
        """Whether some objects can be read and yet not be compared."""
        return has_normalization(self.kernel)

    @cached_property
    def has_one_part(self) -> bool:
        """Whether all objects must be in one part."""
        return joins_at_once(self.kernel)


@dataclass(frozen=True)
class Choice:
    """What the caller wants to be searched with."""

    algorithm: str
    traversal: Traversal


class Content:
    """Objects in the order in which they came, their ids, and the engines that search them.

    Objects may come in several chunks, which are put together when they are first searched.
    `is_fresh` says that they are few, came lately, and are not worth more than a scan.
    """

    def __init__(
        self, settings: Settings, chunks: Sequence[Objects], ids: Ids, *, is_fresh: bool = False
    ) -> None:
        self.settings = settings
        self.is_fresh = is_fresh
        self.lacks_engine = False  # some objects are such that it could not be built
        self._ids = ids
        self._chunks = tuple(chunks)
        self._making = Lock(
            settings.kernel,
            "searches, from its own function, the index whose objects are being made ready with "
            "it. Search another index there.",
        )
        self._made: tuple[Engines, Planner] | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def extended(self, objects: Objects, ids: np.ndarray[Any, Any]) -> "Content":
        """Return fresh content with some objects more; they are put together when searched."""
        chunks, all_ids = (*self.chunks, objects), self.ids.extended(ids)
        if len(chunks) > _MOST_CHUNKS:
            chunks, all_ids = (join_objects(self.settings.kernel, chunks),), Ids(all_ids.array)
        return Content(self.settings, chunks, all_ids, is_fresh=True)

    @property
    def ids(self) -> Ids:
        """The ids of the objects."""
        return self._ids

    @property
    def engines(self) -> Engines:
        """Scan, filter and tree of the objects."""
        return self._make()[0]

    @property
    def space(self) -> Space:
        """The objects under the kernel."""
        return self._make()[0].space

    @property
    def planner(self) -> Planner:
        """Which of them to use."""
        return self._make()[1]

    @property
    def chunks(self) -> tuple[Objects, ...]:
        """The objects, as put together as they are by now."""
        chunks, made = self._chunks, self._made  # in this order: they go when the engines come
        return chunks if made is None else (made[0].space.in_first_order(),)

    def objects(self, positions: _Positions) -> Objects:
        """Return copies of some objects."""
        space = self.space
        return space.objects.take(space.places_of(positions))

    @property
    def n_bytes(self) -> int:
        """The memory of objects, ids and engines."""
        chunks, made = self._chunks, self._made  # in this order, as above
        own = sum(chunk.n_bytes for chunk in chunks) if made is None else made[0].n_bytes
        return own + self.ids.n_bytes

    @property
    def has_built(self) -> tuple[bool, bool]:
        """Whether there is a tree, and whether there is a filter."""
        made = self._made
        return (False, False) if made is None else made[0].has_built

    @property
    def built_filter(self) -> CoreFilter | None:
        """The filter, where there is one that is ready."""
        made = self._made
        return None if made is None else made[0].built_filter

    def prepare(self, others: Sequence["Content"], model: "Content") -> None:
        """Build what searches will want: no search has to wait for it.

        That is what the index is for, and what one of those had that this is made of. Objects that
        it cannot be built for are still there to be scanned, and whoever asks for it is told.
        `model` has been through it.
        """
        engines, algorithm = self.engines, self.settings.algorithm
        has_tree, has_filter = (
            any(built) for built in zip(*(other.has_built for other in others), strict=True)
        )
        try:
            if has_tree or algorithm in ("tree", "dual-tree"):
                engines.tree(Progress(False))
            if has_filter or algorithm == "filter":
                engines.filter(Progress(False), like=model.built_filter)
        except FastmksError:
            self.lacks_engine = True

    def _make(self) -> tuple[Engines, Planner]:
        made = self._made
        if made is not None:
            return made
        with self._making.alone():
            if self._made is None:
                engines = self._make_engines()
                self._made = engines, Planner(engines)
                self._forget()
            return self._made

    def _forget(self) -> None:
        """Let go of what the engines were made of."""
        self._chunks = ()

    def _make_engines(self) -> Engines:
        settings, name = self.settings, self.ids.name
        chunks = self._chunks
        objects = chunks[0] if len(chunks) == 1 else join_objects(settings.kernel, chunks)
        return Engines(
            Space(objects, settings.kernel, name=name),
            base=settings.base,
            threads=settings.threads,
            name=name,
        )


class Part:
    """Some content without the objects that have left. Positions are those in the content.

    Never changed: `without` gives another one of the same content.
    """

    def __init__(self, content: Content, dead: _Positions = _NOBODY) -> None:
        self.content = content
        self.dead = dead  # positions of those that have left, increasing
        self._size = len(content) - len(dead)

    def __len__(self) -> int:
        return self._size

    @property
    def space(self) -> Space:
        """The objects, those that have left included."""
        return self.content.space

    @cached_property
    def living(self) -> _Positions:
        """The positions of those that are there."""
        n_objects = len(self.content.ids)  # of a file, once there are as many as it says
        is_there = np.ones(n_objects, dtype=bool)
        is_there[self.dead] = False
        return np.flatnonzero(is_there).astype(np.int64)

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        """The ids of those that are there."""
        array = self.content.ids.array
        return array if len(self.dead) == 0 else array[self.living]

    @property
    def is_worn(self) -> bool:
        """Whether so many have left, or perhaps the bad ones, that it is time to make it anew."""
        share = len(self.dead) / len(self.content)
        return share > _MOST_LEFT or (share > 0 and self.content.lacks_engine)

    def find(self, wanted: np.ndarray[Any, Any]) -> _Positions:
        """Return the positions of ids, -1 for those that are not here, or no longer."""
        found = self.content.ids.find(wanted)
        return found if len(self.dead) == 0 else np.where(self._is_dead(found), -1, found)

    def without(self, positions: _Positions) -> "Part":
        """Return the part without some more of its objects, at increasing positions."""
        at = np.searchsorted(self.dead, positions)
        return Part(self.content, np.insert(self.dead, at, positions))

    def chunks(self) -> tuple[Objects, ...]:
        """The objects that are there."""
        if len(self.dead) == 0:
            return self.content.chunks
        living = self.content.objects(self.living)
        if living.numbers_features:  # joined, it forgets features that only the others had
            living = join_objects(self.content.settings.kernel, [living])
        return (living,)

    def ids_at(self, ranks: _Positions) -> np.ndarray[Any, Any]:
        """Return the ids of those with so many before them."""
        return self.content.ids.at(self.position(ranks))

    def id_chunks(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The ids of those that are there, in pieces."""
        return self.content.ids.chunks if len(self.dead) == 0 else (self.ids,)

    def rank(self, positions: _Positions) -> _Positions:
        """Return how many of those that are there come before the ones at these positions."""
        if len(self.dead) == 0:
            return positions
        return positions - np.searchsorted(self.dead, positions)

    def position(self, ranks: _Positions) -> _Positions:
        """Return the positions of those with so many before them."""
        if len(self.dead) == 0:
            return ranks
        before = self.dead - np.arange(len(self.dead))
        return ranks + np.searchsorted(before, ranks, side="right")

    def engine(self, choice: Choice, search: Search, k: int) -> Engine:
        """Return the engine for a search, built if need be."""
        engines, algorithm = self.content.engines, choice.algorithm
        if self.content.is_fresh and search.approximation.early_stop is None:
            has_bounds = engines.space.has_bounds and algorithm != "scan"
            algorithm = "filter" if has_bounds else "scan"  # neither has anything to build
        match algorithm:
            case "auto":
                return self.content.planner.choose(search, k)
            case "scan":
                return engines.scan
            case "filter":
                return engines.filter(search.progress)
            case "tree":
                return WalkedTree(engines.tree(search.progress), choice.traversal)
            case _:
                return DualTree(engines.tree(search.progress), choice.traversal)

    def top_k(
        self, choice: Choice, search: Search, k: int, name_query: Namer
    ) -> tuple[TopKFound, str]:
        """Return the k best of each query, and who found them."""
        if len(self.dead) == 0:
            return self._ask(choice, search, k, name_query)
        try:
            return self._top_k_of_living(choice, search, k, name_query)
        except Exception as error:
            if not _is_about_values(error) or search.approximation.early_stop is not None:
                raise
        return self._ask(*self._without_dead(choice, search), k, name_query)

    def _top_k_of_living(
        self, choice: Choice, search: Search, k: int, name_query: Namer
    ) -> tuple[TopKFound, str]:
        if search.among is not None:
            return self._ask(choice, search, k, name_query)
        if search.approximation.given():
            return self._ask(choice, replace(search, among=self.living), k, name_query)
        asked = k + min(len(self.dead), k + _SPARE)
        found, engine = self._ask(choice, search, asked, name_query)
        is_dead = self._is_dead(found.positions)
        best = np.argsort(is_dead, axis=1, kind="stable")[:, :k]
        values = np.take_along_axis(found.values, best, axis=1)
        positions = np.take_along_axis(found.positions, best, axis=1)
        costs = [found.cost]
        lacking = np.flatnonzero(is_dead.sum(axis=1) > asked - k).astype(np.int64)
        if len(lacking):
            few = replace(search.of_queries(lacking), among=self.living)
            more, _ = self._ask(choice, few, k, lambda i: name_query(int(lacking[i])))
            values[lacking], positions[lacking] = more.values, more.positions
            costs.append(more.cost)
        return TopKFound(values, positions, found.gap, add_costs(costs)), engine

    def above(
        self,
        choice: Choice,
        search: Search,
        thresholds: np.ndarray[Any, np.dtype[np.float64]],
        name_query: Namer,
    ) -> tuple[AboveFound, str]:
        """Return all at or above each query's threshold, and who found them."""
        if len(self.dead) == 0:
            return self._above(choice, search, thresholds, name_query)
        try:
            return self._above(choice, search, thresholds, name_query)
        except Exception as error:
            if not _is_about_values(error):
                raise
            choice, search = self._without_dead(choice, search)
        return self._above(choice, search, thresholds, name_query)

    def _without_dead(self, choice: Choice, search: Search) -> tuple[Choice, Search]:
        """Return how to search without evaluating those that have left.

        They may be why a search failed: a kernel need not have values for them.
        """
        among = self.living if search.among is None else search.among
        search = replace(search, among=among, approximation=EXACT)
        return replace(choice, algorithm="scan"), search

    def _above(
        self,
        choice: Choice,
        search: Search,
        thresholds: np.ndarray[Any, np.dtype[np.float64]],
        name_query: Namer,
    ) -> tuple[AboveFound, str]:
        engine = self.engine(choice, search, 1)
        with faults_named(self.content.settings.kernel, name_query, self._namer(engine)):
            found = engine.above(search, thresholds)
        if len(self.dead):
            is_there = ~self._is_dead(found.positions)
            counted = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_there)])
            found = AboveFound(
                counted[found.offsets],
                found.values[is_there],
                found.positions[is_there],
                found.cost,
            )
        return found, engine.name

    def _ask(
        self, choice: Choice, search: Search, k: int, name_query: Namer
    ) -> tuple[TopKFound, str]:
        untraced = search if search.tracer is None else replace(search, tracer=None)
        engine = self.engine(choice, untraced, k)
        name_object = self._namer(engine)
        if search.skip_self:  # the objects as this engine keeps them
            search = replace(search, queries=engine.space)
            name_query = name_object
        began = time.perf_counter()
        with faults_named(self.content.settings.kernel, name_query, name_object):
            found = engine.top_k(search, k)
        self.content.planner.learn(engine.name, search, k, time.perf_counter() - began)
        return found, engine.name

    def _is_dead(self, positions: _Positions) -> np.ndarray[Any, np.dtype[np.bool_]]:
        at = np.minimum(np.searchsorted(self.dead, positions), len(self.dead) - 1)
        is_dead: np.ndarray[Any, np.dtype[np.bool_]] = self.dead[at] == positions
        return is_dead

    def _namer(self, engine: Engine) -> Namer:
        return lambda place: self.content.ids.name(engine.space.position(place))


def _is_about_values(error: Exception) -> bool:
    """Whether other objects may have been without it: of the user's function, or of its values."""
    return isinstance(error, KernelValueError) or not isinstance(error, FastmksError)
