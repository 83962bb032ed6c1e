"""The answers a search must give, found with numpy in float64, and how far others are from them.

The search is of dense rows, under the linear kernel. Equal values are ranked by smaller index.
Values nearer to each other than float64 rounding can tell apart are near-ties: whichever order an
answer gives them is not wrong, but it is counted.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem

__all__ = ["Truth", "Verdict", "find_truth", "judge"]

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
    """Compare an answer (n_queries, k), k at most that of the truth, with the truth."""
    n_queries, most = truth.indices.shape
    if answer.shape[0] != n_queries or not 1 <= answer.shape[1] <= most:
        raise ValueError(f"an answer must be {n_queries} x at most {most}; got {answer.shape}.")
    differ = np.flatnonzero((answer != truth.indices[:, : answer.shape[1]]).any(axis=1))
    wrong = sum(_is_wrong(truth, int(i), answer[i]) for i in differ)
    return Verdict(wrong, len(differ) - wrong)


def _is_wrong(truth: Truth, query: int, answer: NDArray[np.int64]) -> bool:
    is_there = ((answer >= 0) & (answer < truth.problem.n_objects)).all()
    if not is_there or len(np.unique(answer)) < len(answer):
        return True
    values = _values(truth.problem, query, answer)
    far = np.abs(values - truth.values[query, : len(answer)])
    return bool((far > truth.tolerance[query]).any())


def _scores(problem: Problem, begin: int, end: int) -> NDArray[np.float64]:
    return np.asarray(problem.queries[begin:end] @ problem.objects.T)


def _values(problem: Problem, query: int, indices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values of one query and some objects; the same object, the same value."""
    return np.asarray((problem.objects[indices] * problem.queries[query]).sum(axis=1))


def _tolerance(problem: Problem) -> NDArray[np.float64]:
    """Twice what the sum of a row can be off, for the truth and for the answer each; or 0.

    A sum of d products is off by at most (d + 1) 2^-53 |q| |x|, in whatever order it is done.
    Sums of integers below 2^53 are exact.
    """
    rows, asked = problem.objects, problem.queries
    longest = float(np.sqrt(_squares(rows).max()))
    norms = np.sqrt(_squares(asked))
    if _is_integral(rows) and _is_integral(asked) and longest * norms.max() < 2.0**53:
        return np.zeros(problem.n_queries)
    return np.asarray(4.0 * (problem.n_columns + 1) * 2.0**-53 * longest * norms)


def _squares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _is_integral(rows: NDArray[np.float64]) -> bool:
    return bool((rows == np.rint(rows)).all())
