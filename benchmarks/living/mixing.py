"""Search with one thread while another adds and removes: how long single queries take."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from benchmarks.living.cell import Key, Trial, key_of
from benchmarks.living.sides import Bases, Contestant, Side
from benchmarks.living.stage import K, Population, Stage
from benchmarks.truth import Verdict

__all__ = ["Writer", "mix_cases", "mix_trials"]

_PACES = {
    "nobody writes": 0.0,
    "200 changes a second": 200.0,
    "changes without a pause": float("inf"),
}


def mix_cases(stage: Stage, threads: int) -> Iterator[tuple[Key, float]]:
    """Return the cells of this section: changes a second."""
    for title, pace in _PACES.items():
        yield key_of(stage, "mixing", title, threads), pace


class Writer:
    """Adds one object and removes one, over and over, in a thread of its own."""

    def __init__(
        self, stage: Stage, side: Side, guard: AbstractContextManager[Any], pace: float
    ) -> None:
        self._stage, self._side, self._guard, self._pace = stage, side, guard, pace
        self._leaving = np.random.default_rng(2).permutation(stage.n_first)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._failure: BaseException | None = None
        self.n_pairs = 0

    def __enter__(self) -> "Writer":
        if self._pace > 0.0:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._pace > 0.0:
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        began = time.perf_counter()
        try:
            while not self._stop.is_set():
                self._change()
                due = began + 2 * self.n_pairs / self._pace
                if due > time.perf_counter():
                    self._stop.wait(due - time.perf_counter())
        except BaseException as error:
            self._failure = error

    def _change(self) -> None:
        stage, at = self._stage, self.n_pairs
        row = stage.n_first + at % stage.n_later
        with self._guard:
            self._side.append(stage.rows[row : row + 1], np.array([stage.n_first + at]))
        with self._guard:
            self._side.remove(np.array([self._leaver(at)]))
        self.n_pairs = at + 1

    def _leaver(self, at: int) -> int:
        """Those that were there to begin with leave first, the others as they came."""
        return int(self._leaving[at]) if at < self._stage.n_first else at

    def population(self) -> Population:
        """Return who is there now."""
        stage, n = self._stage, self.n_pairs
        added = stage.n_first + np.arange(n) % stage.n_later
        rows = stage.rows[np.concatenate([np.arange(stage.n_first), added])]
        there = Population(rows, np.arange(stage.n_first + n, dtype=np.int64))
        there.leave(np.array([self._leaver(at) for at in range(n)], dtype=np.int64))
        return there


def mix_trials(
    stage: Stage,
    contestants: Sequence[Contestant],
    pace: float,
    bases: Bases,
    *,
    threads: int,
    seconds: float,
) -> list[Trial]:
    """Make everyone ready to be searched while a writer is at work."""

    def make(one: Contestant) -> Trial:
        sides: list[Side] = []
        writers: list[Writer] = []

        def run() -> dict[str, float]:
            sides.clear()
            key = (one.name, stage.n_first, False)
            side = bases.get(key, lambda: one.build(stage.first, None, threads)).copy()
            guard = one.guard()
            side.search(stage.queries[:1], K)
            with Writer(stage, side, guard, pace) as writer:
                taken = _ask(stage, side, guard, seconds)
            sides[:], writers[:] = [side], [writer]
            return {
                "p50_ms": float(np.percentile(taken, 50)) * 1e3,
                "p99_ms": float(np.percentile(taken, 99)) * 1e3,
                "max_ms": max(taken) * 1e3,
                "queries_per_second": len(taken) / sum(taken),
                "changes_per_second": 2 * writer.n_pairs / sum(taken),
            }

        def check() -> tuple[int, Verdict]:
            found = sides[0].search(stage.queries, K)
            return len(found), writers[0].population().judge(stage.queries, found)

        return Trial(one.name, run, check, notes=[] if one.is_ours else ["behind a lock"])

    return [Trial.of(one, stage, make) for one in contestants]


def _ask(
    stage: Stage, side: Side, guard: AbstractContextManager[Any], seconds: float
) -> list[float]:
    """Ask single queries for so long, and return what each took, waiting for the lock included."""
    taken: list[float] = []
    began = now = time.perf_counter()
    while now - began < seconds or not taken:
        at = len(taken) % len(stage.queries)
        with guard:
            side.search(stage.queries[at : at + 1], K)
        taken.append(time.perf_counter() - now)
        now += taken[-1]
    return taken
