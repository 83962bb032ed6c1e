"""Run things round after round, each in turn, so that noise hits all alike, and compare them.

A ratio is taken within each round, between runs moments apart, and its median over the rounds is
reported: a machine that slows down for a minute changes the seconds, hardly the ratios.
"""

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Answer", "is_installed", "pinned", "ratio", "run_rounds"]

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Answer:
    """What one search found, best first; no indices where the search keeps no hits."""

    indices: NDArray[np.int64] | None  # (n_queries, k), -1 where there is none
    evaluations: int | None = None  # kernel evaluations, where they are counted
    operations: int | None = None  # multiply-adds of bounds, where they are counted
    seconds: float | None = None  # where the search ran, and was timed, in another process
    engine: str | None = None  # ours: the one that searched


def is_installed(module: str) -> bool:
    """Whether a module can be imported; it is, if so."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
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
    """Return what each run gave in each round; each round starts with another run."""
    results: list[list[_T]] = [[] for _ in runs]
    for turn in range(warmups + rounds):
        for step in range(len(runs)):
            at = (turn + step) % len(runs)
            result = runs[at]()
            if turn >= warmups:
                results[at].append(result)
    return results


def ratio(seconds: Sequence[float], baseline: Sequence[float]) -> float:
    """Return the median over the rounds of seconds / baseline."""
    return median(mine / other for mine, other in zip(seconds, baseline, strict=True))
