"""Graphs: networkx graphs and pairs of arrays, with and without labels."""

import networkx as nx
import numpy as np
import pandas as pd

from fastmks import kernels as K
from support.kinds.base import Kind

_RNG = np.random.default_rng(0)


def _draw(n_nodes, n_edges, labels="CNO"):
    edges = _RNG.integers(0, n_nodes, size=(n_edges, 2)) if n_nodes else np.zeros((0, 2), int)
    return edges, [labels[i] for i in _RNG.integers(0, len(labels), size=n_nodes)]


def _shuffled(graph):
    """The same graph with its nodes in another order."""
    edges, labels = graph
    order = _RNG.permutation(len(labels))
    place = np.argsort(order)
    return place[edges[::-1, ::-1]], [labels[i] for i in order]


def _ring(n_nodes):
    return np.stack([np.arange(n_nodes), np.roll(np.arange(n_nodes), -1)], axis=1), n_nodes


_NOTHING = (np.zeros((0, 2), dtype=np.int64), 0)
_ALONE = ([], ["C", "C", "N"])  # no edges
_SMALL = [_draw(n, m) for n in (2, 5, 9) for m in (1, n, 2 * n) for _ in range(3)]
_MIXED = [
    _NOTHING,
    *_SMALL,
    *map(_shuffled, _SMALL[:9]),
    _ALONE,
    _draw(150, 300),
    _ALONE,
    nx.path_graph(6),
    ([(i, i + 1) for i in range(5)], 6),
]
_QUERIES = [
    *(_draw(7, 9) for _ in range(4)),
    _draw(6, 8, labels="CXY"),  # X and Y are labels that no object has
    _draw(6, 8, labels="XZ"),
    _NOTHING,
    _SMALL[4],
    nx.cycle_graph(5),
]
_RINGS = [_ring(n) for n in (3, 4, 5, 6, 3, 40, 4)] + [nx.star_graph(n) for n in range(5)]
_RING_QUERIES = [_ring(5), _ring(7), nx.star_graph(2), nx.complete_graph(4)]

_BAD = [
    ([_ALONE, ([(0, 3)], ["C", "C", "N"])], "objects[1] has an edge (0, 3)"),
    ([_ALONE, ([(-1, 0)], 2)], "objects[1] has an edge (-1, 0)"),
    ([_ALONE, _ALONE, ([(0, 1)], ["C"])], "labels are those of 1 nodes"),
    ([([(0, 1)], ["C", ["O"]])], "labels must be hashable; objects[0] has ['O'] at node 1"),
    ([([(0, 1)], ["C", float("nan")])], "objects[0] has the label nan"),
    ([_ALONE, ([], [("C", float("nan"))])], "objects[1] has the label ('C', nan)"),
    ([([], [frozenset({("C", (float("nan"),))})])], "objects[0] has the label frozenset"),
    ([([], [np.datetime64("NaT")])], "objects[0] has the label NaT"),
    ([([], [pd.NaT, "C"])], "objects[0] has the label NaT"),
    ([([], ["C", pd.NA])], "objects[0] has the label <NA>"),
    ([([], np.array(["2020-01-01", "NaT"], dtype="M8[D]"))], "objects[0] has the label NaT"),
    ([([], np.ma.array([1, 2], mask=[0, 1]))], "node_labels of objects[0] must have no masked"),
    ([(np.ma.array([[0, 1]], mask=[[0, 1]]), 2)], "edges of objects[0] must have no masked"),
    ([({(0, 1): 0.5}, 2)], "edges of objects[0] must be an (m, 2) array"),
    ([(np.array([[2**63, 0]], dtype=np.uint64), 2)], "objects[0] has an edge (9223372036854775807"),
    ([np.eye(3)], "For an adjacency matrix A pass (np.transpose(A.nonzero()), A.shape[0])"),
    ([_ALONE, "CCO"], "objects[1] is not a graph"),
    ([_ALONE, None], "objects[1] is not a graph"),
    ([nx.DiGraph([(0, 1)])], "objects[0] is a directed graph"),
    ([([(0.5, 1.0)], 2)], "edges of objects[0] must be an (m, 2) array of whole numbers"),
    ([(np.zeros((2, 5), dtype=int), 2)], "Transpose it"),
    ([([(0, 1), (1,)], 2)], "cannot be read as an array"),
    ([([(0, 1)], {0: "C", 1: "O"})], "node_labels of objects[0] must be one label per node"),
    ([([(0, 1)], None)], "node_labels of objects[0]"),
    ([([(0, 1)], -1)], "from 0 to 2**31 - 1; got -1"),
    (nx.path_graph(3), "objects must be a list of graphs; got one graph"),
    (_ALONE, "objects must be a list of graphs; got one graph"),
    (3, "objects must be a list of graphs; got 3"),
    ([], "objects must hold at least one object"),
]

KINDS = [
    Kind("subtrees of graphs", K.WeisfeilerLehman(), _MIXED, _QUERIES, bad=_BAD),
    Kind("labels of graphs", K.WeisfeilerLehman(iterations=0), _MIXED, _QUERIES),
    Kind("subtrees, normalised", K.Normalized(K.WeisfeilerLehman(5)), _MIXED, _QUERIES),
    Kind("graphs without labels", K.WeisfeilerLehman(iterations=2), _RINGS, _RING_QUERIES),
    Kind("paths in graphs", K.ShortestPath(), _MIXED, _QUERIES, bad=_BAD),
    Kind("paths, normalised", K.Normalized(K.ShortestPath()), _MIXED, _QUERIES),
    Kind(
        "subtrees and paths",
        0.5 * K.Normalized(K.WeisfeilerLehman(1)) + K.Normalized(K.ShortestPath()),
        _MIXED,
        _QUERIES,
    ),
    Kind(
        "graphs with vectors",
        K.OnField(0, K.WeisfeilerLehman(2)) * K.OnField(1, K.Gaussian(1.0)),
        [(graph, [float(i % 3)]) for i, graph in enumerate(_MIXED)],
        [(graph, [float(i % 2)]) for i, graph in enumerate(_QUERIES)],
        bad=[([(_ALONE, [0.0]), (None, [0.0])], "field 0 of objects[1] is not a graph")],
    ),
]
