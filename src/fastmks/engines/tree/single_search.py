"""The paper's engine: branch and bound on a cover tree, one query at a time."""

import math
from dataclasses import dataclass
from typing import ClassVar

from fastmks import _core
from fastmks._util.arrays import Floats
from fastmks.engines.approximation import EXACT, Approximation
from fastmks.engines.base import AboveFound, Cost, SearchRequest, TopKFound, plain_int64
from fastmks.engines.space import Space
from fastmks.engines.traversal import Traversal
from fastmks.engines.tree.tree import Tree

# Measured on dense vectors of 3 to 784 columns (Zen 4): blocks of 16 and 32 objects were the
# fastest for evaluations of 3 to 20 ns, so a visit to a node costs about as much as _BLOCK_SECONDS
# of evaluation.
_BLOCK_SECONDS = 300e-9
_LARGEST_BLOCK = 32
_SHELL_SECONDS = 25e-9  # of the bound with two square roots
_COSTLY_CALL = 10e-6
_COSTLY_VALUE = 1e-6


@dataclass(frozen=True)
class WalkedTree:
    """The engine: a tree and its traversal."""

    tree: Tree
    traversal: Traversal
    name: ClassVar[str] = "tree"

    @property
    def space(self) -> Space:
        """The objects, in the tree's order."""
        return self.tree.space

    @property
    def n_bytes(self) -> int:
        """Memory of the tree."""
        return self.tree.n_bytes

    def top_k(self, request: SearchRequest, k: int) -> TopKFound:
        """Return the k best of each query."""
        wanted = request.approximation
        n_among = len(self.tree) if request.among is None else len(request.among)
        with request.progress.bar(len(request.queries), unit=" queries") as report:
            values, positions, gap, counts = _core.tree_top_k(
                self.tree.core,
                request.core_of(self.space),
                request.queries.core,
                self.space.places(request.among),
                request.skip_self,
                k,
                request.floors,
                plan(self.tree, self.traversal, wanted),
                wanted.epsilon,
                wanted.relative,
                wanted.budget,
                wanted.seconds,
                0 if wanted.n_drawn == n_among else wanted.n_drawn,
                wanted.seed % 2**64,
                request.threads,
                report,
            )
        return TopKFound(values, plain_int64(positions), gap, named_cost(counts, request))

    def above(self, request: SearchRequest, thresholds: Floats) -> AboveFound:
        """Return all at or above each query's threshold."""
        with request.progress.bar(len(request.queries), unit=" queries") as report:
            (offsets, values, positions), counts = _core.tree_above(
                self.tree.core,
                request.core_of(self.space),
                request.queries.core,
                self.space.places(request.among),
                thresholds,
                plan(self.tree, self.traversal),
                request.threads,
                report,
            )
        return AboveFound(
            plain_int64(offsets), values, plain_int64(positions), named_cost(counts, request)
        )


def plan(tree: Tree, traversal: Traversal, approximation: Approximation = EXACT) -> _core.Traversal:
    """Return a traversal whose open settings are chosen from measured costs.

    For an exact search they change only the cost. The answer of an approximate search depends on
    the order of its evaluations too, so measured times must not decide: a budget is spent one
    evaluation at a time, and the other promises use only the order of magnitude of a time.
    """
    order, block = traversal.order, traversal.block
    cost = tree.cost.value
    shell = int(_SHELL_SECONDS / cost)
    if order == "auto":
        order = "level" if tree.cost.call > _COSTLY_CALL else "best-first"
    if approximation.given():
        order = "best-first" if traversal.order == "auto" else traversal.order
        is_costly = approximation.budget is not None or cost > _COSTLY_VALUE
        planned, shell = (1, 0) if is_costly else (_LARGEST_BLOCK // 2, 1)
    else:
        planned = max(1, min(round(_BLOCK_SECONDS / cost), _LARGEST_BLOCK))
        planned = 2 ** int(math.log2(planned))  # so that a noisy measurement seldom changes it
    block = planned if block is None else block
    return _core.Traversal(order, block, 0 if block == 1 else shell, set(traversal.bounds))


def named_cost(counts: dict[str, int], request: SearchRequest) -> Cost:
    """Return the counts of a search as a Cost."""
    pruned = {name.replace("after_", ""): n for name, n in counts.items() if "after_" in name}
    pruned |= {name.replace("before_", "parent "): n for name, n in counts.items() if "bef" in name}
    return Cost(
        evaluations=counts["evaluations"],
        self_evaluations=counts["self_evaluations"],
        bounds=counts["bounds"],
        nodes=counts["nodes"],
        pruned=pruned,
    )
