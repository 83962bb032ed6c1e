"""One cell: all entrants search the same queries, round after round, in turn.

A lap is a run of calls with as many queries each as the cell's batch. An entrant that would need
longer than a lap may take is asked fewer of the queries, and time is given per query. A first
check times each entrant: one far slower than the fastest of its side, or whose search is far longer
than a lap, is not raced and keeps the figure of that check.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem, count_rows
from benchmarks.harness import (
    Answer,
    Moment,
    now,
    others_share,
    pinned,
    ratio,
    run_rounds,
    seconds_of,
    timed,
)  # fmt: skip
from benchmarks.race.entrant import POOL_QUERIES, Entry, Ready
from benchmarks.race.judge import Exactness, Judge
from benchmarks.report import Check, three_digits
from benchmarks.suite import Measured

_MORE_ROUNDS = 3  # times, where laps are short
_LEAST_ASKED = 4
_LONG_LAPS = 5.0  # times the seconds of a lap; longer searches of all queries are run once

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Key:
    """The key of a cell."""

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


def key_of(problem: Problem, kernel: str, *, k: int, batch: int, threads: int) -> Key:
    """Return the key of a cell; a batch is no larger than the queries."""
    return Key(
        problem=problem.name,
        n_objects=problem.n_objects,
        n_queries=problem.n_queries,
        kernel=kernel,
        k=k,
        batch=min(batch, problem.n_queries),
        threads=threads,
    )


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The figures of one entrant; times are microseconds per query."""

    name: str
    is_ours: bool
    in_bar: bool
    is_brute: bool
    is_exact: bool = True  # promises the true answers
    failure: str | None = None  # why figures are missing
    is_refused: bool | None = None  # whether that is no fault
    engine: str | None = None  # ours: the one that searched
    median_us: float | None = None
    best_us: float | None = None
    rounds: int | None = None  # 1: the first check only, far slower
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
        """The number of queries whose values are not the true ones."""
        return (self.differ or 0) - (self.ties or 0)


@dataclass(frozen=True, kw_only=True)
class Cell(Key, Measured):
    """One cell: its data set, and the figures of all entrants."""

    n_columns: int
    origin: str
    figures: tuple[Figure, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)  # further facts of a program

    def figure(self, name: str) -> Figure | None:
        """Return the figures of an entrant, if it took part."""
        return next((one for one in self.figures if one.name == name), None)

    def get(self, name: str, field: str) -> Any:
        """Return a figure of an entrant; None where it has none, or failed."""
        one = self.figure(name)
        return None if one is None or one.failure is not None else getattr(one, field)

    @property
    def line(self) -> str:
        """One line with the times of all entrants, and whether ours were exact."""
        parts = [f"{self.key}, {self.n_objects} objects"]
        for one in self.figures:
            if one.median_us is not None:
                engine = f" ({one.engine})" if one.is_ours else ""
                parts.append(f"{one.name}{engine} {three_digits(one.median_us)} us")
            elif not one.is_refused:
                parts.append(f"{one.name}: {one.failure}")
        wrong = sum(one.differ or 0 for one in self.ours)
        return "; ".join([*parts, f"{wrong} of ours differ" if wrong else "ours exact"])

    @property
    def ours(self) -> list[Figure]:
        """The figures of our engines."""
        return [one for one in self.figures if one.is_ours]


def exactness_checks(cells: Sequence[Cell], truth: str) -> list[Check]:
    """Return the checks of our engines: every answer is the true one, and none is missing."""
    ours = [one for cell in cells for one in cell.ours]
    counts = {
        f"queries with other ids than {truth}, ours": sum(one.differ or 0 for one in ours),
        "searches that failed, ours": sum(one.failure is not None for one in ours),
    }
    return [Check(claim=claim, value=float(count)) for claim, count in counts.items()]


def count_wrong(cells: Sequence[Cell], name: str) -> Exactness | None:
    """Return the exactness of an entrant over cells; None where it has answered in none."""
    figures = [one for cell in cells if (one := cell.figure(name)) and one.checked]
    counts = [Exactness(one.checked or 0, one.differ or 0, one.ties or 0) for one in figures]
    return sum(counts[1:], counts[0]) if counts else None


