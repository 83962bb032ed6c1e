"""The cost of "auto" from an empty index on, beside fixed engines: `python -m benchmarks.planner`.

Queries come one by one, on one thread. A row has the total seconds of the first 1, 10, 100 and 1000
queries, building included, for "auto" and for each engine that is named from the start; and the
steady time of a query, the median of the last quarter.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import fastmks
from benchmarks.datasets import decaying, digits
from benchmarks.objects.ledger import Program, Row
from benchmarks.sequences import SEQUENCES_FILE
from benchmarks.suite import Collector
from fastmks import kernels

_STREAMS = (1, 10, 100, 1000)
_ENGINES = ("scan", "filter", "tree")
_PATIENCE = 60.0  # seconds that an engine may take for its stream


class Case(NamedTuple):
    """Some objects, queries, a kernel and a number of hits."""

    name: str
    kernel: kernels.Kernel
    objects: Any
    queries: Any
    k: int


class Stream(NamedTuple):
    """The seconds since the beginning, after building and after each query, and all hits."""

    ends: list[float]
    hits: list[tuple[bytes, bytes]]
    engine: str


def _measure(options: argparse.Namespace, collector: Collector) -> Iterator[Row]:
    n_objects, n_queries = collector.limits(*((2000, 100) if options.quick else (40_000, 1000)))
    for case in _cases(collector, n_objects, n_queries):
        if collector.wants(case.name):
            yield from measure(case)


def measure(case: Case) -> Iterator[Row]:
    """Ask the stream of each policy; yield a row for each length of the stream."""
    streams = {name: _ask(case, name) for name in (*_ENGINES, "auto")}
    auto, scan = streams["auto"], streams["scan"]
    n_asked = min(len(stream.hits) for stream in streams.values())
    differs = any(one.hits[:n_asked] != scan.hits[:n_asked] for one in streams.values())
    steady = {name: _steady(stream) for name, stream in streams.items()}
    for n in _STREAMS:
        if n > len(case.queries):
            break
        totals = {name: _total(stream, n) for name, stream in streams.items()}
        yield {
            "problem": case.name,
            "kernel": repr(case.kernel),
            "n_objects": len(case.objects),
            "k": case.k,
            "n_queries": n,
            **{f"{name}_seconds": seconds for name, seconds in totals.items()},
            "ratio": totals["auto"] / min(totals[name] for name in _ENGINES),
            **{f"{name}_steady_seconds": seconds for name, seconds in steady.items()},
            "steady_ratio": steady["auto"] / min(steady[name] for name in _ENGINES),
            "engine": auto.engine,
            "differs_from_scan": differs,
        }


def _ask(case: Case, algorithm: str) -> Stream:
    queries = [case.queries[i : i + 1] for i in range(len(case.queries))]
    started = time.perf_counter()
    index = fastmks.Index(case.objects, case.kernel, algorithm=algorithm, threads=1)
    stream = Stream([time.perf_counter() - started], [], algorithm)
    for query in queries:
        hits = index.search(query, k=case.k)
        stream.ends.append(time.perf_counter() - started)
        stream.hits.append((hits.indices.tobytes(), hits.values.tobytes()))
        stream = stream._replace(engine=hits.stats.algorithm)
        if stream.ends[-1] > _PATIENCE:
            break
    return stream


def _total(stream: Stream, n: int) -> float:
    """Return the seconds of the first queries; of a stream that was stopped, extrapolated."""
    if n < len(stream.ends):
        return stream.ends[n]
    built, last = stream.ends[0], stream.ends[-1]
    return built + (last - built) * n / (len(stream.ends) - 1)


def _steady(stream: Stream) -> float:
    laps = np.diff(stream.ends)
    return float(np.median(laps[-max(1, len(laps) // 4) :]))


def _nearness(x: Any, y: Any) -> float:
    return math.exp(-0.5 * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def _cases(collector: Collector, n_objects: int, n_queries: int) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    few = rng.standard_normal((n_objects // 2 + n_queries, 4))
    mixed = kernels.Gaussian(1.0) + kernels.Linear()
    yield Case("normal, 4 columns", mixed, few[n_queries:], few[:n_queries], 1)
    some = [tuple(row) for row in few[: n_objects // 8 + n_queries].tolist()]
    declared = kernels.Custom(_nearness, is_mercer=True)
    yield Case("tuples", declared, some[n_queries:], some[:n_queries], 5)
    wide = decaying(n_objects, 64, n_queries=n_queries, is_turned=True)
    yield Case("decaying", kernels.Cosine(), wide.objects, wide.queries, 10)
    images = digits()
    yield Case("digits", kernels.Linear(), images.objects, images.queries[:n_queries], 10)
    if folder := collector.folder_with("bio_kdd04_train.npz"):
        with np.load(folder / "bio_kdd04_train.npz") as arrays:
            rows = next(array for array in arrays.values() if array.ndim == 2).astype(float)
        drawn = rng.permutation(len(rows))
        objects, queries = rows[drawn[n_queries:]], rows[drawn[:n_queries]]
        yield Case("bio", kernels.Linear(), objects, queries, 1)
    if folder := collector.folder_with(SEQUENCES_FILE):
        proteins = fastmks.read_fasta(folder / SEQUENCES_FILE).sequences
        chosen = proteins[: n_objects // 2 + n_queries]
        for p in (1, 2, 3):
            spectrum = kernels.Spectrum(p)
            yield Case("proteins", spectrum, chosen[n_queries:], chosen[:n_queries], 1)
    if folder := collector.folder_with("wordnet_minilm384.npz"):
        with np.load(folder / "wordnet_minilm384.npz") as arrays:
            objects, queries = arrays["objects"][:n_objects], arrays["queries"][:n_queries]
        yield Case("wordnet", kernels.Cosine(), objects, queries, 10)


main = Program(
    name="planner",
    about=__doc__,
    measure=_measure,
    head="set|kernel|objects|k|queries|auto s|scan s|filter s|tree s|auto / best"
    "|steady auto / best|engine|differs from scan",
    cells="{problem}|{kernel}|{n_objects}|{k}|{n_queries}|{auto_seconds:.3f}"
    "|{scan_seconds:.3f}|{filter_seconds:.3f}|{tree_seconds:.3f}|{ratio:.2f}"
    "|{steady_ratio:.2f}|{engine}|{differs_from_scan}",
).main

if __name__ == "__main__":
    sys.exit(main())
