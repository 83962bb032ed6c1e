"""Kernels between graphs: inner products of counts of their parts."""

import math
import operator
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Int32s, Int64s
from fastmks.data import Store
from fastmks.data.counts import CountStore, make_counts, restore_counts
from fastmks.data.graphs import GRAPHS, Graphs, join_graphs, list_graphs, read_graphs
from fastmks.data.vocabulary import Vocabulary
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record, first_difference
from fastmks.kernels.object_kernel import ObjectKernel

_MOST_ITERATIONS = 1000


class _Features(NamedTuple):
    """Counts of features: graph `objects[i]` has the feature of `columns[i]` `counts[i]` times."""

    objects: Int64s
    columns: Int32s
    counts: Int64s


@dataclass(frozen=True)
class GraphKernel(ObjectKernel):
    """The base of kernels between undirected graphs with labelled nodes: counts, so Mercer."""

    kind = GRAPHS
    mercer_columns = math.inf
    is_normalized = False
    value_range = (0.0, math.inf)

    def read(self, objects: Any, *, name: str) -> CountStore:
        """Return a list of graphs as a store."""
        return self._read_objects(objects, name, single=False)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> CountStore:
        """Return graphs as a store with the columns of `like`; a single graph is one query."""
        listed = list_graphs(queries, name=name, single=True)
        return self._read_queries(listed, like, [f"{name}[{i}]" for i in range(len(listed))])

    def read_one(self, one: Any, like: Store | None, *, name: str) -> CountStore:
        """Return a graph as a store."""
        return self._read_queries([one], like, [name])

    def read_more(self, objects: Any, like: Store, *, name: str) -> CountStore:
        """Return graphs as a store with columns of its own; a single graph is one object."""
        return self._read_objects(objects, name, single=True)

    def join(self, stores: Sequence[Store]) -> CountStore:
        """Return the graphs of several stores in one, counted again: counts are exact."""
        parts = [(store.kept, store.vocabulary) for store in cast("Sequence[CountStore]", stores)]
        vocabulary = Vocabulary()
        graphs = join_graphs(parts, vocabulary)
        return replace(self._count(graphs, vocabulary, "objects[{}]".format), graphs=graphs)

    def restore(self, record: Record) -> CountStore:
        """Return the counts that were recorded."""
        return restore_counts(record)

    def find_fault(self, store: Store, isa: str) -> str:
        """Return which counts differ from those of the graphs; empty where none does."""
        stored = cast(CountStore, store)
        vocabulary = Vocabulary(stored.vocabulary)  # features that it lacks get columns beyond it
        counted = self._count(stored.kept, vocabulary, "objects[{}]".format)
        fault = first_difference(stored.counts.record().arrays, counted.counts.record().arrays)
        return f"of the counts of the graphs {fault}" if fault else ""

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space of sparse vectors under the inner product."""
        return _core.vector_space(cast(CountStore, store).core, isa, "linear")

    def _read_objects(self, objects: Any, name: str, *, single: bool) -> CountStore:
        listed = list_graphs(objects, name=name, single=single)
        names = [f"{name}[{i}]" for i in range(len(listed))]
        vocabulary = Vocabulary()
        graphs = read_graphs(listed, vocabulary, name=names.__getitem__)
        return replace(self._count(graphs, vocabulary, names.__getitem__), graphs=graphs)

    def _read_queries(
        self, listed: Sequence[Any], like: Store | None, names: Sequence[str]
    ) -> CountStore:
        vocabulary = Vocabulary(None if like is None else cast(CountStore, like).vocabulary)
        graphs = read_graphs(listed, vocabulary, name=names.__getitem__)
        return self._count(graphs, vocabulary, names.__getitem__)

    def _count(
        self, graphs: Graphs, vocabulary: Vocabulary, name: Callable[[int], str]
    ) -> CountStore:
        return make_counts(
            *self._features(graphs, vocabulary),
            n_objects=len(graphs),
            vocabulary=vocabulary,
            noun="graphs",
            name=name,
        )

    @abstractmethod
    def _features(self, graphs: Graphs, vocabulary: Vocabulary) -> _Features:
        """Return the features of graphs; new features get columns."""


@dataclass(frozen=True)
class WeisfeilerLehman(GraphKernel):
    """The Weisfeiler-Lehman subtree kernel: how often the same rooted subtrees occur. Mercer.

    Every node starts with its label. In each iteration it gets a new one, which stands for its
    label before together with the labels of its neighbours before, in any order. The kernel is the
    inner product of the counts of all labels, of all iterations and the start. Values are whole
    numbers, exact.

    Graphs are networkx graphs whose nodes may have an attribute ``label`` (anything hashable;
    nodes without have the label None), or pairs ``(edges, node_labels)``: an (m, 2) array of
    nodes numbered from 0, and a label for each node or, for graphs without labels, the number of
    nodes. They are undirected and simple: an edge counts once, however often and in whichever
    direction it is given, and from a node to itself not at all.

    Parameters
    ----------
    iterations : int, default 3
        From 0, which compares the labels alone, to 1000.

    Examples
    --------
    >>> ethanol = ([(0, 1), (1, 2)], ["C", "C", "O"])
    >>> methanol = ([(0, 1)], ["C", "O"])
    >>> WeisfeilerLehman(iterations=0)(ethanol, methanol)
    3.0
    >>> WeisfeilerLehman(iterations=1)(ethanol, methanol)
    4.0
    """

    iterations: int = 3

    def __post_init__(self) -> None:
        try:
            count = -1 if isinstance(self.iterations, bool) else operator.index(self.iterations)
        except TypeError:
            count = -1
        if not 0 <= count <= _MOST_ITERATIONS:
            raise InvalidArgument(
                f"iterations must be a whole number from 0 to {_MOST_ITERATIONS}; "
                f"got {self.iterations!r}."
            )
        object.__setattr__(self, "iterations", count)

    @property
    def store_key(self) -> Hashable:
        """The counts depend on the number of iterations."""
        return "Weisfeiler-Lehman", self.iterations

    def _features(self, graphs: Graphs, vocabulary: Vocabulary) -> _Features:
        colours = [graphs.labels]
        for _ in range(self.iterations):
            colours.append(vocabulary.number(_signatures(graphs, colours[-1])))
        columns = np.concatenate(colours)
        return _Features(
            np.tile(graphs.graph_of_node, len(colours)), columns, np.ones(len(columns), np.int64)
        )


def _signatures(graphs: Graphs, colours: Int32s) -> list[bytes]:
    """Each node's colour, then those of its neighbours in increasing order, as bytes."""
    n_nodes = len(colours)
    lengths = np.diff(graphs.offsets) + 1
    ends = np.cumsum(lengths)
    signatures = np.empty(n_nodes + len(graphs.neighbours), dtype=np.int32)
    is_own = np.zeros(len(signatures), dtype=bool)
    is_own[ends - lengths] = True
    signatures[is_own] = colours
    nodes = np.repeat(np.arange(n_nodes), lengths - 1)
    around = colours[graphs.neighbours]
    signatures[~is_own] = around[np.lexsort((around, nodes))]
    return _cut(signatures, ends)


