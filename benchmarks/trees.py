"""What every tree of the benchmarks can do, and the tree of fastmks doing it.

A tree is built and searched in one thread; the rows of a problem are float64 on every side.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import fastmks
from benchmarks.datasets import Problem
from benchmarks.kernels import KernelCase

__all__ = ["BASE", "Built", "FastmksTree", "Found", "scan_all"]

BASE = 1.3  # the paper's, and better than mlpack's 2.0 nearly everywhere


@dataclass(frozen=True, kw_only=True)
class Built:
    """What building a tree cost."""

    evaluations: int  # of pairs of objects; self-kernels are not among them
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What one search found and cost."""

    values: NDArray[np.float64]
    indices: NDArray[np.int64]
    evaluations: int
    seconds: float
    cpu_seconds: float

    def is_identical(self, other: "Found") -> bool:
        """Whether both found the same objects with the same values, to the last bit."""
        same_values = self.values.tobytes() == other.values.tobytes()
        return same_values and np.array_equal(self.indices, other.indices)


class FastmksTree:
    """The tree of fastmks over the objects of a problem; built by the first `build`."""

    def __init__(
        self,
        problem: Problem,
        case: KernelCase,
        *,
        base: float = BASE,
        algorithm: str = "tree",
    ) -> None:
        self._problem, self._case = problem, case
        self._base, self._algorithm = base, algorithm
        self._index: fastmks.Index | None = None

    @property
    def index(self) -> fastmks.Index:
        """The index built last."""
        assert self._index is not None, "build() comes first"
        return self._index

    def build(self) -> Built:
        """Build the tree anew."""
        self._index = None  # the old one is freed outside the timing
        clock, cpu = time.perf_counter(), time.process_time()
        self._index = fastmks.Index(
            self._problem.objects,
            self._case.kernel,
            algorithm=self._algorithm,
            base=self._base,
            threads=1,
        )
        return Built(
            seconds=time.perf_counter() - clock,
            cpu_seconds=time.process_time() - cpu,
            evaluations=self._index.tree.build_evaluations,
        )

    def search(self, k: int, *, block: int | None = None) -> Found:
        """Search all queries; with block=1 evaluations compare with mlpack's base cases."""
        traversal = None if block is None else fastmks.Traversal(block=block)
        return _search(self.index, self._problem, k, traversal)


def scan_all(problem: Problem, case: KernelCase, k: int) -> Found:
    """Return what the scan of fastmks finds: the truth that every other answer is held against."""
    index = fastmks.Index(problem.objects, case.kernel, algorithm="scan", threads=1)
    return _search(index, problem, k)


def _search(
    index: fastmks.Index, problem: Problem, k: int, traversal: fastmks.Traversal | None = None
) -> Found:
    clock, cpu = time.perf_counter(), time.process_time()
    hits = index.search(problem.queries, k, traversal=traversal)
    return Found(
        seconds=time.perf_counter() - clock,
        cpu_seconds=time.process_time() - cpu,
        values=hits.values,
        indices=hits.indices,
        evaluations=hits.stats.kernel_evaluations,
    )
