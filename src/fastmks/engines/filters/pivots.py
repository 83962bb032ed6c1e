"""The filter for kernels without coordinates: bounds from values with a few objects, the pivots.

Every object has coordinates in the span of the pivots, and a distance from it in the Hilbert space;
both bound its values (docs/how-it-works/pivots.md). The pivots come from a sample of the objects.
Their number is the one with the least cost for sampled queries.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats, Int64s
from fastmks._util.progress import Progress
from fastmks.engines.approximation import EXACT
from fastmks.engines.base import AboveFound, Offer, SearchRequest, TopKFound
from fastmks.engines.faults import Namer, named_faults
from fastmks.engines.filters.base import CoreFilter, FilterKind, Report
from fastmks.engines.scan import Scan
from fastmks.engines.space import Space
from fastmks.errors import InvalidArgument, NotMercerError
from fastmks.files.record import Record, first_difference, restoring
from fastmks.kernels.object_kernel import leaves

_MOST_PIVOTS = 256
_FEWEST_SAMPLED, _MOST_SAMPLED = 64, 512  # objects whose Gram matrix chooses the pivots
_GRAM_SHARE = 32  # its values are about as many as this times the objects
_QUERIES_SAMPLED = 16
_MOST_HELD_OUT = 64  # objects that are no candidates, searched by sampled queries
_RANKS = (1, 10)  # of the hits of sampled queries
_LEAST_RESIDUAL = 1e-9  # of a pivot's K(x, x)
_BOUND_SLACK = 1e-6  # of cosines, for coordinates that round
_STEP_SECONDS = 2.5e-9  # of choosing, per pivot and sampled value
_BOUND_SECONDS = 3e-10  # per object and pivot
_QUERY_SECONDS = 5e-6  # of a query, for any objects
_TYPICAL_PIVOTS = 64
_SUSPICIOUS = -1e-7  # residuals, as shares of K(x, x), that need a certified check


class Forecast(NamedTuple):
    """The expected cost of a query with this many pivots, on average over ranks 1 and 10."""

    n_pivots: int
    survivors: float

    @property
    def evaluations(self) -> float:
        """Values with the pivots, and with the objects that their bounds do not prune."""
        return self.n_pivots + self.survivors


@dataclass(frozen=True, kw_only=True)
class Pivots(CoreFilter):
    """The engine that bounds values from the coordinates of all objects on the pivots' span."""

    projection: _core.PivotProjection
    table: _core.PivotTable
    forecasts: tuple[Forecast, ...]  # of every number of pivots tried; empty when it was given
    build_evaluations: int  # of K(x, y); K(x, x) is evaluated once per object besides
    build_seconds: float
    core_top_k = _core.pivots_top_k
    core_above = _core.pivots_above
    core_approximate_top_k = _core.pivots_approximate_top_k

    def __repr__(self) -> str:
        return (
            f"<Pivots: {len(self.space)} objects on {self.projection.n_pivots} pivots, "
            f"built with {self.build_evaluations} kernel evaluations>"
        )

    @property
    def n_bytes(self) -> int:
        """Memory of the coordinates, without the objects."""
        return self.table.n_bytes

    @property
    def structure(self) -> tuple[_core.PivotTable]:
        """The coordinates."""
        return (self.table,)

    def record(self) -> Record:
        """Return the coordinates as a record, for a file."""
        facts = {
            "kind": PIVOTS.name,
            "build_evaluations": self.build_evaluations,
            "build_seconds": self.build_seconds,
            "forecasts": [list(forecast) for forecast in self.forecasts],
        }
        return Record(facts, self.table.arrays())

    def find_fault(self, threads: int, report: Report) -> str:
        """Return the fault of the pivots, or where the coordinates differ when built again."""
        fault = self.projection.find_fault()
        if fault:
            return fault
        rebuilt = _core.pivot_table(self.projection, self.space.threads(threads), report)
        return first_difference(self.table.arrays(), rebuilt.arrays())

    def top_k(self, request: SearchRequest, k: int) -> TopKFound:
        """Return the k best of each query."""
        if self._is_scanned(request):
            return Scan(self.space).top_k(replace(request, approximation=EXACT), k)
        self._check_budget(request, k)
        if request.tracer is not None:
            request.tracer.note(self.space, self.projection.pivots())
        return super().top_k(request, k)

    def above(self, request: SearchRequest, thresholds: Floats) -> AboveFound:
        """Return all at or above each query's threshold."""
        if self._is_scanned(request):
            return Scan(self.space).above(request, thresholds)
        return super().above(request, thresholds)

    def _check_budget(self, request: SearchRequest, k: int) -> None:
        budget, n_pivots = request.approximation.budget, self.projection.n_pivots
        least = max(n_pivots, k + request.skip_self)
        if request.among is not None:  # the pivots may not be among them
            least = n_pivots + k
        if budget is not None and budget < least:
            raise InvalidArgument(
                f"budget must be at least {least} evaluations per query, since the filter "
                f"evaluates each query with its {n_pivots} pivots first; got budget={budget}. "
                "A tree needs no more than k: pass algorithm='tree'."
            )

    def _is_scanned(self, request: SearchRequest) -> bool:
        """Whether a query searches no more objects than the pivots."""
        return request.among is not None and len(request.among) <= self.projection.n_pivots