class Pace(NamedTuple):
    """Limits on the time of each step."""

    rounds: int
    lap_seconds: float
    look_seconds: float = 0.05  # of the first check
    rounds_seconds: float = 1.5  # what all rounds of short laps may take
    far_behind: float = 4.0  # times the fastest of its side: slower entrants are not raced
    check_seconds: float = 5.0  # the rest of our answers are checked too where that takes no longer


class _Lap(NamedTuple):
    seconds: float  # per query
    n_asked: int
    indices: NDArray[np.int64]
    evaluations: float | None
    operations: float | None
    engine: str | None


def measure(
    key: Key,
    entries: Sequence[Entry],
    judge: Judge,
    pace: Pace,
    facts: Mapping[str, Any] | None = None,
) -> Cell:
    """Time each entrant once, race those not far slower, and check all answers."""
    before = _moment(entries)
    looks: dict[str, _Lap] = {}
    for entry in entries:
        look = _guarded(entry, partial(_look, entry, key, pace))
        looks |= {} if look is None else {entry.entrant.name: look}
    racing = [entry for entry in entries if _is_racing(entry, entries, looks, pace)]
    laps = _race(key, racing, looks, pace)
    figures = []
    for entry in entries:
        name = entry.entrant.name
        mine = laps.get(name) or ([looks[name]] if name in looks else [])
        made = _guarded(entry, partial(_figure, entry, key, mine, judge, pace)) if mine else None
        figures.append(made or _blank(entry))
    return Cell(
        **key.__dict__,
        n_columns=judge.problem.n_columns,
        origin=judge.problem.origin,
        others=others_share(before, _moment(entries)),
        figures=tuple(_compared(figures, laps)),
        facts=facts or {},
    )


def _lap(entry: Entry, key: Key, n_asked: int, ready: Ready) -> _Lap:
    """Ask the first `n_asked` queries, a batch at a time."""
    n_asked = min(ready.n_fixed or n_asked, count_rows(ready.queries))
    batch = n_asked if ready.n_fixed else key.batch
    blas = 1 if entry.entrant.own_threads and batch >= POOL_QUERIES else key.threads
    with pinned(key.threads, blas):
        return _ask(ready, key.k, batch, 0, n_asked)


def _ask(ready: Ready, k: int, batch: int, begin: int, end: int) -> _Lap:
    parts = [ready.queries[at : min(at + batch, end)] for at in range(begin, end, batch)]
    answers, seconds = timed(lambda: [ready.search(part, k) for part in parts])
    return _Lap(
        ((ready.n_fixed and answers[0].seconds) or seconds) / (end - begin),
        end - begin,
        np.concatenate([answer.indices for answer in answers if answer.indices is not None]),
        _sum("evaluations", answers),
        _sum("operations", answers),
        answers[-1].engine,
    )


def _sum(name: str, parts: Sequence[Answer | _Lap]) -> float | None:
    """Return a count over all parts; None where one of them does not know it."""
    counts = [getattr(part, name) for part in parts]
    return None if None in counts else sum(counts)


def _look(entry: Entry, key: Key, pace: Pace, ready: Ready) -> _Lap:
    """Return a rough time of an entrant."""
    if ready.n_fixed:
        return _lap(entry, key, ready.n_fixed, ready)
    _lap(entry, key, 1, ready)  # whatever is built at the first search is not timed
    n_asked = min(key.batch, entry.entrant.look_queries)
    while True:
        found = _lap(entry, key, n_asked, ready)
        if found.seconds * n_asked >= pace.look_seconds or n_asked >= key.n_queries:
            return found
        n_asked = min(4 * n_asked, key.n_queries)


def _is_racing(
    entry: Entry, entries: Sequence[Entry], looks: Mapping[str, _Lap], pace: Pace
) -> bool:
    """Whether to race: ours beside ours, peers of the bar beside such, other peers beside all.

    Exact entrants are compared with exact ones only.
    """
    me, mine = entry.entrant, looks.get(entry.entrant.name)
    if mine is None or entry.ready is None:
        return False
    if entry.ready.n_fixed and mine.seconds * mine.n_asked > _LONG_LAPS * pace.lap_seconds:
        return False
    fastest = min(
        looks[other.name].seconds
        for other in (one.entrant for one in entries)
        if other.name in looks
        and other.is_ours == me.is_ours
        and (other.in_bar or not me.in_bar)
        and (other.is_exact or not me.is_exact)
    )
    return mine.seconds <= pace.far_behind * fastest


