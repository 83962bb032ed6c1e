"""Choose the engine of a search from measurements on these objects, on this machine."""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fastmks._util.arrays import Int64s
from fastmks._util.progress import Progress, TooLong, limited_work
from fastmks._util.wording import counted
from fastmks.engines.approximation import EXACT
from fastmks.engines.base import Engine, Offer, SearchRequest
from fastmks.errors import FastmksError, NotMercerError
from fastmks.index.built_engines import BuiltEngines
from fastmks.index.candidates import (
    CANDIDATES,
    NO_BOUND,
    NOT_DECLARED,
    Candidate,
)
from fastmks.index.plan import Forecast, Plan
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.own import has_functions

# Why an engine is not used, beside the reasons of plans.
FEW_QUERIES = "so few queries are not worth it"
TOO_MUCH = "its bounds leave too much to evaluate"
NOT_HERE = "it is not built for searches like this"
CANNOT = "it cannot be built for these objects"
SLOWER = "it was slower"
UNMEASURED = "not measured yet"

_FEW_OBJECTS = 512  # are scanned quickly
_FEW_EXPENSIVE = 64  # where an evaluation takes long
_MANY_HITS = 32  # bounds prune too little where one object in this many is a hit
_N_RACED = 8  # queries on which two engines are compared
_TOO_SLOW = 3.0  # a forecast errs above: samples have fewer close neighbours than all objects
_BOUND_SECONDS = 30e-9  # of the bounds for an evaluation
_CALL_SECONDS = 10e-6  # of a search
_FORGETTING = 1.1  # an engine that was slower than it was once may have become slower
_N_TRIES = 3  # searches before a slow engine is given up: the machine may have been busy
_N_TRIED = 64  # and queries: for the first ones the caches are cold
_HOPELESS = 10.0  # times slower, for the first query: the engine is not tried again
_SLOWER = 2.0  # the same for later ones
_LEAST_ALLOWANCE = 0.02  # seconds of sampling or building
_PATIENCE = 4.0  # it may take this many times longer: the machine may be busy
_N_SETTLED = 64  # searches that a choice lasts once it is clear, twice as many when it is confirmed
_MOST_SETTLED = 1024


@dataclass
class _Measured:
    """Best time seen per query. Load only makes a search slower, so the minimum is kept."""

    seconds: float
    n_queries: int = 0
    n_searches: int = 0
    evaluations: float = 0.0  # of all queries

    def add(self, seconds: float, n_queries: int, evaluations: int) -> None:
        """Record a search, by its seconds for each query."""
        self.seconds = min(seconds, _FORGETTING * self.seconds)
        self.n_queries += n_queries
        self.n_searches += 1
        self.evaluations += evaluations

    @property
    def is_tried(self) -> bool:
        """Whether the engine has had enough searches to be judged."""
        return self.n_searches >= _N_TRIES and self.n_queries >= _N_TRIED

    def may_beat(self, seconds: float) -> bool:
        """Whether it may still be faster than an engine of this time: the first queries mislead."""
        if self.is_tried:
            return False
        return self.seconds <= max(_SLOWER, _HOPELESS / max(self.n_queries, 1)) * seconds

    def forecast(self, threads: int, share: float = 1.0) -> Forecast:
        """Return the forecast for a share of the objects."""
        return Forecast(
            self.seconds * share / threads,
            0.0,
            f"{counted(self.n_queries, 'query')} before",
            evaluations=self.evaluations * share / max(self.n_queries, 1),
        )


