"""One cell: everyone searches the same queries, round after round, in turn.

A lap is a run of calls with as many queries each as the cell's batch. Whoever would need longer
than a lap may take is asked fewer of the queries, and time is given per query. Whoever a first
look shows to be far behind its side, or to take far longer than a lap, keeps the figure of that
look.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import count_rows
from benchmarks.harness import Moment, now, others_share, pinned, ratio, run_rounds, seconds_of
from benchmarks.race.entrant import POOL_QUERIES, Entry, Ready
from benchmarks.race.judge import Judge
from benchmarks.report import Check
from benchmarks.suite import Measured

_MORE_ROUNDS = 3  # times, where laps are short
_LEAST_ASKED = 4
_LONG_LAPS = 5.0  # times the seconds of a lap: whoever cannot be asked less is asked once

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Key:
    """What tells one cell from another."""

    problem: str
    n_objects: int
    n_queries: int
    kernel: str
    k: int
    batch: int
    threads: int

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' * (self.threads > 1)}"
        return f"{self.problem} {self.kernel}, k={self.k}, batch {self.batch}, {threads}"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What one entrant did; times are microseconds per query."""

    name: str
    is_ours: bool
    in_bar: bool
    is_brute: bool
    is_exact: bool = True  # promises the true answers
    failure: str | None = None  # why there is no more
    is_refused: bool | None = None  # whether that is no fault
    engine: str | None = None  # ours: the one that searched
    median_us: float | None = None
    best_us: float | None = None
    rounds: int | None = None  # 1: a first look, far behind
    asked: int | None = None  # queries in a lap
    times_less: float | None = None  # ours: than the best peer of the bar; median of the rounds
    evaluations: float | None = None  # per query
    operations: float | None = None  # multiply-adds of bounds, per query
    checked: int | None = None
    differ: int | None = None
    ties: int | None = None
    build_seconds: float | None = None
    build_evaluations: int | None = None
    prepare_seconds: float | None = None
    n_bytes: int | None = None

    @property
    def wrong(self) -> int:
        """Queries whose values are not the true ones."""
        return (self.differ or 0) - (self.ties or 0)


