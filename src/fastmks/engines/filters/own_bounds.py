"""The filter of kernels that have upper bounds of their own."""

from dataclasses import dataclass

from fastmks import _core
from fastmks.engines.filters.base import CoreFilter, FilterKind, Report
from fastmks.files.record import Record


@dataclass(frozen=True)
class OwnBounds(CoreFilter):
    """The engine that evaluates in the order of the kernel's own bounds, while they can be hits."""

    core_top_k = _core.own_bounds_top_k
    core_above = _core.own_bounds_above
    core_approximate_top_k = _core.own_bounds_approximate_top_k

    # The kernel computes the bounds: nothing is kept.
    n_bytes = 0
    structure = ()
    check_steps = 0

    def record(self) -> Record:
        """Return the kind of the filter, which is all of it."""
        return Record({"kind": OWN_BOUNDS.name})

    def find_fault(self, threads: int, report: Report) -> str:
        """Return no fault: the filter has no figures."""
        return ""


OWN_BOUNDS = FilterKind(
    name="own bounds",
    serves=lambda space: space.has_bounds,
    build=lambda space, **_: OwnBounds(space),
    restore=lambda space, _: OwnBounds(space),
    guess_seconds=lambda *_: 0.0,
)
