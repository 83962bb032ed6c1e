"""Read-only views of an index, for the packages above this one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fastmks._util.arrays import Array, Bools, Floats, Int64s
from fastmks._util.progress import Progress
from fastmks.engines.approximation import Approximation
from fastmks.engines.base import AboveFound, Cost, SearchRequest, TopKFound
from fastmks.engines.space import Space
from fastmks.engines.tree.tree import Tree
from fastmks.index.algorithms import ALGORITHMS
from fastmks.index.current_snapshot import CurrentSnapshot
from fastmks.index.index import Index, index_of
from fastmks.index.merge import NOWHERE
from fastmks.index.segment import Settings
from fastmks.index.snapshot import Snapshot, self_evaluations
from fastmks.kernels.objects import Objects

__all__ = ["IndexView", "current_of", "merged_view_of", "view_of"]


@dataclass(frozen=True)
class IndexView:
    """An index at one moment. Views of the same moment are equal."""

    _snapshot: Snapshot

    @property
    def settings(self) -> Settings:
        """The kernel, the algorithm and the other settings of the index."""
        return self._snapshot.settings

    @property
    def builds(self) -> Literal["tree", "filter"] | None:
        """The structure that an index for its algorithm builds at once, if any."""
        return ALGORITHMS[self.settings.algorithm].builds

    @property
    def like(self) -> Objects:
        """No objects, of the kind that the index holds."""
        return self._snapshot.like

    @property
    def kind(self) -> str:
        """The kind of the objects, in words."""
        return self._snapshot.like.kind

    @property
    def next_id(self) -> int:
        """A number greater than every one that has been an id."""
        return self._snapshot.next_id

    @property
    def n_segments(self) -> int:
        """The number of segments."""
        return len(self._snapshot.segments)

    @property
    def is_single(self) -> bool:
        """Whether the index has one segment, with no object removed."""
        return self._snapshot.is_single

    @property
    def has_built(self) -> tuple[bool, bool]:
        """Whether a segment has a tree, and whether one has a filter."""
        built = [segment.data.engines.has_built for segment in self._snapshot.segments]
        return any(has_tree for has_tree, _ in built), any(has_filter for _, has_filter in built)

    @property
    def can_have_tree(self) -> bool:
        """Whether all objects can be in one tree as they are; few new ones are scanned."""
        return self.is_single and not self._snapshot.segments[0].data.is_small

    @property
    def space(self) -> Space:
        """The objects of the first segment under the kernel."""
        return self._snapshot.segments[0].space

    @property
    def chunks(self) -> list[Objects]:
        """The objects, in chunks."""
        return [chunk for segment in self._snapshot.segments for chunk in segment.chunks()]

    def tree(self, progress: Progress) -> Tree:
        """Return the tree of the first segment, built if need be."""
        return self._snapshot.segments[0].data.engines.tree(progress)

    def has(self, ids: Array) -> Bools:
        """Return which of some ids are in use."""
        return self._snapshot.has(ids)

    def count_queries(self, queries: Any) -> int:
        """Return the number of queries; queries that do not fit are an error."""
        return self._snapshot.count_queries(queries)

    def emptied(self) -> Index:
        """Return an index like this one, without its objects."""
        snapshot = self._snapshot
        return index_of(Snapshot(snapshot.settings, [], snapshot.like, snapshot.next_id))

    # Searches whose arguments have been checked; see `Snapshot`.

    def can_afford(self, approximation: Approximation, k: int) -> bool:
        """Whether each segment can be given enough of a budget for its k best."""
        return self._snapshot.can_afford(approximation, k)

    def queries(self, queries: Any) -> list[Space]:
        """Return queries as a space for each segment."""
        return self._snapshot.queries(queries)

    def chosen(self, only: Any) -> list[Int64s | None]:
        """Return the slots in each segment of the objects in `only`; None where that is None."""
        return self._snapshot.chosen(only)

    def threads(self, threads: int | None) -> int:
        """Return how many threads a search may use; the index's own number when None."""
        return self._snapshot.threads(threads)

    def top_k(self, requests: Sequence[SearchRequest], k: int) -> tuple[TopKFound, str]:
        """Return the k best of each query, with ids, and the engine that searched most objects."""
        found, engine = self._snapshot.top_k(requests, k)
        is_real = found.positions < NOWHERE
        ids = self._snapshot.ids_at(np.where(is_real, found.positions, 0))
        return replace(found, ids=ids, cost=_with_queries(found.cost, requests)), engine

    def above(
        self, requests: Sequence[SearchRequest], thresholds: Floats
    ) -> tuple[AboveFound, str]:
        """Return all at or above each query's threshold, with ids, and the main engine."""
        found, engine = self._snapshot.above(requests, thresholds)
        ids = self._snapshot.ids_at(found.positions)
        return replace(found, ids=ids, cost=_with_queries(found.cost, requests)), engine

    def n_among(self, requests: Sequence[SearchRequest]) -> int:
        """Return how many objects the requests search."""
        return self._snapshot.n_among([request.among for request in requests])


def _with_queries(cost: Cost, requests: Sequence[SearchRequest]) -> Cost:
    """Return the cost with the evaluations that preparing the queries took."""
    prepared = self_evaluations(requests)
    return replace(cost, self_evaluations=cost.self_evaluations + prepared)


def current_of(index: Index) -> CurrentSnapshot:
    """Return the holder of an index's snapshot: for this package, and for changes in a journal."""
    return index._current  # noqa: SLF001, the only such access


def view_of(index: Index) -> IndexView:
    """Return the view of an index as it is now."""
    return IndexView(current_of(index).snapshot)


def merged_view_of(index: Index) -> IndexView:
    """Return the view of an index, its objects put into one segment."""
    return IndexView(current_of(index).merged())
