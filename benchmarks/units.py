"""The speed of the filter with each unit of the CPU: the same codes, searched in turn.

    python -m benchmarks.units [--objects N] [--queries N] [--rounds N]

Answers are bit-identical on all units; the program fails if they are not.
"""

import os
import sys
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import fastmks
from benchmarks.harness import ratio, run_rounds, seconds_of
from benchmarks.report import markdown
from benchmarks.suite import read_options
from fastmks import Index, _core

_DIMENSIONS = (64, 256, 784)
_BATCHES = (1, 64)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table: microseconds of a query, and how many times faster than portable code."""
    options = read_options("units", __doc__, arguments)
    n_objects, n_queries = options.objects or 50_000, options.queries or 256
    isas = _core.available_isas()
    print(f"fastmks {fastmks.__version__}, {n_objects} objects, k = 1, one thread")
    rows = []
    for dimension in _DIMENSIONS:
        rng = np.random.default_rng(0)
        objects, queries = (
            rng.standard_normal((n, dimension)).astype(np.float32) for n in (n_objects, n_queries)
        )
        indexes = [_built(objects, isa) for isa in isas]
        if len({index.search(queries, threads=1).values.tobytes() for index in indexes}) > 1:
            print("the answers differ", file=sys.stderr)
            return 1
        for batch in _BATCHES:
            runs = [partial(_lap, index, queries, batch) for index in indexes]
            laps = run_rounds(runs, rounds=options.rounds or 5, warmups=0)
            shown = [f"{median(own) * 1e6:.0f} µs, {ratio(laps[0], own):.1f}x" for own in laps]
            rows.append([dimension, batch, *shown])
    print(markdown(f"columns|queries at once|{'|'.join(isas)}", rows))
    return 0


def _built(rows: Any, isa: str) -> Index:
    """Return an index whose filter is built, and that uses one unit from then on."""
    os.environ["FASTMKS_ISA"] = isa
    try:
        index = Index(rows, algorithm="filter", threads=1)
        index.search(rows[:1])
    finally:
        del os.environ["FASTMKS_ISA"]
    return index


def _lap(index: Index, queries: Any, batch: int) -> float:
    """Return the seconds of a query when a batch is asked at once."""
    asked = queries if batch > 1 else queries[: max(8, len(queries) // 8)]
    parts = [asked[begin : begin + batch] for begin in range(0, len(asked), batch)]
    return seconds_of(lambda: [index.search(part, threads=1) for part in parts]) / len(asked)


if __name__ == "__main__":
    sys.exit(main())
