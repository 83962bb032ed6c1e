"""Bounds from pivots where objects have no coordinates: `python -m benchmarks.objects.pivots`.

Kernel evaluations of a query and its time, in one thread, against the scan's and the tree's: on
the paper's digits (whose kernels are treated as if vectors had no coordinates), and with --data on
proteins, time series and graphs. Evaluations of pivots and tree include those with the pivots and
with nodes; building is counted apart.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import fastmks
from benchmarks.datasets import digits
from benchmarks.harness import timed
from benchmarks.objects.graphs import read_graph_set
from benchmarks.objects.ledger import Program, Row
from benchmarks.objects.series import SERIES_FILE
from benchmarks.sequences import SEQUENCES_FILE
from benchmarks.suite import Collector
from fastmks import kernels
from fastmks._util.progress import Progress
from fastmks.engines.base import Engine, SearchRequest
from fastmks.engines.filters.pivots import build_pivots
from fastmks.engines.scan import Scan
from fastmks.engines.traversal import Traversal
from fastmks.engines.tree.single_search import WalkedTree
from fastmks.engines.tree.tree import build_tree
from fastmks.index.view import view_of

_KS = (1, 10)
_QUIET = Progress(False)


class Case(NamedTuple):
    """Some objects, queries and a kernel."""

    name: str
    kernel: kernels.Kernel
    objects: Any
    queries: Any


def _measure(options: argparse.Namespace, collector: Collector) -> Iterator[Row]:
    n_objects, n_queries = collector.limits(*((300, 10) if options.quick else (4000, 100)))
    for case in _cases(collector, n_objects, n_queries):
        if collector.wants(case.name):
            yield from measure(case)


def measure(case: Case) -> Iterator[Row]:
    """Search one case with all engines."""
    space = view_of(fastmks.Index(case.objects, case.kernel, algorithm="scan")).space
    queries = space.queries(case.queries)
    pivots = build_pivots(space, threads=1, progress=_QUIET)
    tree = build_tree(space, base=1.3, threads=1, progress=_QUIET, name=str)
    n_pivots = pivots.projection.n_pivots
    forecasts = [one.evaluations for one in pivots.forecasts if one.n_pivots == n_pivots]
    for k in _KS:
        truth, scan_seconds = _timed(Scan(space), queries, k)
        found, seconds = _timed(pivots, queries, k)
        walked, tree_seconds = _timed(WalkedTree(tree, Traversal()), queries, k)
        counted, _ = _timed(WalkedTree(tree, Traversal(block=1)), queries, k)
        yield {  # evaluations are those of a query on average, seconds of all of them
            "problem": case.name,
            "kernel": repr(case.kernel),
            "n_objects": len(space),
            "n_queries": len(queries),
            "k": k,
            "n_pivots": n_pivots,
            "forecast": forecasts[0] if forecasts else float(len(space)),  # over k = 1 and 10
            "evaluations": found.cost.evaluations / len(queries),
            "tree_evaluations": counted.cost.evaluations / len(queries),  # blocks of one object
            "build_evaluations": pivots.build_evaluations,
            "tree_build_evaluations": tree.build_evaluations,
            "seconds": seconds,
            "tree_seconds": tree_seconds,  # with blocks as planned
            "scan_seconds": scan_seconds,
            "build_seconds": pivots.build_seconds,
            "differs_from_scan": not (_is_same(found, truth) and _is_same(walked, truth)),
        }


def _timed(engine: Engine, queries: Any, k: int) -> tuple[Any, float]:
    request = SearchRequest(queries=queries, threads=1, progress=_QUIET)
    laps = [timed(partial(engine.top_k, request, k)) for _ in range(3)]
    return laps[-1][0], min(seconds for _, seconds in laps)


def _is_same(found: Any, truth: Any) -> bool:
    return np.array_equal(found.positions, truth.positions) and np.array_equal(
        found.values, truth.values
    )


def _cases(collector: Collector, n_objects: int, n_queries: int) -> Iterator[Case]:
    images = digits()
    plain: tuple[kernels.Kernel, ...] = (kernels.Linear(), kernels.Cosine())
    for kernel in (*plain, kernels.Polynomial(degree=10)):
        yield Case("digits", kernel, images.objects[:n_objects], images.queries[: 4 * n_queries])
    if collector.folder is None:
        return
    rng = np.random.default_rng(0)
    for name, kernel, objects in _real(collector):
        drawn = rng.permutation(len(objects))[: n_objects + n_queries]
        chosen = [objects[i] for i in drawn]
        yield Case(name, kernel, chosen[:-n_queries], chosen[-n_queries:])


def _real(collector: Collector) -> Iterator[tuple[str, kernels.Kernel, Any]]:
    """Yield the cases whose data are in the folder."""
    if folder := collector.folder_with(SEQUENCES_FILE):
        proteins = fastmks.read_fasta(folder / SEQUENCES_FILE).sequences
        for spectrum in (kernels.Spectrum(1), kernels.Spectrum(2), kernels.Spectrum(3)):
            yield "proteins", spectrum, proteins
            yield "proteins", kernels.Normalized(spectrum), proteins
    if folder := collector.folder_with(SERIES_FILE):
        with np.load(folder / SERIES_FILE) as arrays:
            series = arrays["train"]
        yield "series", kernels.Normalized(kernels.GlobalAlignment(bandwidth=3.0)), series[:1500]
    if folder := collector.folder_with("graphs_nci1.npz"):
        graphs = read_graph_set(folder / "graphs_nci1.npz", "nci1").graphs
        for kernel in (kernels.WeisfeilerLehman(iterations=2), kernels.ShortestPath()):
            yield "graphs", kernel, graphs
            yield "graphs", kernels.Normalized(kernel), graphs


main = Program(
    name="pivots",
    about=__doc__,
    measure=_measure,
    head="set|kernel|objects|k|pivots|evaluations|fewer|tree|forecast"
    "|ms a query|tree|scan|built with|differs from scan",
    cells="{problem}|{kernel}|{n_objects}|{k}|{n_pivots}|{evaluations:.0f}"
    "|{n_objects/evaluations:.1f}x|{n_objects/tree_evaluations:.1f}x|{forecast:.0f}"
    "|{seconds/n_queries:ms}|{tree_seconds/n_queries:ms}|{scan_seconds/n_queries:ms}"
    "|{build_evaluations}|{differs_from_scan}",
).main

if __name__ == "__main__":
    sys.exit(main())
