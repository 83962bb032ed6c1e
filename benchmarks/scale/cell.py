"""One cell: something that was done on a cluster of so many processes, and the seconds it took."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.harness import run_rounds

__all__ = ["Cell", "Key", "Timed", "measure", "read_cell"]


@dataclass(frozen=True, kw_only=True)
class Key:
    """What tells one cell from another."""

    section: str
    problem: str
    kernel: str
    n_objects: int
    batch: int  # queries at once
    k: int
    n_workers: int
    n_shards: int

    def __str__(self) -> str:
        return (
            f"{self.section}: {self.problem} {self.kernel}, {self.n_objects} objects, "
            f"batch {self.batch}, k = {self.k}, {self.n_workers} workers, {self.n_shards} shards"
        )


@dataclass(frozen=True, kw_only=True)
class Cell(Key):
    """One cell, with the seconds of each contestant in each round."""

    origin: str
    commit: str
    others: float | None = None  # of the machine; workers are no others, so none is counted
    seconds: float = 0.0  # that measuring it took
    rounds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    differ: int = 0  # queries whose answers were not those of one index

    @property
    def key(self) -> Key:
        """What tells it from other cells."""
        return Key(**{name: getattr(self, name) for name in Key.__dataclass_fields__})

    def median(self, name: str) -> float:
        """Return the median seconds of a contestant."""
        return float(median(self.rounds[name]))


@dataclass(frozen=True)
class Timed:
    """A contestant: what to call, and how many queries it then answers."""

    name: str
    run: Callable[[], Any]


def measure(
    key: Key,
    contestants: Sequence[Timed],
    *,
    rounds: int,
    origin: str,
    commit: str,
    facts: Mapping[str, float] | None = None,
    differ: int = 0,
) -> Cell:
    """Time all contestants round after round, each in turn."""
    started = time.perf_counter()
    laps = run_rounds([_lap(one.run) for one in contestants], rounds=rounds)
    names = [one.name for one in contestants]
    return Cell(
        **key.__dict__,
        origin=origin,
        commit=commit,
        seconds=time.perf_counter() - started,
        rounds={name: tuple(seconds) for name, seconds in zip(names, laps, strict=True)},
        facts=dict(facts or {}),
        differ=differ,
    )


def _lap(run: Callable[[], Any]) -> Callable[[], float]:
    def lap() -> float:
        started = time.perf_counter()
        run()
        return time.perf_counter() - started

    return lap


def read_cell(fields: dict[str, Any]) -> Cell:
    """Return a cell from its plain form."""
    return Cell(**fields)
