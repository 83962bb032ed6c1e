"""An index at one moment, read-only: its facts, and searches of all its segments as one.

The packages above this one use nothing else of an index. Requests have been checked.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastmks._util.arrays import Array, Bools, Floats, Int64s
from fastmks._util.fork_safe import cached_property
from fastmks._util.progress import Progress
from fastmks._util.validation import check_threads
from fastmks.engines.approximation import Approximation, split_approximation
from fastmks.engines.base import AboveFound, Cost, SearchRequest, TopKFound
from fastmks.engines.space import Space
from fastmks.engines.tree.tree import Tree
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.index.algorithms import ALGORITHMS
from fastmks.index.ids import Ids, check_kind, read_ids, read_mask, shown
from fastmks.index.merge import NOWHERE, floors_of, merge_above, merge_top_k
from fastmks.index.plan import Plan, merge_plans
from fastmks.index.segment import Segment, Settings
from fastmks.kernels.objects import Objects, join_objects, listed, read_queries

if TYPE_CHECKING:
    from fastmks.index.current_snapshot import CurrentSnapshot
    from fastmks.index.index import Index


class IndexView:
    """Segments in the order in which their objects were added.

    `like` is objects of the kind that the index holds, also where it holds none; `next_id` is
    greater than every number that has been an id.
    """

    def __init__(
        self, settings: Settings, segments: Sequence[Segment], like: Objects, next_id: int
    ) -> None:
        self.settings = settings
        self.segments = tuple(segments)
        self.like = like
        self.next_id = next_id
        self._size = sum(map(len, self.segments))
        # Whether the index has one segment, with no object removed.
        self.is_single = len(self.segments) == 1 and len(self.segments[0].removed) == 0

    def __len__(self) -> int:
        return self._size

    @property
    def builds(self) -> Literal["tree", "filter"] | None:
        """The structure that an index for its algorithm builds at once, if any."""
        return ALGORITHMS[self.settings.algorithm].builds

    @property
    def kind(self) -> str:
        """The kind of the objects, in words."""
        return self.like.kind

    @property
    def has_built(self) -> tuple[bool, bool]:
        """Whether a segment has a tree, and whether one has a filter."""
        built = [segment.data.engines.has_built for segment in self.segments]
        return any(has_tree for has_tree, _ in built), any(has_filter for _, has_filter in built)

    @property
    def can_have_tree(self) -> bool:
        """Whether all objects can be in one tree as they are; few new ones are scanned."""
        return self.is_single and not self.segments[0].data.is_small

    @property
    def space(self) -> Space:
        """The objects of the first segment under the kernel."""
        return self.segments[0].space

    @property
    def chunks(self) -> list[Objects]:
        """The objects, in chunks."""
        return [chunk for segment in self.segments for chunk in segment.chunks()]

    def tree(self, progress: Progress) -> Tree:
        """Return the tree of the first segment, built if need be."""
        return self.segments[0].data.engines.tree(progress)

    @cached_property
    def starts(self) -> Int64s:
        """The position of the first object of each segment."""
        ends = np.cumsum([len(segment) for segment in self.segments], dtype=np.int64)
        return np.concatenate([np.zeros(1, np.int64), ends])[:-1]

    @cached_property
    def ids(self) -> Array:
        """The ids of all objects, by position."""
        return (
            Ids(*(segment.ids for segment in self.segments)).array
            if self.segments
            else self._no_ids
        )

    def ids_at(self, positions: Int64s) -> Array:
        """Return the ids of the objects at these positions."""
        if self.is_single:
            return self.segments[0].data.ids.at(positions)
        found = [
            (here, self.segments[i].ids_at(positions[here] - self.starts[i]))
            for i, here in self._by_segment(positions)
        ]
        dtype = np.result_type(self._no_ids, *(ids for _, ids in found))
        ids = np.zeros(positions.shape, dtype=dtype)
        for here, some in found:
            ids[here] = some
        return ids

    @property
    def _no_ids(self) -> Array:
        return np.zeros(0, dtype="U1" if self.settings.has_text_ids else np.int64)

    def find(self, ids: Any, *, name: str) -> list[Int64s]:
        """Return the slots of ids in each segment, -1 elsewhere; an unknown id is an error."""
        wanted = read_ids(ids, name)
        check_kind(wanted, is_text=self.settings.has_text_ids, name=name)
        found = [segment.find(wanted) for segment in self.segments] if len(wanted) else []
        times = np.zeros(len(wanted), dtype=np.int64)
        for slots in found:
            times += slots >= 0
        if times.max(initial=0) > 1:  # only in a file: given ids were checked
            raise IndexFileError("the ids must differ.")
        is_known = times > 0
        if not is_known.all():
            unknown = wanted[~is_known][:1].tolist()[0]
            raise InvalidArgument(
                f"{name} must hold ids of the index only; {shown(unknown)} is not one."
            )
        return found or [np.zeros(0, np.int64)] * len(self.segments)

    def has(self, ids: Array) -> Bools:
        """Return which of some ids are in use."""
        return find_ids(self.segments, ids)

    def get(self, ids: Any) -> Any:
        """Return objects by their ids, in the format in which they are kept."""
        chunks, order = [], []
        for segment, found in zip(self.segments, self.find(ids, name="ids"), strict=True):
            if (found >= 0).any():
                chunks.append(segment.data.objects(found[found >= 0]))
                order.append(np.flatnonzero(found >= 0))
        if not chunks:
            return self.like.get(np.zeros(0, np.int64))
        together = chunks[0]
        if len(chunks) > 1:
            together = join_objects(self.settings.kernel, chunks)
        return together.get(np.argsort(np.concatenate(order)))

    def like_all(self) -> Objects:
        """Return the objects that further ones must match: all of them, where all are compared."""
        if self.settings.has_one_segment and self.segments:
            return self.segments[0].data.chunks[0]
        return self.like

    def chosen(self, only: Any) -> list[Int64s | None]:
        """Return the slots in each segment of the objects in `only`, ids or a mask, increasing.

        None stands for all.
        """
        if only is None:
            return [None] * len(self.segments)
        mask = read_mask(only, len(self))
        if mask is None:
            return [np.unique(found[found >= 0]) for found in self.find(only, name="only")]
        positions = np.flatnonzero(mask).astype(np.int64)
        among: list[Int64s | None] = [np.zeros(0, np.int64)] * len(self.segments)
        for i, here in self._by_segment(positions):
            among[i] = self.segments[i].slots_of(positions[here] - self.starts[i])
        return among

    def n_among(self, among: Sequence[Int64s | None]) -> int:
        """Return the number of objects in slots that `chosen` returned."""
        some = [slots for slots in among if slots is not None]
        return sum(map(len, some)) if some else len(self)

    def _by_segment(self, positions: Int64s) -> list[tuple[int, Array]]:
        """Return the segments that hold some positions, and a mask of these for each."""
        at = np.searchsorted(self.starts, positions, side="right") - 1
        return [(i, at == i) for i in np.unique(at).tolist()]

    def build(self) -> None:
        """Build all engines now, so that errors in a file appear when it is loaded."""
        for segment in self.segments:
            _ = segment.data.ids, segment.data.engines

    # Searches.

    def queries(self, queries: Any) -> list[Space]:
        """Return queries as a space for each segment: one for all where possible."""
        if not self.segments:
            return []
        queries = listed(queries)  # iterators can be read once only
        spaces = [self.segments[0].space.queries(queries)]
        for segment in self.segments[1:]:
            has_own = self.like.numbers_features
            spaces.append(segment.space.queries(queries) if has_own else spaces[0])
        return spaces

    def count_queries(self, queries: Any) -> int:
        """Return the number of queries, also where the index is empty."""
        return len(read_queries(queries, self.settings.kernel, self.like))

    def can_afford(self, approximation: Approximation, k: int) -> bool:
        """Whether each segment can be given enough of a budget for its k best.

        Removed objects would be evaluated too, and might be all that a budget finds.
        """
        if approximation.budget is None:
            return True
        least = sum(min(k, len(segment)) for segment in self.segments)
        has_removed = any(len(segment.removed) for segment in self.segments)
        return least <= approximation.budget and not has_removed

    def threads(self, threads: int | None) -> int:
        """Return how many threads a search may use; the index's own number when None."""
        wanted = self.settings.threads if threads is None else check_threads(threads)
        return self.segments[0].space.threads(wanted) if self.segments else wanted

    def plan(self, requests: Sequence[SearchRequest], k: int) -> Plan:
        """Return the plan of "auto" for the largest segment, with the costs of all segments."""
        plans, sizes = [], self._sizes(requests)
        for i, size in sizes.items():
            request = replace(requests[i], progress=requests[i].progress.hidden())
            plans.append(self.segments[i].data.planner.plan(request, min(k, size)))
        # Removed objects are evaluated too, but do not count as searched.
        return replace(merge_plans(plans, k), n_objects=sum(sizes.values()))

    def top_k(self, requests: Sequence[SearchRequest], k: int) -> tuple[TopKFound, str]:
        """Return the k best of each query, and the engine that searched most objects.

        Each segment has its request.
        """
        if self.is_single:
            return self.segments[0].top_k(requests[0], k)
        sizes = self._sizes(requests)
        promises = [requests[0].approximation]
        if len(sizes) > 1:
            promises = split_approximation(promises[0], list(sizes.values()), k)
        best: TopKFound | None = None
        main_engine = "scan"
        for (i, size), promise in zip(sizes.items(), promises, strict=True):
            segment, request = self.segments[i], replace(requests[i], approximation=promise)
            floors = floors_of(best, k)
            if floors is not None:  # of the larger segments, which come first
                request = replace(request, floors=floors)
            if best is not None:
                request = replace(request, progress=request.progress.hidden())
            answer, engine = segment.top_k(request, min(k, size))
            is_filled = answer.positions >= NOWHERE
            positions = segment.positions_of(answer.positions) + self.starts[i]
            positions = np.where(is_filled, NOWHERE, positions)
            answer = TopKFound(answer.values, positions, answer.gap, answer.cost)
            if best is None:
                best, main_engine = answer, engine
            else:
                best = merge_top_k([best, answer], k)
        assert best is not None  # k is at least 1, so a segment exists
        return best, main_engine

    def evaluated(self, requests: Sequence[SearchRequest]) -> Bools:
        """Return which objects traced requests evaluated, by position."""
        masks = [
            request.tracer.evaluated(len(segment.data))[segment.kept]
            for segment, request in zip(self.segments, requests, strict=True)
            if request.tracer is not None
        ]
        return np.concatenate(masks)

    def above(
        self, requests: Sequence[SearchRequest], thresholds: Floats
    ) -> tuple[AboveFound, str]:
        """Return all at or above each query's threshold, and the main engine."""
        found: list[AboveFound] = []
        main_engine = "scan"
        for i in self._sizes(requests):
            segment, request = self.segments[i], requests[i]
            if found:
                request = replace(request, progress=request.progress.hidden())
            answer, engine = segment.above(request, thresholds)
            main_engine = main_engine if found else engine
            positions = segment.positions_of(answer.positions) + self.starts[i]
            found.append(AboveFound(answer.offsets, answer.values, positions, answer.cost))
        if not found:
            none = np.zeros(len(thresholds) + 1, np.int64)
            found = [AboveFound(none, np.zeros(0), np.zeros(0, np.int64), Cost(evaluations=0))]
        return merge_above(found), main_engine

    def _sizes(self, requests: Sequence[SearchRequest]) -> dict[int, int]:
        """Return how many objects to search among in each segment that has any, most first."""
        sizes = {
            i: len(segment) if request.among is None else len(request.among)
            for i, (segment, request) in enumerate(zip(self.segments, requests, strict=True))
        }
        return dict(sorted(((i, n) for i, n in sizes.items() if n), key=lambda item: -item[1]))


def self_evaluations(requests: Sequence[SearchRequest]) -> int:
    """Return the number of evaluations K(query, query) that prepared the queries."""
    spaces = {request.queries for request in requests if not request.skip_self}
    return sum([space.n_self_evaluations for space in spaces])


def find_ids(segments: Sequence[Segment], ids: Array) -> Bools:
    """Return which of some ids are those of kept objects in these segments."""
    if len(ids) == 1:
        (name,) = ids.tolist()
        segments = [segment for segment in segments if segment.data.ids.may_have(name)]
    known = np.zeros(len(ids), dtype=bool)
    for segment in segments:
        known |= segment.find(ids) >= 0
    return known


def current_of(index: "Index") -> "CurrentSnapshot":
    """Return the holder of an index's snapshot: for this package, and for changes in a journal."""
    return index._current  # noqa: SLF001, the only such access


def view_of(index: "Index") -> IndexView:
    """Return the view of an index as it is now."""
    return current_of(index).snapshot


def merged_view_of(index: "Index") -> IndexView:
    """Return the view of an index, its objects put into one segment."""
    return current_of(index).merged()
