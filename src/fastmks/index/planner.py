"""Choose the engine of a search from measurements on these objects, on this machine."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from fastmks._util.arrays import Int64s
from fastmks._util.wording import counted
from fastmks.engines.approximation import EXACT
from fastmks.engines.base import Engine, SearchRequest
from fastmks.engines.filters.base import FilterOffer
from fastmks.engines.filters.choose import guess_filter_seconds, offer_filter
from fastmks.index.built_engines import BuiltEngines

_FEW_OBJECTS = 512  # are scanned quickly
_MANY_HITS = 32  # bounds prune too little where one object in this many is a hit
_N_RACED = 8  # queries on which two engines are compared
_TOO_SLOW = 3.0  # a forecast errs above: samples have fewer close neighbours than all objects
_FORGETTING = 1.1  # an engine that was slower than it was once may have become slower
_N_TRIES = 3  # searches before a slow engine is given up: the machine may have been busy
_N_TRIED = 64  # and queries: for the first ones the caches are cold
_HOPELESS = 10.0  # times slower: the engine is not tried again
_N_SETTLED = 64  # searches that a choice lasts once it is clear
_CLEARLY = 1.2  # times faster


@dataclass(frozen=True)
class Forecast:
    """The forecast cost of a search with one engine."""

    seconds_per_query: float
    build_seconds: float
    basis: str

    def seconds(self, n_queries: int) -> float:
        """Return the seconds of a search, including what must be built for it."""
        return self.build_seconds + n_queries * self.seconds_per_query


@dataclass(frozen=True)
class Plan:
    """The planner's choice for a search, and why. Prints as a table.

    Attributes
    ----------
    algorithm : str
        The engine chosen.
    reason : str
        Why, in words.
    forecasts : mapping of str to Forecast
        The cost of each engine that was considered.
    n_queries, n_objects, k : int
        The search.
    planning_seconds : float
        The time of planning, trials included.

    Examples
    --------
    >>> import fastmks
    >>> plan = fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).explain([[1.0, 2.0]])
    >>> plan.algorithm, plan.reason
    ('scan', 'fewer than 512 objects are scanned quickly')
    """

    algorithm: str
    reason: str
    forecasts: Mapping[str, Forecast]
    n_queries: int
    n_objects: int
    k: int
    planning_seconds: float = 0.0

    @property
    def is_clear(self) -> bool:
        """Whether earlier searches show that another engine would be much slower."""
        own = self.forecasts.get(self.algorithm)
        others = [one for name, one in self.forecasts.items() if name != self.algorithm]
        if own is None or own.seconds_per_query <= 0.0 or own.build_seconds > 0.0 or not others:
            return False
        return all(one.seconds_per_query > _CLEARLY * own.seconds_per_query for one in others)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values.

        Examples
        --------
        >>> import fastmks
        >>> fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).explain([[1.0, 2.0]]).as_dict()["n_objects"]
        2
        """
        return asdict(self)

    def __str__(self) -> str:
        asked, among = counted(self.n_queries, "query"), counted(self.n_objects, "object")
        search = f"{asked}, k = {self.k}, among {among}"
        lines = [f"{search}: {self.algorithm}, since {self.reason}."]
        if self.forecasts:
            lines.append(f"{'engine':<8}{'seconds':>12}{'per query':>12}{'to build':>12}  basis")
        for name, forecast in self.forecasts.items():
            lines.append(
                f"{name:<8}{forecast.seconds(self.n_queries):>12.3g}"
                f"{forecast.seconds_per_query:>12.3g}{forecast.build_seconds:>12.3g}  "
                f"{forecast.basis}"
            )
        lines.append(f"Decided in {self.planning_seconds:.3g} s.")
        return "\n".join(lines)


@dataclass
class _Measured:
    """Best time seen per query. Load only makes a search slower, so the minimum is kept."""

    seconds: float
    n_queries: int = 0
    n_searches: int = 0

    def add(self, seconds: float, n_queries: int) -> None:
        """Record a search, by its seconds for each query."""
        self.seconds = min(seconds, _FORGETTING * self.seconds)
        self.n_queries += n_queries
        self.n_searches += 1


