"""The segments of an index: objects that never change, their ids and engines, and removals."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fastmks._util.arrays import Array, Bools, Floats, Int64s
from fastmks._util.fork_safe import Lock, cached_property
from fastmks._util.progress import Progress
from fastmks.engines.approximation import EXACT
from fastmks.engines.base import AboveFound, Engine, SearchRequest, TopKFound
from fastmks.engines.faults import Namer, named_faults
from fastmks.engines.filters.base import CoreFilter
from fastmks.engines.scan import Scan
from fastmks.engines.space import Space, has_normalization
from fastmks.errors import FastmksError, KernelValueError
from fastmks.index.algorithms import ALGORITHMS, check_algorithm
from fastmks.index.built_engines import BuiltEngines
from fastmks.index.ids import Ids
from fastmks.index.merge import add_costs
from fastmks.index.planner import Planner
from fastmks.kernels import Kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.objects import Objects, join_objects, joins_at_once

_NONE_REMOVED: Int64s = np.zeros(0, dtype=np.int64)
_SMALL, _SMALL_EXPENSIVE = 1024, 64  # objects; the latter where evaluations take long
_MOST_CHUNKS = 64  # of objects that are not joined yet
_SPARE = 8  # extra hits beyond twice k, where some may be removed
_MOST_REMOVED = 0.25  # a segment is rebuilt once more than this share of it is removed


@dataclass(frozen=True)
class Settings:
    """Settings that all segments of an index share."""

    kernel: Kernel
    algorithm: str
    base: float
    threads: int
    has_text_ids: bool

    def chosen_algorithm(self, algorithm: str | None) -> str:
        """Return the algorithm of a search; the index's own when None."""
        return self.algorithm if algorithm is None else check_algorithm(algorithm)

    @cached_property
    def n_small(self) -> int:
        """Fewer objects than this are scanned quickly."""
        is_expensive = any(leaf.is_expensive for _, leaf in leaves(self.kernel))
        return _SMALL_EXPENSIVE if is_expensive else _SMALL

    @cached_property
    def can_fault(self) -> bool:
        """Whether the kernel may refuse objects that were read without an error."""
        return has_normalization(self.kernel)

    @cached_property
    def has_one_segment(self) -> bool:
        """Whether all objects must be in one segment."""
        return joins_at_once(self.kernel)


class SegmentData:
    """Objects in the order in which they were added, their ids, and their engines.

    Objects may come in several chunks, which are joined when they are first searched.
    `is_small` says that they are few, were added lately, and are scanned: nothing is built.
    """

    def __init__(
        self, settings: Settings, chunks: Sequence[Objects], ids: Ids, *, is_small: bool = False
    ) -> None:
        self.settings = settings
        self.is_small = is_small
        self.lacks_engine = False  # its objects do not allow it
        self._ids = ids
        self._chunks = tuple(chunks)
        self._making = Lock(
            settings.kernel,
            "searches, from its own function, the index whose objects are being prepared with it. "
            "Search another index there.",
        )
        self._made: tuple[BuiltEngines, Planner] | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def extended(self, objects: Objects, ids: Array) -> "SegmentData":
        """Return small data with more objects; they are joined when first searched."""
        chunks, all_ids = (*self.chunks, objects), self.ids.extended(ids)
        if len(chunks) > _MOST_CHUNKS:
            chunks, all_ids = (join_objects(self.settings.kernel, chunks),), Ids(all_ids.array)
        return SegmentData(self.settings, chunks, all_ids, is_small=True)

    @property
    def ids(self) -> Ids:
        """The ids of the objects."""
        return self._ids

    @property
    def engines(self) -> BuiltEngines:
        """Scan, filter and tree of the objects."""
        return self._make()[0]

    @property
    def space(self) -> Space:
        """The objects under the kernel."""
        return self._make()[0].space

    @property
    def has_planner(self) -> bool:
        """Whether its engines are there, and the planner that chooses between them."""
        return self._made is not None

    @property
    def planner(self) -> Planner:
        """The planner that chooses between the engines."""
        return self._make()[1]

    @property
    def chunks(self) -> tuple[Objects, ...]:
        """The objects: in the chunks that were added, or as one once they were searched."""
        chunks, made = self._chunks, self._made  # in this order: the engines replace chunks
        return chunks if made is None else (made[0].space.in_first_order(),)

    def objects(self, slots: Int64s) -> Objects:
        """Return copies of some objects."""
        space = self.space
        return space.objects.take(space.places_of(slots))

    @property
    def n_bytes(self) -> int:
        """The memory of objects, ids and engines."""
        chunks, made = self._chunks, self._made  # in this order, as above
        own = sum(chunk.n_bytes for chunk in chunks) if made is None else made[0].n_bytes
        return own + self.ids.n_bytes

    @property
    def has_built(self) -> tuple[bool, bool]:
        """Whether a tree is built, and whether a filter is."""
        made = self._made
        return (False, False) if made is None else made[0].has_built

    @property
    def built_filter(self) -> CoreFilter | None:
        """The filter; None where none is built."""
        made = self._made
        return None if made is None else made[0].built_filter

    def prepare(self, others: Sequence["SegmentData"], model: "SegmentData") -> None:
        """Build the engines that searches will need, so that no search has to wait for them.

        These are the engine of the index's algorithm, and those that one of `others`, which were
        merged into this, had built. Objects that do not allow an engine can still be scanned; a
        search that asks for it raises the error. `model` was prepared before.
        """
        engines, builds = self.engines, ALGORITHMS[self.settings.algorithm].builds
        for other in others:
            if other.has_planner:
                self.planner.inherit(other.planner)
        has_tree, has_filter = (
            any(built) for built in zip(*(other.has_built for other in others), strict=True)
        )
        try:
            if has_tree or builds == "tree":
                engines.tree(Progress(False))
            if has_filter or builds == "filter":
                engines.filter(Progress(False), like=model.built_filter)
        except FastmksError:
            self.lacks_engine = True

    def _make(self) -> tuple[BuiltEngines, Planner]:
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
        """Drop the chunks, which the engines now hold as one."""
        self._chunks = ()

    def _make_engines(self) -> BuiltEngines:
        settings, name = self.settings, self.ids.name
        chunks = self._chunks
        objects = chunks[0] if len(chunks) == 1 else join_objects(settings.kernel, chunks)
        return BuiltEngines(
            Space(objects, settings.kernel, name=name),
            base=settings.base,
            threads=settings.threads,
            name=name,
        )


