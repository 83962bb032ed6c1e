"""The engine that evaluates every pair: the reference for all others, fast without pruning."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Floats
from fastmks.engines.base import AboveFound, Cost, SearchRequest, TopKFound, plain_int64
from fastmks.engines.space import Space


@dataclass(frozen=True)
class Scan:
    """The engine that evaluates the kernel on every pair."""

    space: Space
    name: ClassVar[str] = "scan"
    n_bytes: ClassVar[int] = 0

    def top_k(self, request: SearchRequest, k: int) -> TopKFound:
        """Return the k best of each query: always exact, which keeps every promise about values."""
        request.refuse_early_stop(": a scan has no bounds to say what it missed")
        if self.halves(request):
            return self._of_pairs(request, k)
        with request.progress.bar(self._evaluations(request)) as report:
            values, positions = _core.scan_top_k(
                *request.among_all(self.space),
                request.skip_self,
                k,
                request.floors,
                request.threads,
                report,
            )
        return TopKFound(
            values, plain_int64(positions), np.zeros(len(request.queries)), self._cost(request)
        )

    def above(self, request: SearchRequest, thresholds: Floats) -> AboveFound:
        """Return all at or above each query's threshold."""
        with request.progress.bar(self._evaluations(request)) as report:
            offsets, values, positions = _core.scan_above(
                *request.among_all(self.space),
                thresholds,
                request.threads,
                report,
            )
        return AboveFound(plain_int64(offsets), values, plain_int64(positions), self._cost(request))

    def halves(self, request: SearchRequest) -> bool:
        """Whether a search of all objects for all of them evaluates each pair once."""
        has_all = request.among is None and request.floors is None and request.tracer is None
        return request.skip_self and has_all and self.space.core.halves_self_scan

    def _of_pairs(self, request: SearchRequest, k: int) -> TopKFound:
        core = self.space.core
        n_evaluations = _core.self_scan_evaluations(core)
        with request.progress.bar(n_evaluations) as report:
            values, positions = _core.scan_self(core, self.space.order, k, request.threads, report)
        no_gap = np.zeros(len(self.space))
        return TopKFound(values, plain_int64(positions), no_gap, Cost(evaluations=n_evaluations))

    def _evaluations(self, request: SearchRequest) -> int:
        n_among = len(self.space) if request.among is None else len(request.among)
        n_selves = n_among if request.skip_self else 0  # queries are not compared with themselves
        return len(request.queries) * n_among - n_selves

    def _cost(self, request: SearchRequest) -> Cost:
        return Cost(evaluations=self._evaluations(request))
