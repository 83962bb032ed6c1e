"""Gram matrices: rows and columns follow the objects, queries may lack K(q, q)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fastmks import Index, InvalidArgument, NotMercerError
from fastmks import kernels as K
from support.comparing import assert_identical
from support.inside import data_of, snapshot_of, store_of

VECTORS = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 30), st.just(3)), elements=st.integers(-3, 3)
)
RNG = np.random.default_rng(0)
ROWS = RNG.integers(-3, 4, size=(40, 3)).astype(float)
QUERIES = RNG.integers(-3, 4, size=(7, 3)).astype(float)
GRAM = ROWS @ ROWS.T


def rows_of(queries, objects):
    """Values with each object, and with the query itself."""
    return np.hstack([queries @ objects.T, (queries * queries).sum(axis=1)[:, None]])


@given(objects=VECTORS, queries=VECTORS, data=st.data())
@settings(max_examples=80)
def test_a_gram_matrix_of_products_is_the_linear_kernel(objects, queries, data):
    k = data.draw(st.integers(1, len(objects)))
    gram, rows = objects @ objects.T, rows_of(queries, objects)
    linear = Index(objects)
    for algorithm in ("scan", "tree", "dual-tree"):
        index = Index(gram, K.Precomputed(), algorithm=algorithm)
        assert_identical(index.search(rows, k), linear.search(queries, k))
        if len(objects) > 1:
            assert_identical(index.search_self(1), linear.search_self(1))


def test_only_and_above_and_one_query():
    index = Index(GRAM, K.Precomputed(), algorithm="tree")
    linear, rows = Index(ROWS), rows_of(QUERIES, ROWS)
    some = [30, 2, 17, 9]
    assert_identical(index.search(rows, 3, only=some), linear.search(QUERIES, 3, only=some))
    assert_identical(index.search_above(rows, 4.0), linear.search_above(QUERIES, 4.0))
    assert_identical(index.search(rows[2]), linear.search(QUERIES[2]))
    assert index.search([]).values.shape == (0, 1)
    np.testing.assert_array_equal(K.Precomputed().matrix(rows, GRAM), rows[:, :-1])


def test_trees_need_self_values_of_queries_and_scans_do_not():
    index = Index(GRAM, K.Precomputed())
    short = QUERIES @ ROWS.T
    assert_identical(index.search(short, 2), Index(ROWS).search(QUERIES, 2))
    for algorithm in ("tree", "dual-tree"):
        with pytest.raises(InvalidArgument, match=r"queries\[0\] comes without K\(query, query\)"):
            index.search(short, algorithm=algorithm)
    with pytest.raises(InvalidArgument, match="comes without"):
        Index(GRAM + np.eye(40), K.Normalized(K.Precomputed())).search(short)


@pytest.mark.parametrize("n", [1, 39, 42])
def test_rows_of_other_lengths_are_refused(n):
    with pytest.raises(InvalidArgument, match=f"rows of 40 values.*or of 41.*got {n}"):
        Index(GRAM, K.Precomputed()).search(np.ones((2, n)))


def test_matrices_must_be_symmetric_up_to_rtol():
    for i, j in ((3, 20), (20, 3), (0, 39)):
        gram = GRAM + 20.0 * np.eye(40)
        gram[i, j] += 1e-6
        with pytest.raises(InvalidArgument, match=rf"K\({min(i, j)}, {max(i, j)}\) is"):
            Index(gram, K.Precomputed())
        assert len(Index(gram, K.Precomputed(rtol=1e-5))) == 40
    wide = np.eye(600)
    wide[599, 300] = 0.5
    with pytest.raises(InvalidArgument, match=r"K\(300, 599\) is 0.0 and K\(599, 300\) is 0.5"):
        Index(wide, K.Precomputed())


def test_matrices_that_are_not_mercer():
    broken = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(NotMercerError, match="at most 1"):
        Index(broken, K.Precomputed(), algorithm="tree")
    with pytest.raises(NotMercerError, match="is not Mercer"):
        Index(broken, K.Precomputed(is_mercer=False), algorithm="tree")
    assert Index(broken, K.Precomputed(is_mercer=False)).search([1.0, 3.0, 2.0]).indices == 1
    queries = np.array([[9.0, 0.0, 0.0, 1.0]])
    with pytest.raises(NotMercerError, match=r"queries\[0\] and object 0"):
        Index(np.eye(3), K.Precomputed(), algorithm="tree").search(queries)


def test_the_matrix_is_shared_or_copied():
    gram = GRAM.copy()
    shared, copied = Index(gram, K.Precomputed()), Index(gram, K.Precomputed(), copy=True)
    before = shared.search(QUERIES @ ROWS.T)
    shared.tree.check()
    assert np.shares_memory(store_of(data_of(shared).space.objects).values, gram)
    gram[:] = 0.0
    assert_identical(copied.search(QUERIES @ ROWS.T), before)


def test_a_pair_has_no_value_without_the_matrix():
    with pytest.raises(InvalidArgument, match="the entries of your matrix"):
        K.Precomputed()(GRAM[0], GRAM[1])


class TestLiving:
    """Objects of a Gram matrix come with their values with all others, and stay in one part."""

    def problem(self):
        rows = np.random.default_rng(0).normal(size=(30, 4)).round(1)
        return rows @ rows.T, np.random.default_rng(1).normal(size=(5, 4)).round(1) @ rows.T

    @pytest.mark.parametrize("algorithm", ["scan", "tree", "auto", "filter"])
    def test_they_grow_and_shrink(self, algorithm):
        gram, queries = self.problem()
        queries = np.column_stack([queries, 9.0 * np.ones(5)])  # K(q, q) is last
        index = Index(gram[:10, :10], K.Precomputed(), algorithm=algorithm)
        held = list(range(10))

        def check():
            wanted = Index(gram[np.ix_(held, held)], K.Precomputed(), ids=held, algorithm="scan")
            asked = queries[:, [*held, -1]]
            for k in (1, 3, len(held)):
                assert_identical(index.search(asked, k), wanted.search(asked, k))
            assert len(snapshot_of(index).segments) == 1
            np.testing.assert_array_equal(index.get(held), gram[np.ix_(held, held)])

        check()
        for added in ([10], [11, 12, 13], list(range(14, 30))):
            index.add(gram[np.ix_(added, held + added)])
            held += added
            check()
            index.remove(held[2:4])
            held = held[:2] + held[4:]
            check()

    def test_rows_must_fit_all_objects(self):
        gram, _ = self.problem()
        index = Index(gram[:10, :10], K.Precomputed())
        with pytest.raises(InvalidArgument, match="11"):
            index.add(gram[10:11, :10])
        with pytest.raises(InvalidArgument, match="symmetric"):
            index.add(np.column_stack([gram[10:12, :10], [[1.0, 2.0], [3.0, 1.0]]]))
        assert len(index) == 10

    def test_an_emptied_one_begins_anew(self):
        gram, _ = self.problem()
        index = Index(gram[:10, :10], K.Precomputed())
        index.remove(range(10))
        index.add(gram[:3, :3])
        assert (
            index.search(gram[:1, :3]).ids.tolist()
            == Index(gram[:3, :3], K.Precomputed(), ids=[10, 11, 12])
            .search(gram[:1, :3])
            .ids.tolist()
        )
