"""The axes on which vectors are told apart soonest, and how many of them pay."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks import _core
from fastmks._util.progress import Progress
from fastmks.engines.space import Space
from fastmks.errors import IndexFileError

__all__ = ["Axes", "choose_axes"]

_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Axes:
    """Orthonormal rows, the point that distances are measured from, and what to expect of them.

    Those of a file come without expectations.
    """

    core: _core.AxisProjection
    survivors: float = 0.0  # share of the objects that the bounds of a typical search leave
    seconds_per_object: float = 0.0  # that a typical search needs, for each query

    @property
    def dimension(self) -> int:
        """How many there are."""
        return self.core.dimension

    @property
    def rows(self) -> _Floats:
        """The axes themselves."""
        return self.core.rows()

    @property
    def origin(self) -> _Floats | None:
        """Where distances are measured from; None for products."""
        return self.core.origin()


def choose_axes(
    space: Space,
    *,
    queries: Space | None = None,
    dimension: int | None = None,
    k: int = 10,
    threads: int = 1,
    progress: Progress = Progress(False),  # noqa: B008, which nothing can change
) -> Axes:
    """Return principal axes of the vectors of a space that has scores.

    Their number is the one that makes a search of k hits cheapest, judged on a sample of the
    objects and of the queries, or of the objects alone; any number gives the same answers.
    """
    asked = None if queries is None else queries.core
    with progress.hidden().bar(None) as report:
        try:
            chosen = _core.choose_axes(space.core, asked, dimension, k, threads, report)
        except _core.CoordinateFault:  # those that were given were checked
            raise IndexFileError("the vectors must be finite.") from None
    return Axes(*chosen)
