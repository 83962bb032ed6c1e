"""Every engine and every mode over every kind of object, bit for bit against the scan."""

import numpy as np
import pytest

from fastmks import Index, InvalidArgument, NotMercerError, Traversal
from support.comparing import assert_identical
from support.inside import data_of
from support.kinds import KINDS
from support.living import algorithms
from support.promises import assert_gap_is_true

CASES = pytest.mark.parametrize("kind", KINDS, ids=str)


@CASES
def test_every_engine_finds_what_the_scan_finds(kind):
    """Top k, all above a threshold, each object's own best, and a few allowed objects."""
    scan = Index(kind.objects, kind.kernel, algorithm="scan")
    n = len(scan)
    some = list(range(0, n, 3))
    truth = {k: scan.search(kind.queries, k) for k in (1, 3, n)}
    thresholds = truth[3].values[:, -1]
    for name in algorithms(scan):
        index = Index(kind.objects, kind.kernel, algorithm=name)
        for k, wanted in truth.items():
            for threads in (1, 2):
                assert_identical(index.search(kind.queries, k, threads=threads), wanted)
        assert_identical(
            index.search(kind.queries, 2, only=some), scan.search(kind.queries, 2, only=some)
        )
        assert_identical(
            index.search_above(kind.queries, thresholds),
            scan.search_above(kind.queries, thresholds),
        )
        assert_identical(index.search_self(2), scan.search_self(2))


@CASES
def test_values_are_the_kernels_own(kind):
    """A search returns the very values of kernel.matrix and kernel(x, y)."""
    matrix = kind.kernel.matrix(kind.queries, kind.objects)
    hits = Index(kind.objects, kind.kernel).search(kind.queries, 3)
    np.testing.assert_array_equal(hits.values, np.take_along_axis(matrix, hits.indices, axis=1))
    if isinstance(kind.objects, (list, np.ndarray)):
        one = kind.kernel(kind.queries[0], kind.objects[1])
        assert one == matrix[0, 1]


@CASES
def test_kernels_are_symmetric(kind):
    matrix = kind.kernel.matrix(kind.objects)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(
        np.diag(matrix), data_of(Index(kind.objects, kind.kernel)).space.self_values()
    )


@CASES
def test_mercer_kernels_are_positive_definite_and_others_are_not(kind):
    """Up to rounding; whoever says that it is not Mercer has to show objects that prove it."""
    is_mercer = data_of(Index(kind.objects, kind.kernel)).space.is_mercer
    objects = kind.objects if is_mercer else kind.counterexample
    matrix = kind.kernel.matrix(objects)
    rounding = data_of(Index(objects, kind.kernel)).space.rounding
    least = np.linalg.eigvalsh(matrix)[0] / np.trace(matrix)
    if is_mercer:
        assert least >= -1e-12 - rounding.relative - rounding.absolute / np.trace(matrix)
    else:
        assert least < -1e-6


@CASES
def test_trees_are_sound_or_refused(kind):
    scan = Index(kind.objects, kind.kernel)
    if data_of(scan).space.is_mercer:
        Index(kind.objects, kind.kernel, algorithm="tree").tree.check()
        return
    with pytest.raises(NotMercerError, match="not Mercer"):
        Index(kind.objects, kind.kernel, algorithm="tree")


@CASES
def test_approximate_modes_keep_their_promises(kind):
    scan = Index(kind.objects, kind.kernel, algorithm="scan")
    if not data_of(scan).space.is_mercer:
        with pytest.raises(InvalidArgument, match="needs algorithm='tree'"):
            scan.search(kind.queries, 1, budget=5)
        return
    tree = Index(kind.objects, kind.kernel, algorithm="tree")
    truth = scan.search(kind.queries, 2)
    spread = float(np.ptp(truth.values)) / 10.0
    for options in ({"epsilon": spread}, {"relative": 0.1}, {"budget": len(scan) // 2}):
        hits = tree.search(kind.queries, 2, **options)
        assert_gap_is_true(hits, truth)
        if "epsilon" in options:
            assert (truth.values - hits.values <= spread).all()
        if "relative" in options:
            assert (truth.values - hits.values <= 0.1 * np.abs(truth.values)).all()
    hits = tree.search(kind.queries, 1, rank=len(scan) // 2, delta=0.5)
    assert hits.values.shape == (len(truth.values), 1)
    for traversal in (Traversal(block=1), Traversal(order="level"), Traversal(bounds=())):
        assert_identical(tree.search(kind.queries, 2, traversal=traversal), truth)


@CASES
def test_bad_objects_are_named(kind):
    for objects, words in kind.bad:
        with pytest.raises(InvalidArgument) as error:
            Index(objects, kind.kernel)
        assert words in str(error.value)


@CASES
def test_an_index_owns_or_shares_its_objects_and_can_copy_them(kind):
    index = Index(kind.objects, kind.kernel, copy=True)
    assert_identical(
        index.search(kind.queries), Index(kind.objects, kind.kernel).search(kind.queries)
    )
    assert repr(index).startswith(f"<Index: {len(index)} ")


@CASES
def test_objects_and_queries_may_come_from_a_generator(kind):
    if not isinstance(kind.objects, list) or not isinstance(kind.queries, list):
        return
    index = Index(iter(kind.objects), kind.kernel)
    wanted = Index(kind.objects, kind.kernel).search(kind.queries, 2)
    assert_identical(index.search(iter(kind.queries), 2), wanted)
