"""The trees against the scan, bit for bit, and the tree's own invariants."""

import sys

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument, KernelValueError, Traversal
from fastmks import kernels as K
from fastmks.engines.traversal import BOUNDS
from support.comparing import assert_identical
from support.functions import normal
from support.strategies import MERCER, search_problems

TREES = ("tree", "dual-tree")


def laid_out(array, layout):
    return sp.csr_array(array) if layout == "sparse" else array


def tree_and_scan(problem, **options):
    """Two indexes of one problem; None where the kernel has no values for them."""
    objects = laid_out(problem.objects, problem.layout)
    try:
        scan = Index(objects, problem.kernel, threads=problem.threads)
    except KernelValueError:
        return None
    tree = Index(objects, problem.kernel, algorithm="tree", threads=problem.threads, **options)
    return tree, scan


def assert_alike(indexes, method, *arguments, algorithm, **options):
    """Both give the same answer, which is returned; None where a value is not finite."""
    tree, scan = indexes
    try:
        wanted = getattr(scan, method)(*arguments, algorithm="scan", **options)
    except KernelValueError:
        return None
    got = getattr(tree, method)(*arguments, algorithm=algorithm, **options)
    assert_identical(got, wanted)
    return got


traversals = st.builds(
    Traversal,
    order=st.sampled_from(["best-first", "level"]),
    block=st.sampled_from([1, 2, 7, 1000]),
    bounds=st.sets(st.sampled_from(BOUNDS)).map(tuple),
)
bases = st.sampled_from([1.01, 1.3, 2.0, 10.0])
in_trees = {
    "problem": search_problems(MERCER),
    "traversal": traversals,
    "algorithm": st.sampled_from(TREES),
}


@given(**in_trees, base=bases)
def test_trees_lose_nothing(problem, base, traversal, algorithm):
    """No prune may drop an object the scan returns, whatever the bounds and the order."""
    indexes = tree_and_scan(problem, base=base)
    if indexes is None:
        return
    indexes[0].tree.check()
    queries = laid_out(problem.queries, problem.query_layout)
    how = {"algorithm": algorithm, "traversal": traversal}
    hits = assert_alike(indexes, "search", queries, problem.k, **how)
    assert hits is None or (hits.gap == 0).all()


@given(**in_trees)
def test_trees_lose_nothing_of_the_objects_own_neighbours(problem, traversal, algorithm):
    indexes = tree_and_scan(problem)
    if indexes is None or len(problem.objects) == 1:
        return
    k = min(problem.k, len(problem.objects) - 1)
    assert_alike(indexes, "search_self", k, algorithm=algorithm, traversal=traversal)


@given(**in_trees, data=st.data())
def test_trees_search_among_some(problem, traversal, algorithm, data):
    indexes = tree_and_scan(problem)
    if indexes is None:
        return
    n = len(problem.objects)
    only = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1), label="only"))
    k = data.draw(st.integers(1, len(only)), label="k")
    how = {"only": only, "algorithm": algorithm, "traversal": traversal}
    assert_alike(indexes, "search", problem.queries, k, **how)


@given(**in_trees, data=st.data())
def test_trees_find_all_above(problem, traversal, algorithm, data):
    indexes = tree_and_scan(problem)
    if indexes is None:
        return
    tree, scan = indexes
    n = len(problem.objects)
    only = data.draw(st.none() | st.sets(st.integers(0, n - 1)).map(sorted), label="only")
    try:
        values = scan.search(problem.queries, k=n).values
    except KernelValueError:
        return
    # Thresholds that occur as values, so that ties at them are decided.
    thresholds = [row[data.draw(st.integers(0, n - 1))] for row in values]
    got = tree.search_above(
        problem.queries, thresholds, only=only, algorithm=algorithm, traversal=traversal
    )
    assert_identical(got, scan.search_above(problem.queries, thresholds, only=only))


