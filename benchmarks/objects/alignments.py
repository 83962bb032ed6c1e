"""Alignment kernels on proteins: `python -m benchmarks.objects.alignments --help`."""

import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.command import Collector, read_options
from benchmarks.objects.lap import Lap, run_laps, show
from benchmarks.report import commit, keep_ledger, write_ledger
from fastmks import kernels

__all__ = ["main"]

_FILE = "swissprot_100k.fasta.gz"
_TWENTY = "ARNDCQEGHILKMFPSTWYV"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where an engine differs from the scan."""
    options = read_options("objects.alignments", __doc__, arguments)
    collector, started_at = Collector(options), commit()
    n_objects, n_queries = (200, 4) if options.quick else (2000, 20)
    n_objects, n_queries = collector.limits(n_objects, n_queries)
    proteins = _proteins(options.data, n_objects + n_queries, collector)
    objects, queries = proteins[n_queries:], proteins[:n_queries]
    laps: list[Lap] = []
    for kernel, algorithms in (
        (kernels.Normalized(kernels.LocalAlignment(beta=0.5)), ("tree",)),
        (kernels.Normalized(kernels.LocalAlignment(beta=0.2)), ("tree",)),
        (kernels.SmithWaterman(), ("filter",)),
        (kernels.SegmentMatch(), ("filter",)),
    ):
        found, _ = run_laps("proteins", objects, queries, kernel, algorithms, k=5)
        print(show(found), flush=True)
        laps += found
    if options.out is not None:
        notes = [*collector.notes, f"proteins of {_LENGTHS[0]} to {_LENGTHS[1]} residues"]
        write_ledger(
            keep_ledger("objects_alignments", started_at, notes=notes, rows=laps), options.out
        )
    return int(any(lap.differs_from_scan for lap in laps))


_LENGTHS = (60, 200)


def _proteins(folder: Path | None, n: int, collector: Collector) -> list[str]:
    """Real proteins of moderate length where there are any, else families of random ones."""
    rng = np.random.default_rng(0)
    if folder is not None and (folder / _FILE).exists():
        with gzip.open(folder / _FILE, "rt") as file:
            records = file.read().split(">")[1:]
        strings = ["".join(record.split("\n")[1:]) for record in records]
        fitting = [s for s in strings if _LENGTHS[0] <= len(s) <= _LENGTHS[1]]
        return [fitting[i] for i in rng.permutation(len(fitting))[:n]]
    collector.note("random proteins in families of five")
    proteins: list[str] = []
    while len(proteins) < n:
        founder = rng.choice(list(_TWENTY), size=int(rng.integers(*_LENGTHS)))
        for _ in range(5):
            changed = rng.random(len(founder)) < 0.3
            letters = np.where(changed, rng.choice(list(_TWENTY), size=len(founder)), founder)
            proteins.append("".join(letters))
    return [proteins[i] for i in rng.permutation(len(proteins))[:n]]


if __name__ == "__main__":
    sys.exit(main())
