"""The cover tree of some objects in the kernel's Hilbert space: to build, check and print."""

import time
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Array
from fastmks._util.fork_safe import cached_property
from fastmks._util.progress import Progress
from fastmks.engines.base import plain_int64
from fastmks.engines.faults import Namer, named_faults
from fastmks.engines.space import Space
from fastmks.engines.traversal import check_base
from fastmks.engines.tree.export import tree_graph, tree_text
from fastmks.errors import FastmksError, NotMercerError
from fastmks.files.record import Record, restoring
from fastmks.kernels.object_kernel import leaves

_NodeTable: TypeAlias = dict[str, Array]


class EvaluationCost(NamedTuple):
    """Seconds of evaluations: per call, and per value in it."""

    call: float
    value: float


class Tree:
    """A cover tree of the objects of an index; get it as ``index.tree``.

    Attributes
    ----------
    base : float
        Levels are this factor apart.
    build_evaluations : int
        Evaluations of K(x, y) that construction took; K(x, x) is evaluated once per object besides.
    build_seconds : float
        How long construction took.

    Examples
    --------
    >>> import fastmks
    >>> index = fastmks.Index([[0.0], [1.0], [5.0]], algorithm="tree")
    >>> index.tree
    <Tree: 3 objects, 2 nodes on 2 levels, base 1.3, built with 2 kernel evaluations>
    >>> index.tree.check()
    """

    def __init__(
        self, space: Space, core: _core.CoverTree, build_seconds: float, name: Namer
    ) -> None:
        self.space = space
        self.name = name
        self.core = core
        self.base = core.base
        self.build_evaluations = core.build_evaluations
        self.build_seconds = build_seconds

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        return (
            f"<Tree: {len(self)} objects, {self.n_nodes} nodes on {len(self.levels)} levels, "
            f"base {self.base:g}, built with {self.build_evaluations} kernel evaluations>"
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes, which have children. Objects without children are leaves."""
        return self.core.n_nodes

    @property
    def n_bytes(self) -> int:
        """Memory of the tree, without the objects."""
        return self.core.n_bytes

    @cached_property
    def nodes(self) -> _NodeTable:
        """The figures of all nodes, as columns by name.

        The objects below node i are ``begin[i] ... end[i] - 1`` in the tree's order, its point is
        the first of them, and its leaves are the last, from ``leaves[i]`` on. Its child nodes are
        ``first_child[i]`` and the following, ``n_children[i]`` of them. Distances, radii and
        greatest norms err above, least norms below. Read-only.
        """
        table = cast(_NodeTable, self.core.nodes())
        for column in table.values():
            column.flags.writeable = False
        return table

    @cached_property
    def cost(self) -> EvaluationCost:
        """The cost of evaluations on this machine, measured on first use."""
        return EvaluationCost(*self.space.core.measure_cost())

    @cached_property
    def levels(self) -> list[int]:
        """The levels with nodes, from the root's down."""
        return sorted(set(self.nodes["level"].tolist()), reverse=True)

    @cached_property
    def depth(self) -> int:
        """Steps from the root to the deepest leaf."""
        first, count = self.nodes["first_child"], self.nodes["n_children"]
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes):  # parents come before their children
            depth[first[node] : first[node] + count[node]] = depth[node] + 1
        return int(depth.max()) + (1 if len(self) > 1 else 0)

    def text(self, *, most: int = 60) -> str:
        """Return the tree as indented lines, a node or leaf each, the first `most` of them.

        Objects are shown by their ids.

        Examples
        --------
        >>> import fastmks
        >>> tree = fastmks.Index([[0.0], [1.0], [5.0]], algorithm="tree").tree
        >>> print(tree.text())
        object 0: level 7, 3 objects within 5
          object 0: level 0, 2 objects within 1
            object 1 at 1
          object 2 at 5
        """
        return tree_text(self, most)

    def to_networkx(self) -> Any:
        """Return the tree as a networkx.DiGraph with an edge from each parent to each child.

        Nodes of the graph are ("node", i) with the columns of `nodes` as attributes, and
        ("object", position) for the leaves; both have ``point``, the position of their object.

        Examples
        --------
        >>> import fastmks
        >>> graph = fastmks.Index([[0.0], [1.0], [5.0]], algorithm="tree").tree.to_networkx()
        >>> sorted(graph.successors(("node", 0)))
        [('node', 1), ('object', 2)]
        """
        return tree_graph(self)

    def check(self) -> None:
        """Raise an error unless the tree is a cover tree whose every figure is true.

        Checks nesting, covering, separation of the children of each node (up to the rounding of
        the distances), radii, parent distances, norms, and that each object occurs exactly
        once. Evaluates every node against every object below it: meant for tests.

        Examples
        --------
        >>> import fastmks
        >>> fastmks.Index([[0.0], [1.0], [5.0]], algorithm="tree").tree.check()
        """
        fault = self.core.find_fault(self.space.core)
        if fault:
            raise FastmksError(f"this tree is broken, which is a bug in fastmks: {fault}.")


def record_tree(tree: Tree) -> Record:
    """Return a tree as a record, for a file; the objects are apart."""
    return Record({"build_seconds": tree.build_seconds}, tree.core.arrays())


def restore_tree_core(record: Record, n_objects: int) -> _core.CoverTree:
    """Return the core's tree of a file; it holds the order of the objects."""
    with restoring("the tree"):
        return _core.restore_cover_tree(dict(record.arrays), n_objects)


def restore_tree(core: _core.CoverTree, space: Space, record: Record, *, name: Namer) -> Tree:
    """Return the tree of a file; the objects of the space are in its order."""
    with restoring("the tree"):
        check_base(core.base)
    return Tree(space, core, record.number("build_seconds"), name)


def build_tree(space: Space, *, base: float, threads: int, progress: Progress, name: Namer) -> Tree:
    """Build the tree of a space. The tree owns its objects: a copy in its own order.

    `name` gives the text that errors and pictures use for the object at a position.
    """
    if not space.is_mercer:
        raise NotMercerError(
            f"{space.kernel!r} is not Mercer on {space.objects.kind}, "
            f"and a tree's bounds hold for Mercer kernels only. {_advice(space)}"
        )
    started = time.perf_counter()
    bar = progress.bar(len(space), unit=" objects")
    with named_faults(space.kernel, name, name), bar as report:
        core = _core.build_cover_tree(space.core, base, space.threads(threads), report)
    ordered = space.ordered(plain_int64(core.order()))
    return Tree(ordered, core, time.perf_counter() - started, name)


def _advice(space: Space) -> str:
    """Return the advice of the part of the kernel that is not Mercer."""
    if space.has_bounds:
        return (
            "Pass algorithm='filter' or 'auto', which search exactly in the order of the kernel's "
            "upper bounds."
        )
    return next(leaf.tree_advice for _, leaf in leaves(space.kernel) if leaf.is_mercer is False)
