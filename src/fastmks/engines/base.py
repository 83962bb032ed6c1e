"""The request to an engine, and its answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Array, Bools, Floats, Int64s
from fastmks._util.progress import Progress
from fastmks.engines.approximation import EXACT, Approximation
from fastmks.engines.faults import Namer
from fastmks.engines.space import Space
from fastmks.engines.traversal import DEFAULT_TRAVERSAL, Traversal
from fastmks.errors import InvalidArgument


class Tracer:
    """Record of the objects whose values an engine evaluates."""

    def __init__(self) -> None:
        self._traced: list[tuple[Space, _core.TracedSpace]] = []
        self._noted: list[Int64s] = []

    def core_of(self, space: Space) -> _core.Space:
        """Return the space that an engine must search instead of this one."""
        traced = _core.traced_space(space.core)
        self._traced.append((space, traced))
        return traced

    def note(self, space: Space, places: Int64s) -> None:
        """Record objects whose values an engine evaluates apart from a search."""
        self._noted.append(places if space.order is None else space.order[places])

    def evaluated(self, n_objects: int) -> Bools:
        """Return which objects were evaluated, by slot."""
        mask = np.zeros(n_objects, dtype=bool)
        for space, traced in self._traced:
            mask[slice(None) if space.order is None else space.order] |= traced.seen()
        for slots in self._noted:
            mask[slots] = True
        return mask


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A search of one segment: these queries, among the objects in these slots (None: all).

    An index creates one for each of its segments; `dataclasses.replace` narrows it on its way.
    """

    queries: Space
    threads: int
    progress: Progress
    among: Int64s | None = None
    skip_self: bool = False  # query i is object i, and not an answer to itself
    algorithm: str = "auto"
    traversal: Traversal = DEFAULT_TRAVERSAL
    approximation: Approximation = EXACT
    # A value per query: hits below it do not matter, since k values of at least it are known. An
    # answer with fewer than k other hits is filled up with it, at positions after all objects.
    floors: Floats | None = None
    tracer: Tracer | None = None
    name_query: Namer = "queries[{}]".format

    def core_of(self, space: Space) -> _core.Space:
        """Return the space of the core to search: traced where asked for."""
        return space.core if self.tracer is None else self.tracer.core_of(space)

    def of_queries(self, positions: Int64s) -> "SearchRequest":
        """Return the same request for some of the queries."""
        return replace(
            self,
            queries=self.queries.part(positions),
            floors=None if self.floors is None else self.floors[positions],
            name_query=lambda i: self.name_query(int(positions[i])),
        )

    def among_all(
        self, space: Space
    ) -> tuple[_core.Space, _core.Space, Int64s | None, Int64s | None]:
        """Return the core's arguments for a request that examines all objects of a space.

        The objects, the queries, the places to search, and the slot of each place.
        """
        return self.core_of(space), self.queries.core, space.places(self.among), space.order

    def refuse_early_stop(self, reason: str) -> None:
        """Raise an error for a request that may stop early; the engine says why it cannot."""
        if self.approximation.early_stop is not None:
            raise InvalidArgument(
                f"{self.approximation.early_stop} needs algorithm='tree' or 'filter'{reason}."
            )


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The work of an engine for an answer."""

    evaluations: int
    self_evaluations: int = 0  # beyond those that preparing the queries cost
    query_evaluations: int = 0  # between queries
    bounds: int = 0
    bound_operations: int = 0  # multiply-adds of the bounds, in any precision
    nodes: int = 0
    pruned: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class TopKFound:
    """The k best of each query, (n_queries, k), and how much greater a missed value may be.

    `positions` are slots where an engine or a segment answers.
    """

    values: Floats
    positions: Int64s
    gap: Floats
    cost: Cost
    ids: Array | None = None  # in answers of an index, not of an engine

    @property
    def proven(self) -> Bools:
        """Which hits are certainly among the true k best."""
        return proven_hits(self.values, self.gap)


@own_arithmetic()
def proven_hits(values: Floats, gap: Floats) -> Bools:
    """Return which hits are certainly among the true k best, given values best first.

    Every value that was not evaluated is at most the k-th one plus the gap, and a gap of 0 proves
    the answer exact. A difference that is greater than the gap after rounding is greater before:
    the gap is a float64, and rounding keeps the order.
    """
    proven: Bools = (values - values[:, -1:] > gap[:, None]) | (gap[:, None] == 0.0)
    return proven


@dataclass(frozen=True)
class AboveFound:
    """All at or above each query's threshold; query i has offsets[i] to offsets[i + 1].

    `positions` are slots where an engine or a segment answers.
    """

    offsets: Int64s
    values: Floats
    positions: Int64s
    cost: Cost
    ids: Array | None = None  # in answers of an index, not of an engine


class Engine(Protocol):
    """Answers searches of one space. Every engine gives the same exact answers."""

    @property
    def name(self) -> str:
        """The name that users pass."""
        ...

    @property
    def space(self) -> Space:
        """The objects that it searches."""
        ...

    @property
    def n_bytes(self) -> int:
        """Memory of its structures, without the objects."""
        ...

    def top_k(self, request: SearchRequest, k: int) -> TopKFound:
        """Return the k best of each query."""
        ...

    def above(self, request: SearchRequest, thresholds: Floats) -> AboveFound:
        """Return all at or above each query's threshold."""
        ...


@dataclass(frozen=True)
class Offer:
    """A structure that could be built, and its forecast cost on one thread.

    `build` takes the number of threads and the progress. `space` and `build` are None where the
    objects have another order since.
    """

    space: Space | None
    build_seconds: float
    seconds_per_query: float
    basis: str
    build: Callable[[int, Progress], Any] | None
    evaluations: float | None = None  # of a query, where values were evaluated for the forecast


def plain_int64(array: Array) -> Int64s:
    """The same memory as numpy's own int64: the core's arrives as C's long long and prints so."""
    return array.view(np.int64)
