"""Graphs by tree, inverted lists and scan: `python -m benchmarks.objects.graphs --data DIR`.

NCI1 and MUTAG where a folder has them, generated graphs otherwise. One graph in ten is a query, the
others are searched in one thread; times are those of the fastest round. The last column is no claim
about search: it says how often the most similar other graph has the same class, as a sign that the
kernel sees what it should.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import fastmks
from benchmarks.command import Collector, read_options
from benchmarks.report import commit, keep_ledger, markdown, write_ledger
from fastmks import kernels
from fastmks.kernels.graphs import GraphKernel

__all__ = ["GraphSet", "Row", "generated", "main", "read_graph_set"]

Graph: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]  # edges, node labels

_KS = (1, 10)
_KERNELS: tuple[GraphKernel, ...] = (
    kernels.WeisfeilerLehman(iterations=2),
    kernels.WeisfeilerLehman(iterations=5),
    kernels.ShortestPath(),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphSet:
    """Graphs, and the class of each."""

    name: str
    origin: str
    graphs: list[Graph]
    classes: NDArray[np.int64]

    def head(self, n_graphs: int) -> "GraphSet":
        """At most so many, drawn without replacement, in their order."""
        chosen = np.random.default_rng(0).permutation(len(self.graphs))[:n_graphs]
        chosen.sort()
        graphs = [self.graphs[i] for i in chosen]
        return GraphSet(
            name=self.name, origin=self.origin, graphs=graphs, classes=self.classes[chosen]
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """One set, kernel and k. Seconds of searches are for all queries, in one thread."""

    problem: str
    origin: str
    kernel: str
    n_objects: int
    n_queries: int
    n_nodes: int
    k: int
    read_seconds: float  # all objects, from arrays to counts
    read_queries_seconds: float  # likewise; part of the seconds of searches
    build_evaluations: int
    build_seconds: float
    scan_evaluations: int
    evaluations: int  # of the tree, with blocks of one object
    planned_evaluations: int  # of the tree as it is searched and timed
    seconds: float
    lists_evaluations: int
    lists_seconds: float
    scan_seconds: float
    differs_from_scan: bool
    same_class: float  # share of graphs whose most similar other one has their class


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where an answer is not the scan's."""
    options = read_options("objects.graphs", __doc__, arguments)
    collector = Collector(options)
    started_at = commit()
    most = min(options.objects or 10**9, 400 if options.quick else 10**9)
    rows: list[Row] = []
    for one in _sets(options.data, collector):
        for kernel in _KERNELS:
            for is_normalized in (False, True):
                found = list(_rows(one.head(most), kernel, is_normalized, options.rounds or 5))
                print("\n".join("  ".join(_cells(row)) for row in found), flush=True)
                rows += found
    print("", _table(rows), sep="\n")
    if options.out is not None:
        ledger = keep_ledger("objects_graphs", started_at, notes=collector.notes, rows=rows)
        write_ledger(ledger, options.out)
    return 1 if any(row.differs_from_scan for row in rows) else 0


def _sets(folder: Path | None, collector: Collector) -> Iterator[GraphSet]:
    if folder is None and collector.wants("generated"):
        yield generated(2000)
    for name in ("mutag", "nci1"):
        file = None if folder is None else folder / f"graphs_{name}.npz"
        if file is None or not collector.wants(name):
            continue
        if file.exists():
            yield read_graph_set(file, name)
        else:
            collector.note(f"not in the folder: {file.name}")


def read_graph_set(file: Path, name: str) -> GraphSet:
    """Return the graphs of a file that holds them side by side, as TUDataset does."""
    with np.load(file) as arrays:
        graph_of_node, edges = arrays["graph_id"], arrays["edges"].astype(np.int64)
        labels, classes = arrays["node_labels"], arrays["graph_labels"]
    edges = edges[np.argsort(graph_of_node[edges[:, 0]], kind="stable")]
    numbers = np.arange(len(classes) + 1)
    nodes_at = np.searchsorted(graph_of_node, numbers)
    edges_at = np.searchsorted(graph_of_node[edges[:, 0]], numbers)
    graphs = [
        (edges[edges_at[g] : edges_at[g + 1]] - nodes_at[g], labels[nodes_at[g] : nodes_at[g + 1]])
        for g in range(len(classes))
    ]
    return GraphSet(name=name, origin=file.name, graphs=graphs, classes=classes)