@dataclass(frozen=True, kw_only=True)
class Cell(Key, Measured):
    """One cell: what was searched, and the figures of all."""

    n_columns: int
    origin: str
    figures: tuple[Figure, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)  # whatever else a program knows of it

    def figure(self, name: str) -> Figure | None:
        """Return what an entrant did, if it took part."""
        return next((one for one in self.figures if one.name == name), None)

    def get(self, name: str, field: str) -> Any:
        """Return a figure of an entrant; None where it has none, or failed."""
        one = self.figure(name)
        return None if one is None or one.failure is not None else getattr(one, field)

    @property
    def ours(self) -> list[Figure]:
        """What our engines did."""
        return [one for one in self.figures if one.is_ours]


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long everything may take."""

    rounds: int
    lap_seconds: float
    look_seconds: float = 0.05  # of the first look
    rounds_seconds: float = 1.5  # what all rounds of short laps may take
    far_behind: float = 4.0  # times the fastest of its side: no race for such
    check_seconds: float = 5.0  # the rest of our answers are checked too where that takes no longer


def exactness_checks(cells: Sequence[Cell], truth: str) -> list[Check]:
    """Return what must hold of ours: every answer is the true one, and none is missing."""
    ours = [one for cell in cells for one in cell.ours]
    return [
        Check(
            claim=f"queries with other ids than {truth}, ours",
            value=float(sum(one.differ or 0 for one in ours)),
        ),
        Check(
            claim="searches that failed, ours",
            value=float(sum(one.failure is not None for one in ours)),
        ),
    ]


@dataclass(frozen=True, eq=False)
class _Lap:
    seconds: float  # per query
    n_asked: int
    indices: NDArray[np.int64]
    evaluations: float | None  # per query
    operations: float | None
    engine: str | None


def measure(
    key: Key,
    entries: Sequence[Entry],
    judge: Judge,
    pace: Pace,
    *,
    n_columns: int,
    origin: str,
    commit: str,
    facts: Mapping[str, Any] | None = None,
) -> Cell:
    """Look at everyone, race those that are not far behind, and check all answers."""
    started, before = time.perf_counter(), _moment(entries)
    looks = {
        entry.entrant.name: _guarded(entry, partial(_look, entry, key, pace)) for entry in entries
    }
    racing = [entry for entry in entries if _is_racing(entry, entries, looks, pace)]
    laps = _race(key, racing, looks, pace)
    figures = []
    for entry in entries:
        look = looks[entry.entrant.name]
        mine = laps.get(entry.entrant.name) or ([] if look is None else [look])
        made = _guarded(entry, partial(_figure, entry, key, mine, judge, pace))
        figures.append(made or _blank(entry))
    return Cell(
        **key.__dict__,
        n_columns=n_columns,
        origin=origin,
        commit=commit,
        others=others_share(before, _moment(entries)),
        seconds=time.perf_counter() - started,
        figures=tuple(_compared(figures, laps)),
        facts=facts or {},
    )


def _lap(entry: Entry, key: Key, n_asked: int) -> _Lap:
    """Ask the first `n_asked` queries, a batch at a time."""
    assert entry.ready is not None
    ready = entry.ready
    n_asked = min(ready.n_fixed or n_asked, count_rows(ready.queries))
    batch = n_asked if ready.n_fixed else key.batch
    blas = 1 if entry.entrant.own_threads and batch >= POOL_QUERIES else key.threads
    with pinned(key.threads, blas):
        lap = _ask(ready, key.k, batch, 0, n_asked)
    return replace(lap, seconds=lap.seconds / n_asked)


def _ask(ready: Ready, k: int, batch: int, begin: int, end: int) -> _Lap:
    """Ask some queries; the seconds are of all of them."""
    parts = [ready.queries[at : min(at + batch, end)] for at in range(begin, end, batch)]
    started = time.perf_counter()
    answers = [ready.search(part, k) for part in parts]
    seconds = time.perf_counter() - started
    return _Lap(
        (ready.n_fixed and answers[0].seconds) or seconds,
        end - begin,
        np.concatenate([answer.indices for answer in answers if answer.indices is not None]),
        _per_query([answer.evaluations for answer in answers], end - begin),
        _per_query([answer.operations for answer in answers], end - begin),
        answers[-1].engine,
    )


def _per_query(counts: Sequence[int | None], n_asked: int) -> float | None:
    known = [count for count in counts if count is not None]
    return sum(known) / n_asked if len(known) == len(counts) else None


def _look(entry: Entry, key: Key, pace: Pace) -> _Lap:
    """Find out roughly how fast an entrant is."""
    assert entry.ready is not None
    if entry.ready.n_fixed:
        return _lap(entry, key, entry.ready.n_fixed)
    _lap(entry, key, 1)  # whatever is built at the first search is not timed
    n_asked = min(key.batch, entry.entrant.look_queries)
    while True:
        found = _lap(entry, key, n_asked)
        if found.seconds * n_asked >= pace.look_seconds or n_asked >= key.n_queries:
            return found
        n_asked = min(4 * n_asked, key.n_queries)


def _is_racing(
    entry: Entry, entries: Sequence[Entry], looks: Mapping[str, _Lap | None], pace: Pace
) -> bool:
    """Whether to race: ours beside ours, peers of the bar beside such, other peers beside all.

    Who only approximates is no measure for who does not.
    """
    mine, me = looks[entry.entrant.name], entry.entrant
    if mine is None or entry.ready is None:
        return False
    if entry.ready.n_fixed and mine.seconds * mine.n_asked > _LONG_LAPS * pace.lap_seconds:
        return False
    side = (
        looks[other.name]
        for other in (one.entrant for one in entries)
        if other.is_ours == me.is_ours
        and (other.in_bar or not me.in_bar)
        and (other.is_exact or not me.is_exact)
    )
    fastest = min((look.seconds for look in side if look is not None), default=0.0)
    return mine.seconds <= pace.far_behind * fastest


def _race(
    key: Key, racing: Sequence[Entry], looks: Mapping[str, _Lap | None], pace: Pace
) -> dict[str, list[_Lap]]:
    runs = [
        partial(_guarded, entry, partial(_lap, entry, key, n_asked))
        for entry in racing
        for n_asked in [_n_asked(key, looks[entry.entrant.name], pace.lap_seconds)]
    ]
    once = seconds_of(lambda: run_rounds(runs, rounds=1, warmups=0))
    more = min(_MORE_ROUNDS * pace.rounds, int(pace.rounds_seconds / max(once, 1e-9)))
    found = run_rounds(runs, rounds=max(pace.rounds, more), warmups=0)
    return {
        entry.entrant.name: [lap for lap in mine if lap is not None]
        for entry, mine in zip(racing, found, strict=True)
        if all(lap is not None for lap in mine)
    }


def _n_asked(key: Key, look: _Lap | None, lap_seconds: float) -> int:
    """Return how many queries a lap may have: whole batches, or a part of one."""
    assert look is not None
    most = max(_LEAST_ASKED, int(lap_seconds / look.seconds))
    if most >= key.n_queries:
        return key.n_queries
    return most - most % key.batch if most >= key.batch else most


def _guarded(entry: Entry, run: Callable[[], _T]) -> _T | None:
    """Run; where it fails the entrant takes no further part, and the reason is kept."""
    if entry.failure is not None or entry.ready is None:
        return None
    try:
        return run()
    except Exception as error:
        entry.failure = f"{type(error).__name__}: {error}"
        return None


def _figure(entry: Entry, key: Key, laps: Sequence[_Lap], judge: Judge, pace: Pace) -> Figure:
    if not laps or entry.ready is None:
        return _blank(entry)
    seconds, last = [lap.seconds for lap in laps], laps[-1]
    exactness = judge.compare(last.indices)
    rest = _ask_rest(entry, key, last, pace)
    if rest is not None:
        exactness += judge.compare(rest.indices, last.n_asked)
    ready = entry.ready
    return replace(
        _blank(entry),
        failure=None,
        engine=last.engine,
        median_us=median(seconds) * 1e6,
        best_us=min(seconds) * 1e6,
        rounds=len(laps),
        asked=last.n_asked,
        evaluations=_mean("evaluations", last, rest),
        operations=_mean("operations", last, rest),
        **exactness.__dict__,
        build_seconds=ready.build_seconds,
        build_evaluations=ready.build_evaluations,
        prepare_seconds=ready.prepare_seconds,
        n_bytes=ready.n_bytes(),
    )


def _blank(entry: Entry) -> Figure:
    """Return a figure of an entrant that gave no answer."""
    names = ("name", "is_ours", "in_bar", "is_brute", "is_exact")
    return Figure(
        **{name: getattr(entry.entrant, name) for name in names},
        failure=entry.failure or "no answer",
        is_refused=entry.is_refused or None,
    )


def _ask_rest(entry: Entry, key: Key, last: _Lap, pace: Pace) -> _Lap | None:
    """Ask ours the queries that laps did not have, if batches are whole and it is soon done.

    So all its answers are checked, and its evaluations counted over all.
    """
    rest = key.n_queries - last.n_asked
    is_short = 0.0 < rest * last.seconds <= pace.check_seconds
    if not entry.entrant.is_ours or key.batch < key.n_queries or not is_short:
        return None
    assert entry.ready is not None
    return _ask(entry.ready, key.k, rest, last.n_asked, key.n_queries)


def _mean(name: str, *laps: _Lap | None) -> float | None:
    """Return a count for each query, over all laps."""
    some = [(getattr(lap, name), lap.n_asked) for lap in laps if lap is not None]
    if any(count is None for count, _ in some):
        return None
    return float(sum(count * n for count, n in some) / sum(n for _, n in some))


def _compared(figures: Sequence[Figure], laps: Mapping[str, list[_Lap]]) -> Iterator[Figure]:
    """Say how many times less than the best peer of the bar ours took, within the rounds."""
    peers = [one for one in figures if one.in_bar and not one.is_ours and one.median_us]
    best = min(peers, key=lambda peer: peer.median_us or 0.0, default=None)
    for one in figures:
        if best is None or not one.is_ours or one.median_us is None or best.median_us is None:
            yield one
            continue
        times_less = best.median_us / one.median_us
        if one.name in laps and best.name in laps:
            sides = ([lap.seconds for lap in laps[name]] for name in (best.name, one.name))
            times_less = ratio(*sides)
        yield replace(one, times_less=times_less)


def _moment(entries: Sequence[Entry]) -> Moment:
    """Return where the counters stand; a peer's own process is not one of the others."""
    return now(sum(one.ready.cpu_elsewhere() for one in entries if one.ready is not None))
