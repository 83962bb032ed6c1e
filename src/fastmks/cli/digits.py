"""Search handwritten digits with four kernels, and verify every answer by brute force.

1347 of the digits that ship with scikit-learn are indexed; the other 450 are queries, k = 10. The
filter bounds all values from 8-bit codes and evaluates what the bounds leave; a linear scan
evaluates everything.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks import kernels
from fastmks._util.validation import import_extra
from fastmks.errors import FastmksError
from fastmks.index.hits import Hits
from fastmks.index.index import Index

__all__ = ["search_digits"]

Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
N_INDEXED, K, TOLERANCE = 1347, 10, 1e-12


@dataclass(frozen=True)
class Case:
    """A kernel, and its formula in plain numpy."""

    kernel: kernels.Kernel
    brute_force: Callable[[Matrix, Matrix], Matrix]


def cosines(Q: Matrix, X: Matrix) -> Matrix:
    """Return all cosines."""
    cosine: Matrix = (Q @ X.T) / np.outer(np.linalg.norm(Q, axis=1), np.linalg.norm(X, axis=1))
    return cosine


def gaussians(Q: Matrix, X: Matrix) -> Matrix:
    """Return all Gaussian values for a bandwidth of 20, from the differences."""
    return np.array([np.exp(-((X - q) ** 2).sum(axis=1) / (2 * 20.0**2)) for q in Q])


CASES = (
    Case(kernels.Linear(), lambda Q, X: Q @ X.T),
    Case(kernels.Cosine(), cosines),
    Case(kernels.Gaussian(bandwidth=20.0), gaussians),
    Case(kernels.Polynomial(degree=10), lambda Q, X: (Q @ X.T) ** 10),
)


def n_verified(hits: Hits, brute: Matrix) -> int:
    """Count the queries whose answer brute force confirms.

    Each returned value must equal that of brute force for the object, and no other object may have
    a greater one than the last returned: both up to rounding, since numpy rounds differently.
    """
    slack = TOLERANCE * np.abs(brute).max(axis=1)
    same_values = np.abs(np.take_along_axis(brute, hits.indices, axis=1) - hits.values)
    left_out = brute.copy()
    np.put_along_axis(left_out, hits.indices, -np.inf, axis=1)
    right = (same_values.max(axis=1) <= slack) & (
        left_out.max(axis=1) <= hits.values[:, -1] + slack
    )
    return int(right.sum())


def short(kernel: kernels.Kernel) -> str:
    """Return the kernel as text, without parameters that have no effect."""
    return repr(kernel).replace(", offset=0.0, scale=1.0", "")


def search_digits() -> Iterator[str]:
    """Index, search, verify; yield the lines to print, as they become known."""
    import_extra("sklearn", extra="demo", needed_by="the demonstration")
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, Q, labels, truth = X[:N_INDEXED], X[N_INDEXED:], y[:N_INDEXED], y[N_INDEXED:]
    yield f"{len(X)} digits of {X.shape[1]} pixels indexed, {len(Q)} searched, k = {K}\n"
    yield "kernel                      evaluations   of scan     time   right label     verified"
    answers = []
    for case in CASES:
        index = Index(X, case.kernel, algorithm="filter")
        started = time.perf_counter()
        hits = index.search(Q, k=K)
        seconds = time.perf_counter() - started
        right_label = float((labels[hits.indices[:, 0]] == truth).mean())
        verified = n_verified(hits, case.brute_force(Q, X))
        yield (
            f"{short(case.kernel):<26} {hits.stats.kernel_evaluations:>12,} "
            f"{hits.stats.scan_share:>9.1%} {seconds * 1e3:>6.1f} ms {right_label:>12.1%}   "
            f"{verified:>3} of {len(Q)}"
        )
        if verified != len(Q):
            raise FastmksError("brute force disagrees: please report this.")
        answers.append(hits)
    yield f"\nAnswers to the first query, which shows a {truth[0]}:"
    yield "position (what it shows), value\n"
    yield from _first_answers(answers, labels)


def _first_answers(answers: Sequence[Hits], labels: np.ndarray[Any, Any]) -> Iterator[str]:
    yield "rank" + "".join(f"{short(case.kernel):>28}" for case in CASES)
    for rank in range(K):
        cells = [(hits.indices[0, rank], hits.values[0, rank]) for hits in answers]
        columns = "".join(f"{f'{i:>4} ({labels[i]})  {value:<13.7g}':>28}" for i, value in cells)
        yield f"{rank + 1:>4}{columns}"
