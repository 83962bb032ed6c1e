"""The filter of vectors: 8-bit codes on principal axes bound every value."""

from dataclasses import dataclass
from typing import Any

from fastmks import _core
from fastmks._util.progress import Progress
from fastmks.engines.base import Offer
from fastmks.engines.faults import Namer
from fastmks.engines.filters.axes import Axes, choose_axes
from fastmks.engines.filters.base import CoreFilter, FilterKind, Report
from fastmks.engines.space import Space
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record, restoring

_QUERY_SECONDS = 5e-6  # of a query, for any objects


@dataclass(frozen=True)
class Codes(CoreFilter):
    """The engine that bounds the scores of all objects from their codes, and evaluates the rest."""

    core: _core.CodeTable
    axes: Axes
    core_top_k = _core.codes_top_k
    core_above = _core.codes_above
    core_approximate_top_k = _core.codes_approximate_top_k

    @property
    def structure(self) -> tuple[_core.CodeTable]:
        """The codes."""
        return (self.core,)

    @property
    def dimension(self) -> int:
        """The number of coordinates of an object."""
        return self.core.dimension

    @property
    def n_bytes(self) -> int:
        """Memory of the codes, without the objects."""
        return self.core.n_bytes

    def record(self) -> Record:
        """Return the codes as a record, for a file."""
        return Record({"kind": CODES.name}, self.core.arrays())

    @property
    def check_steps(self) -> int:
        """Two steps an object: it is projected, and then coded."""
        return 2 * len(self.space)

    def find_fault(self, threads: int, report: Report) -> str:
        """Return which figure does not bound the objects, on these axes and in these leaves."""
        try:
            return self.core.find_fault(self.space.core, threads, report)
        except _core.CoordinateFault:
            return "the lengths of the vectors are not finite"


def _guess_seconds(n_objects: int, n_columns: int, dimension: int | None = None) -> float:
    """Return an estimate of the time to build codes on one thread, with or without their axes."""
    axes_seconds = 0.0
    if dimension is None:
        dimension = min(n_columns, 64)
        axes_seconds = _core.guess_axes_seconds(n_objects, n_columns)
    per_object = 4e-7 + 2e-10 * n_columns * dimension + 1e-8 * dimension
    return axes_seconds + n_objects * per_object


def build_codes(
    space: Space,
    *,
    axes: Axes | None = None,
    dimension: int | None = None,
    threads: int,
    progress: Progress,
) -> Codes:
    """Return the codes of the vectors of a space that has scores, on the axes given if any."""
    if axes is None:
        axes = choose_axes(space, dimension=dimension, threads=threads, progress=progress)
    with progress.bar(2 * len(space), unit=" objects") as report:
        try:
            core = _core.code_table(space.core, axes.core, threads, report)
        except _core.CoordinateFault:
            raise InvalidArgument(
                "algorithm='filter' cannot bound vectors whose lengths leave the float64 range. "
                "Rescale them, or pass algorithm='scan'."
            ) from None
        return Codes(space, core, axes)


def _restore(space: Space, record: Record) -> Codes:
    """Return the codes of a file."""
    with restoring("the codes"):
        core = _core.restore_codes(space.core, dict(record.arrays))
    return Codes(space, core, Axes(core.axes))


def _build(
    space: Space, *, threads: int, progress: Progress, like: CoreFilter | None, **_: Any
) -> Codes:
    """Return codes on the axes of a filter of at least half as many like objects, if one exists.

    Choosing axes takes longer than the codes of few objects.
    """
    axes = None
    if isinstance(like, Codes) and len(like.space) >= len(space) // 2:
        axes = like.axes
    return build_codes(space, axes=axes, threads=threads, progress=progress)


def _offer(
    space: Space, queries: Space, k: int, *, threads: int, progress: Progress, name: Namer
) -> Offer:
    axes = choose_axes(space, queries=queries, k=k, threads=threads, progress=progress)
    return Offer(
        space,
        _guess_seconds(len(space), space.n_columns, axes.dimension),
        _QUERY_SECONDS + len(space) * axes.seconds_per_object,
        f"{axes.dimension} axes leave {axes.survivors:.2g} of a sample",
        lambda threads, progress: build_codes(space, axes=axes, threads=threads, progress=progress),
    )


CODES = FilterKind(
    name="sketch",
    serves=lambda space: space.has_dense_scores,
    build=_build,
    restore=_restore,
    guess_seconds=lambda space, _: _guess_seconds(len(space), space.n_columns),
    offer=_offer,
)
