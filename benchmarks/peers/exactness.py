"""Whose ids are the true ones: every answer is held against the scan over float64 rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import fastmks
from benchmarks.datasets import Problem

__all__ = ["Exactness", "Judge"]

_PAIRS = 20_000  # evaluated at a time


@dataclass(frozen=True)
class Exactness:
    """How many of the checked queries have other ids than the truth, at any rank."""

    checked: int
    differ: int
    ties: int  # of those that differ: only among equal values and near-ties


class Judge:
    """The truth of one problem under one kernel, for every k up to the greatest asked.

    Equal values are ranked by smaller id. Where ids differ, values nearer to each other than
    float64 rounding can tell apart make a tie, and anything else is a wrong answer.
    """

    def __init__(self, problem: Problem, kernel: str, k: int, *, threads: int) -> None:
        self._problem = problem.cast("float64")
        index = fastmks.Index(self._problem.objects, kernel, algorithm="scan", threads=threads)
        hits = index.search(self._problem.queries, k)
        self._values, self._indices = hits.values, hits.indices
        objects, queries = (
            np.linalg.norm(rows, axis=1) for rows in (self._problem.objects, self._problem.queries)
        )
        is_cosine = kernel == "cosine"
        self._norms = (_positive(objects), _positive(queries)) if is_cosine else None
        scale = np.ones(len(queries)) if is_cosine else objects.max() * queries
        self._tolerance = 8.0 * (problem.n_columns + 4) * 2.0**-53 * scale

    def compare(self, indices: NDArray[np.int64], begin: int = 0) -> Exactness:
        """Judge the answers of the queries from `begin` on."""
        n_asked, k = indices.shape
        truth = self._indices[begin : begin + n_asked, :k]
        is_other = indices != truth
        rows = np.flatnonzero(is_other.any(axis=1))
        wrong = self._is_wrong(indices, is_other, begin)
        return Exactness(n_asked, len(rows), len(rows) - int(wrong[rows].sum()))

    def _is_wrong(
        self, indices: NDArray[np.int64], is_other: NDArray[np.bool_], begin: int
    ) -> NDArray[np.bool_]:
        wrong = np.asarray(((indices < 0) | (indices >= self._problem.n_objects)).any(axis=1))
        suspects = np.flatnonzero(is_other.any(axis=1) & ~wrong)
        ordered = np.sort(indices[suspects], axis=1)
        wrong[suspects] = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)  # an object twice
        rows, ranks = np.nonzero(is_other & ~wrong[:, None])
        for start in range(0, len(rows), _PAIRS):
            row, rank = rows[start : start + _PAIRS], ranks[start : start + _PAIRS]
            again = self._evaluate(row + begin, indices[row, rank])
            far = np.abs(again - self._values[row + begin, rank]) > self._tolerance[row + begin]
            wrong[row[far]] = True
        return wrong

    def _evaluate(
        self, queries: NDArray[np.int64], objects: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        products = np.einsum(
            "ij,ij->i", self._problem.queries[queries], self._problem.objects[objects]
        )
        if self._norms is not None:
            products /= self._norms[0][objects] * self._norms[1][queries]
        return np.asarray(products)


def _positive(norms: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(norms > 0.0, norms, 1.0)