def build_pivots(
    space: Space,
    *,
    threads: int,
    progress: Progress,
    m: int | None = None,
    seed: int = 0,
    name: Namer = "objects[{}]".format,
) -> Pivots:
    """Return the filter on `m` pivots, or on as many as pay.

    The same objects and seed give the same pivots. Objects that the pivots before them span up to
    rounding are no pivots, so there may be fewer than `m`.
    """
    _check_kernel(space)
    started = time.perf_counter()
    with named_faults(space.kernel, name, name):
        draft = _Draft(space, space.threads(threads), seed, m, name)
    return _build_on(draft, threads, progress, started)


def _build_on(draft: "_Draft", threads: int, progress: Progress, started: float) -> Pivots:
    """Return the filter on the pivots of a draft, begun at a time."""
    space = draft.space
    n_threads = space.threads(threads)
    with named_faults(space.kernel, draft.name, draft.name):
        projection = _core.pivot_projection(space.core, draft.chosen)
        with progress.bar(len(space), unit=" objects") as report:
            table = _core.pivot_table(projection, n_threads, report)
    projected = projection.n_pivots * (len(space) - 1)
    return Pivots(
        space=space,
        projection=projection,
        table=table,
        forecasts=draft.forecasts,
        build_evaluations=draft.evaluations + projection.build_evaluations + projected,
        build_seconds=time.perf_counter() - started,
    )


def _guess_seconds(space: Space, value_seconds: float) -> float:
    """Return an estimate of the time to choose and build pivots on one thread."""
    n = len(space)
    n_candidates = min(n, _n_candidates(n))
    steps = _MOST_PIVOTS * n_candidates * (n_candidates + _MOST_HELD_OUT + _QUERIES_SAMPLED)
    values = n_candidates**2 + (_QUERIES_SAMPLED + _TYPICAL_PIVOTS) * n
    return steps * _STEP_SECONDS + values * value_seconds


def _offer(
    space: Space, queries: Space, k: int, *, threads: int, progress: Progress, name: Namer
) -> Offer:
    """Return an offer of pivots that were chosen; its queries are objects."""
    started = time.perf_counter()
    with named_faults(space.kernel, name, name):
        draft = _Draft(space, space.threads(threads), 0, None, name)
    if len(draft.chosen) == 0:
        raise InvalidArgument(f"no object can be a pivot of {space.kernel!r}.")
    value_seconds = draft.seconds / draft.evaluations
    chosen = draft.forecast
    bounding = len(space) * max(chosen.n_pivots, 1) * _BOUND_SECONDS
    return Offer(
        space,
        len(space) * chosen.n_pivots * value_seconds,
        chosen.evaluations * value_seconds + bounding + _QUERY_SECONDS,
        f"{chosen.n_pivots} pivots leave {chosen.survivors / len(space):.2g} of a sample",
        lambda threads, progress: _build_on(draft, threads, progress, started),
        chosen.evaluations,
    )


def _restore(space: Space, record: Record) -> Pivots:
    """Return the pivots of a file. Nothing is evaluated for it."""
    with restoring("the pivots"):
        projection, table = _core.restore_pivots(space.core, dict(record.arrays))
        forecasts = tuple(
            Forecast(int(n), float(survivors)) for n, survivors in record.fact("forecasts", list)
        )
    return Pivots(
        space=space,
        projection=projection,
        table=table,
        forecasts=forecasts,
        build_evaluations=record.count("build_evaluations"),
        build_seconds=record.number("build_seconds"),
    )


def _serves(space: Space) -> bool:
    """Whether values with pivots bound the others."""
    return space.is_mercer and bool(np.isfinite(space.rounding).all())