def _cut(numbers: Int32s, ends: Int64s) -> list[bytes]:
    """Return the bytes of numbers, cut at these ends."""
    text = numbers.tobytes()
    at = [0, *(ends * numbers.itemsize).tolist()]
    return [text[begin:end] for begin, end in pairwise(at)]


@dataclass(frozen=True)
class ShortestPath(GraphKernel):
    """The shortest-path kernel: how many pairs of nodes have the same labels and distance. Mercer.

    Every pair of two nodes that a path connects counts under its two labels and the number of
    edges on a shortest path. The kernel is the inner product of these counts. Values are whole
    numbers, exact. A graph without edges is a zero object: its value is 0 with every graph.

    Graphs are those of `WeisfeilerLehman`. Counting the pairs of a graph takes time proportional
    to the number of its nodes times that of its edges and nodes.

    Examples
    --------
    >>> ethanol = ([(0, 1), (1, 2)], ["C", "C", "O"])
    >>> ether = ([(0, 1), (1, 2)], ["C", "O", "C"])
    >>> ShortestPath()(ethanol, ethanol)  # C-C, C-O, and C..O at distance 2
    3.0
    >>> ShortestPath()(ethanol, ether)  # C-O, which ether has twice
    2.0
    """

    store_key = "shortest paths"  # the counts have no parameters

    def _features(self, graphs: Graphs, vocabulary: Vocabulary) -> _Features:
        objects, low, high, lengths, counts = _core.path_counts(
            graphs.graphs, graphs.offsets, graphs.neighbours, graphs.labels
        )
        # The bytes of three numbers; labels are tuples of one, so no feature is like another.
        triples = np.stack([low, high, lengths], axis=1)
        features = _cut(triples.reshape(-1), 3 * np.arange(1, len(triples) + 1))
        return _Features(objects, vocabulary.number(features), counts)
