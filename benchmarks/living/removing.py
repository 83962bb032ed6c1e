"""Remove objects one by one and in batches."""

import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.living.cell import Key, Trial, key_of
from benchmarks.living.sides import Bases, Contestant, Side
from benchmarks.living.stage import K, Population, Stage
from benchmarks.truth import Verdict

__all__ = ["BATCHES", "remove_cases", "remove_trials"]

BATCHES = (1, 100, 10_000)


def remove_cases(stage: Stage, threads: int) -> Iterator[tuple[Key, int]]:
    """Return the cells of this section: as many leave as are added elsewhere."""
    for batch in BATCHES:
        if batch <= stage.n_later:
            title = "one by one" if batch == 1 else f"batches of {batch}"
            yield key_of(stage, "removing", title, threads), batch


def remove_trials(
    stage: Stage,
    contestants: Sequence[Contestant],
    batch: int,
    bases: Bases,
    *,
    threads: int,
    lap_seconds: float,
) -> list[Trial]:
    """Make everyone ready to remove, each from an index of its own."""
    truths: dict[int, Population] = {}
    leaving = np.random.default_rng(1).permutation(stage.n_first)[: stage.n_later]

    def make(one: Contestant) -> Trial:
        sides: list[Side] = []
        n_done, patience = 0, one.patience(lap_seconds)

        def run() -> dict[str, float]:
            nonlocal n_done
            sides.clear()
            key = (one.name, stage.n_first, False)
            side = bases.get(key, lambda: one.build(stage.first, None, threads)).copy()
            n_done, seconds = _remove(side, leaving, batch, patience)
            share = len(leaving) / n_done
            if share > 1.0:
                trial.notes.append(
                    f"removed {n_done} of {len(leaving)} in {patience:g} s: "
                    "seconds are extrapolated"
                )
            sides.append(side)
            return {"objects_per_second": n_done / seconds, "seconds": seconds * share}

        def check() -> tuple[int, Verdict]:
            if n_done not in truths:
                there = Population(stage.first, np.arange(stage.n_first, dtype=np.int64))
                there.leave(leaving[:n_done])
                truths[n_done] = there
            found = sides[0].search(stage.queries, K)
            return len(found), truths[n_done].judge(stage.queries, found)

        trial = Trial(one.name, run, check)
        return trial

    return [Trial.of(one, stage, make) for one in contestants]


def _remove(
    side: Side, leaving: np.ndarray[tuple[int], np.dtype[np.int64]], batch: int, lap_seconds: float
) -> tuple[int, float]:
    """Return how many were removed in time, and what that took."""
    at = 0
    began = time.perf_counter()
    end = began + lap_seconds
    while at < len(leaving) and (at == 0 or time.perf_counter() < end):
        side.remove(leaving[at : at + batch])
        at = min(at + batch, len(leaving))
    return at, time.perf_counter() - began
