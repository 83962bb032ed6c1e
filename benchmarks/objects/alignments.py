"""Alignment kernels on proteins: `python -m benchmarks.objects.alignments --help`."""

import argparse
import sys
from collections.abc import Iterator

import numpy as np

import fastmks
from benchmarks.objects.ledger import LapProgram, Row, run_laps
from benchmarks.sequences import SEQUENCES_FILE
from benchmarks.suite import Collector
from fastmks import kernels

_TWENTY = "ARNDCQEGHILKMFPSTWYV"
_LENGTHS = (60, 200)


def _measure(options: argparse.Namespace, collector: Collector) -> Iterator[Row]:
    n_objects, n_queries = collector.limits(*((200, 4) if options.quick else (2000, 20)))
    proteins = _proteins(collector, n_objects + n_queries)
    objects, queries = proteins[n_queries:], proteins[:n_queries]
    for kernel, algorithms in (
        (kernels.Normalized(kernels.LocalAlignment(beta=0.5)), ("tree",)),
        (kernels.Normalized(kernels.LocalAlignment(beta=0.2)), ("tree",)),
        (kernels.SmithWaterman(), ("filter",)),
        (kernels.SegmentMatch(), ("filter",)),
    ):
        yield from run_laps("proteins", objects, queries, kernel, algorithms, k=5)[0]
    collector.note(f"proteins of {_LENGTHS[0]} to {_LENGTHS[1]} residues")


def _proteins(collector: Collector, n: int) -> list[str]:
    """Return real proteins of moderate length if the folder has any, else random families."""
    rng = np.random.default_rng(0)
    if folder := collector.folder_with(SEQUENCES_FILE):
        strings = fastmks.read_fasta(folder / SEQUENCES_FILE).sequences
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


main = LapProgram(name="alignments", about=__doc__, measure=_measure).main

if __name__ == "__main__":
    sys.exit(main())
