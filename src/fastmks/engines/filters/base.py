"""What filters whose search is the core's have in common: how they are asked, and what they say."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from fastmks.engines.base import AboveFound, Cost, SearchRequest, TopKFound, plain_int64
from fastmks.engines.space import Space
from fastmks.files.record import Record

__all__ = ["CoreFilter", "Report"]

# What is told how much work is done; None where nobody asks.
Report: TypeAlias = Callable[[int], None] | None


@dataclass(frozen=True)
class CoreFilter(ABC):
    """Bounds values with a structure of the core, and evaluates what the bounds leave."""

    space: Space
    name: ClassVar[str] = "filter"
    core_top_k: ClassVar[Callable[..., Any]]
    core_above: ClassVar[Callable[..., Any]]

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """Memory of what bounds the values, beside the objects."""

    @property
    @abstractmethod
    def structure(self) -> tuple[Any, ...]:
        """What the core needs beside the objects: one thing, or nothing."""

    @abstractmethod
    def record(self) -> Record:
        """What it is made of, for a file; the objects are apart."""

    @property
    def check_steps(self) -> int:
        """The amount of work that `find_fault` reports."""
        return len(self.space)

    @abstractmethod
    def find_fault(self, threads: int, report: Report) -> str:
        """Return which figure of the filter its objects contradict; empty where none is."""

    @abstractmethod
    def cost(self, counts: tuple[int, ...], request: SearchRequest) -> Cost:
        """Return the core's counts by name."""

    def top_k(self, request: SearchRequest, k: int) -> TopKFound:
        """Return the k best of each query: always exact, which keeps every promise about values."""
        request.refuse_early_stop("; got algorithm='filter'")
        with request.progress.bar(len(request.queries), unit=" queries") as report:
            values, positions, counts = type(self).core_top_k(
                *request.among_all(self.space),
                *self.structure,
                request.skip_self,
                k,
                request.floors,
                self.space.threads(request.threads),
                report,
            )
        gap = np.zeros(len(request.queries))
        return TopKFound(values, plain_int64(positions), gap, self.cost(counts, request))

    def above(
        self, request: SearchRequest, thresholds: np.ndarray[Any, np.dtype[np.float64]]
    ) -> AboveFound:
        """Return all at or above each query's threshold."""
        with request.progress.bar(len(request.queries), unit=" queries") as report:
            (offsets, values, positions), counts = type(self).core_above(
                *request.among_all(self.space),
                *self.structure,
                thresholds,
                self.space.threads(request.threads),
                report,
            )
        cost = self.cost(counts, request)
        return AboveFound(plain_int64(offsets), values, plain_int64(positions), cost)
