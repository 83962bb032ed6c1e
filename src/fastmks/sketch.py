"""The filter of vectors: 8-bit codes on principal axes bound every value."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastmks import _core
from fastmks.axes import Axes, choose_axes
from fastmks.engine import AboveFound, Cost, Search, TopKFound, plain_int64
from fastmks.errors import InvalidArgument
from fastmks.progress import Progress
from fastmks.spaces import Space

__all__ = ["Sketch", "build_sketch", "guess_build_seconds"]


@dataclass(frozen=True)
class Sketch:
    """Bounds the scores of all objects from their codes, and evaluates what the bounds leave."""

    space: Space
    core: _core.Sketch
    name: ClassVar[str] = "filter"

    @property
    def dimension(self) -> int:
        """How many coordinates an object has."""
        return self.core.dimension

    @property
    def n_bytes(self) -> int:
        """Memory of the codes, beside the objects themselves."""
        return self.core.n_bytes

    def top_k(self, search: Search, k: int) -> TopKFound:
        """Return the k best of each query: always exact, which keeps every promise about values."""
        search.refuse_early_stop("; got algorithm='filter'")
        with search.progress.bar(len(search.queries), unit=" queries") as report:
            values, positions, counts = _core.sketch_top_k(
                *search.among_all(self.space),
                self.core,
                search.skip_self,
                k,
                search.threads,
                report,
            )
        gap = np.zeros(len(search.queries))
        return TopKFound(values, plain_int64(positions), gap, _named_cost(counts))

    def above(
        self, search: Search, thresholds: np.ndarray[Any, np.dtype[np.float64]]
    ) -> AboveFound:
        """Return all at or above each query's threshold."""
        with search.progress.bar(len(search.queries), unit=" queries") as report:
            (offsets, values, positions), counts = _core.sketch_above(
                *search.among_all(self.space),
                self.core,
                thresholds,
                search.threads,
                report,
            )
        return AboveFound(plain_int64(offsets), values, plain_int64(positions), _named_cost(counts))


def _named_cost(counts: tuple[int, int, int, int]) -> Cost:
    evaluations, projections, bounds, operations = counts
    return Cost(evaluations=evaluations + projections, bounds=bounds, bound_operations=operations)


def guess_build_seconds(n_objects: int, n_columns: int, dimension: int | None = None) -> float:
    """Return about what a sketch takes to build on one thread, with or without its axes."""
    axes_seconds = 0.0
    if dimension is None:
        dimension = min(n_columns, 64)
        n_sampled, n_exact = min(n_objects, 8192), min(n_columns, 1024)
        axes_seconds = 0.01 + 5e-11 * n_sampled * n_columns * n_exact + 1e-9 * n_exact**3
    per_object = 4e-7 + 2e-10 * n_columns * dimension + 1e-8 * dimension
    return axes_seconds + n_objects * per_object


def build_sketch(
    space: Space,
    *,
    axes: Axes | None = None,
    dimension: int | None = None,
    threads: int,
    progress: Progress,
) -> Sketch:
    """Return a sketch of the vectors of a space that has scores, on the axes given if any."""
    if axes is None:
        axes = choose_axes(space, dimension=dimension)
    projection = _core.axis_projection(space.core, axes.rows, axes.origin)
    with progress.bar(2 * len(space), unit=" objects") as report:
        try:
            core = _core.sketch(space.core, projection, threads, report)
        except _core.CoordinateFault:
            raise InvalidArgument(
                "algorithm='filter' cannot bound vectors whose lengths leave the float64 range. "
                "Rescale them, or pass algorithm='scan'."
            ) from None
        return Sketch(space, core)
