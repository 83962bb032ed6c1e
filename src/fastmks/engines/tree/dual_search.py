"""Dual-tree search: a tree on the queries too, so that whole groups of queries prune together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

from fastmks import _core
from fastmks._util.progress import Progress
from fastmks.engines.base import SearchRequest, TopKFound, plain_int64
from fastmks.engines.tree.single_search import WalkedTree, named_cost, plan
from fastmks.engines.tree.tree import Tree, build_tree
from fastmks.errors import InvalidArgument


@dataclass(frozen=True)
class DualTree(WalkedTree):
    """The engine that searches a tree with a tree of the queries, built with the same kernel.

    Thresholds are given, so no query can use the hits of another: `above` walks for each.
    """

    name: ClassVar[str] = "dual-tree"

    def top_k(self, request: SearchRequest, k: int) -> TopKFound:
        """Return the k best of each query."""
        wanted = request.approximation
        unfit = [name for name in wanted.given() if name not in ("epsilon", "relative")]
        if unfit:
            raise InvalidArgument(
                f"{unfit[0]} needs algorithm='tree': a dual-tree search shares its work among "
                "queries, and so cannot divide it among them."
            )
        query_tree = self._query_tree(request) if request.floors is None else None
        if query_tree is None:
            return super().top_k(request, k)
        bar = request.progress.bar(len(request.queries), unit=" queries")
        with _queries_as_given(query_tree, request), bar as report:
            values, positions, gap, counts = _core.dual_tree_top_k(
                self.tree.core,
                query_tree.core,
                request.core_of(self.space),
                query_tree.space.core,
                self.space.places(request.among),
                request.skip_self,
                k,
                plan(self.tree, self.traversal, wanted),
                wanted.epsilon,
                wanted.relative,
                request.threads,
                report,
            )
        cost = named_cost(counts, request)
        if not request.skip_self:
            cost = replace(
                cost,
                self_evaluations=cost.self_evaluations + query_tree.core.build_self_evaluations,
                query_evaluations=query_tree.build_evaluations,
            )
        return TopKFound(values, plain_int64(positions), gap, cost)

    def _query_tree(self, request: SearchRequest) -> Tree | None:
        """Return the tree of the queries; None where none can be built."""
        if request.skip_self:
            return self.tree
        if len(request.queries) == 0 or not request.queries.compares_queries:
            return None
        return build_tree(
            request.queries,
            base=self.tree.base,
            threads=request.threads,
            progress=Progress(False),
            name="queries[{}]".format,
        )


@contextmanager
def _queries_as_given(query_tree: Tree, request: SearchRequest) -> Iterator[None]:
    """Turn places of queries in faults of the core into their positions as given."""
    try:
        yield
    except (_core.ValueFault, _core.NotMercerFault, _core.ReturnFault) as fault:
        if not request.skip_self:
            fault.args = (query_tree.space.slot(fault.args[0]), *fault.args[1:])
        raise
