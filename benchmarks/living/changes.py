"""Indexes that change: adding and removing, and searching while another thread does both.

A section yields its cases: a title, and what makes the trials of one contestant.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.harness import seconds_of
from benchmarks.living.cell import Trial
from benchmarks.living.sides import Contestant, K, Side
from benchmarks.living.stage import Stage
from benchmarks.race.judge import Exactness

_EVERY = 100  # objects between two searches
_BATCHES = {"one by one": 1, "batches of 100": 100, "batches of 10000": 10_000}
_UNIT = 7  # the ids that users give are multiples of this, in no order
_PACES = {
    "nobody writes": 0.0,
    "200 changes a second": 200.0,
    "changes without a pause": float("inf"),
}
Cases: TypeAlias = Iterator[tuple[str, Callable[[Contestant], list[Trial]]]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """The shared state of the sections of one set: options, and the indexes before any change."""

    stage: Stage
    threads: int
    lap_seconds: float = 60.0  # that adding or removing may take, before it is extrapolated
    mix_seconds: float = 0.1
    folder: Path = Path()
    sides: dict[tuple[Any, ...], Side] = field(default_factory=dict)  # copied to change them
    rebuild_seconds: dict[tuple[Any, ...], float] = field(default_factory=dict)  # of peers

    def first(self, one: Contestant, ids: Any = None) -> Side:
        """Return an index of the first rows under some ids, built once."""
        key = (one.name, ids is None)
        if key not in self.sides:
            rows = self.stage.cut(one.most_objects).first
            self.sides[key] = one.build(rows, ids, self.threads)
        return self.sides[key]


class AddCase(NamedTuple):
    """How objects are added."""

    batch: int
    own_ids: bool = False  # numbers of the user's, in no order
    searches: bool = False  # a search after every 100 objects


def adding(ground: Ground) -> Cases:
    """Add objects, and compare the time with one build of everything."""
    cases = {title: AddCase(batch) for title, batch in _BATCHES.items()}
    cases |= {
        f"{title}, own ids": AddCase(batch, own_ids=True) for title, batch in _BATCHES.items()
    }
    cases[f"one by one, a search every {_EVERY}"] = AddCase(1, searches=True)
    for title, case in cases.items():
        if case.batch <= max(1, ground.stage.n_later):
            yield title, partial(add_trials, ground, case)


def add_trials(ground: Ground, case: AddCase, one: Contestant) -> list[Trial]:
    """Make a contestant ready to add to a copy of the same index in every round."""
    stage = ground.stage.cut(one.most_objects)
    numbers = np.arange(len(stage.rows), dtype=np.int64)
    ids = _UNIT * np.random.default_rng(0).permutation(numbers) if case.own_ids else numbers
    key = (one.name, case.own_ids)

    def run() -> dict[str, float]:
        first = ground.first(one, ids[: stage.n_first] if case.own_ids else None)
        first.search(stage.queries[:1], K)  # whatever is built once is not timed
        side = last.renew(first)
        append = side.add if case.own_ids else side.append
        searching: list[float] = []

        def add(begin: int, end: int) -> float:
            rows = slice(begin + stage.n_first, end + stage.n_first)
            append(stage.rows[rows], ids[rows])
            if not case.searches or end % _EVERY:
                return 0.0
            at = len(searching) % len(stage.queries)
            searching.append(seconds_of(lambda: side.search(stage.queries[at : at + 1], K)))
            return searching[-1]

        found = last.repeat(add, stage.n_later, case.batch, "added")
        found["first_search_ms"] = 1e3 * seconds_of(lambda: side.search(stage.queries[:1], K))
        if key not in ground.rebuild_seconds or one.is_ours:  # of peers measured once
            own = ids if case.own_ids else None
            build = partial(one.build, stage.rows, own, ground.threads)
            ground.rebuild_seconds[key] = seconds_of(build)
        rebuild = ground.rebuild_seconds[key]
        found |= {"rebuild_seconds": rebuild, "rebuilds": found["seconds"] / rebuild}
        if case.searches:
            both = found["seconds"] + sum(searching) * stage.n_later / last.n_done
            found["search_ms"] = sum(searching) / max(1, len(searching)) * 1e3
            found |= {"seconds_with_searches": both, "rebuilds_with_searches": both / rebuild}
        return found

    def check() -> Exactness:
        n_present = stage.n_first + last.n_done
        return stage.judge(last.search(), stage.rows[:n_present], ids[:n_present])

    last = _Last(ground, one, stage, Trial(one.name, run, check))
    return [last.trial]


class _Last:
    """The last round of a contestant: its index, and the number of its changes."""

    def __init__(self, ground: Ground, one: Contestant, stage: Stage, trial: Trial) -> None:
        self.trial, self.n_done = trial, 0
        self._queries, self._patience = stage.queries, one.patience(ground.lap_seconds)
        self._side: Any = None

    def renew(self, first: Side) -> Side:
        """Return a copy of an index, in place of that of the round before."""
        self._side = None
        self._side = copy = first.copy()
        return copy

    def search(self) -> Any:
        """Return the ids that a search finds now."""
        return self._side.search(self._queries, K)

    def repeat(
        self, change: Callable[[int, int], float], n_objects: int, batch: int, done: str
    ) -> dict[str, float]:
        """Change objects, some at a time, until the time is up; return the seconds for all.

        Seconds that a change returns do not count.
        """
        at, excluded = 0, 0.0
        began = time.perf_counter()
        while at < n_objects and (at == 0 or time.perf_counter() < began + self._patience):
            end = min(at + batch, n_objects)
            excluded += change(at, end)
            at = end
        seconds = time.perf_counter() - began - excluded
        if at < n_objects:
            took = f"{done} {at} of {n_objects} in {self._patience:g} s"
            self.trial.notes.append(f"{took}: seconds are extrapolated")
        self.n_done = at
        return {"objects_per_second": at / seconds, "seconds": seconds * n_objects / at}


def removing(ground: Ground) -> Cases:
    """Remove as many objects as are added elsewhere."""
    for title, batch in _BATCHES.items():
        if batch <= ground.stage.n_later:
            yield title, partial(remove_trials, ground, batch)


def remove_trials(ground: Ground, batch: int, one: Contestant) -> list[Trial]:
    """Make a contestant ready to remove from a copy of the same index in every round."""
    stage = ground.stage
    leaving = np.random.default_rng(1).permutation(stage.n_first)[: stage.n_later]

    def run() -> dict[str, float]:
        side = last.renew(ground.first(one))

        def remove(begin: int, end: int) -> float:
            side.remove(leaving[begin:end])
            return 0.0

        return last.repeat(remove, len(leaving), batch, "removed")

    def check() -> Exactness:
        return stage.judge(last.search(), removed=leaving[: last.n_done])

    last = _Last(ground, one, stage, Trial(one.name, run, check))
    return [last.trial]


def mixing(ground: Ground) -> Cases:
    """Search with one thread while another adds and removes: how long single queries take."""
    for title, pace in _PACES.items():
        yield title, partial(_mix_trials, ground, pace)


class Writer:
    """A thread that adds one object and removes one, again and again."""

    def __init__(
        self, stage: Stage, side: Side, guard: AbstractContextManager[Any], pace: float
    ) -> None:
        self._stage, self._side, self._guard, self._pace = stage, side, guard, pace
        self._leaving = np.random.default_rng(2).permutation(stage.n_first)
        self._stop, self._pool = threading.Event(), ThreadPoolExecutor(1)
        self.n_pairs = 0

    def __enter__(self) -> "Writer":
        self._writing = self._pool.submit(self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._pool.shutdown()
        self._writing.result()  # raises what has ended it

    def _run(self) -> None:
        began = time.perf_counter()
        while self._pace and not self._stop.is_set():
            self._change()
            due = began + 2 * self.n_pairs / self._pace
            if due > time.perf_counter():
                self._stop.wait(due - time.perf_counter())

    def _change(self) -> None:
        stage, at = self._stage, self.n_pairs
        row = stage.n_first + at % stage.n_later
        with self._guard:
            self._side.append(stage.rows[row : row + 1], np.array([stage.n_first + at]))
        with self._guard:
            self._side.remove(np.array([self._leaver(at)]))
        self.n_pairs = at + 1

    def _leaver(self, at: int) -> int:
        """Return the id to remove: first those of the start, then the added ones in order."""
        return int(self._leaving[at]) if at < self._stage.n_first else at

    def judge(self, k: int) -> Exactness:
        """Judge a search among the objects that are present now."""
        stage, n = self._stage, self.n_pairs
        added = stage.n_first + np.arange(n) % stage.n_later
        rows = stage.rows[np.concatenate([np.arange(stage.n_first), added])]
        found = self._side.search(stage.queries, k)
        return stage.judge(found, rows, removed=[self._leaver(at) for at in range(n)])


def _mix_trials(ground: Ground, pace: float, one: Contestant) -> list[Trial]:
    """Make a contestant ready to be searched while a writer is at work."""
    stage = ground.stage
    last: list[Writer] = []

    def run() -> dict[str, float]:
        last.clear()
        side, guard = ground.first(one).copy(), one.guard()
        side.search(stage.queries[:1], K)
        taken: list[float] = []
        with Writer(stage, side, guard, pace) as writer:
            began = now = time.perf_counter()
            while now - began < ground.mix_seconds or not taken:
                at = len(taken) % len(stage.queries)
                with guard:
                    side.search(stage.queries[at : at + 1], K)
                taken.append(time.perf_counter() - now)  # waiting for the lock included
                now += taken[-1]
        last.append(writer)
        return {
            "p50_ms": float(np.percentile(taken, 50)) * 1e3,
            "p99_ms": float(np.percentile(taken, 99)) * 1e3,
            "max_ms": max(taken) * 1e3,
            "queries_per_second": len(taken) / sum(taken),
            "changes_per_second": 2 * writer.n_pairs / sum(taken),
        }

    notes = [] if one.is_ours else ["behind a lock"]
    return [Trial(one.name, run, lambda: last[0].judge(K), notes=notes)]
