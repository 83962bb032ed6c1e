"""What each unit of the CPU does for the filter: the same codes, searched through each in turn.

    python -m benchmarks.units [--objects N] [--queries N] [--rounds N]

Answers are the same bits on every one of them; the program fails if they are not.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

import fastmks
from fastmks import Index, _core

_DIMENSIONS = (64, 256, 784)
_BATCHES = (1, 64)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table: microseconds of a query, and how many times less than portable code."""
    parser = argparse.ArgumentParser(prog="benchmarks.units", description=__doc__)
    parser.add_argument("--objects", type=int, default=50_000)
    parser.add_argument("--queries", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    isas = _core.available_isas()
    print(f"fastmks {fastmks.__version__}, {options.objects} objects, k = 1, one thread")
    print("| columns | queries at once | " + " | ".join(isas) + " |")
    print("| " + "--- | " * (2 + len(isas)))
    for dimension in _DIMENSIONS:
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((options.objects, dimension)).astype(np.float32)
        queries = rng.standard_normal((options.queries, dimension)).astype(np.float32)
        indexes = {isa: _built(rows, isa) for isa in isas}
        answers = [index.search(queries, threads=1) for index in indexes.values()]
        for answer in answers:
            if answer.values.tobytes() != answers[0].values.tobytes():
                print("the answers differ", file=sys.stderr)
                return 1
        for batch in _BATCHES:
            seconds: dict[str, list[float]] = {isa: [] for isa in isas}
            for _ in range(options.rounds):
                for isa, index in indexes.items():
                    seconds[isa].append(_lap(index, queries, batch))
            print(f"| {dimension} | {batch} | " + " | ".join(_cells(seconds)) + " |", flush=True)
    return 0


def _built(rows: NDArray[np.float32], isa: str) -> Index:
    """Return an index whose filter is there, and that uses one unit from then on."""
    os.environ["FASTMKS_ISA"] = isa
    try:
        index = Index(rows, algorithm="filter", threads=1)
        index.search(rows[:1])
    finally:
        del os.environ["FASTMKS_ISA"]
    return index


def _lap(index: Index, queries: NDArray[np.float32], batch: int) -> float:
    """Return the seconds of a query when so many are asked at once."""
    asked = queries if batch > 1 else queries[: max(8, len(queries) // 8)]
    started = time.perf_counter()
    for begin in range(0, len(asked), batch):
        index.search(asked[begin : begin + batch], threads=1)
    return (time.perf_counter() - started) / len(asked)


def _cells(seconds: dict[str, list[float]]) -> list[str]:
    first = next(iter(seconds.values()))
    cells = []
    for own in seconds.values():
        ratio = median(a / b for a, b in zip(first, own, strict=True))
        cells.append(f"{median(own) * 1e6:.0f} µs, {ratio:.1f}x")
    return cells


if __name__ == "__main__":
    sys.exit(main())