def _check_kernel(space: Space) -> None:
    if not space.is_mercer:
        culprit = next(leaf for _, leaf in leaves(space.kernel) if leaf.is_mercer is False)
        raise NotMercerError(
            f"{space.kernel!r} is not Mercer on {space.objects.kind}, "
            f"and bounds from pivots hold for Mercer kernels only. {culprit.tree_advice}"
        )
    if not np.isfinite(space.rounding).all():
        raise InvalidArgument(
            f"algorithm='filter' needs values with a known rounding error; those of "
            f"{space.kernel!r} have none on these objects. Pass algorithm='scan'."
        )


class _Sample(NamedTuple):
    """Values of some objects with the candidates for pivots, as cosines.

    Candidates are the columns and the first rows; then come objects that are held out, so that
    nothing was fitted to them, and then queries.
    """

    candidates: Int64s
    held_out: Int64s
    queries: Int64s
    norms: Floats  # of all rows
    cosines: Floats

    @property
    def n_objects(self) -> int:
        """The number of rows before those of the queries."""
        return len(self.candidates) + len(self.held_out)


class _Step(NamedTuple):
    """A pivot, and the coordinate it gives every row, in cosines."""

    pivot: int
    column: Floats
    is_suspicious: bool  # a row whose part in the span is longer than itself


