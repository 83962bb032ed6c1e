"""The answers a search must give, found with numpy in float64, and how far others are from them.

Equal values are ranked by smaller index. Values nearer to each other than float64 rounding can
tell apart are near-ties: whichever order an answer gives them is not wrong, but it is counted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.kernels import KernelCase

__all__ = ["Truth", "Verdict", "find_truth", "judge", "judge_by_scan"]

_SCORES = 4_000_000  # per block of queries


@dataclass(frozen=True, eq=False)
class Truth:
    """The k best of each query, best first, under the linear kernel."""

    problem: Problem  # in float64
    values: NDArray[np.float64]  # (n_queries, k)
    indices: NDArray[np.int64]  # (n_queries, k)
    tolerance: NDArray[np.float64]  # (n_queries,), values nearer than this are near-ties


@dataclass(frozen=True)
class Verdict:
    """How many queries an answer gets differently from the truth."""

    wrong: int  # a value at some rank is not the true one: the set or the order is wrong
    ties: int  # other indices, but only among equal values and near-ties


def find_truth(problem: Problem, k: int) -> Truth:
    """Return the true k best of each query."""
    exact = problem.cast("float64")
    tolerance = _tolerance(exact)
    values = np.empty((problem.n_queries, k))
    indices = np.empty((problem.n_queries, k), dtype=np.int64)
    block = max(1, _SCORES // problem.n_objects)
    for begin in range(0, problem.n_queries, block):
        for i, row in enumerate(_scores(exact, begin, begin + block), start=begin):
            at_rank_k = np.partition(row, len(row) - k)[len(row) - k]
            # A value may depend on its place in a matrix product: look again, row by row.
            near = np.flatnonzero(row >= at_rank_k - tolerance[i])
            again = _values(exact, i, near)
            best = np.lexsort((near, -again))[:k]
            values[i], indices[i] = again[best], near[best]
    return Truth(exact, values, indices, tolerance)


def judge(truth: Truth, answer: NDArray[np.int64]) -> Verdict:
    """Compare an answer (n_queries, k), k at most that of the truth, with the truth.

    -1 means no object: some sparse products leave out values of zero. It is not wrong where the
    true value is zero, and counted with the ties.
    """
    n_queries, most = truth.indices.shape
    if answer.shape[0] != n_queries or not 1 <= answer.shape[1] <= most:
        raise ValueError(f"an answer must be {n_queries} x at most {most}; got {answer.shape}.")
    differ = np.flatnonzero((answer != truth.indices[:, : answer.shape[1]]).any(axis=1))
    wrong = sum(_is_wrong(truth, int(i), answer[i]) for i in differ)
    return Verdict(wrong, len(differ) - wrong)


def judge_by_scan(
    problem: Problem,
    case: KernelCase,
    values: NDArray[np.float64],
    indices: NDArray[np.int64],
    answer: NDArray[np.int64],
) -> Verdict:
    """Compare an answer with what fastmks' scan found, under any kernel of the benchmarks.

    The values of the answer's objects are evaluated anew. They are compared as the products or
    cosines that they are powers of, whose rounding is known.
    """
    wrong = ties = 0
    is_cosine = case.kernel.is_normalized
    norms = 1.0 if is_cosine else np.sqrt(_squares(problem.queries))
    longest = 1.0 if is_cosine else float(np.sqrt(_squares(problem.objects).max()))
    tolerance = np.broadcast_to(
        8.0 * (problem.n_columns + 4) * 2.0**-53 * longest * norms, len(values)
    )
    for i in np.flatnonzero((answer != indices).any(axis=1)):
        again = _evaluate(problem, case, int(i), answer[i])
        if again is None:
            wrong += 1
            continue
        far = np.abs(case.products(again) - case.products(values[i]))
        is_wrong = bool((far > tolerance[i]).any())
        wrong, ties = wrong + is_wrong, ties + (not is_wrong)
    return Verdict(wrong, ties)


def _evaluate(
    problem: Problem, case: KernelCase, query: int, answer: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return the values of the answer's objects, or nothing where some are not or twice there."""
    is_there = ((answer >= 0) & (answer < problem.n_objects)).all()
    if not is_there or len(np.unique(answer)) < len(answer):
        return None
    return np.asarray(case.kernel.matrix(problem.queries[[query]], problem.objects[answer])[0])


def _is_wrong(truth: Truth, query: int, answer: NDArray[np.int64]) -> bool:
    named = answer[answer != -1]
    if len(np.unique(named)) < len(named) or not np.isin(named, _all(truth.problem)).all():
        return True
    values = np.zeros(len(answer))
    values[answer != -1] = _values(truth.problem, query, named)
    far = np.abs(values - truth.values[query, : len(answer)])
    return bool((far > truth.tolerance[query]).any())


def _all(problem: Problem) -> NDArray[np.int64]:
    return np.arange(problem.n_objects)


def _scores(problem: Problem, begin: int, end: int) -> NDArray[np.float64]:
    queries = problem.queries[begin:end]
    if problem.is_sparse:
        return np.ascontiguousarray((problem.objects @ queries.toarray().T).T)
    return np.asarray(queries @ problem.objects.T)


def _values(problem: Problem, query: int, indices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values of one query and some objects; the same object, the same value."""
    objects = problem.objects[indices]
    if problem.is_sparse:
        return np.asarray(objects @ problem.queries[[query]].toarray()[0])
    return np.asarray((objects * problem.queries[query]).sum(axis=1))


def _tolerance(problem: Problem) -> NDArray[np.float64]:
    """Twice what the sum of a row can be off, for the truth and for the answer each; or 0.

    A sum of d products is off by at most (d + 1) 2^-53 |q| |x|, in whatever order it is done.
    Sums of integers below 2^53 are exact.
    """
    longest = float(np.sqrt(_squares(problem.objects).max()))
    norms = np.sqrt(_squares(problem.queries))
    entries = (problem.objects, problem.queries)
    if all(_is_integral(rows) for rows in entries) and longest * norms.max() < 2.0**53:
        return np.zeros(problem.n_queries)
    terms = int(np.diff(problem.objects.indptr).max()) if problem.is_sparse else problem.n_columns
    return np.asarray(4.0 * (terms + 1) * 2.0**-53 * longest * norms)


def _squares(rows: Any) -> NDArray[np.float64]:
    if isinstance(rows, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def _is_integral(rows: Any) -> bool:
    numbers = rows if isinstance(rows, np.ndarray) else rows.data
    return bool((numbers == np.rint(numbers)).all())
