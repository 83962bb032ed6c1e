"""The tree against the scan, bit for bit, and the tree's own invariants."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from comparing import assert_identical
from fastmks import Index, KernelValueError, Traversal
from strategies import MERCER, search_problems

BOUNDS = ("ball", "cap", "shell", "parent")


def laid_out(array, layout):
    return sp.csr_array(array) if layout == "sparse" else array


def tree_and_scan(problem, **options):
    """Two indexes of one problem; None where the values of the objects overflow."""
    objects = laid_out(problem.objects, problem.layout)
    scan = Index(objects, problem.kernel, threads=problem.threads)
    try:
        tree = Index(objects, problem.kernel, algorithm="tree", threads=problem.threads, **options)
    except KernelValueError:
        assert not np.isfinite(scan._space.self_values()).all()
        return None
    return tree, scan


traversals = st.builds(
    Traversal,
    order=st.sampled_from(["best-first", "level"]),
    block=st.sampled_from([1, 2, 7, 1000]),
    bounds=st.sets(st.sampled_from(BOUNDS)).map(tuple),
)


@given(
    problem=search_problems(MERCER),
    base=st.sampled_from([1.01, 1.3, 2.0, 10.0]),
    traversal=traversals,
)
def test_tree_loses_nothing(problem, base, traversal):
    """No prune may drop an object the scan returns, whatever the bounds and the order."""
    indexes = tree_and_scan(problem, base=base)
    if indexes is None:
        return
    tree, scan = indexes
    tree.tree.check()
    queries = laid_out(problem.queries, problem.query_layout)
    try:
        wanted = scan.search(queries, k=problem.k)
    except KernelValueError:
        return
    hits = tree.search(queries, k=problem.k, traversal=traversal)
    assert_identical(hits, wanted)
    assert (hits.gap == 0).all()