@dataclass
class Planner:
    """The choice between the engines of one segment, from the times of its searches.

    Every engine gives the same answers, so a wrong choice costs time and nothing else. An engine
    is sampled, and then built, once searches have cost as much as that, less what was spent on
    sampling and building before: all of it together costs at most as much as the searches.
    """

    engines: BuiltEngines
    measured: dict[tuple[str, int, int], _Measured] = field(default_factory=dict)
    # Seconds of one thread: of searches, and of sampling and building.
    spent: float = 0.0
    explored: float = 0.0
    _least: dict[tuple[str, int], float] = field(default_factory=dict)  # of stopped sampling
    _offers: dict[tuple[str, int], Offer] = field(default_factory=dict)
    given_up: dict[tuple[str, int], str] = field(default_factory=dict)
    # Engines of searches whose choice was clear, and for how many more searches it holds.
    _settled: dict[tuple[str, int, int], tuple[str, int, int]] = field(default_factory=dict)
    _objections: dict[str, str] | None = None
    _explorers: dict[int, object] = field(default_factory=dict)  # by process: forks have none

    def choose(self, request: SearchRequest, k: int) -> Engine:
        """Return the engine for a search, built if need be."""
        key = _key("", len(request.queries), k)
        none = ("", 0, 0)
        name, left, lasted = self._settled.get(key, none) if request.among is None else none
        if left > 0:
            self._settled[key] = name, left - 1, lasted
            engine = self._engine(name, request)
            if engine is not None:
                return engine
        plan = self.plan(request, k)
        engine = self._engine(plan.algorithm, request)
        if engine is None:
            candidate = next(one for one in CANDIDATES if one.name == plan.algorithm)
            self._build(candidate, request, k)
            engine = self._engine(plan.algorithm, request)
        if engine is None:  # it took too long, or another thread builds
            plan = self._plan(request, k, explores=False)
            engine = self._engine(plan.algorithm, request)
        elif request.among is None:
            self._end_trial(plan, request, k)
            if plan.is_clear and any(one.engine(self.engines, request) for one in CANDIDATES):
                is_confirmed = name == plan.algorithm
                lasts = min(2 * lasted, _MOST_SETTLED) if is_confirmed else _N_SETTLED
                self._settled[key] = plan.algorithm, lasts, lasts
        return self.engines.scan if engine is None else engine

    def plan(self, request: SearchRequest, k: int) -> Plan:
        """Return the plan of a search: its engine, and why. Nothing is built for it."""
        started = time.perf_counter()
        plan = self._plan(request, k, explores=os.getpid() not in self._explorers)
        return replace(plan, planning_seconds=time.perf_counter() - started)

    def learn(
        self, name: str, request: SearchRequest, k: int, seconds: float, evaluations: int
    ) -> None:
        """Record the time and the evaluations of a search."""
        n_queries = len(request.queries)
        if n_queries == 0 or request.among is not None:
            return
        self.spent += seconds * request.threads
        self._add(_key(name, n_queries, k), seconds * request.threads, n_queries, evaluations)

    def inherit(self, other: "Planner") -> None:
        """Give up what another planner gave up, for an index that has not doubled since."""
        if len(self.engines.space) < 2 * len(other.engines.space):
            self.given_up |= other.given_up

    def _add(
        self, key: tuple[str, int, int], seconds: float, n_queries: int, evaluations: int
    ) -> None:
        now = seconds / n_queries
        self.measured.setdefault(key, _Measured(now)).add(now, n_queries, evaluations)

    def _engine(self, name: str, request: SearchRequest) -> Engine | None:
        """Return an engine that needs no building; None where it does."""
        for candidate in CANDIDATES:
            if candidate.name == name:
                return candidate.engine(self.engines, request)
        return self.engines.scan

    def _plan(self, request: SearchRequest, k: int, *, explores: bool) -> Plan:
        n_queries, space = len(request.queries), self.engines.space
        n_objects = len(space) if request.among is None else len(request.among)
        lines: dict[str, Forecast] = {}

        def plan(algorithm: str, reason: str) -> Plan:
            if algorithm in lines:
                lines[algorithm] = replace(lines[algorithm], reason=reason)
            return Plan(algorithm, reason, lines, n_queries, n_objects, k)

        if request.algorithm != "auto":
            lines |= self._known_lines(request, k)
            return plan(request.algorithm, "the search or its index names it")
        # Measure only where the choice needs it: an evaluation may be expensive.
        objections = self._find_objections()
        serving = [one for one in CANDIDATES if not objections[one.name]]
        if not serving:
            lines |= self._known_lines(request, k)
            if NOT_DECLARED in objections.values():
                return plan("scan", NOT_DECLARED)
            return plan("scan", NO_BOUND)
        if space.has_bounds and not space.core.is_parallel:
            lines |= self._known_lines(request, k)
            return plan("filter", "bounds spare calls of a Python function")
        scan = self._scan_forecast(request, k, n_objects)
        lines["scan"] = scan
        lines |= {
            one.name: Forecast(None, None, "", objections[one.name] or NOT_HERE)
            for one in CANDIDATES
        }
        built = [one for one in serving if one.engine(self.engines, request) is not None]
        is_small = len(space) < self._n_few
        is_crowded = n_objects < len(space) / _MANY_HITS or k > n_objects / _MANY_HITS
        if not built and is_small:
            return plan("scan", f"fewer than {_FEW_OBJECTS} objects are scanned quickly")
        if not built and is_crowded:
            return plan("scan", "bounding all objects would save few evaluations")
        unmeasured = [one for one in built if self._known(one, request, k) is None]
        if unmeasured and n_queries > 4 * _N_RACED and request.among is None:
            self._race(request, k, unmeasured)
            scan = lines["scan"] = self._scan_forecast(request, k, n_objects)
        # What is built: the next search measures it, or the fastest is used.
        fastest, least = "scan", scan
        tried: list[str] = []
        for one in built:
            known = self._known(one, request, k)
            if known is None:
                lines[one.name] = Forecast(None, 0.0, "", UNMEASURED)
                tried.append(one.name)
                continue
            line = lines[one.name] = known.forecast(request.threads, n_objects / len(space))
            if _time(line) <= _time(least):
                fastest, least = one.name, line
        if tried:
            return plan(tried[0], "it is not measured yet for this batch size")
        for one in built:
            known = self._known(one, request, k)
            if one.name != fastest and known is not None:
                if known.may_beat(request.threads * _time(least)):
                    return plan(one.name, "it may be the faster one")
                lines[one.name] = replace(lines[one.name], reason=SLOWER)
        # What could be built.
        wanted: str | None = None
        for one in sorted(serving, key=lambda one: (one.name, k.bit_length()) not in self._offers):
            is_refused = one.name == "tree" and request.approximation.given()
            if one in built or is_small or is_crowded or is_refused:
                continue
            may_sample = explores and wanted is None
            line, can_build = self._forecast(one, request, k, lines, fastest, may_sample)
            lines[one.name] = line
            if can_build and (wanted is None or _time(line) < _time(lines[wanted])):
                wanted = one.name
        if wanted is not None:
            return plan(wanted, "its bounds leave little to evaluate")
        if fastest == "scan" and not built:
            reasons = {line.reason for name, line in lines.items() if name != "scan"}
            if FEW_QUERIES in reasons:
                return plan("scan", "so few queries are not worth an index")
            return plan("scan", "bounds leave too much to evaluate")
        return plan(fastest, "it is the fastest one")

    @property
    def _n_few(self) -> int:
        """Fewer objects than this are scanned quickly."""
        leaf_kinds = leaves(self.engines.space.kernel)
        return _FEW_EXPENSIVE if any(leaf.is_expensive for _, leaf in leaf_kinds) else _FEW_OBJECTS

    def _find_objections(self) -> dict[str, str]:
        if self._objections is None:
            space = self.engines.space
            self._objections = {one.name: one.objection(space) for one in CANDIDATES}
        return self._objections

    def _known(self, one: Candidate, request: SearchRequest, k: int) -> _Measured | None:
        return self.measured.get(_key(one.name, len(request.queries), k))

    def _known_lines(self, request: SearchRequest, k: int) -> dict[str, Forecast]:
        """Return a line for each engine, of what was measured, without measuring anything."""
        objections = self._find_objections()
        lines = {}
        for name in ("scan", *objections):
            known = self.measured.get(_key(name, len(request.queries), k))
            line = Forecast(None, None, "") if known is None else known.forecast(request.threads)
            lines[name] = replace(line, reason=objections.get(name, ""))
        return lines

    def _forecast(
        self,
        one: Candidate,
        request: SearchRequest,
        k: int,
        lines: Mapping[str, Forecast],
        fastest: str,
        explores: bool,
    ) -> tuple[Forecast, bool]:
        """Return the line of an engine that is not built, and whether it should be built now."""
        least = lines[fastest]
        key, space, threads = (one.name, k.bit_length()), self.engines.space, request.threads
        if key in self.given_up:
            return Forecast(None, None, "", self.given_up[key]), False
        known = self._known(one, request, k)
        if known is not None and known.is_tried and known.seconds > threads * _time(least):
            return replace(known.forecast(threads), build_seconds=None, reason=SLOWER), False
        # All in seconds of one thread.
        allowance = self.spent + threads * len(request.queries) * _time(least) - self.explored
        offer = self._offers.get(key)
        value_seconds = threads * _time(lines["scan"]) / len(space)
        guess = max(one.guess(space, value_seconds), self._least.get(key, 0.0))
        if offer is not None and offer.space not in (space, None):
            # The objects have another order now: what was sampled is still true, but to build it
            # they are sampled again.
            longer = offer.build_seconds + guess
            offer = replace(offer, space=None, build=None, build_seconds=longer)
            self._offers[key] = offer
        if offer is None:
            if allowance < guess or not explores:
                return Forecast(None, guess / threads, "a guess", FEW_QUERIES), False
            offer = self._sample(one, request, k, allowance)
            if offer is None:
                reason = self.given_up.get(key, FEW_QUERIES)
                return Forecast(None, guess / threads, "a guess", reason), False
        seconds = offer.seconds_per_query
        if offer.evaluations is not None:  # a sample is timed once, which load makes longer
            fair = offer.evaluations * (value_seconds + _BOUND_SECONDS) + _CALL_SECONDS
            seconds = min(seconds, fair)
        line = Forecast(
            seconds / threads,
            offer.build_seconds / threads,
            offer.basis,
            evaluations=offer.evaluations,
        )
        is_vague = fastest == "scan" and offer.evaluations is None
        limit = _TOO_SLOW if is_vague else 1.0
        if _time(line) > limit * _time(least):
            return replace(line, reason=TOO_MUCH), False
        allowance = self.spent + threads * len(request.queries) * _time(least) - self.explored
        if allowance < offer.build_seconds or not explores:
            return replace(line, reason=FEW_QUERIES), False
        return line, True

    def _sample(
        self, one: Candidate, request: SearchRequest, k: int, allowance: float
    ) -> Offer | None:
        """Return the offer of an engine; None where that took too long or cannot be done."""
        key = (one.name, k.bit_length())

        def sample(progress: Progress) -> Offer:
            return one.offer(
                self.engines, request.queries, k, threads=request.threads, progress=progress
            )

        offer: Offer | None
        offer, seconds = self._explore(key, request, allowance, sample)
        if offer is not None:
            self._offers[key] = offer
        else:
            self._least[key] = 2.0 * seconds
        return offer

    def _build(self, one: Candidate, request: SearchRequest, k: int) -> None:
        """Build an engine unless it takes longer than its forecast and all searches allow."""
        key = (one.name, k.bit_length())
        offer = self._offers.get(key)
        allowance = self.spent - self.explored
        if offer is not None:
            allowance = max(allowance, offer.build_seconds)

        def build(progress: Progress) -> object:
            return one.build(self.engines, progress, offer)

        made, seconds = self._explore(key, request, allowance, build)
        if made is None and offer is not None:
            longer = max(offer.build_seconds, 2.0 * seconds)
            self._offers[key] = replace(offer, build_seconds=longer)

    def _explore(
        self,
        key: tuple[str, int],
        request: SearchRequest,
        allowance: float,
        work: Callable[[Progress], Any],
    ) -> tuple[Any, float]:
        """Return what work returns, None where it is ended or refused, and its seconds.

        One thread explores at a time; a kernel that searches its own index scans meanwhile.
        """
        owner, process = object(), os.getpid()
        if self._explorers.setdefault(process, owner) is not owner:
            return None, 0.0
        made, started = None, time.perf_counter()
        seconds = max(_PATIENCE * allowance / request.threads, _LEAST_ALLOWANCE)
        try:
            with limited_work(request.progress, seconds) as progress:
                made = work(progress)
        except TooLong:
            pass
        except (FastmksError, MemoryError) as error:
            is_declared = has_functions(self.engines.space.kernel)
            if is_declared and isinstance(error, NotMercerError):
                raise
            self.given_up[key] = CANNOT
        finally:
            taken = (time.perf_counter() - started) * request.threads
            self.explored += taken
            del self._explorers[process]
        return made, taken

    def _end_trial(self, plan: Plan, request: SearchRequest, k: int) -> None:
        """Keep or drop a tree beside a filter once it has been tried."""
        if not self.engines.has_tried_tree:
            return
        known = self.measured.get(_key("tree", len(request.queries), k))
        if known is not None and known.is_tried:
            is_kept = plan.algorithm == "tree"
            self.engines.end_trial(keep_tree=is_kept)
            if not is_kept:
                self.given_up["tree", k.bit_length()] = SLOWER

    def _race(self, request: SearchRequest, k: int, entrants: Sequence[Candidate]) -> None:
        """Measure engines on a few of the queries, for searches like this one."""
        few = replace(
            request.of_queries(_spread(len(request.queries), _N_RACED)),
            threads=1,
            progress=request.progress.hidden(),
            approximation=EXACT,
            skip_self=False,
        )
        engines = [one.engine(self.engines, few) for one in entrants]
        for engine in (*engines, self.engines.scan):
            if engine is None:
                continue
            started = time.perf_counter()
            try:
                found = engine.top_k(few, k)
            except ArithmeticError:  # the search itself raises it, with ids
                return
            seconds = time.perf_counter() - started
            key = _key(engine.name, len(request.queries), k)
            self._add(key, seconds, len(few.queries), found.cost.evaluations)

    def _scan_forecast(self, request: SearchRequest, k: int, n_objects: int) -> Forecast:
        known = self.measured.get(_key("scan", len(request.queries), k))
        if known is not None:
            return known.forecast(request.threads, n_objects / len(self.engines.space))
        call, value = self.engines.space.core.measure_cost()
        seconds = (call + value * n_objects) / request.threads
        return Forecast(seconds, 0.0, "the time of single evaluations", evaluations=n_objects)


def _time(line: Forecast) -> float:
    """Return the time of a query; infinity where it is not known."""
    return math.inf if line.seconds_per_query is None else line.seconds_per_query


def _key(name: str, n_queries: int, k: int) -> tuple[str, int, int]:
    """Return the key of searches with about the same cost per query: similar batch size and k."""
    return name, min(n_queries.bit_length(), 6), k.bit_length()


def _spread(n: int, wanted: int) -> Int64s:
    """Return some positions, evenly spread; the same ones every time."""
    return np.linspace(0, n - 1, min(n, wanted)).astype(np.int64)
