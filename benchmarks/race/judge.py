"""The exactness of answers: each is compared with the scan over float64 rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastmks
from benchmarks.datasets import Problem, squares_of
from benchmarks.kernels import KernelCase

_RELATIVE = 1e-13  # of values of objects that are no vectors, or fingerprints


@dataclass(frozen=True)
class Exactness:
    """Counts of checked queries, and of those with other ids than the truth at any rank."""

    checked: int
    differ: int
    ties: int  # of those that differ: only among equal values and near-ties

    @property
    def wrong(self) -> int:
        """The number of queries whose values are not the true ones."""
        return self.differ - self.ties

    def __add__(self, other: "Exactness") -> "Exactness":
        return Exactness(
            self.checked + other.checked, self.differ + other.differ, self.ties + other.ties
        )


class Judge:
    """The truth of one problem under one kernel, for every k up to the greatest asked.

    Equal values are ranked by smaller id. Where ids differ, values nearer to each other than
    float64 rounding can tell apart make a tie, and anything else is a wrong answer.
    """

    def __init__(self, problem: Problem, case: KernelCase, k: int, *, threads: int) -> None:
        self.problem, self._case = problem.cast("float64"), case
        index = fastmks.Index(self.problem.objects, case.kernel, algorithm="scan", threads=threads)
        hits = index.search(self.problem.queries, k)
        self.values, self.indices = hits.values, hits.indices
        self._tolerance = _tolerances(self.problem, case, self.values)

    def compare(self, indices: NDArray[np.int64], begin: int = 0) -> Exactness:
        """Judge the answers of the queries from `begin` on; -1 means no object."""
        n_asked, k = indices.shape
        is_other = indices != self.indices[begin : begin + n_asked, :k]
        rows = np.flatnonzero(is_other.any(axis=1))
        wrong = sum(self._is_wrong(begin + int(row), indices[row]) for row in rows)
        return Exactness(n_asked, len(rows), len(rows) - wrong)

    def _is_wrong(self, query: int, answer: NDArray[np.int64]) -> bool:
        """Whether a value at some rank is not the true one; no object has the value 0.

        Some sparse products omit values of zero: such an answer is not wrong where the true
        value is zero.
        """
        named = answer[answer != -1]
        is_there = ((named >= 0) & (named < self.problem.n_objects)).all()
        if not is_there or len(np.unique(named)) < len(named):
            return True
        values = np.zeros(len(answer))
        if len(named):
            mine = _take(self.problem.queries, [query])
            objects = _take(self.problem.objects, named)
            values[answer != -1] = self._case.kernel.matrix(mine, objects)[0]
        truth = self.values[query, : len(answer)]
        far = np.abs(self._case.products(values) - self._case.products(truth))
        is_near = far <= self._tolerance[query, : len(answer)]  # what is no number is not near
        return not bool(is_near.all())


def _tolerances(
    problem: Problem, case: KernelCase, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the differences of products, or cosines, that rounding alone can explain."""
    if not problem.has_rows or problem.kind == "bits":
        return np.asarray(_RELATIVE * np.abs(values))
    scale = np.ones(problem.n_queries)
    if not case.kernel.is_normalized:
        longest = np.sqrt(squares_of(problem.objects).max())
        scale = longest * np.sqrt(squares_of(problem.queries))
    terms = (
        int(np.diff(problem.objects.indptr).max())
        if problem.kind == "sparse"
        else problem.n_columns
    )
    tolerance = 8.0 * (terms + 4) * 2.0**-53 * scale
    return np.broadcast_to(tolerance[:, None], values.shape)


def _take(rows: Any, at: Any) -> Any:
    return [rows[i] for i in at] if isinstance(rows, list) else rows[at]
