"""The engine that evaluates every pair: oracle of all others, fast path where nothing prunes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastmks import _core
from fastmks.engines.base import AboveFound, Cost, Search, TopKFound, plain_int64
from fastmks.engines.space import Space

__all__ = ["Scan"]


@dataclass(frozen=True)
class Scan:
    """Evaluates the kernel on every pair."""

    space: Space
    name: ClassVar[str] = "scan"
    n_bytes: ClassVar[int] = 0

    def top_k(self, search: Search, k: int) -> TopKFound:
        """Return the k best of each query: always exact, which keeps every promise about values."""
        search.refuse_early_stop(": a scan has no bounds to say what it missed")
        with search.progress.bar(self._evaluations(search)) as report:
            values, positions = _core.scan_top_k(
                *search.among_all(self.space),
                search.skip_self,
                k,
                search.floors,
                search.threads,
                report,
            )
        return TopKFound(
            values, plain_int64(positions), np.zeros(len(search.queries)), self._cost(search)
        )

    def above(
        self, search: Search, thresholds: np.ndarray[Any, np.dtype[np.float64]]
    ) -> AboveFound:
        """Return all at or above each query's threshold."""
        with search.progress.bar(self._evaluations(search)) as report:
            offsets, values, positions = _core.scan_above(
                *search.among_all(self.space),
                thresholds,
                search.threads,
                report,
            )
        return AboveFound(plain_int64(offsets), values, plain_int64(positions), self._cost(search))

    def _evaluations(self, search: Search) -> int:
        n_among = len(self.space) if search.among is None else len(search.among)
        n_selves = n_among if search.skip_self else 0  # queries are not compared with themselves
        return len(search.queries) * n_among - n_selves

    def _cost(self, search: Search) -> Cost:
        return Cost(evaluations=self._evaluations(search))
