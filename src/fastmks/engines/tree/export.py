"""Pictures of a cover tree for people: indented text, and a graph of networkx."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fastmks._util.validation import check_count, import_extra

if TYPE_CHECKING:
    from fastmks.engines.tree.tree import Tree


def tree_text(tree: "Tree", most: int) -> str:
    """Return the first `most` lines of the tree, depth first."""
    wanted = check_count("most", most)
    lines: list[str] = []
    for line in _lines(tree):
        if len(lines) == wanted:
            lines.append(f"... of {tree.n_nodes} nodes and {len(tree)} objects")
            break
        lines.append(line)
    return "\n".join(lines)


def tree_graph(tree: "Tree") -> Any:
    """Return the tree as a networkx.DiGraph."""
    networkx = import_extra("networkx", extra="graph", needed_by="to_networkx")
    graph = networkx.DiGraph()
    for node in range(tree.n_nodes):
        figures = {name: column[node].item() for name, column in tree.nodes.items()}
        graph.add_node(("node", node), point=_point(tree, node), **figures)
    for node in range(tree.n_nodes):
        graph.add_edges_from((("node", node), ("node", child)) for child in _children(tree, node))
        for place in _leaves(tree, node):
            position = tree.space.slot(place)
            graph.add_node(("object", position), point=position)
            graph.add_edge(("node", node), ("object", position))
    return graph


def _lines(tree: "Tree") -> Iterator[str]:
    """Walk the tree with an explicit stack: it may be deeper than Python's."""
    nodes, distances = tree.nodes, tree.core.leaf_distances()
    open_nodes: list[tuple[int, int, bool]] = [(0, 0, False)]  # node or place, depth, is a leaf
    while open_nodes:
        at, depth, is_leaf = open_nodes.pop()
        indent = "  " * depth
        if is_leaf:
            yield f"{indent}{tree.name(tree.space.slot(at))} at {distances[at]:.6g}"
            continue
        n_below = nodes["end"][at] - nodes["begin"][at]
        yield (
            f"{indent}{tree.name(_point(tree, at))}: level {nodes['level'][at]}, "
            f"{n_below} objects within {nodes['radius'][at]:.6g}"
        )
        below = [(child, depth + 1, False) for child in _children(tree, at)]
        below += [(place, depth + 1, True) for place in _leaves(tree, at)]
        open_nodes.extend(reversed(below))


def _point(tree: "Tree", node: int) -> int:
    return tree.space.slot(int(tree.nodes["begin"][node]))


def _children(tree: "Tree", node: int) -> range:
    first = int(tree.nodes["first_child"][node])
    return range(first, first + int(tree.nodes["n_children"][node]))


def _leaves(tree: "Tree", node: int) -> range:
    return range(int(tree.nodes["leaves"][node]), int(tree.nodes["end"][node]))
