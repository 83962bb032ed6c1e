"""The filter of kernels that have upper bounds of their own."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastmks import _core
from fastmks.engine import AboveFound, Cost, Search, TopKFound, plain_int64
from fastmks.spaces import Space

__all__ = ["OwnBounds"]


@dataclass(frozen=True)
class OwnBounds:
    """Evaluates in the order of the kernel's own bounds, until none is left that matters."""

    space: Space
    name: ClassVar[str] = "filter"

    def top_k(self, search: Search, k: int) -> TopKFound:
        """Return the k best of each query: always exact, which keeps every promise about values."""
        search.refuse_early_stop("; got algorithm='filter'")
        with search.progress.bar(len(search.queries), unit=" queries") as report:
            values, positions, counts = _core.filter_top_k(
                *search.among_all(self.space),
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
            (offsets, values, positions), counts = _core.filter_above(
                *search.among_all(self.space),
                thresholds,
                search.threads,
                report,
            )
        return AboveFound(plain_int64(offsets), values, plain_int64(positions), _named_cost(counts))


def _named_cost(counts: tuple[int, int]) -> Cost:
    evaluations, bounds = counts
    return Cost(evaluations=evaluations, bounds=bounds)
