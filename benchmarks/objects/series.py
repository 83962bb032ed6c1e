"""The global alignment kernel on time series: `python -m benchmarks.objects.series --help`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import Collector, read_options
from benchmarks.objects.lap import Lap, run_laps, show
from benchmarks.report import commit, keep_ledger, write_ledger
from fastmks import kernels

__all__ = ["main"]

_FILE = "ucr_electricdevices.npz"
Array = np.ndarray[Any, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where an engine differs from the scan."""
    options = read_options("objects.series", __doc__, arguments)
    collector, started_at = Collector(options), commit()
    n_objects, n_queries = collector.limits(*((200, 10) if options.quick else (3000, 100)))
    known, kinds, new, truth = _series(options.data, n_objects, n_queries, collector)
    laps: list[Lap] = []
    for kernel in (
        kernels.Normalized(kernels.GlobalAlignment(bandwidth=3.0)),
        kernels.Normalized(kernels.GlobalAlignment(bandwidth=3.0, triangular=20)),
    ):
        found, hits = run_laps("series", known, new, kernel, ("tree",), k=1)
        print(show(found), flush=True)
        right = float((kinds[hits.indices[:, 0]] == truth).mean())
        collector.note(f"1-NN with {kernel!r}: {right:.1%} right")
        laps += found
    if options.out is not None:
        ledger = keep_ledger("objects_series", started_at, notes=collector.notes, rows=laps)
        write_ledger(ledger, options.out)
    return int(any(lap.differs_from_scan for lap in laps))


def _series(
    folder: Path | None, n_objects: int, n_queries: int, collector: Collector
) -> tuple[Array, Array, Array, Array]:
    """Known series with their kinds and new ones with theirs, as given in time."""
    rng = np.random.default_rng(0)
    if folder is not None and (folder / _FILE).exists():
        data = np.load(folder / _FILE)
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


if __name__ == "__main__":
    sys.exit(main())
