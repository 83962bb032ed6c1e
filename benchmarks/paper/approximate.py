"""The cost and the errors of approximate search, beside the promised limits.

The tree is searched with blocks of one object, so that evaluations are as few as possible.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastmks
from benchmarks.datasets import Problem
from benchmarks.harness import now, others_share
from benchmarks.kernels import COSINE, LINEAR, KernelCase
from benchmarks.race.ours import BASE
from benchmarks.suite import Measured

KERNELS = (LINEAR, COSINE)
DELTA = 0.05
_RELATIVE = (0.01, 0.05, 0.1, 0.2, 0.5)
_RANKS = (0.001, 0.01, 0.05)  # of the objects
_BUDGETS = (0.1, 0.25, 0.5, 0.75)  # of what the exact search evaluates
_BLOCK = 4_000_000  # values at a time


@dataclass(frozen=True, kw_only=True)
class ApproximateKey:
    """The key of a cell."""

    problem: str
    n_objects: int
    n_queries: int
    kernel: str
    k: int

    def __str__(self) -> str:
        return f"approximate: {self.problem} {self.kernel}, k={self.k}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One promise: its limit, the errors and the cost measured."""

    mode: str
    promise: float  # an error, a relative error, a rank, or a number of evaluations
    greatest: float  # of what the promise is about, over all queries and ranks
    mean: float
    kept_share: float  # of the queries for which the promise came true
    evaluations: float  # per query
    exact_share: float  # of the queries whose answers are the exact ones
    gap_share: float  # of the queries whose certified gap is at least what they missed
    mean_gap: float  # certified
    mean_miss: float  # of the k-th value, really


@dataclass(frozen=True, kw_only=True)
class ApproximateCell(ApproximateKey, Measured):
    """All promises on one set."""

    n_columns: int
    origin: str
    exact_evaluations: float
    scale: float  # the median of the true k-th values' magnitudes: what epsilons are shares of
    outcomes: tuple[Outcome, ...]

    @property
    def line(self) -> str:
        """One line with the number of promises."""
        return f"{self.key}: {len(self.outcomes)} promises"


def keys(problem: Problem, case: KernelCase, ks: tuple[int, ...]) -> list[ApproximateKey]:
    """Return the keys of a problem under a kernel."""
    sizes = {"n_objects": problem.n_objects, "n_queries": problem.n_queries}
    return [ApproximateKey(problem=problem.name, kernel=case.name, k=k, **sizes) for k in ks]


def measure(
    index: fastmks.Index, problem: Problem, case: KernelCase, key: ApproximateKey
) -> ApproximateCell:
    """Search with every promise, and hold the answers against all values."""
    before, k = now(), key.k
    exact = _search(index, problem, k)
    scale = float(np.median(np.abs(exact.values[:, -1])))
    evaluations = exact.stats.kernel_evaluations / problem.n_queries
    outcomes = [
        _outcome(mode, promise, exact, _search(index, problem, k, **options), problem, case)
        for mode, promise, options in _promises(problem.n_objects, k, scale, evaluations)
    ]
    return ApproximateCell(
        **key.__dict__,
        n_columns=problem.n_columns,
        origin=problem.origin,
        others=others_share(before, now()),
        exact_evaluations=evaluations,
        scale=scale,
        outcomes=tuple(outcomes),
    )


def make_index(problem: Problem, case: KernelCase) -> fastmks.Index:
    """Build the tree that all promises are about."""
    return fastmks.Index(problem.objects, case.kernel, algorithm="tree", base=BASE, threads=1)


def _promises(
    n: int, k: int, scale: float, evaluations: float
) -> Iterator[tuple[str, float, dict[str, Any]]]:
    for share in _RELATIVE:
        yield "epsilon", share * scale, {"epsilon": share * scale}
    for share in _RELATIVE:
        yield "relative", share, {"relative": share}
    for rank in sorted({max(k, round(share * n)) for share in _RANKS}):
        yield "rank", float(rank), {"rank": rank, "delta": DELTA, "seed": 0}
    for budget in sorted({max(2 * k, round(share * evaluations)) for share in _BUDGETS}):
        yield "budget", float(budget), {"budget": budget}


def _search(index: fastmks.Index, problem: Problem, k: int, **options: Any) -> fastmks.Hits:
    return index.search(problem.queries, k, traversal=fastmks.Traversal(block=1), **options)


def _ranks(values: NDArray[Any], problem: Problem, case: KernelCase) -> NDArray[np.float64]:
    """Return for each query how many objects are better than a value, and one."""
    found = np.empty(len(values))
    step = max(1, _BLOCK // problem.n_objects)
    for at in range(0, len(values), step):
        some = slice(at, at + step)
        every = case.kernel.matrix(problem.queries[some], problem.objects)
        found[some] = (every > values[some, None]).sum(axis=1) + 1
    return found


def _outcome(
    mode: str,
    promise: float,
    exact: fastmks.Hits,
    hits: fastmks.Hits,
    problem: Problem,
    case: KernelCase,
) -> Outcome:
    misses = exact.values - hits.values  # at each rank
    evaluations = hits.stats.kernel_evaluations / len(misses)
    match mode:
        case "epsilon":
            achieved = misses.max(axis=1)
        case "relative":
            sizes = np.abs(exact.values)
            shares = np.divide(misses, sizes, out=np.zeros_like(misses), where=sizes > 0.0)
            achieved = shares.max(axis=1)
        case "rank":
            achieved = _ranks(hits.values[:, -1], problem, case)
        case _:
            achieved = misses[:, -1]
    kept = achieved <= promise if mode != "budget" else np.full(len(misses), evaluations <= promise)
    gaps = np.broadcast_to(hits.gap, len(misses))
    return Outcome(
        mode=mode,
        promise=promise,
        greatest=float(achieved.max()),
        mean=float(achieved.mean()),
        kept_share=float(kept.mean()),
        evaluations=evaluations,
        exact_share=float((hits.indices == exact.indices).all(axis=1).mean()),
        gap_share=float((gaps >= misses[:, -1]).mean()),
        mean_gap=float(gaps.mean()),
        mean_miss=float(misses[:, -1].mean()),
    )
