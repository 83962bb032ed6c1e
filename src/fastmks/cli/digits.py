"""Search handwritten digits with four kernels and a Python function, beside brute force.

200 digits are queries, k = 10. Each of the other 1597 is indexed with eleven variants, turned and
moved a little. The function is slow, so that it searches 300 digits without variants. `auto`
chooses the engine; the paper's cover tree and brute force search for the same queries.
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from fastmks import kernels
from fastmks._util.arrays import Floats
from fastmks._util.digits import load_digits, vary_digits
from fastmks.errors import FastmksError
from fastmks.index.hits import Hits
from fastmks.index.index import Index

__all__ = ["count_verified", "search_digits"]

_T = TypeVar("_T")
_Image: TypeAlias = tuple[list[int], list[int]]  # its pixels, and the sums of its 16 squares of 4
_N_QUERIES, _N_FOR_FUNCTION, _K, _TOLERANCE = 200, 300, 10, 1e-12
_BANDWIDTH = 20.0
_N_RUNS = 6  # the most that are timed


def shared_ink(x: _Image, y: _Image) -> float:
    """Return the ink that two images share, pixel by pixel. It is a Mercer kernel."""
    return float(sum(map(min, x[0], y[0])))


def most_shared_ink(x: _Image, y: _Image) -> float:
    """Return a bound of `shared_ink` from squares of four pixels, which costs a third of it."""
    return float(sum(map(min, x[1], y[1])))


@dataclass(frozen=True)
class _Case:
    """A kernel as `auto` and the tree take it, and brute force for all pairs."""

    label: str
    kernel: kernels.Kernel
    brute_force: Callable[[Any, Any], Floats]
    of_tree: kernels.Kernel | None = None  # where it is not the kernel of `auto`


def _cosines(Q: Floats, X: Floats) -> Floats:
    cosine: Floats = (Q @ X.T) / np.outer(np.linalg.norm(Q, axis=1), np.linalg.norm(X, axis=1))
    return cosine


def _gaussians(Q: Floats, X: Floats) -> Floats:
    squares = (Q**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2.0 * (Q @ X.T)
    values: Floats = np.exp(squares / (-2.0 * _BANDWIDTH**2))
    return values


def _by_function(Q: Sequence[_Image], X: Sequence[_Image]) -> Floats:
    return np.array([[shared_ink(q, x) for x in X] for q in Q])


_CASES = (
    _Case("linear", kernels.Linear(), lambda Q, X: Q @ X.T),
    _Case("cosine", kernels.Cosine(), _cosines),
    _Case("Gaussian, bandwidth 20", kernels.Gaussian(bandwidth=_BANDWIDTH), _gaussians),
    _Case("polynomial, degree 10", kernels.Polynomial(degree=10), lambda Q, X: (Q @ X.T) ** 10),
)
_FUNCTION_CASE = _Case(
    "shared_ink, in Python",
    kernels.Similarity(shared_ink, upper_bound=most_shared_ink),
    _by_function,
    of_tree=kernels.Custom(shared_ink),
)


def search_digits() -> Iterator[str]:
    """Index, search, verify; yield the lines to print, as they become known."""
    digits = load_digits()
    Q, originals = digits[:_N_QUERIES], digits[_N_QUERIES:]
    X = vary_digits(originals)
    few = _as_objects(originals[:_N_FOR_FUNCTION])
    yield f"{len(Q)} handwritten digits of 8 x 8 pixels are searched among {len(X):,} others for"
    yield f"the {_K} best; the Python function, which has an upper bound, among {len(few)}."
    yield "Times are those of one query.\n"
    yield f"{'kernel':<24} {'engine':<17} {'evaluations':>11} {'time':>11}   equal to brute force"
    problems: list[tuple[_Case, Any, Any]] = [(case, Q, X) for case in _CASES]
    problems.append((_FUNCTION_CASE, _as_objects(Q), few))
    gains: list[float] = []
    for problem in problems:
        gains.append((yield from _search(*problem)))
    yield (
        f"Every answer equals brute force; auto was {min(gains):.3g} to {max(gains):.3g} times as "
        "fast."
    )


def _search(case: _Case, Q: Any, X: Any) -> Generator[str, None, float]:
    """Yield the rows of a kernel; return the time of brute force over that of `auto`."""
    brute, seconds = _timed(lambda: _best(case.brute_force(Q, X)), 0.3)
    index = Index(X, case.kernel)
    auto, auto_seconds = _timed(lambda: index.search(Q, k=_K), 0.6)  # until it has measured
    tree = Index(X, case.of_tree or case.kernel, algorithm="tree")
    walked, tree_seconds = _timed(lambda: tree.search(Q, k=_K), 0.3)
    yield _row(case.label, f"auto: {auto.stats.algorithm}", auto, auto_seconds, brute)
    yield _row("", "the paper's tree", walked, tree_seconds, brute)
    yield f"{'':<24} {'brute force':<17} {len(X):>11,} {_per_query(seconds)}\n"
    return seconds / auto_seconds


def _best(values: Floats) -> Floats:
    """Find the best of each row, as brute force does; return all values."""
    np.argpartition(-values, _K, axis=1)
    return values


def _timed(call: Callable[[], _T], long: float) -> tuple[_T, float]:
    """Call until about this many seconds have passed; return the last result, the least seconds."""
    taken: list[float] = []
    while len(taken) < _N_RUNS and sum(taken) < long:
        started = time.perf_counter()
        found = call()
        taken.append(time.perf_counter() - started)
    return found, min(taken)


def _row(kernel: str, engine: str, hits: Hits, seconds: float, brute: Floats) -> str:
    n_verified = count_verified(hits, brute)
    if n_verified != len(brute):
        raise FastmksError(
            f"{len(brute) - n_verified} of {len(brute)} answers of {engine} differ from brute "
            "force: please report this."
        )
    evaluations = hits.stats.kernel_evaluations / len(brute)
    return (
        f"{kernel:<24} {engine:<17} {evaluations:>11,.0f} {_per_query(seconds)}   "
        f"{n_verified} of {len(brute)}"
    )


def _per_query(seconds: float) -> str:
    return f"{1e3 * seconds / _N_QUERIES:>8.3f} ms"


def _as_objects(images: Floats) -> list[_Image]:
    """Return images as the function compares them."""
    squares = images.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    return [
        (pixels, sums)
        for pixels, sums in zip(
            images.astype(int).tolist(), squares.astype(int).tolist(), strict=True
        )
    ]


def count_verified(hits: Hits, brute: Floats) -> int:
    """Count the queries whose answer brute force confirms.

    Each returned value must equal that of brute force for the object, and no other object may have
    a greater one than the last returned: both up to rounding, since numpy rounds differently.
    """
    slack = _TOLERANCE * np.abs(brute).max(axis=1)
    same_values = np.abs(np.take_along_axis(brute, hits.indices, axis=1) - hits.values)
    others = brute.copy()
    np.put_along_axis(others, hits.indices, -np.inf, axis=1)
    is_right = same_values.max(axis=1) <= slack
    is_right &= others.max(axis=1) <= hits.values[:, -1] + slack
    return int(is_right.sum())