@dataclass
class Planner:
    """The choice between the engines of one segment, from the times of its searches.

    Every engine gives the same answers, so a wrong choice costs time and nothing else. A filter is
    built once scans have cost as much as building it: until then it may never pay, and afterwards
    the time lost is at most the time of building it.
    """

    engines: BuiltEngines
    measured: dict[tuple[str, int, int], _Measured] = field(default_factory=dict)
    _scan_seconds: float = 0.0  # spent on scans so far
    _offer: FilterOffer | None = None
    # Engines of searches whose choice was clear, and for how many more searches it holds.
    _settled: dict[tuple[str, int, int], tuple[str, int]] = field(default_factory=dict)

    def choose(self, request: SearchRequest, k: int) -> Engine:
        """Return the engine for a search, built if need be."""
        key = _key("", len(request.queries), k)
        name, left = self._settled.get(key, ("", 0)) if request.among is None else ("", 0)
        if left > 0 and self.engines.has_built_filter:
            self._settled[key] = name, left - 1
        else:
            plan = self.plan(request, k)
            name = plan.algorithm
            if request.among is None and plan.is_clear:
                self._settled[key] = name, _N_SETTLED
        if name == "filter":
            return self.engines.filter(request.progress, self._offer)
        return self.engines.scan

    def plan(self, request: SearchRequest, k: int) -> Plan:
        """Return the plan of a search: its engine, and why. Nothing is built for it."""
        started = time.perf_counter()
        plan = self._plan(request, k)
        return replace(plan, planning_seconds=time.perf_counter() - started)

    def learn(self, name: str, request: SearchRequest, k: int, seconds: float) -> None:
        """Record the time of a search."""
        n_queries = len(request.queries)
        if n_queries == 0 or request.among is not None:
            return
        if name == "scan":
            self._scan_seconds += seconds * request.threads
        now = seconds * request.threads / n_queries
        self.measured.setdefault(_key(name, n_queries, k), _Measured(now)).add(now, n_queries)

    def _plan(self, request: SearchRequest, k: int) -> Plan:
        n_queries, space = len(request.queries), self.engines.space
        n_objects = len(space) if request.among is None else len(request.among)

        def plan(algorithm: str, reason: str, **forecasts: Forecast) -> Plan:
            return Plan(algorithm, reason, forecasts, n_queries, n_objects, k)

        # Measure only where the choice needs it: an evaluation may be expensive.
        if not self.engines.has_offer:
            return plan("scan", "no inexpensive bound is known for this kernel")
        if space.has_bounds and not space.core.is_parallel:
            return plan("filter", "bounds spare calls of a Python function")
        scan = self._scan_forecast(request, k, n_objects)
        plan = partial(plan, scan=scan)
        if self.engines.has_built_filter or space.has_bounds:
            return self._plan_built(request, k, scan, plan)
        if len(space) < _FEW_OBJECTS:
            return plan("scan", f"fewer than {_FEW_OBJECTS} objects are scanned quickly")
        if n_objects < len(space) / _MANY_HITS or k > n_objects / _MANY_HITS:
            return plan("scan", "bounding all objects would save few evaluations")
        # All in seconds of one thread.
        spent = self._scan_seconds + request.threads * scan.seconds(n_queries)
        if self._offer is None and spent < guess_filter_seconds(space):
            return plan("scan", "so few queries are not worth an index")
        if self._offer is None or self._offer.space is not space:
            self._offer = offer_filter(
                space, request.queries, k, threads=request.threads, progress=request.progress
            )
        offer = self._offer
        forecast = Forecast(
            offer.seconds_per_query / request.threads,
            offer.build_seconds / request.threads,
            offer.basis,
        )
        if forecast.seconds_per_query > _TOO_SLOW * scan.seconds_per_query:
            return plan("scan", "bounds leave too much to evaluate", filter=forecast)
        if spent < offer.build_seconds:
            return plan("scan", "so few queries are not worth an index", filter=forecast)
        return plan("filter", "its bounds leave little to evaluate", filter=forecast)

    def _plan_built(
        self, request: SearchRequest, k: int, scan: Forecast, plan: Callable[..., Plan]
    ) -> Plan:
        n_queries = len(request.queries)
        known = self.measured.get(_key("filter", n_queries, k))
        if known is None and n_queries > 4 * _N_RACED and request.among is None:
            self._race(request, k)
            scan = self._scan_forecast(request, k, len(self.engines.space))
            known = self.measured.get(_key("filter", n_queries, k))
        if known is None:
            forecast = Forecast(0.0, 0.0, "not measured yet")
            return plan("filter", "it is not measured yet for this batch size", filter=forecast)
        seconds = known.seconds / request.threads
        forecast = Forecast(seconds, 0.0, f"{counted(known.n_queries, 'query')} before")
        is_tried = known.n_searches >= _N_TRIES and known.n_queries >= _N_TRIED
        limit = 1.0 if is_tried else _HOPELESS
        if seconds <= limit * scan.seconds_per_query:
            is_faster = seconds <= scan.seconds_per_query
            reason = "it is the faster one" if is_faster else "it may be the faster one"
            return plan("filter", reason, filter=forecast, scan=scan)
        return plan("scan", "the filter is slower", filter=forecast, scan=scan)

    def _race(self, request: SearchRequest, k: int) -> None:
        """Measure both engines on a few of the queries, for searches like this one."""
        few = replace(
            request.of_queries(_spread(len(request.queries), _N_RACED)),
            threads=1,
            progress=request.progress.hidden(),
            approximation=EXACT,
            skip_self=False,
        )
        for engine in (self.engines.filter(few.progress), self.engines.scan):
            started = time.perf_counter()
            try:
                engine.top_k(few, k)
            except ArithmeticError:  # the search itself raises it, with ids
                return
            seconds = (time.perf_counter() - started) / len(few.queries)
            key = _key(engine.name, len(request.queries), k)
            self.measured.setdefault(key, _Measured(seconds)).add(seconds, len(few.queries))

    def _scan_forecast(self, request: SearchRequest, k: int, n_objects: int) -> Forecast:
        known = self.measured.get(_key("scan", len(request.queries), k))
        if known is not None:
            share = n_objects / len(self.engines.space)
            seconds = known.seconds * share / request.threads
            return Forecast(seconds, 0.0, f"{counted(known.n_queries, 'query')} before")
        call, value = self.engines.space.core.measure_cost()
        seconds = (call + value * n_objects) / request.threads
        return Forecast(seconds, 0.0, "the time of single evaluations")


