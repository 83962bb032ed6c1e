"""Read graphs: those of networkx, or pairs of arrays. All become one graph of many parts."""

import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from fastmks._util.arrays import Int32s, Int64s
from fastmks._util.validation import check_unmasked
from fastmks.data.kinds import (
    PLAIN,
    JsonFormat,
    ObjectKind,
    Schema,
    hashable,
    is_of,
    refuse,
    shown_plain,
)
from fastmks.data.object_lists import is_equal_to_itself, is_sparse, list_objects
from fastmks.data.ragged import join_offsets, offsets_of, take_entries
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.data.vocabulary import Vocabulary
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record

_MOST_NODES = 2**31 - 1
_WAY_OUT = "Pass networkx graphs or pairs (edges, node_labels)."


@dataclass(frozen=True, eq=False)
class Graphs:
    """Undirected simple graphs side by side, their nodes numbered through.

    Graph g has the nodes graphs[g] ... graphs[g + 1], node v the neighbours
    neighbours[offsets[v] ... offsets[v + 1]].
    """

    graphs: Int64s
    offsets: Int64s
    neighbours: Int32s
    labels: Int32s  # columns of the vocabulary

    def __len__(self) -> int:
        return len(self.graphs) - 1

    @property
    def n_bytes(self) -> int:
        """The memory of the arrays."""
        return sum(array.nbytes for array in vars(self).values())

    @property
    def graph_of_node(self) -> Int64s:
        """The graph that each node belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.graphs))

    def take(self, positions: Int64s) -> "Graphs":
        """The graphs at these positions, in this order."""
        graphs, nodes = take_entries(self.graphs, positions)
        offsets, entries = take_entries(self.offsets, nodes)
        moved = np.repeat(np.arange(len(nodes)) - nodes, np.diff(offsets))
        neighbours = (self.neighbours[entries] + moved).astype(np.int32)
        return Graphs(graphs, offsets, neighbours, self.labels[nodes])

    def edges(self) -> list[Int64s]:
        """The edges of each graph, between nodes numbered from 0."""
        ends = np.repeat(np.arange(len(self.labels)), np.diff(self.offsets))
        is_first = ends < self.neighbours  # each edge is present in both directions
        edges = np.stack([ends, self.neighbours.astype(np.int64)], axis=1)[is_first]
        graph_of_edge = self.graph_of_node[edges[:, 0]]
        begins = np.searchsorted(graph_of_edge, np.arange(1, len(self)))
        edges -= self.graphs[graph_of_edge, None]
        return [part.copy() for part in np.split(edges, begins)] if len(self) else []

    def record(self) -> Record:
        """The arrays."""
        return Record({"kind": "graphs"}, dict(vars(self)))


def join_graphs(parts: Sequence[tuple[Graphs, Vocabulary]], vocabulary: Vocabulary) -> Graphs:
    """Return the graphs of several parts, each with its vocabulary, as one."""
    labels = []
    for graphs, known in parts:
        columns, places = np.unique(graphs.labels, return_inverse=True)
        features = known.first(int(columns.max(initial=-1)) + 1)
        labels.append(vocabulary.number(features[c] for c in columns.tolist())[places])
    begins = np.cumsum([0, *(len(graphs.labels) for graphs, _ in parts)])
    _check_size(int(begins[-1]))
    neighbours = [
        (graphs.neighbours + begin).astype(np.int32)
        for (graphs, _), begin in zip(parts, begins, strict=False)
    ]
    return Graphs(
        join_offsets([graphs.graphs for graphs, _ in parts]),
        join_offsets([graphs.offsets for graphs, _ in parts]),
        np.concatenate(neighbours),
        np.concatenate(labels),
    )


def restore_graphs(record: Record) -> Graphs:
    """Return the graphs of a record. Their labels are checked elsewhere."""
    check_kind(record, "graphs")
    labels, neighbours = (restored(record, name, np.int32) for name in ("labels", "neighbours"))
    graphs = Graphs(
        restored_offsets(record, "graphs", len(labels)),
        restored_offsets(record, "offsets", len(neighbours)),
        neighbours,
        labels,
    )
    if len(graphs.offsets) != len(labels) + 1 or len(labels) > _MOST_NODES:
        raise IndexFileError("the nodes and the labels of the graphs do not fit together.")
    graph = np.repeat(graphs.graph_of_node, np.diff(graphs.offsets))
    is_inside = (graphs.graphs[graph] <= neighbours) & (neighbours < graphs.graphs[graph + 1])
    if not is_inside.all():
        raise IndexFileError("the neighbours of a node must be nodes of its graph.")
    return graphs


def list_graphs(graphs: Any, *, name: str, single: bool) -> list[Any]:
    """Return graphs as a list. One graph is a list of one where `single`, else an error."""
    if _is_one_graph(graphs):
        if not single:
            raise InvalidArgument(
                f"{name} must be a list of graphs; got one graph. Put it in a list."
            )
        return [graphs]
    return list_objects(graphs, name=name, wanted="a list of graphs", way_out=_WAY_OUT)


def read_graphs(
    graphs: Sequence[Any], vocabulary: Vocabulary, *, name: Callable[[int], str]
) -> Graphs:
    """Read a list of graphs; `name` returns the name of each in errors. Labels get columns."""
    edges: list[Int64s] = []
    colours: list[Int32s] = []
    for i, graph in enumerate(graphs):
        these, labels = _read_graph(graph, name(i))
        _check_labels(labels, name(i))
        edges.append(these)
        # As tuples of one, labels cannot be mistaken for features of another kind.
        colours.append(vocabulary.number((label,) for label in labels))
    sizes = np.array([len(labels) for labels in colours], dtype=np.int64)
    n_edges = np.array([len(these) for these in edges], dtype=np.int64)
    graph_of_edge = np.repeat(np.arange(len(graphs)), n_edges)
    joined = np.concatenate([np.zeros((0, 2), np.int64), *edges])
    _check_edges(joined, graph_of_edge, sizes, name)
    starts = offsets_of(sizes)
    _check_size(int(starts[-1]))
    offsets, neighbours = _neighbours(joined + starts[graph_of_edge, None], int(starts[-1]))
    all_colours = np.concatenate([np.zeros(0, np.int32), *colours])
    return Graphs(starts, offsets, neighbours, all_colours)


def _check_size(n_nodes: int) -> None:
    if n_nodes > _MOST_NODES:
        raise InvalidArgument(f"the graphs must have at most 2**31 - 1 nodes; got {n_nodes}.")


def _is_networkx(graph: Any) -> bool:
    networkx = sys.modules.get("networkx")  # imported before such a graph exists
    return networkx is not None and isinstance(graph, networkx.Graph)


def _is_one_graph(graphs: Any) -> bool:
    is_pair = isinstance(graphs, tuple) and len(graphs) == 2 and not any(map(_is_networkx, graphs))
    return is_pair or _is_networkx(graphs)


def _read_graph(graph: Any, name: str) -> tuple[Int64s, Sequence[Any]]:
    """Return the edges of a graph, between nodes numbered from 0, and their labels."""
    if _is_networkx(graph):
        return _read_networkx(graph, name)
    if isinstance(graph, (tuple, list)) and len(graph) == 2:
        return _read_edges(graph[0], name), _read_labels(graph[1], name)
    is_matrix = is_sparse(graph) or getattr(graph, "ndim", 0) == 2
    hint = (
        " For an adjacency matrix A pass (np.transpose(A.nonzero()), A.shape[0])."
        if is_matrix
        else ""
    )
    raise InvalidArgument(
        f"{name} is not a graph that can be read; got {reprlib.repr(graph)}. {_WAY_OUT}{hint}"
    )


def _read_networkx(graph: Any, name: str) -> tuple[Int64s, Sequence[Any]]:
    if graph.is_directed():
        raise InvalidArgument(
            f"{name} is a directed graph, and these kernels compare undirected ones. Pass "
            "graph.to_undirected() to forget the directions."
        )
    numbers = {node: i for i, node in enumerate(graph)}
    edges = [(numbers[u], numbers[v]) for u, v in graph.edges()]
    labels = [label for _, label in graph.nodes(data="label")]  # None where missing
    return np.array(edges, dtype=np.int64).reshape(-1, 2), labels


def _read_edges(edges: Any, name: str) -> Int64s:
    rule = f"edges of {name} must be an (m, 2) array of whole numbers, two nodes per row"
    check_unmasked(edges, f"edges of {name}")
    if isinstance(edges, Mapping) and not isinstance(edges, Set):  # those of networkx are both
        raise InvalidArgument(
            f"{rule}; got a {type(edges).__name__}. For kernels without weights pass list(edges)."
        )
    try:
        if isinstance(edges, Iterable) and not hasattr(edges, "__array__"):
            edges = list(edges)  # generators and sets too, whose order makes no difference
        array = np.asarray(edges)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InvalidArgument(f"{rule}; they cannot be read as an array: {error}") from error
    if array.ndim in (1, 2) and array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        hint = " Transpose it." if array.ndim == 2 and array.shape[0] == 2 else ""
        raise InvalidArgument(f"{rule}; got the shape {array.shape}.{hint}")
    if array.dtype.kind not in "iu":
        hint = " Convert it with .astype(int)." if array.dtype.kind == "f" else ""
        raise InvalidArgument(f"{rule}; got dtype {array.dtype}.{hint}")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(2**63 - 1))  # no node either, and not negative
    return array.astype(np.int64)


def _read_labels(labels: Any, name: str) -> Sequence[Any]:
    rule = f"node_labels of {name} must be one label per node, or the number of nodes"
    if isinstance(labels, Integral) and not isinstance(labels, bool):
        n_nodes = int(labels)
        if not 0 <= n_nodes <= _MOST_NODES:
            raise InvalidArgument(f"{rule}, from 0 to 2**31 - 1; got {n_nodes}.")
        return [None] * n_nodes
    check_unmasked(labels, f"node_labels of {name}")
    if hasattr(labels, "__array__"):
        array = np.asarray(labels)
        if array.ndim != 1:
            raise InvalidArgument(f"{rule}; got an array of shape {array.shape}.")
        if array.dtype.kind in "mM" and np.isnat(array).any():
            raise _unequal_label(name, "NaT")
        listed: list[Any] = array.tolist()
        return listed
    # Sets and mappings are not in the order of the nodes.
    if isinstance(labels, (Set, Mapping)) or not isinstance(labels, Iterable):
        raise InvalidArgument(f"{rule}; got {reprlib.repr(labels)}.")
    return list(labels)


def _check_labels(labels: Sequence[Any], name: str) -> None:
    try:
        distinct = set(labels)
    except TypeError:
        bad = next(node for node, label in enumerate(labels) if not _is_hashable(label))
        raise InvalidArgument(
            f"labels must be hashable; {name} has {reprlib.repr(labels[bad])} at node {bad} "
            "(of those it lists). A tuple will do for a list."
        ) from None
    for label in distinct:
        if not is_equal_to_itself(label):
            raise _unequal_label(name, label)


def _unequal_label(name: str, label: Any) -> InvalidArgument:
    return InvalidArgument(
        f"labels must be equal to themselves; {name} has the label {label}. Give unknown "
        "labels a value of their own, such as None."
    )


def _is_hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _check_edges(
    edges: Int64s, graph_of_edge: Int64s, sizes: Int64s, name: Callable[[int], str]
) -> None:
    is_bad = (edges < 0) | (edges >= sizes[graph_of_edge, None])
    for at in np.flatnonzero(is_bad.any(axis=1)):
        u, v = edges[at]
        graph = int(graph_of_edge[at])
        raise InvalidArgument(
            f"{name(graph)} has an edge ({u}, {v}), but its labels are those of {sizes[graph]} "
            "nodes, numbered from 0. Give every node a label."
        )


def _neighbours(edges: Int64s, n_nodes: int) -> tuple[Int64s, Int32s]:
    """Return the neighbours of each node, each once, without the node itself."""
    low, high = edges.min(axis=1), edges.max(axis=1)
    pairs = np.unique((low * n_nodes + high)[low != high])
    low, high = np.divmod(pairs, max(1, n_nodes))
    ends = np.concatenate([low, high])
    offsets = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=n_nodes), out=offsets[1:])
    others = np.concatenate([high, low])[np.argsort(ends, kind="stable")]
    return offsets, others.astype(np.int32)


def _from_json(value: Any, name: str) -> tuple[Any, list[Any]]:
    rule = "{'nodes': [a label for each], 'edges': [[node, node], ...]}"
    if not isinstance(value, dict) or set(value) != {"nodes", "edges"}:
        raise refuse(name, rule, value)
    nodes, edges = value["nodes"], value["edges"]
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise refuse(name, rule, value)
    n_nodes = len(nodes)
    for edge in edges:
        is_pair = is_of(edge, int, float) and len(edge) == 2
        if not is_pair or not all(0 <= end < n_nodes and end == int(end) for end in edge):
            raise refuse(f"an edge of {name}", f"two nodes from 0 to {n_nodes - 1}", edge)
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return pairs, [hashable(label, f"a label of {name}") for label in nodes]


def _to_json(graph: Any) -> Any:
    edges, labels = graph
    nodes = [None] * labels if isinstance(labels, int) else [shown_plain(one) for one in labels]
    return {"nodes": nodes, "edges": np.asarray(edges, dtype=np.int64).reshape(-1, 2).tolist()}


_NODE: Schema = {"type": "integer", "minimum": 0}
_JSON = JsonFormat(
    "graph",
    {
        "type": "object",
        "properties": {
            "nodes": {"type": "array", "items": PLAIN, "description": "a label for each node"},
            "edges": {
                "type": "array",
                "items": {"type": "array", "items": _NODE, "minItems": 2, "maxItems": 2},
            },
        },
        "required": ["nodes", "edges"],
        "additionalProperties": False,
    },
    _from_json,
    _to_json,
    sizes=("nodes", "edges"),
)
GRAPHS = ObjectKind(
    "graphs",
    lambda _: _JSON,
    drawing="graph",
    describe=lambda one: (f"{len(one[0])} edges between {len(one[1])} nodes", len(one[1])),
)