@given(problem=search_problems(MERCER))
def test_the_scan_of_a_built_tree_is_the_scan(problem):
    """Once a tree is built, the scan runs in the tree's order: nobody can tell."""
    indexes = tree_and_scan(problem)
    if indexes is None:
        return
    for method, arguments, options in (
        ("search", [problem.queries, problem.k], {}),
        ("search_above", [problem.queries, 0.5], {}),
        ("search", [problem.queries], {"only": [0]}),
        ("search_self", [], {}),
    ):
        if method != "search_self" or len(problem.objects) > 1:
            assert_alike(indexes, method, *arguments, algorithm="scan", **options)


@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.parametrize("kernel", ["linear", "cosine", K.Gaussian(bandwidth=3.0)], ids=repr)
def test_trees_of_many_objects(kernel, algorithm):
    objects, queries = normal(5000, 4), normal(300, 4, seed=1)
    index = Index(objects, kernel, algorithm=algorithm)
    index.tree.check()
    for k in (1, 10):
        hits = index.search(queries, k)
        assert_identical(hits, Index(objects, kernel).search(queries, k))
        assert hits.stats.kernel_evaluations < 0.4 * len(objects) * len(queries)
        assert hits.stats.algorithm == algorithm


class TestTheTree:
    def test_is_the_same_whatever_the_threads(self):
        objects = normal(3000, 5)
        tables = [Index(objects, algorithm="tree", threads=t).tree.nodes for t in (1, 2, 5)]
        for table in tables[1:]:
            for name, column in table.items():
                np.testing.assert_array_equal(column, tables[0][name])

    def test_takes_at_most_100_bytes_per_object(self):
        line = np.geomspace(1, 1e30, 500)[:, None]
        for objects in (normal(5000, 3), normal(2000, 20), line):
            assert Index(objects, algorithm="tree").tree.n_bytes <= 100 * len(objects)

    def test_holds_one_object(self):
        tree = Index([[1.0, 2.0]], algorithm="tree").tree
        tree.check()
        assert (tree.n_nodes, tree.depth, len(tree)) == (1, 0, 1)

    def test_of_duplicates_is_flat(self):
        index = Index(np.ones((1000, 3)), algorithm="tree")
        index.tree.check()
        assert index.tree.n_nodes == 1
        assert index.search(np.ones(3), k=3).indices.tolist() == [[0, 1, 2]]

    def test_of_a_long_chain_needs_no_stack(self):
        """Each object is a little further out than the one before: a tree thousands deep."""
        objects = np.geomspace(1e-150, 1e150, 20_000)[:, None]
        index = Index(objects, algorithm="tree", base=1.01)
        assert index.tree.depth > 5000
        queries = [[1.0], [-1.0]]
        assert_identical(index.search(queries, 5), Index(objects).search(queries, 5))

    def test_with_a_base_close_to_1_takes_no_more_memory(self):
        rng = np.random.default_rng(0)
        objects = rng.normal(size=(100, 2)) * 10.0 ** rng.uniform(-140, 140, size=(100, 1))
        index = Index(objects, algorithm="tree", base=1.000001)
        index.tree.check()
        assert_identical(index.search(objects[:5], 3), Index(objects).search(objects[:5], 3))

    def test_owns_its_objects(self):
        objects = normal(500, 3)
        queries = normal(20, 3, seed=1)
        index = Index(objects, algorithm="tree")
        before = index.search(queries, 3)
        objects[:] = np.nan
        for algorithm in ("tree", "dual-tree", "scan"):
            assert_identical(index.search(queries, 3, algorithm=algorithm), before)

    def test_is_built_when_first_needed_and_once(self):
        index = Index(normal(100, 3))
        tree = index.tree
        index.search(normal(3, 3), algorithm="tree")
        assert index.tree is tree

    @pytest.mark.parametrize("base", [1, 1.0, 0.5, float("nan"), float("inf"), "2", True])
    def test_has_a_base_above_1(self, base):
        with pytest.raises(InvalidArgument, match="base must be"):
            Index([[1.0]], algorithm="tree", base=base)


