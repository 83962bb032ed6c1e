"""How much memory a tree takes, seen by the system: the core allocates where Python cannot see."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets import Problem
from benchmarks.kernels import KernelCase
from benchmarks.trees import FastmksTree

__all__ = ["Memory", "measure_memory"]

_STATUS = Path("/proc/self/status")
_RESET_PEAK = Path("/proc/self/clear_refs")


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Bytes of memory, the objects themselves apart."""

    kept: int  # more than before the tree was built
    peak: int  # while it was built, more than before


def measure_memory(problem: Problem, case: KernelCase) -> Memory | None:
    """Build the tree in a process of its own; nothing where the system does not tell."""
    if not _STATUS.exists():
        return None
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(_measure, problem, case).result()
    except (BrokenProcessPool, OSError):
        return None


def _measure(problem: Problem, case: KernelCase) -> Memory:
    FastmksTree(problem.head(10, 1), case).build()  # loads whatever is loaded once
    tree = FastmksTree(problem, case)
    _RESET_PEAK.write_text("5", encoding="ascii")
    before = _read("VmRSS")
    tree.build()
    return Memory(kept=_read("VmRSS") - before, peak=_read("VmHWM") - before)


def _read(field: str) -> int:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise OSError(f"{_STATUS} has no {field}")
