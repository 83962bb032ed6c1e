"""Two pictures of a search: a map of the objects, and the cover tree as an icicle."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.progress import Progress
from fastmks.engines.tree.tree import Tree
from fastmks.errors import FastmksError
from fastmks.index.index import Index
from fastmks.kernels import Kernel
from fastmks.service.page.drawing import len_of
from fastmks.service.refusals import RefusalError

__all__ = ["Icicle", "Map", "make_icicle", "make_map"]

_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Marks: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
_N_PIVOTS = 24  # objects whose values with the others determine the places
_SCALE = 1000  # places are whole numbers from 0 to this
_N_STRIPES = 400  # groups of objects that are neighbours in the tree
_NARROWEST = 1200  # subtrees with less than 1 / _NARROWEST of the objects are not drawn
_SOON = 0.05  # seconds between two checks of the time
_N_STEPS = 10_000  # nodes between two checks of the time


class Map:
    """Places of objects in the plane.

    Rows lie on their first two principal axes. Other objects lie on those of the kernel's Hilbert
    space, found from a few of them (kernel principal components).
    """

    @own_arithmetic()
    def __init__(self, positions: _Positions, axes: "_Axes", places: _Floats) -> None:
        self.positions = positions
        self._axes = axes
        # A few outliers must not squeeze all others together.
        self._low, self._high = np.quantile(places, [0.005, 0.995], axis=0)
        self.points = self._on_page(places)

    @property
    def basis(self) -> str:
        """The axes, in words."""
        return self._axes.basis

    def place(self, objects: Any, progress: Progress) -> list[list[int]]:
        """Return the places of further objects."""
        return self._on_page(self._axes.places(objects, progress))

    def marks(self, evaluated: _Marks) -> str:
        """Return a letter for each object drawn: "1" if it was evaluated, else "0"."""
        return "".join("1" if mark else "0" for mark in evaluated[self.positions].tolist())

    @own_arithmetic()
    def _on_page(self, places: _Floats) -> list[list[int]]:
        width = np.where(self._high > self._low, self._high - self._low, 1.0)
        shares = np.clip((places - self._low) / width, -0.04, 1.04)
        points: list[list[int]] = np.rint(_SCALE * shares).astype(int).tolist()
        return points


def make_map(
    index: Index, kernel: Kernel | None, positions: _Positions, progress: Progress
) -> Map | None:
    """Return the map of the objects at some positions; None where the kernel gives no places.

    Without a kernel, objects are dense rows.
    """
    if len(positions) == 0:
        return None
    objects = index.get(index.ids[positions])
    try:
        axes = _row_axes(objects) if kernel is None else _kernel_axes(objects, kernel, progress)
        places = axes.places(objects, progress)
    except RefusalError:  # the time of the request is over
        raise
    except FastmksError:  # of kernels of precomputed values
        return None
    return Map(positions, axes, places) if np.isfinite(places).all() else None


@dataclass(frozen=True)
class _Axes:
    """Two axes whose products, with rows or with values of pivots, are places."""

    basis: str
    center: _Floats
    axes: _Floats
    kernel: Kernel | None = None
    pivots: Any = None

    def places(self, objects: Any, progress: Progress) -> _Floats:
        """Return the places of objects."""
        if self.kernel is None:
            rows = np.asarray(objects, dtype=np.float64)
        else:
            rows = _values(self.kernel, objects, self.pivots, progress)
        with own_arithmetic():
            centred = rows - self.center
            return np.stack([(centred * axis).sum(axis=1) for axis in self.axes], axis=1)


@own_arithmetic()
def _row_axes(rows: np.ndarray[Any, Any]) -> _Axes:
    center = np.asarray(rows.mean(axis=0, dtype=np.float64))
    centred = rows - center
    _, vectors = _core.eigenvectors(_core.gram(centred))
    return _Axes("the first two principal axes of the rows", center, _two(vectors))


def _kernel_axes(objects: Any, kernel: Kernel, progress: Progress) -> _Axes:
    n_objects = len_of(objects)
    at = np.unique(np.linspace(0, n_objects - 1, min(n_objects, _N_PIVOTS)).astype(int)).tolist()
    pivots = objects[at] if hasattr(objects, "shape") else [objects[i] for i in at]
    values = _values(kernel, pivots, pivots, progress)
    return _axes_of(kernel, pivots, values)


@own_arithmetic()
def _axes_of(kernel: Kernel, pivots: Any, values: _Floats) -> _Axes:
    centred = values - values.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    lengths, vectors = _core.eigenvectors((centred + centred.T) / 2)
    scale = np.sqrt(np.maximum(lengths, 1e-12 * max(1.0, float(np.abs(lengths).max()))))
    basis = f"the first two axes of the kernel's own space, from {len(values)} objects"
    return _Axes(basis, values.mean(axis=0), _two(vectors / scale[:, None]), kernel, pivots)


def _values(kernel: Kernel, objects: Any, pivots: Any, progress: Progress) -> _Floats:
    """Return the values of all pairs, a few objects at a time, so that it stops soon if asked."""
    found, begin, count, n_objects = [], 0, 1, len_of(objects)
    while begin < n_objects:
        progress.check_now()
        started = time.monotonic()
        found.append(kernel.matrix(objects[begin : begin + count], pivots))
        begin += count
        if 4.0 * (time.monotonic() - started) < _SOON:
            count *= 4
    return np.concatenate(found)


def _two(vectors: _Floats) -> _Floats:
    """Return the first two rows, each with its greatest entry above 0; zeros for a missing row."""
    axes = np.zeros((2, vectors.shape[1]))
    for i, axis in enumerate(vectors[:2]):
        axes[i] = axis * (1.0 if axis[np.abs(axis).argmax()] > 0 else -1.0)
    return axes


@dataclass(frozen=True)
class Icicle:
    """A cover tree as it is drawn: across, the objects in its order; down, its levels.

    Attributes
    ----------
    n_objects : int
        Objects in the tree.
    levels : list of int
        The levels that hold nodes, from the root's down.
    nodes : list of lists of int
        For each node wide enough to be drawn: its first object, the one after its last, its row,
        and the row after its last one.
    """

    n_objects: int
    levels: list[int]
    nodes: list[list[int]]
    order: _Positions
    n_nodes: int
    roots: list[list[int]]  # large subtrees: the first object, and the one after the last

    def as_dict(self) -> dict[str, Any]:
        """Return the drawing before any search, as plain values."""
        return {"n_objects": self.n_objects, "levels": self.levels, "nodes": self.nodes}

    def shares(self, evaluated: _Marks) -> dict[str, Any]:
        """Return the per cent evaluated below each node and along the objects, and a summary."""
        sums = np.concatenate([[0], np.cumsum(evaluated[self.order])])
        edges = np.linspace(0, self.n_objects, min(self.n_objects, _N_STRIPES) + 1).astype(int)
        stripes = [(int(edges[i]), int(edges[i + 1])) for i in range(len(edges) - 1)]
        whole = [(begin, end) for begin, end in self.roots if sums[end] - sums[begin] <= 1]
        return {
            "nodes": [_per_cent(sums, node[0], node[1]) for node in self.nodes],
            "stripes": [_per_cent(sums, begin, end) for begin, end in stripes],
            "words": self._words(whole, int(sums[-1])),
        }

    def _words(self, whole: list[tuple[int, int]], n_evaluated: int) -> str:
        below = sum(end - begin for begin, end in whole)
        return (
            f"The tree has {self.n_nodes:,} nodes on {len(self.levels)} levels. Of the "
            f"{len(self.roots):,} largest subtrees, {len(whole):,} were pruned after at most one "
            f"evaluation: {below:,} objects. In all {n_evaluated:,} of {self.n_objects:,} objects "
            "were evaluated."
        )


def make_icicle(tree: Tree, progress: Progress) -> Icicle:
    """Return a tree as it is drawn."""
    table = tree.nodes
    begin, end = table["begin"], table["end"]
    parent = _parents(table["first_child"], table["n_children"], progress)
    levels, row = _rows(table["level"], parent, progress)
    # A node is as high as its nearest child allows.
    until = np.full(len(row), len(levels))
    np.minimum.at(until, parent[1:], row[1:])
    until = np.where(table["n_children"] > 0, until, row + 1)
    is_wide = (end - begin) * _NARROWEST >= len(tree)
    drawn = np.stack([begin, end, row, until], axis=1)[is_wide]
    order = tree.space.order
    return Icicle(
        n_objects=len(tree),
        levels=levels,
        nodes=drawn.tolist(),
        order=np.arange(len(tree)) if order is None else np.asarray(order),
        n_nodes=tree.n_nodes,
        roots=_largest(begin, end, parent, progress),
    )


def _checked(nodes: list[int] | range, progress: Progress) -> Iterator[int]:
    """Yield nodes, and check the time now and then."""
    for i, node in enumerate(nodes):
        if i % _N_STEPS == 0:
            progress.check_now()
        yield node


def _parents(first: _Positions, count: _Positions, progress: Progress) -> _Positions:
    parent = np.zeros(len(first), dtype=np.int64)
    for node in _checked(np.flatnonzero(count).tolist(), progress):
        parent[first[node] : first[node] + count[node]] = node
    return parent


def _rows(
    level: _Positions, parent: _Positions, progress: Progress
) -> tuple[list[int], _Positions]:
    """Return the levels from the root's down, and which of them each node is on.

    A node of identical objects has no level of its own: it is drawn below its parent.
    """
    is_own = level < level[parent]
    is_own[0] = True
    levels = sorted(set(level[is_own].tolist()), reverse=True)
    rows = {one: row for row, one in enumerate(levels)}
    row = np.zeros(len(level), dtype=np.int64)
    for node in _checked(range(1, len(level)), progress):  # parents come before their children
        below = int(row[parent[node]]) + 1
        row[node] = rows[int(level[node])] if is_own[node] else below
    n_rows = max(len(levels), int(row.max()) + 1)
    return [*levels, *range(levels[-1] - 1, levels[-1] - 1 - n_rows + len(levels), -1)], row


def _largest(
    begin: _Positions, end: _Positions, parent: _Positions, progress: Progress
) -> list[list[int]]:
    """Return the subtrees two steps below the root, or one where the tree is no deeper."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for node in _checked(range(1, len(parent)), progress):
        depth[node] = depth[parent[node]] + 1
    wanted = min(2, int(depth.max()))
    found: list[list[int]] = np.stack([begin, end], axis=1)[depth == wanted].tolist()
    return found


def _per_cent(sums: np.ndarray[Any, Any], begin: int, end: int) -> int:
    return round(100 * int(sums[end] - sums[begin]) / max(1, end - begin))
