"""Principal axes of vectors, and the number of them with the least search cost."""

from dataclasses import dataclass

from fastmks import _core
from fastmks._util.arrays import Floats
from fastmks._util.progress import Progress
from fastmks.engines.space import Space
from fastmks.errors import IndexFileError


@dataclass(frozen=True)
class Axes:
    """Orthonormal rows, the point that distances are measured from, and their forecast cost.

    Axes of a file have no forecast.
    """

    core: _core.AxisProjection
    survivors: float = 0.0  # share of the objects that the bounds of a typical search do not prune
    seconds_per_object: float = 0.0  # of a typical search, for each query

    @property
    def dimension(self) -> int:
        """The number of axes."""
        return self.core.dimension

    @property
    def rows(self) -> Floats:
        """The axes themselves."""
        return self.core.rows()

    @property
    def origin(self) -> Floats | None:
        """The point that distances are measured from; None for products."""
        return self.core.origin()


def choose_axes(
    space: Space,
    *,
    queries: Space | None = None,
    dimension: int | None = None,
    k: int = 10,
    threads: int = 1,
    progress: Progress = Progress(False),  # noqa: B008, an immutable value
) -> Axes:
    """Return principal axes of the vectors of a space that has scores.

    Their number is the one with the least cost of a search of k hits, measured on a sample of the
    objects and of the queries, or of the objects alone; any number gives the same answers.
    """
    asked = None if queries is None else queries.core
    with progress.hidden().bar(None) as report:
        try:
            chosen = _core.choose_axes(space.core, asked, dimension, k, threads, report)
        except _core.CoordinateFault:  # given axes were checked
            raise IndexFileError("the vectors must be finite.") from None
    return Axes(*chosen)
