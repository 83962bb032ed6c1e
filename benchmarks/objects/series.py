"""The global alignment kernel on time series: `python -m benchmarks.objects.series --help`."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.objects.ledger import LapProgram, Row, run_laps
from benchmarks.suite import Collector
from fastmks import kernels

SERIES_FILE = "ucr_electricdevices.npz"
_Array = np.ndarray[Any, Any]


def _measure(options: argparse.Namespace, collector: Collector) -> Iterator[Row]:
    n_objects, n_queries = collector.limits(*((200, 10) if options.quick else (3000, 100)))
    known, kinds, new, truth = _series(collector, n_objects, n_queries)
    for kernel in (
        kernels.Normalized(kernels.GlobalAlignment(bandwidth=3.0)),
        kernels.Normalized(kernels.GlobalAlignment(bandwidth=3.0, triangular=20)),
    ):
        laps, hits = run_laps("series", known, new, kernel, ("tree",), k=1)
        right = float((kinds[hits.indices[:, 0]] == truth).mean())
        collector.note(f"1-NN with {kernel!r}: {right:.1%} right")
        yield from laps


def _series(
    collector: Collector, n_objects: int, n_queries: int
) -> tuple[_Array, _Array, _Array, _Array]:
    """Known series with their kinds and new ones with theirs, as given in time."""
    rng = np.random.default_rng(0)
    if folder := collector.folder_with(SERIES_FILE):
        data = np.load(folder / SERIES_FILE)
        some = rng.permutation(len(data["train"]))[:n_objects]
        asked = rng.permutation(len(data["test"]))[:n_queries]
        labels, wanted = data["train_labels"], data["test_labels"]
        return data["train"][some], labels[some], data["test"][asked], wanted[asked]
    collector.note("random waves of three speeds")
    kinds = rng.integers(0, 3, size=n_objects + n_queries)
    times = np.linspace(0.0, 6.0, 96)
    starts = rng.uniform(0.0, 1.0, size=len(kinds))
    waves = np.sin((kinds[:, None] + 1.0) * times + starts[:, None])
    waves += rng.normal(0.0, 0.2, size=waves.shape)
    return waves[:n_objects], kinds[:n_objects], waves[n_objects:], kinds[n_objects:]


main = LapProgram(name="series", about=__doc__, measure=_measure).main

if __name__ == "__main__":
    sys.exit(main())
