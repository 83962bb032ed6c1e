"""The base of all filters: how they are chosen, built, searched and recorded."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from fastmks._util.arrays import Floats
from fastmks.engines.approximation import EXACT
from fastmks.engines.base import AboveFound, Cost, Offer, SearchRequest, TopKFound, plain_int64
from fastmks.engines.space import Space
from fastmks.files.record import Record

# A callback for the amount of work done; None where no bar is shown.
Report: TypeAlias = Callable[[int], None] | None


@dataclass(frozen=True)
class CoreFilter(ABC):
    """An engine that bounds values with a structure of the core and evaluates the rest."""

    space: Space
    name: ClassVar[str] = "filter"
    core_top_k: ClassVar[Callable[..., Any]]
    core_above: ClassVar[Callable[..., Any]]
    core_approximate_top_k: ClassVar[Callable[..., Any]]

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """Memory of the bounds, without the objects."""

    @property
    @abstractmethod
    def structure(self) -> tuple[Any, ...]:
        """The core's structure, in a tuple; an empty one where the objects suffice."""

    @abstractmethod
    def record(self) -> Record:
        """Return the filter as a record, for a file; the objects are apart."""

    @property
    def check_steps(self) -> int:
        """The amount of work that `find_fault` reports."""
        return len(self.space)

    @abstractmethod
    def find_fault(self, threads: int, report: Report) -> str:
        """Return which figure of the filter its objects contradict; empty where none does."""

    def top_k(self, request: SearchRequest, k: int) -> TopKFound:
        """Return the k best of each query; for `rank` too, which exact answers fulfil."""
        if request.approximation is not EXACT and request.approximation.is_about_values:
            return self._approximate_top_k(request, k)
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
        return TopKFound(values, plain_int64(positions), gap, _cost(counts))

    def _approximate_top_k(self, request: SearchRequest, k: int) -> TopKFound:
        wanted = request.approximation
        with request.progress.bar(len(request.queries), unit=" queries") as report:
            values, positions, gap, counts = type(self).core_approximate_top_k(
                *request.among_all(self.space),
                *self.structure,
                request.skip_self,
                k,
                request.floors,
                wanted.epsilon,
                wanted.relative,
                wanted.budget,
                wanted.seconds,
                self.space.threads(request.threads),
                report,
            )
        return TopKFound(values, plain_int64(positions), gap, _cost(counts))

    def above(self, request: SearchRequest, thresholds: Floats) -> AboveFound:
        """Return all at or above each query's threshold."""
        with request.progress.bar(len(request.queries), unit=" queries") as report:
            (offsets, values, positions), counts = type(self).core_above(
                *request.among_all(self.space),
                *self.structure,
                thresholds,
                self.space.threads(request.threads),
                report,
            )
        cost = _cost(counts)
        return AboveFound(plain_int64(offsets), values, plain_int64(positions), cost)


@dataclass(frozen=True, kw_only=True)
class FilterKind:
    """A kind of filter: which spaces it serves, and how it is offered, built and restored.

    Attributes
    ----------
    name : str
        Its name in files.
    serves : callable
        Whether it can bound the values of a space.
    build : callable
        Builds it for a space, with the arguments of `build_filter`.
    restore : callable
        Restores it for a space from the record of a file.
    guess_seconds : callable
        Estimates the time to build it for a space on one thread, or to examine the objects for an
        offer where that takes longer, from the seconds of an evaluation.
    offer : callable or None
        Examines the objects of a space, with the arguments of `offer_filter`. None where nothing
        is built or offered.
    is_free : bool
        Whether examining the objects evaluates nothing.
    """

    name: str
    serves: Callable[[Space], bool]
    build: Callable[..., CoreFilter]
    restore: Callable[[Space, Record], CoreFilter]
    guess_seconds: Callable[[Space, float], float]
    offer: Callable[..., Offer] | None = None
    is_free: bool = True


def _cost(counts: tuple[int, int, int, int, int]) -> Cost:
    """Return the core's counts by name."""
    evaluations, projections, self_evaluations, bounds, operations = counts
    return Cost(
        evaluations=evaluations + projections,
        self_evaluations=self_evaluations,
        bounds=bounds,
        bound_operations=operations,
    )