def generated(n_graphs: int, *, seed: int = 0) -> GraphSet:
    """Return trees with a few rings; the classes differ in how common one label is."""
    random = np.random.default_rng(seed)
    graphs: list[Graph] = []
    classes = random.integers(0, 2, size=n_graphs)
    for kind in classes:
        n = int(random.integers(10, 40))
        parents = [int(random.integers(max(0, i - 4), i)) for i in range(1, n)]
        tree = np.stack([np.arange(1, n), parents], axis=1)
        rings = random.integers(0, n, size=(n // 10, 2))
        rare = 0.05 + 0.1 * kind
        labels = random.choice(4, size=n, p=[0.7 - rare, 0.2, rare, 0.1])
        graphs.append((np.concatenate([tree, rings]), labels))
    origin = f"generated by benchmarks.objects.graphs.generated({n_graphs}, seed={seed})"
    return GraphSet(name="generated", origin=origin, graphs=graphs, classes=classes)


def _rows(one: GraphSet, plain: GraphKernel, is_normalized: bool, rounds: int) -> Iterator[Row]:
    kernel: kernels.Kernel = kernels.Normalized(plain) if is_normalized else plain
    is_query = np.random.default_rng(1).permutation(len(one.graphs)) % 10 == 0
    objects = [graph for graph, asked in zip(one.graphs, is_query, strict=True) if not asked]
    queries = [graph for graph, asked in zip(one.graphs, is_query, strict=True) if asked]
    read = [_seconds_to_read(plain, objects, queries) for _ in range(rounds)]
    index = fastmks.Index(objects, kernel, algorithm="scan", threads=1)
    started = time.perf_counter()
    tree = index.tree
    built = time.perf_counter() - started
    own = fastmks.Index(one.graphs, kernel, algorithm="scan").search_self(1).indices[:, 0]
    for k in _KS:
        laps = [
            tuple(index.search(queries, k, algorithm=name) for name in ("tree", "filter", "scan"))
            for _ in range(rounds)
        ]
        by_one = fastmks.Traversal(block=1)
        counted = index.search(queries, k, algorithm="tree", traversal=by_one)
        tree_hits, lists_hits, truth = laps[0]
        yield Row(
            problem=one.name,
            origin=one.origin,
            kernel=repr(kernel),
            n_objects=len(objects),
            n_queries=len(queries),
            n_nodes=sum(len(labels) for _, labels in objects),
            k=k,
            read_seconds=min(seconds for seconds, _ in read),
            read_queries_seconds=min(seconds for _, seconds in read),
            build_evaluations=tree.build_evaluations,
            build_seconds=built,
            scan_evaluations=truth.stats.kernel_evaluations,
            evaluations=counted.stats.kernel_evaluations,
            planned_evaluations=tree_hits.stats.kernel_evaluations,
            lists_evaluations=lists_hits.stats.kernel_evaluations,
            seconds=min(lap[0].stats.seconds for lap in laps),
            lists_seconds=min(lap[1].stats.seconds for lap in laps),
            scan_seconds=min(lap[2].stats.seconds for lap in laps),
            differs_from_scan=not all(
                _is_same(hits, truth) for hits in (counted, tree_hits, lists_hits)
            ),
            same_class=float((one.classes[own] == one.classes).mean()),
        )


def _seconds_to_read(
    kernel: GraphKernel, objects: list[Graph], queries: list[Graph]
) -> tuple[float, float]:
    started = time.perf_counter()
    store = kernel.read(objects, name="objects")
    between = time.perf_counter()
    kernel.read_queries(queries, store, name="queries")
    return between - started, time.perf_counter() - between


def _is_same(hits: Any, truth: Any) -> bool:
    """Whether both found the same graphs with the same values, to the last bit."""
    same_values = hits.values.tobytes() == truth.values.tobytes()
    return same_values and np.array_equal(hits.indices, truth.indices)


def _table(rows: Sequence[Row]) -> str:
    head = ["graphs", "kernel", "n", "k", "read s", "build s", "evaluations of scan"]
    head += [
        "speed-up in evaluations",
        "us / query",
        "lists",
        "scan",
        "of which reading",
        "scan / tree",
    ]
    head += ["same as scan"]
    return markdown([*head, "same class"], [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    each = 1e6 / row.n_queries
    return [
        row.problem,
        row.kernel,
        str(row.n_objects),
        str(row.k),
        f"{row.read_seconds:.2f}",
        f"{row.build_seconds:.2f}",
        f"{row.evaluations / row.scan_evaluations:.1%}",
        f"{row.scan_evaluations / row.evaluations:.2f}",
        f"{row.seconds * each:.0f}",
        f"{row.lists_seconds * each:.0f}",
        f"{row.scan_seconds * each:.0f}",
        f"{row.read_queries_seconds * each:.0f}",
        f"{row.scan_seconds / row.seconds:.2f}",
        "NO" if row.differs_from_scan else "yes",
        f"{row.same_class:.1%}",
    ]


if __name__ == "__main__":
    sys.exit(main())
