"""The engine that evaluates every pair: oracle of all others, fast path where nothing prunes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastmks import _core
from fastmks.progress import Progress
from fastmks.spaces import Space

__all__ = ["Scan", "Search"]


@dataclass(frozen=True, kw_only=True)
class Search:
    """What an engine is asked: these queries, among these positions (all when None)."""

    queries: Space
    among: np.ndarray[Any, np.dtype[np.int64]] | None
    skip_self: bool  # query i is object i, and not an answer to itself
    threads: int
    progress: Progress


@dataclass(frozen=True)
class Scan:
    """Evaluates the kernel on every pair."""

    space: Space
    name: ClassVar[str] = "scan"

    def n_among(self, search: Search) -> int:
        """Return how many objects each query is compared with."""
        return len(self.space) if search.among is None else len(search.among)

    def evaluations(self, search: Search) -> int:
        """Return the kernel evaluations of any search: one per query and object."""
        return len(search.queries) * self.n_among(search)

    def top_k(self, search: Search, k: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return values and positions of the k best, (n_queries, k)."""
        with search.progress.bar(self.evaluations(search)) as report:
            values, positions = _core.scan_top_k(
                self.space.core,
                search.queries.core,
                search.among,
                search.skip_self,
                k,
                search.threads,
                report,
            )
        return values, _plain_int64(positions)

    def above(
        self, search: Search, thresholds: np.ndarray[Any, np.dtype[np.float64]]
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return offsets, values and positions of all at or above each query's threshold."""
        with search.progress.bar(self.evaluations(search)) as report:
            offsets, values, positions = _core.scan_above(
                self.space.core,
                search.queries.core,
                search.among,
                thresholds,
                search.threads,
                report,
            )
        return _plain_int64(offsets), values, _plain_int64(positions)


def _plain_int64(array: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The same memory as numpy's own int64: the core's arrives as C's long long and prints so."""
    return array.view(np.int64)
