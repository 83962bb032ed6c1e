"""All segments of an index at one moment, and what a change makes of them.

Added objects form a segment of their own. Small segments are merged with their
neighbours, so that each is at least twice as large as the next: the logarithmic method
(docs/guides/changing.md has its costs). Objects that are removed are marked, and a segment
is rebuilt when more than a quarter of it is removed.
"""

from collections.abc import Sequence

import numpy as np

from fastmks._util.arrays import Array, Int64s
from fastmks.index.ids import Ids
from fastmks.index.segment import Segment, SegmentData, Settings
from fastmks.index.view import IndexView
from fastmks.kernels.objects import Objects, join_objects

_GROWTH = 2  # each segment has at least this many times the objects of the next


class Snapshot(IndexView):
    """A view of an index with its changes: each returns another snapshot."""

    def with_added(self, objects: Objects, ids: Array) -> "Snapshot":
        """Return the snapshot with more objects, already checked and owned by the index."""
        next_id = max(self.next_id, Ids(ids).next_number)
        if self._can_wait(len(ids)):
            waiting = Segment(self.segments[-1].data.extended(objects, ids))
            return Snapshot(self.settings, [*self.segments[:-1], waiting], self.like, next_id)
        is_small = len(ids) < self.settings.n_small
        data = SegmentData(self.settings, [objects], Ids(ids), is_small=is_small)
        segments, tail = list(self.segments), [Segment(data)]
        while segments and self._is_too_small(segments[-1:], tail):
            tail.insert(0, segments.pop())
        is_alone = len(tail) == 1 and not self.settings.has_one_segment
        last = tail[0] if is_alone else self._joined(tail)
        return Snapshot(self.settings, [*segments, last], self.like, next_id)

    def _can_wait(self, n_objects: int) -> bool:
        """Whether objects may join the last segment, with nothing to merge."""
        if not self.segments or self.settings.has_one_segment:
            return False
        tail = self.segments[-1]
        size = len(tail) + n_objects
        is_small = tail.data.is_small and size < self.settings.n_small and len(tail.removed) == 0
        return is_small and (len(self.segments) == 1 or len(self.segments[-2]) >= _GROWTH * size)

    def with_removed(self, removed: Sequence[Int64s]) -> "Snapshot":
        """Return the snapshot without some objects, given by their slots in each segment."""
        segments = []
        for segment, slots in zip(self.segments, removed, strict=True):
            left = segment if len(slots) == 0 else segment.without(slots)
            if len(left) == 0:
                continue
            has_removed = len(left.removed) > 0
            needs_rebuild = left.needs_rebuild or (self.settings.has_one_segment and has_removed)
            segments.append(self._joined([left]) if needs_rebuild else left)
        return self._balanced(segments)

    def compacted(self) -> "Snapshot":
        """Return the snapshot with removed objects dropped from memory."""
        segments = [one if len(one.removed) == 0 else self._joined([one]) for one in self.segments]
        return Snapshot(self.settings, segments, self.like, self.next_id)

    def merged(self) -> "Snapshot":
        """Return the snapshot with all objects in one segment."""
        if self.is_single or len(self) == 0:
            return self
        segment = self._joined(self.segments, is_small=False)
        return Snapshot(self.settings, [segment], self.like, self.next_id)

    def _balanced(self, segments: Sequence[Segment]) -> "Snapshot":
        """Merge neighbours until each segment is large enough for those after it."""
        groups: list[list[Segment]] = []
        for segment in segments:
            group = [segment]
            while groups and self._is_too_small(groups[-1], group):
                group = groups.pop() + group
            groups.append(group)
        merged = [group[0] if len(group) == 1 else self._joined(group) for group in groups]
        return Snapshot(self.settings, merged, self.like, self.next_id)

    def _is_too_small(self, group: list[Segment], following: list[Segment]) -> bool:
        if self.settings.has_one_segment:
            return True
        size, after = sum(map(len, group)), sum(map(len, following))
        is_small = size + after < self.settings.n_small and group[-1].data.is_small
        return is_small or size < _GROWTH * after

    def _joined(self, segments: Sequence[Segment], *, is_small: bool | None = None) -> Segment:
        """Return one segment of several; a small one is joined when first searched."""
        n_objects = sum(map(len, segments))
        chunks = [chunk for segment in segments for chunk in segment.chunks()]
        ids = Ids(*(chunk for segment in segments for chunk in segment.id_chunks()))
        if self.settings.has_one_segment:
            chunks, ids = [join_objects(self.settings.kernel, chunks)], Ids(ids.array)
        if is_small is None:
            is_small = n_objects < self.settings.n_small
        data = SegmentData(self.settings, chunks, ids, is_small=is_small)
        if self.settings.has_one_segment or not data.is_small:
            model = max(self.segments, key=len, default=segments[0]).data
            data.prepare([segment.data for segment in segments], model)
        return Segment(data)


def first_snapshot(objects: Objects, settings: Settings, ids: Ids) -> Snapshot:
    """Return the snapshot of one segment that an index begins with."""
    data = SegmentData(settings, [objects], ids)
    data.engines  # noqa: B018, so that objects which the kernel cannot compare are an error now
    none = objects.take(np.zeros(0, np.int64))
    # Joining drops the features of all objects.
    like = join_objects(settings.kernel, [none])
    return Snapshot(settings, [Segment(data)], like, ids.next_number)