class Segment:
    """Segment data without its removed objects. A slot is where an object lies in the data.

    Its position counts the kept objects before it. `without` returns another segment of the
    same data.
    """

    def __init__(self, data: SegmentData, removed: Int64s = _NONE_REMOVED) -> None:
        self.data = data
        self.removed = removed  # slots of the removed objects, increasing
        self._size = len(data) - len(removed)

    def __len__(self) -> int:
        return self._size

    @property
    def space(self) -> Space:
        """The objects under the kernel, removed ones included."""
        return self.data.space

    @cached_property
    def kept(self) -> Int64s:
        """The slots of the objects that are not removed."""
        n_objects = len(self.data.ids)  # restores the ids of a file, which checks their number
        is_kept = np.ones(n_objects, dtype=bool)
        is_kept[self.removed] = False
        return np.flatnonzero(is_kept).astype(np.int64)

    @property
    def ids(self) -> Array:
        """The ids of the kept objects."""
        array = self.data.ids.array
        return array if len(self.removed) == 0 else array[self.kept]

    @property
    def needs_rebuild(self) -> bool:
        """Whether many objects are removed, or some while an engine could not be built."""
        share = len(self.removed) / len(self.data)
        return share > _MOST_REMOVED or (share > 0 and self.data.lacks_engine)

    def find(self, wanted: Array) -> Int64s:
        """Return the slots of ids, -1 for unknown or removed ones."""
        found = self.data.ids.find(wanted)
        return found if len(self.removed) == 0 else np.where(self._is_removed(found), -1, found)

    def without(self, slots: Int64s) -> "Segment":
        """Return the segment with more of its objects removed, given by increasing slots."""
        at = np.searchsorted(self.removed, slots)
        return Segment(self.data, np.insert(self.removed, at, slots))

    def chunks(self) -> tuple[Objects, ...]:
        """The kept objects."""
        if len(self.removed) == 0:
            return self.data.chunks
        kept = self.data.objects(self.kept)
        if kept.numbers_features:  # joining drops features that only removed objects had
            kept = join_objects(self.data.settings.kernel, [kept])
        return (kept,)

    def ids_at(self, positions: Int64s) -> Array:
        """Return the ids of the kept objects at these positions in the segment."""
        return self.data.ids.at(self.slots_of(positions))

    def id_chunks(self) -> tuple[Array, ...]:
        """The ids of the kept objects, in chunks."""
        return self.data.ids.chunks if len(self.removed) == 0 else (self.ids,)

    def positions_of(self, slots: Int64s) -> Int64s:
        """Return the positions, among the kept objects, of those in these slots."""
        if len(self.removed) == 0:
            return slots
        return slots - np.searchsorted(self.removed, slots)

    def slots_of(self, positions: Int64s) -> Int64s:
        """Return the slots of the kept objects at these positions."""
        if len(self.removed) == 0:
            return positions
        before = self.removed - np.arange(len(self.removed))
        return positions + np.searchsorted(before, positions, side="right")

    def engine(self, request: SearchRequest, k: int) -> Engine:
        """Return the engine for a request, built if need be."""
        algorithm = request.algorithm
        if self.data.is_small and request.approximation.early_stop is None:
            has_bounds = self.space.has_bounds and algorithm != "scan"
            algorithm = "filter" if has_bounds else "scan"  # neither has anything to build
        elif (
            algorithm == "auto"
            and request.approximation.early_stop is not None
            and self.data.engines.has_offer
        ):
            algorithm = "filter"  # whatever was measured: the answer depends on the engine
        return ALGORITHMS[algorithm].engine(self.data.planner, request, k)

    def top_k(self, request: SearchRequest, k: int) -> tuple[TopKFound, str]:
        """Return the k best of each query, and the name of the engine."""
        if len(self.removed) == 0:
            return self._ask(request, k)
        try:
            return self._top_k_of_kept(request, k)
        except Exception as error:
            if not _is_about_values(error) or request.approximation.early_stop is not None:
                raise
        return self._ask(self._scan_of_kept(request), k)

    def _top_k_of_kept(self, request: SearchRequest, k: int) -> tuple[TopKFound, str]:
        if request.among is not None:
            return self._ask(request, k)
        if request.approximation.given():
            return self._ask(replace(request, among=self.kept), k)
        asked = k + min(len(self.removed), k + _SPARE)
        found, engine = self._ask(request, asked)
        is_removed = self._is_removed(found.positions)
        best = np.argsort(is_removed, axis=1, kind="stable")[:, :k]
        values = np.take_along_axis(found.values, best, axis=1)
        slots = np.take_along_axis(found.positions, best, axis=1)
        costs = [found.cost]
        lacking = np.flatnonzero(is_removed.sum(axis=1) > asked - k).astype(np.int64)
        if len(lacking):
            more, _ = self._ask(replace(request.of_queries(lacking), among=self.kept), k)
            values[lacking], slots[lacking] = more.values, more.positions
            costs.append(more.cost)
        return TopKFound(values, slots, found.gap, add_costs(costs)), engine

    def above(self, request: SearchRequest, thresholds: Floats) -> tuple[AboveFound, str]:
        """Return all at or above each query's threshold, and the engine's name."""
        if len(self.removed) == 0:
            return self._above(request, thresholds)
        try:
            return self._above(request, thresholds)
        except Exception as error:
            if not _is_about_values(error):
                raise
        return self._above(self._scan_of_kept(request), thresholds)

    def _scan_of_kept(self, request: SearchRequest) -> SearchRequest:
        """Return the same request without removed objects.

        They may be the cause of a failed search: a kernel need not have values for them.
        """
        among = self.kept if request.among is None else request.among
        return replace(request, among=among, algorithm="scan", approximation=EXACT)

    def _above(self, request: SearchRequest, thresholds: Floats) -> tuple[AboveFound, str]:
        engine = self.engine(request, 1)
        with named_faults(self.data.settings.kernel, request.name_query, self._namer(engine)):
            found = engine.above(request, thresholds)
        if len(self.removed):
            is_kept = ~self._is_removed(found.positions)
            counted = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_kept)])
            found = AboveFound(
                counted[found.offsets],
                found.values[is_kept],
                found.positions[is_kept],
                found.cost,
            )
        return found, engine.name

    def _ask(self, request: SearchRequest, k: int) -> tuple[TopKFound, str]:
        untraced = request if request.tracer is None else replace(request, tracer=None)
        engine = self.engine(untraced, k)
        name_query = name_object = self._namer(engine)
        if request.skip_self:  # the objects in the order of this engine
            request = replace(request, queries=engine.space)
        else:
            name_query = request.name_query
        if request.algorithm == "auto" and request.approximation.early_stop is None:
            # Exact answers keep all other promises, whichever engine was chosen for its speed.
            request = replace(request, approximation=EXACT)
        began = time.perf_counter()
        with named_faults(self.data.settings.kernel, name_query, name_object):
            found = engine.top_k(request, k)
        wanted = request.approximation
        is_whole = wanted is EXACT or engine.name == "scan" or not wanted.given()
        if is_whole and not (isinstance(engine, Scan) and engine.halves(request)):
            seconds = time.perf_counter() - began
            self.data.planner.learn(engine.name, request, k, seconds, found.cost.evaluations)
        return found, engine.name

    def _is_removed(self, slots: Int64s) -> Bools:
        at = np.minimum(np.searchsorted(self.removed, slots), len(self.removed) - 1)
        is_removed: Bools = self.removed[at] == slots
        return is_removed

    def _namer(self, engine: Engine) -> Namer:
        return lambda place: self.data.ids.name(engine.space.slot(place))


def _is_about_values(error: Exception) -> bool:
    """Whether an error is from the user's function or its values, so other objects may be fine."""
    return isinstance(error, KernelValueError) or not isinstance(error, FastmksError)
