"""Run functions round after round, each in turn, so that noise hits all alike; compare times.

A ratio is taken within each round, between runs moments apart, and its median over the rounds is
reported: a machine that slows down for a minute changes the seconds, hardly the ratios.
"""

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer of one search, best first; no indices where the search keeps no hits."""

    indices: NDArray[np.int64] | None  # (n_queries, k), -1 for no object
    evaluations: int | None = None  # kernel evaluations, where they are counted
    operations: int | None = None  # multiply-adds of bounds, where they are counted
    seconds: float | None = None  # where the search ran, and was timed, in another process
    engine: str | None = None  # ours: the one that searched


def is_installed(name: str) -> bool:
    """Whether a module, or a name in a module, can be imported; imports the module."""
    module, _, inside = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ImportError:
        return bool(module) and is_installed(module) and hasattr(sys.modules[module], inside)
    return True


@contextmanager
def pinned(threads: int, blas_threads: int) -> Iterator[None]:
    """Hold the thread pools of all loaded libraries at these sizes."""
    with ExitStack() as stack:
        if is_installed("threadpoolctl"):
            limits = {"blas": blas_threads, "openmp": threads}
            stack.enter_context(_thread_pools(len(sys.modules)).limit(limits=limits))
        if "faiss" in sys.modules:
            sys.modules["faiss"].omp_set_num_threads(threads)
        yield


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> Any:
    """Return the pools of the libraries that are loaded; more come with more modules."""
    return importlib.import_module("threadpoolctl").ThreadpoolController()


def run_rounds(
    runs: Sequence[Callable[[], _T]], *, rounds: int, warmups: int = 1
) -> list[list[_T]]:
    """Return the results of each run by round; each round starts with another run."""
    results: list[list[_T]] = [[] for _ in runs]
    for turn in range(warmups + rounds):
        for step in range(len(runs)):
            at = (turn + step) % len(runs)
            result = runs[at]()
            if turn >= warmups:
                results[at].append(result)
    return results


def map_in_threads(function: Callable[[Any], _T], parts: Sequence[Any], threads: int) -> list[_T]:
    """Return the result of a function for each part; threads take parts in turn."""
    if threads == 1 or len(parts) == 1:
        return list(map(function, parts))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, parts))


def ratio(seconds: Sequence[float], baseline: Sequence[float]) -> float:
    """Return the median over the rounds of seconds / baseline."""
    return median(mine / other for mine, other in zip(seconds, baseline, strict=True))


def timed(run: Callable[..., _T], *arguments: Any) -> tuple[_T, float]:
    """Return the result of a call, and the seconds that it takes."""
    started = time.perf_counter()
    return run(*arguments), time.perf_counter() - started


def seconds_of(run: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    return timed(run)[1]


class Moment(NamedTuple):
    """Seconds so far: on the clock, of CPU by this process, and of CPU by the whole machine."""

    clock: float
    mine: float
    everyone: float | None  # not known on every system


def now(elsewhere: float = 0.0) -> Moment:
    """Return the counters now; `elsewhere` is the CPU time of our other processes."""
    return Moment(time.perf_counter(), time.process_time() + elsewhere, _busy_seconds())


def others_share(before: Moment, after: Moment) -> float | None:
    """Return the share of all CPUs' time that other processes took between two moments."""
    if before.everyone is None or after.everyone is None or after.clock <= before.clock:
        return None
    others = (after.everyone - before.everyone) - (after.mine - before.mine)
    share = others / ((after.clock - before.clock) * (os.cpu_count() or 1))
    return min(1.0, max(0.0, share))  # the ticks of the system are coarser than the clock


def _busy_seconds() -> float | None:
    try:
        counts = Path("/proc/stat").read_text(encoding="ascii").split("\n", maxsplit=1)[0].split()
    except OSError:
        return None
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, counts[1:9])
    ticks = user + nice + system + interrupts + soft_interrupts + stolen
    return ticks / os.sysconf("SC_CLK_TCK")
