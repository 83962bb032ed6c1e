"""Measure one cell of the grid: everyone searches the same queries, round after round, in turn.

A lap is a run of calls with as many queries each as the cell's batch. Whoever would need longer
than a lap may take is asked fewer of the queries, and time is given per query. Whoever a first
look shows to be far behind its side keeps the figure of that look.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks import noise
from benchmarks.harness import pinned, ratio, run_rounds
from benchmarks.peers.entrants import POOL_QUERIES, Entrant, Ready
from benchmarks.peers.exactness import Exactness, Judge

__all__ = ["NOT_INSTALLED", "Cell", "Entry", "Figure", "Key", "measure"]

NOT_INSTALLED = "not installed"  # how the failure of a missing peer starts
_LOOK_SECONDS = 0.05  # of the first look
_FAR_BEHIND = 4.0  # times the fastest of its side
_MORE_ROUNDS = 3  # times, where laps are short
_ROUNDS_SECONDS = 1.5  # what all rounds of short laps may take
_LEAST_ASKED = 4
_CHECK_SECONDS = 5.0  # the rest of our answers are checked too where that takes no longer

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
    failure: str | None = None  # why there is no more
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
    prepare_seconds: float | None = None
    n_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Cell(Key):
    """One cell: what was searched, and the figures of all."""

    n_columns: int
    origin: str
    commit: str
    others: float | None  # share of the machine that other processes took meanwhile
    seconds: float  # that measuring it took, checks included
    figures: tuple[Figure, ...]

    @property
    def key(self) -> Key:
        """What tells it from other cells."""
        names = Key.__dataclass_fields__
        return Key(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True, eq=False)
class _Lap:
    seconds: float  # per query
    n_asked: int
    indices: NDArray[np.int64]
    evaluations: float | None  # per query
    operations: float | None


@dataclass(eq=False)
class Entry:
    """An entrant on a set, ready or with the reason why not."""

    entrant: Entrant
    ready: Ready | None = None
    failure: str | None = None

    def lap(self, key: Key, n_asked: int) -> _Lap:
        """Ask the first so many queries, a batch at a time."""
        assert self.ready is not None
        ready = self.ready
        n_asked = min(ready.n_fixed or n_asked, len(ready.queries))
        batch = n_asked if ready.n_fixed else key.batch
        blas = 1 if self.entrant.own_threads and batch >= POOL_QUERIES else key.threads
        parts = [ready.queries[at : min(at + batch, n_asked)] for at in range(0, n_asked, batch)]
        with pinned(key.threads, blas):
            started = time.perf_counter()
            answers = [ready.search(part, key.k) for part in parts]
            seconds = time.perf_counter() - started
        if ready.n_fixed:
            seconds = answers[0].seconds or seconds
        found = [answer.indices for answer in answers if answer.indices is not None]
        return _Lap(
            seconds / n_asked,
            n_asked,
            np.concatenate(found),
            _per_query([answer.evaluations for answer in answers], n_asked),
            _per_query([answer.operations for answer in answers], n_asked),
        )


def measure(
    key: Key,
    entries: Sequence[Entry],
    judge: Judge,
    *,
    rounds: int,
    lap_seconds: float,
    facts: dict[str, str | int],
) -> Cell:
    """Look at everyone, race those that are not far behind, and check all answers."""
    started, before = time.perf_counter(), _moment(entries)
    looks = {entry.entrant.name: _guarded(entry, partial(_look, entry, key)) for entry in entries}
    racing = [entry for entry in entries if _is_near(entry, entries, looks)]
    asked = {
        entry.entrant.name: _n_asked(key, looks[entry.entrant.name], lap_seconds)
        for entry in racing
    }
    laps = _race(key, racing, asked, rounds, lap_seconds)
    figures = []
    for entry in entries:
        look = looks[entry.entrant.name]
        mine = laps.get(entry.entrant.name) or ([] if look is None else [look])
        figures.append(_guarded(entry, partial(_figure, entry, key, mine, judge)) or _blank(entry))
    return Cell(
        **key.__dict__,
        **facts,  # type: ignore[arg-type]
        others=noise.others_share(before, _moment(entries)),
        seconds=time.perf_counter() - started,
        figures=tuple(_compared(figures, laps)),
    )


def _look(entry: Entry, key: Key) -> _Lap:
    """Find out roughly how fast an entrant is."""
    assert entry.ready is not None
    if entry.ready.n_fixed:
        return entry.lap(key, entry.ready.n_fixed)
    entry.lap(key, 1)  # whatever is made at the first search is not timed
    n_asked = min(key.batch, entry.entrant.look_queries)
    while True:
        found = entry.lap(key, n_asked)
        if found.seconds * n_asked >= _LOOK_SECONDS or n_asked >= key.n_queries:
            return found
        n_asked = min(4 * n_asked, key.n_queries)


def _is_near(entry: Entry, entries: Sequence[Entry], looks: dict[str, _Lap | None]) -> bool:
    """Whether to race: ours beside ours, peers of the bar beside such, other peers beside all."""
    mine, me = looks[entry.entrant.name], entry.entrant
    side = (
        looks[other.name]
        for other in (one.entrant for one in entries)
        if other.is_ours == me.is_ours and (other.in_bar or not me.in_bar)
    )
    fastest = min((look.seconds for look in side if look is not None), default=0.0)
    return mine is not None and mine.seconds <= _FAR_BEHIND * fastest


def _n_asked(key: Key, look: _Lap | None, lap_seconds: float) -> int:
    """How many queries a lap may have: whole batches, or a part of one."""
    assert look is not None
    most = max(_LEAST_ASKED, int(lap_seconds / look.seconds))
    if most >= key.n_queries:
        return key.n_queries
    return most - most % key.batch if most >= key.batch else most


def _race(
    key: Key,
    racing: Sequence[Entry],
    asked: dict[str, int],
    rounds: int,
    lap_seconds: float,
) -> dict[str, list[_Lap]]:
    runs = [
        partial(_guarded, entry, partial(entry.lap, key, asked[entry.entrant.name]))
        for entry in racing
    ]
    started = time.perf_counter()
    run_rounds(runs, rounds=1, warmups=0)
    once = time.perf_counter() - started
    more = min(_MORE_ROUNDS * rounds, int(_ROUNDS_SECONDS / max(once, 1e-9)))
    found = run_rounds(runs, rounds=max(rounds, more), warmups=0)
    return {
        entry.entrant.name: [lap for lap in mine if lap is not None]
        for entry, mine in zip(racing, found, strict=True)
        if all(lap is not None for lap in mine)
    }


def _guarded(entry: Entry, run: Callable[[], _T]) -> _T | None:
    """Run; where it fails the entrant takes no further part, and the reason is kept."""
    if entry.failure is not None or entry.ready is None:
        return None
    try:
        return run()
    except Exception as error:
        entry.failure = f"{type(error).__name__}: {error}"
        return None


def _figure(entry: Entry, key: Key, laps: Sequence[_Lap], judge: Judge) -> Figure:
    if not laps or entry.ready is None:
        return _blank(entry)
    seconds, last = [lap.seconds for lap in laps], laps[-1]
    exactness = judge.compare(last.indices)
    if entry.entrant.is_ours and _may_check_rest(key, last):
        exactness = _check_rest(entry, key, judge, exactness)
    return replace(
        _blank(entry),
        failure=None,
        median_us=median(seconds) * 1e6,
        best_us=min(seconds) * 1e6,
        rounds=len(laps),
        asked=last.n_asked,
        evaluations=last.evaluations,
        operations=last.operations,
        checked=exactness.checked,
        differ=exactness.differ,
        ties=exactness.ties,
        build_seconds=entry.ready.build_seconds,
        prepare_seconds=entry.ready.prepare_seconds,
        n_bytes=entry.ready.n_bytes(),
    )


def _blank(entry: Entry) -> Figure:
    """Return a figure of someone that gave no answer."""
    return Figure(
        name=entry.entrant.name,
        is_ours=entry.entrant.is_ours,
        in_bar=entry.entrant.in_bar,
        is_brute=entry.entrant.is_brute,
        failure=entry.failure or "no answer",
    )


def _may_check_rest(key: Key, last: _Lap) -> bool:
    rest = key.n_queries - last.n_asked
    return key.batch == key.n_queries and 0.0 < rest * last.seconds <= _CHECK_SECONDS


def _check_rest(entry: Entry, key: Key, judge: Judge, exactness: Exactness) -> Exactness:
    assert entry.ready is not None
    begin = exactness.checked
    found = entry.ready.search(entry.ready.queries[begin:], key.k).indices
    assert found is not None
    rest = judge.compare(found, begin)
    return Exactness(
        begin + rest.checked, exactness.differ + rest.differ, exactness.ties + rest.ties
    )


def _compared(figures: Sequence[Figure], laps: dict[str, list[_Lap]]) -> Iterator[Figure]:
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


def _per_query(counts: Sequence[int | None], n_asked: int) -> float | None:
    known = [count for count in counts if count is not None]
    return sum(known) / n_asked if len(known) == len(counts) else None


def _moment(entries: Sequence[Entry]) -> noise.Moment:
    """Return where the counters stand; a peer's own process is not one of the others."""
    moment = noise.now()
    elsewhere = sum(entry.ready.cpu_elsewhere() for entry in entries if entry.ready is not None)
    return moment._replace(mine=moment.mine + elsewhere)