class _Draft:
    """The choice of pivots: `chosen` are their positions, best first."""

    def __init__(self, space: Space, threads: int, seed: int, m: int | None, name: Namer) -> None:
        self.space, self.threads, self.name = space, threads, name
        self.self_values = space.self_values()
        self.is_bounded = self.self_values <= _core.largest_self_value
        self.evaluations = 0
        self.seconds = 0.0  # of evaluations, on one thread
        self.forecasts: tuple[Forecast, ...] = ()
        self.forecast = Forecast(0, float(len(space)))
        self.chosen: Int64s = np.empty(0, dtype=np.int64)
        if not self.is_bounded.any():
            return
        sample = self._draw(seed, m)
        if m is not None or len(sample.queries) == 0:
            most = _MOST_PIVOTS if m is None else m
            self.chosen = sample.candidates[[step.pivot for step in self._steps(sample, most)]]
        else:
            self.chosen = self._choose(sample)

    def _draw(self, seed: int, m: int | None) -> _Sample:
        drawn = np.random.default_rng(seed).permutation(len(self.space)).astype(np.int64)
        drawn = drawn[self.is_bounded[drawn]]
        n = len(drawn)
        n_candidates = min(n, max(_n_candidates(n), m or 0))
        if n <= _FEWEST_SAMPLED:
            n_queries = n // 4 if m is None else 0
            return self._read(drawn, drawn[:0], drawn[n - n_queries :])
        n_queries = min(_QUERIES_SAMPLED, n // 4) if m is None else 0
        n_held_out = min(_MOST_HELD_OUT, n // 4) if m is None else 0
        n_candidates = min(n_candidates, n - n_queries - n_held_out)
        queries, rest = drawn[:n_queries], drawn[n_queries:]
        return self._read(rest[n_held_out:][:n_candidates], rest[:n_held_out], queries)

    def _read(self, candidates: Int64s, held_out: Int64s, queries: Int64s) -> _Sample:
        rows = np.concatenate([candidates, held_out, queries])
        objects, name = self._taken(candidates)
        taken, name_row = self._taken(rows)
        with named_faults(self.space.kernel, name_row, name):
            values = self._values(objects, taken)
        with own_arithmetic():
            norms = np.sqrt(np.maximum(self.self_values[rows], 0.0))
            cosines = values / norms[:, None] / norms[: len(candidates)]
        cosines[~np.isfinite(cosines)] = 0.0  # of zero objects
        return _Sample(candidates, held_out, queries, norms, cosines)

    def _values(self, objects: Space, queries: Space) -> Floats:
        began = time.perf_counter()
        values: Floats = _core.scan_matrix(objects.core, queries.core, self.threads)
        self.seconds += (time.perf_counter() - began) * self.threads
        self.evaluations += values.size
        return values

    def _taken(self, positions: Int64s) -> tuple[Space, Namer]:
        """Return some of the objects, and the texts that errors use for them."""
        return self.space.part(positions), lambda place: self.name(int(positions[place]))

    def _steps(self, sample: _Sample, most: int) -> Iterator[_Step]:
        """Yield pivots, each the one that explains most of the residuals before it."""
        left = sample.cosines.copy()
        n = len(sample.candidates)
        residuals = np.where(sample.norms > 0, 1.0, 0.0)
        found: list[int] = []
        while len(found) < most:
            with own_arithmetic():
                own = residuals[:n]
                is_left = own > _LEAST_RESIDUAL
                gains = np.where(is_left, (left[:n] ** 2).sum(axis=0), 0.0)
                gains = np.divide(gains, own, out=np.zeros(n), where=is_left)
                pivot = int(np.argmax(gains))
                if not gains[pivot] > 0.0:
                    return
                found.append(pivot)
                column = left[:, pivot] / np.sqrt(own[pivot])
                left -= np.outer(column, column[:n])
                residuals = residuals - column**2
                is_suspicious = bool((residuals < _SUSPICIOUS).any())
                residuals = np.maximum(residuals, 0.0)
            yield _Step(pivot, column, is_suspicious)
            if is_suspicious:
                self._look_closely(sample.candidates[found])
                return

    def _look_closely(self, pivots: Int64s) -> None:
        """Raise where values with these pivots are more than rounding away from a Mercer kernel."""
        projection = _core.pivot_projection(self.space.core, pivots)
        self.evaluations += projection.build_evaluations + len(pivots) * (len(self.space) - 1)
        projection.project(self.space.core)

    def _choose(self, sample: _Sample) -> Int64s:
        """Return the pivots, as many as give sampled queries the least cost."""
        queries, name = self._taken(sample.queries)
        objects, name_object = self.space, self.name
        if not self.is_bounded.all():
            objects, name_object = self._taken(np.flatnonzero(self.is_bounded))
        with named_faults(self.space.kernel, name, name_object):
            found = self._values(objects, queries)
        values = np.full((len(queries), len(self.space)), -np.inf)
        values[:, self.is_bounded] = found
        trial = _Trial(sample, values)
        pivots: list[int] = []
        forecasts: list[Forecast] = []
        least = float("inf")
        for step in self._steps(sample, _MOST_PIVOTS):
            pivots.append(step.pivot)
            forecasts.append(Forecast(len(pivots), trial.survivors(step)))
            least = min(least, forecasts[-1].evaluations)
            if len(pivots) >= least:
                break
        self.forecasts = tuple(forecasts)
        if forecasts:
            self.forecast = min(forecasts, key=lambda forecast: forecast.evaluations)
        return sample.candidates[pivots[: self.forecast.n_pivots]]


def _n_candidates(n_objects: int) -> int:
    """Return how many objects may become pivots, before those that are held out."""
    return int(np.clip((_GRAM_SHARE * n_objects) ** 0.5, _FEWEST_SAMPLED, _MOST_SAMPLED))


class _Trial:
    """Sampled queries and their hits: counts the objects that the bounds would not prune."""

    @own_arithmetic()
    def __init__(self, sample: _Sample, values: Floats) -> None:
        self.sample = sample
        self.n_objects = values.shape[1]
        positions = np.concatenate([sample.candidates, sample.held_out])
        # Queries are no answers to themselves, and pivots no survivors.
        self.counts = positions != sample.queries[:, None]
        others = values.copy()
        others[np.arange(len(values)), sample.queries] = -np.inf
        best = -np.sort(-others, axis=1)
        n = sample.n_objects
        norms = sample.norms[n:, None] * sample.norms[:n]
        # In cosines; not a number for zero objects, which then survive.
        self.thresholds = [best[:, min(k, self.n_objects - 1) - 1, None] / norms for k in _RANKS]
        self.products = np.zeros(self.counts.shape)
        self.residuals = np.ones(len(sample.norms))
        self.n_pivots = 0

    @own_arithmetic()
    def survivors(self, step: _Step) -> float:
        """Return the number of evaluations of a query after another pivot, besides pivots."""
        n, n_candidates = self.sample.n_objects, len(self.sample.candidates)
        self.n_pivots += 1
        self.counts[:, step.pivot] = False
        self.products += np.outer(step.column[n:], step.column[:n])
        self.residuals = np.maximum(self.residuals - step.column**2, 0.0)
        tails = np.sqrt(self.residuals)
        bounds = self.products + np.outer(tails[n:], tails[:n]) + _BOUND_SLACK
        kept = sum((~(bounds < threshold)).astype(np.int64) for threshold in self.thresholds)
        # Pivots were fitted to the candidates; objects that were held out are few.
        shares = [
            (kept * self.counts)[:, part].sum() / (len(_RANKS) * self.counts[:, part].sum())
            for part in (slice(0, n_candidates), slice(n_candidates, n))
            if self.counts[:, part].any()
        ]
        return float(max(shares, default=0.0) * (self.n_objects - self.n_pivots))


PIVOTS = FilterKind(
    name="pivots",
    serves=_serves,
    build=lambda space, *, threads, progress, name, **_: build_pivots(
        space, threads=threads, progress=progress, name=name
    ),
    restore=_restore,
    guess_seconds=_guess_seconds,
    offer=_offer,
    is_free=False,
)
