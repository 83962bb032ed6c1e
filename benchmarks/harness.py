"""Race contestants on one problem: round after round, each in turn, so that noise hits all alike.

A ratio is taken within each round, between runs moments apart, and its median over the rounds is
reported: a machine that slows down for a minute changes the seconds, hardly the ratios.
"""

import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks import noise
from benchmarks.datasets import Problem
from benchmarks.truth import Truth, find_truth, judge

__all__ = [
    "Answer",
    "Contestant",
    "Figure",
    "Race",
    "Search",
    "Truths",
    "find_truths",
    "is_installed",
    "pinned",
    "race",
    "ratio",
    "run_rounds",
]

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Answer:
    """What one search found, best first; no indices where the search keeps no hits."""

    indices: NDArray[np.int64] | None  # (n_queries, k), -1 where there is none
    evaluations: int | None = None  # kernel evaluations, where they are counted
    operations: int | None = None  # multiply-adds of bounds, where they are counted
    seconds: float | None = None  # where the search ran, and was timed, in another process
    engine: str | None = None  # ours: the one that searched


Search: TypeAlias = Callable[[], Answer]


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """One way to search. `prepare` builds whatever can be built before the queries are asked."""

    name: str
    dtype: str  # of the rows it is given
    prepare: Callable[[Problem, int, int], Search]  # problem, k, threads
    needs: tuple[str, ...] = ()  # modules
    own_threads: bool = False  # runs threads of its own, so BLAS gets one in each
    k: int | None = None  # instead of that of the race


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What one contestant did in one race; no times where it is not installed."""

    contestant: str
    seconds: tuple[float, ...] = ()  # one for each round
    median_seconds: float | None = None
    min_seconds: float | None = None
    ratio: float | None = None  # to the baseline: median of the rounds' ratios
    build_seconds: float | None = None
    cores: float | None = None  # CPU seconds / seconds, median
    evaluations: int | None = None
    wrong: int | None = None  # queries, against the truth of the data as given
    wrong_as_stored: int | None = None  # against the truth of the data rounded to its dtype
    ties: int | None = None  # queries that differ among equal values and near-ties only, as stored


@dataclass(frozen=True, kw_only=True)
class Race:
    """One problem, and the figures of all who ran on it."""

    title: str
    problem: str
    origin: str
    kind: str  # "dense" or "sparse"
    dtype: str
    n_objects: int
    n_columns: int
    n_queries: int
    k: int
    threads: int
    baseline: str
    others: float | None  # share of the machine that other processes took meanwhile
    figures: tuple[Figure, ...]

    def figure(self, contestant: str) -> Figure:
        """Return the figure of one contestant."""
        return next(figure for figure in self.figures if figure.contestant == contestant)


Truths: TypeAlias = dict[str, Truth]  # by the dtype the rows are stored in


def find_truths(problem: Problem, k: int) -> Truths:
    """Return the truth for the rows as given, and as rounded to each dtype."""
    given = find_truth(problem, k)
    truths = {problem.dtype: given}
    if problem.dtype == "float64":
        truths["float32"] = find_truth(problem.cast("float32"), k)
    else:
        truths["float64"] = given  # nothing is rounded
    return truths


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
            from threadpoolctl import threadpool_limits

            limits = {"blas": blas_threads, "openmp": threads}
            stack.enter_context(threadpool_limits(limits=limits))
        if "faiss" in sys.modules:
            sys.modules["faiss"].omp_set_num_threads(threads)
        yield


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


class _Lap(NamedTuple):
    seconds: float
    cpu_seconds: float  # of all threads


@dataclass(eq=False)
class _Entry:
    """A contestant at the start, and the last answer it gave."""

    contestant: Contestant
    k: int
    threads: int
    search: Search
    build_seconds: float
    answer: Answer | None = None

    def run(self) -> _Lap:
        """Search once."""
        with pinned(self.threads, 1 if self.contestant.own_threads else self.threads):
            started, cpu_started = time.perf_counter(), time.process_time()
            self.answer = self.search()
            return _Lap(time.perf_counter() - started, time.process_time() - cpu_started)


def race(
    problem: Problem,
    contestants: Sequence[Contestant],
    truths: Truths,
    *,
    k: int,
    threads: int,
    baseline: str,
    rounds: int = 5,
    title: str | None = None,
) -> Race:
    """Let all contestants search, compare them with `baseline` and their answers with the truth."""
    installed = [one for one in contestants if all(map(is_installed, one.needs))]
    entries = [_enter(problem, one, one.k or k, threads) for one in installed]
    before = noise.now()
    laps = run_rounds([entry.run for entry in entries], rounds=rounds)
    others = noise.others_share(before, noise.now())
    of_baseline = next(
        (mine for one, mine in zip(installed, laps, strict=True) if one.name == baseline), None
    )
    figures = {contestant.name: Figure(contestant=contestant.name) for contestant in contestants}
    for entry, mine in zip(entries, laps, strict=True):
        figures[entry.contestant.name] = _figure(entry, mine, of_baseline, problem, truths)
    return Race(
        title=title or f"{problem.name}, k={k}",
        problem=problem.name,
        origin=problem.origin,
        kind="sparse" if problem.is_sparse else "dense",
        dtype=problem.dtype,
        n_objects=problem.n_objects,
        n_columns=problem.n_columns,
        n_queries=problem.n_queries,
        k=k,
        threads=threads,
        baseline=baseline,
        others=others,
        figures=tuple(figures.values()),
    )


def _enter(problem: Problem, contestant: Contestant, k: int, threads: int) -> _Entry:
    given = problem.cast(contestant.dtype)
    with pinned(threads, threads):
        started = time.perf_counter()
        search = contestant.prepare(given, k, threads)
        return _Entry(contestant, k, threads, search, time.perf_counter() - started)


def _figure(
    entry: _Entry,
    laps: Sequence[_Lap],
    baseline: Sequence[_Lap] | None,
    problem: Problem,
    truths: Truths,
) -> Figure:
    assert entry.answer is not None
    seconds = tuple(lap.seconds for lap in laps)
    return Figure(
        contestant=entry.contestant.name,
        seconds=seconds,
        median_seconds=median(seconds),
        min_seconds=min(seconds),
        ratio=None if baseline is None else ratio(seconds, [lap.seconds for lap in baseline]),
        build_seconds=entry.build_seconds,
        cores=median(lap.cpu_seconds / lap.seconds for lap in laps),
        evaluations=entry.answer.evaluations,
        **_faults(entry, entry.answer.indices, problem, truths),
    )


def _faults(
    entry: _Entry, indices: NDArray[np.int64] | None, problem: Problem, truths: Truths
) -> dict[str, int]:
    if indices is None:
        return {}
    if indices.shape != (problem.n_queries, entry.k):
        raise ValueError(
            f"{entry.contestant.name} must answer {problem.n_queries} x {entry.k}; "
            f"got {indices.shape}."
        )
    as_stored = judge(truths[entry.contestant.dtype], indices)
    return {
        "wrong": judge(truths[problem.dtype], indices).wrong,
        "wrong_as_stored": as_stored.wrong,
        "ties": as_stored.ties,
    }