def merge_plans(plans: Sequence[Plan], k: int) -> Plan:
    """Return one plan from those of several parts, the largest first: its choice, and all costs.

    Where a part has no forecast for an engine, that of the engine it would use stands in.
    """
    if len(plans) == 1:
        return plans[0]
    main, others = plans[0], plans[1:]
    forecasts = {}
    for name, own in main.forecasts.items():
        rest = [plan.forecasts.get(name, plan.forecasts.get(plan.algorithm)) for plan in others]
        known = [forecast for forecast in rest if forecast is not None]
        forecasts[name] = Forecast(
            own.seconds_per_query + sum(forecast.seconds_per_query for forecast in known),
            own.build_seconds + sum(forecast.build_seconds for forecast in known),
            own.basis,
        )
    return Plan(
        main.algorithm,
        f"{main.reason} ({len(others)} smaller parts are planned apart)",
        forecasts,
        main.n_queries,
        sum(plan.n_objects for plan in plans),
        k,
        sum(plan.planning_seconds for plan in plans),
    )


def _key(name: str, n_queries: int, k: int) -> tuple[str, int, int]:
    """Return the key of searches with about the same cost per query: similar batch size and k."""
    return name, min(n_queries.bit_length(), 6), k.bit_length()


def _spread(n: int, wanted: int) -> Int64s:
    """Return some positions, evenly spread; the same ones every time."""
    return np.linspace(0, n - 1, min(n, wanted)).astype(np.int64)
