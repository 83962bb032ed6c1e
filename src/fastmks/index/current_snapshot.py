"""The snapshot that an index searches, and its changes: one at a time, while searches go on."""

from typing import Any

import numpy as np

from fastmks._util.arrays import Array, Bools
from fastmks._util.fork_safe import Lock
from fastmks.data.fasta import Fasta
from fastmks.engines.space import Space
from fastmks.errors import InvalidArgument
from fastmks.index.ids import added_ids, read_ids, shown
from fastmks.index.snapshot import Snapshot
from fastmks.index.view import find_ids
from fastmks.kernels.objects import read_more


class CurrentSnapshot:
    """Holder of the current snapshot; a change puts another in its place."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.changing = Lock(
            snapshot.settings.kernel,
            "changes, from its own function, the index that is being changed with it. Change "
            "another index there.",
        )
        self._recent = _Recent()

    def add(self, objects: Any, ids: Any, *, is_new: bool = True) -> Array:
        """Add objects and return their ids; `is_new` unless an earlier version has taken these."""
        with self.changing.alone():
            snapshot = self.snapshot
            settings = snapshot.settings
            read = read_more(objects, settings.kernel, snapshot.like_all())
            names = self._new_ids(given_ids(objects, ids), len(read), is_new=is_new)
            if len(names) == 0:
                return snapshot.ids[:0]
            read = read.copy()
            if settings.can_fault and not settings.has_one_segment:  # an error comes now
                Space(read, settings.kernel, name="objects[{}]".format)
            changed = snapshot.with_added(read, names)
            self._recent.add(snapshot, changed, names)
            self.snapshot = changed
            return names

    def remove(self, ids: Any) -> None:
        """Remove objects by their ids."""
        with self.changing.alone():
            snapshot = self.snapshot
            names = read_ids(ids, "ids")
            found = snapshot.find(names, name="ids")
            changed = snapshot.with_removed([np.unique(slots[slots >= 0]) for slots in found])
            self._recent.remove(snapshot, changed, names)
            self.snapshot = changed

    def merged(self) -> Snapshot:
        """Put all objects into one segment, and return that snapshot."""
        snapshot = self.snapshot
        if not snapshot.is_single:
            with self.changing.alone():
                snapshot = self.snapshot = self.snapshot.merged()
        return snapshot

    def _new_ids(self, ids: Any, n_objects: int, *, is_new: bool) -> Array:
        """Return the ids of objects that are to be added."""
        snapshot = self.snapshot
        if ids is None:
            for segment in snapshot.segments:
                _ = segment.data.ids  # reads those of a file: next_id must be greater
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


class _Recent:
    """The ids of all segments but the first, for changes: sorting them would take longer.

    Collected when ids are first given with objects, and updated with each snapshot from then on;
    collected again whenever another snapshot took its place.
    """

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None  # the one with these ids
        self._ids: set[Any] = set()

    def find(self, snapshot: Snapshot, names: Array) -> Bools:
        """Return which of some ids are in use."""
        if self._snapshot is not snapshot:
            self._ids = {name for segment in snapshot.segments[1:] for name in segment.ids.tolist()}
            self._snapshot = snapshot
        is_known: Bools = find_ids(snapshot.segments[:1], names)
        is_known |= np.array([name in self._ids for name in names.tolist()], dtype=bool)
        return is_known

    def add(self, before: Snapshot, after: Snapshot, names: Array) -> None:
        """Record the ids that were added."""
        if self._follows(before, after):
            self._ids.update(names.tolist())
            self._snapshot = after

    def remove(self, before: Snapshot, after: Snapshot, names: Array) -> None:
        """Record the ids that were removed."""
        if self._follows(before, after):
            self._ids.difference_update(names.tolist())
            self._snapshot = after

    def _follows(self, before: Snapshot, after: Snapshot) -> bool:
        is_known = self._snapshot is before and len(before.segments) > 0 and len(after.segments) > 0
        self._snapshot = None
        return is_known and before.segments[0].data is after.segments[0].data


def given_ids(objects: Any, ids: Any) -> Any:
    """Return the ids of objects: those given, or those in their FASTA file."""
    return objects.ids if ids is None and isinstance(objects, Fasta) else ids
