"""Dual-tree search: a tree on the queries too, so that whole groups of queries prune together."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastmks.engine import AboveFound, Search, TopKFound
from fastmks.spaces import Space
from fastmks.traversal import Traversal
from fastmks.tree import Tree

__all__ = ["DualTree"]


@dataclass(frozen=True)
class DualTree:
    """Searches a tree with a tree of the queries."""

    tree: Tree
    traversal: Traversal
    name: ClassVar[str] = "dual-tree"

    @property
    def space(self) -> Space:
        """The objects, in the tree's order."""
        return self.tree.space

    def top_k(self, search: Search, k: int) -> TopKFound:
        """Return the k best of each query."""
        raise NotImplementedError

    def above(
        self, search: Search, thresholds: np.ndarray[Any, np.dtype[np.float64]]
    ) -> AboveFound:
        """Return all at or above each query's threshold."""
        raise NotImplementedError