class TestViews:
    def test_text_shows_every_object_once_or_says_that_it_does_not(self):
        tree = Index(normal(40, 3), algorithm="tree").tree
        lines = tree.text(most=1000).splitlines()
        named = {int(line.split("object ")[1].split(":")[0].split(" ")[0]) for line in lines}
        assert named == set(range(40))
        assert len(tree.text(most=5).splitlines()) == 6
        assert tree.text(most=5).endswith("objects")

    def test_text_calls_objects_by_their_ids(self):
        index = Index([[0.0], [1.0], [5.0]], algorithm="tree", ids=["a", "b", "c"])
        assert index.tree.text().splitlines() == [
            "object 'a': level 7, 3 objects within 5",
            "  object 'a': level 0, 2 objects within 1",
            "    object 'b' at 1",
            "  object 'c' at 5",
        ]
        assert index.tree.to_networkx().nodes["object", 2]["point"] == 2  # still a position

    def test_graph_is_a_tree_with_the_figures_of_the_nodes(self):
        tree = Index(normal(200, 3), algorithm="tree").tree
        graph = tree.to_networkx()
        assert networkx.is_arborescence(graph)
        assert {data["point"] for _, data in graph.nodes(data=True)} == set(range(200))
        assert graph.nodes["node", 0]["radius"] == tree.nodes["radius"][0]

    def test_graph_without_networkx(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "networkx", None)
        with pytest.raises(ImportError, match="of the extra 'graph'"):
            Index([[1.0]], algorithm="tree").tree.to_networkx()


class TestTraversal:
    @pytest.mark.parametrize(
        "bad", [{"order": "random"}, {"block": 0}, {"bounds": ["bal"]}], ids=str
    )
    def test_bad_settings(self, bad):
        with pytest.raises(InvalidArgument, match=next(iter(bad))):
            Traversal(**bad)

    def test_must_be_one(self):
        with pytest.raises(InvalidArgument, match="traversal must be a fastmks.Traversal"):
            Index([[1.0]], algorithm="tree").search([1.0], traversal="best-first")

    @pytest.mark.parametrize("kernel", ["linear", "cosine"])
    def test_each_bound_saves_something(self, kernel):
        """With a bound switched off the answer stays, and no evaluations are saved."""
        objects, queries = normal(3000, 6), normal(50, 6, seed=1)
        index = Index(objects * np.geomspace(1, 9, 3000)[:, None], kernel, algorithm="tree")
        full = index.search(queries, traversal=Traversal(block=1))
        assert set(full.stats.pruned) == {
            "ball", "cap", "shell", "parent ball", "parent cap", "parent shell"
        }  # fmt: skip
        for bound in BOUNDS:
            rest = tuple(b for b in BOUNDS if b != bound)
            hits = index.search(queries, traversal=Traversal(block=1, bounds=rest))
            assert_identical(hits, full)
            assert hits.stats.kernel_evaluations >= full.stats.kernel_evaluations
        only_ball = index.search(queries, traversal=Traversal(block=1, bounds=("ball",)))
        assert only_ball.stats.kernel_evaluations > 1.3 * full.stats.kernel_evaluations

    def test_without_bounds_everything_is_evaluated(self):
        hits = Index(normal(200, 3), algorithm="tree").search(
            normal(5, 3), traversal=Traversal(bounds=())
        )
        assert hits.stats.kernel_evaluations == 5 * 200

    def test_no_object_is_evaluated_twice(self):
        index = Index(normal(500, 8), algorithm="tree")
        for block in (1, 3, 50):
            for order in ("best-first", "level"):
                traversal = Traversal(order=order, block=block, bounds=())
                hits = index.search(normal(7, 8, seed=2), k=20, traversal=traversal)
                assert hits.stats.kernel_evaluations == 7 * 500