def _race(
    key: Key, racing: Sequence[Entry], looks: Mapping[str, _Lap], pace: Pace
) -> dict[str, list[_Lap]]:
    names = [entry.entrant.name for entry in racing]
    runs = [
        partial(_guarded, entry, partial(_lap, entry, key, _n_asked(key, looks[name], pace)))
        for name, entry in zip(names, racing, strict=True)
    ]
    once = seconds_of(lambda: run_rounds(runs, rounds=1, warmups=0))
    more = min(_MORE_ROUNDS * pace.rounds, int(pace.rounds_seconds / max(once, 1e-9)))
    found = run_rounds(runs, rounds=max(pace.rounds, more), warmups=0)
    done = {name: [lap for lap in mine if lap] for name, mine in zip(names, found, strict=True)}
    return {name: mine for name, mine in done.items() if len(mine) == max(pace.rounds, more)}


def _n_asked(key: Key, look: _Lap, pace: Pace) -> int:
    """Return how many queries a lap may have: whole batches, or a part of one."""
    most = max(_LEAST_ASKED, int(pace.lap_seconds / look.seconds))
    if most >= key.n_queries:
        return key.n_queries
    return most - most % key.batch if most >= key.batch else most


def _guarded(entry: Entry, run: Callable[[Ready], _T]) -> _T | None:
    """Run a step; after a failure the entrant takes no further part, and the reason is kept."""
    if entry.failure is not None or entry.ready is None:
        return None
    try:
        return run(entry.ready)
    except Exception as error:
        entry.failure = f"{type(error).__name__}: {error}"
        return None


def _figure(
    entry: Entry, key: Key, laps: Sequence[_Lap], judge: Judge, pace: Pace, ready: Ready
) -> Figure:
    seconds, last = [lap.seconds for lap in laps], laps[-1]
    asked, exactness = [last], judge.compare(last.indices)
    costs = ("build_seconds", "build_evaluations", "prepare_seconds")
    # The rest is asked of ours, if batches are whole and it is soon done: so all its answers are
    # checked, and its evaluations counted over all.
    rest = key.n_queries - last.n_asked
    is_short = 0.0 < rest * last.seconds <= pace.check_seconds
    if entry.entrant.is_ours and key.batch == key.n_queries and is_short:
        asked.append(_ask(ready, key.k, rest, last.n_asked, key.n_queries))
        exactness += judge.compare(asked[-1].indices, last.n_asked)
    return replace(
        _blank(entry),
        failure=None,
        engine=last.engine,
        median_us=median(seconds) * 1e6,
        best_us=min(seconds) * 1e6,
        rounds=len(laps),
        asked=last.n_asked,
        **exactness.__dict__,
        evaluations=_per_query("evaluations", asked),
        operations=_per_query("operations", asked),
        **{name: getattr(ready, name) for name in costs},
        n_bytes=ready.n_bytes(),
    )


def _per_query(name: str, laps: Sequence[_Lap]) -> float | None:
    total = _sum(name, laps)
    return None if total is None else total / sum(lap.n_asked for lap in laps)


def _blank(entry: Entry) -> Figure:
    """Return a figure of an entrant that gave no answer."""
    shared = {one.name for one in fields(Figure)} & {one.name for one in fields(entry.entrant)}
    return Figure(
        **{name: getattr(entry.entrant, name) for name in shared},
        failure=entry.failure or "no answer",
        is_refused=entry.is_refused or None,
    )


def _compared(figures: Sequence[Figure], laps: Mapping[str, list[_Lap]]) -> Iterator[Figure]:
    """Add the speed-up of ours over the best peer of the bar, from times within the rounds."""
    peers = [one for one in figures if one.in_bar and not one.is_ours and one.median_us]
    best = min(peers, key=lambda peer: peer.median_us or 0.0, default=None)
    for one in figures:
        times_less = None
        if best and best.median_us and one.is_ours and one.median_us:
            times_less = best.median_us / one.median_us
            if one.name in laps and best.name in laps:
                sides = ([lap.seconds for lap in laps[name]] for name in (best.name, one.name))
                times_less = ratio(*sides)
        yield replace(one, times_less=times_less)


def _moment(entries: Sequence[Entry]) -> Moment:
    """Return the counters now; a peer's own process counts as ours."""
    return now(sum(one.ready.cpu_elsewhere() for one in entries if one.ready is not None))
