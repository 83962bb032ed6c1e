"""The algorithms that searches may name. ALGORITHMS is the one list of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from fastmks.engines.base import Engine, SearchRequest
from fastmks.engines.tree.dual_search import DualTree
from fastmks.engines.tree.single_search import WalkedTree
from fastmks.errors import InvalidArgument
from fastmks.index.planner import Planner


@dataclass(frozen=True)
class Algorithm:
    """An algorithm: its engine for a request, and the structure that its indexes build at once.

    The planner holds the engines of one set of objects; each is built when it is first needed.
    """

    name: str
    engine: Callable[[Planner, SearchRequest, int], Engine]
    builds: Literal["tree", "filter"] | None = None


def _scan(planner: Planner, request: SearchRequest, k: int) -> Engine:
    return planner.engines.scan


def _tree(planner: Planner, request: SearchRequest, k: int) -> Engine:
    return WalkedTree(planner.engines.tree(request.progress), request.traversal)


def _dual_tree(planner: Planner, request: SearchRequest, k: int) -> Engine:
    return DualTree(planner.engines.tree(request.progress), request.traversal)


def _filter(planner: Planner, request: SearchRequest, k: int) -> Engine:
    return planner.engines.filter(request.progress)


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("auto", Planner.choose),
        Algorithm("scan", _scan),
        Algorithm("tree", _tree, builds="tree"),
        Algorithm("dual-tree", _dual_tree, builds="tree"),
        Algorithm("filter", _filter, builds="filter"),
    )
}


def check_algorithm(algorithm: Any) -> str:
    """Return the name of an algorithm."""
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        known = ", ".join(map(repr, ALGORITHMS))
        raise InvalidArgument(f"algorithm must be one of {known}; got {algorithm!r}.")
    return algorithm
