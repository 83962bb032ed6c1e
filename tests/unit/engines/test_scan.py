"""The scan against the oracle, bit for bit: it is the oracle of every other engine."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmks import Index, KernelValueError
from fastmks import kernels as K
from support import oracle
from support.inside import forced_isa
from support.strategies import FAMILIES, search_problems


def laid_out(array, layout):
    return sp.csr_array(array) if layout == "sparse" else array


def make_index(problem):
    with forced_isa(problem.isa):
        return Index(laid_out(problem.objects, problem.layout), problem.kernel)


def search_or_fault(problem, search, among=None):
    """Run a search; where the oracle sees a value that is not finite it must raise: None."""
    objects, queries = problem.rows()
    searched = objects if among is None else [objects[i] for i in among]
    values = (oracle.canonical(problem.kernel, q, r) for q in queries for r in searched)
    with forced_isa(problem.isa):
        if all(map(math.isfinite, values)):
            return search()
        with pytest.raises(
            KernelValueError, match=r"gives .*queries\[\d+\] and object \d+ the value"
        ):
            search()
    return None


@given(problem=search_problems())
def test_scan_is_what_the_oracle_says(problem):
    objects, queries = problem.rows()
    try:
        index = make_index(problem)
    except KernelValueError:
        assert "Normalized(" in repr(problem.kernel)  # it, or a part of a sum
        return
    hits = search_or_fault(
        problem,
        lambda: index.search(
            laid_out(problem.queries, problem.query_layout), problem.k, threads=problem.threads
        ),
    )
    if hits is None:
        return
    rows = [oracle.ranked(problem.kernel, q, objects)[: problem.k] for q in queries]
    oracle.assert_identical(hits, rows)
    assert hits.stats.kernel_evaluations == len(objects) * len(queries)


@given(problem=search_problems(), data=st.data())
def test_only_searches_among_the_given_objects(problem, data):
    objects, queries = problem.rows()
    n = len(objects)
    among = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1), label="among"))
    k = data.draw(st.integers(1, len(among)), label="k")
    mask = np.isin(np.arange(n), among)
    try:
        index = make_index(problem)
    except KernelValueError:
        return
    hits = search_or_fault(problem, lambda: index.search(problem.queries, k, only=mask), among)
    if hits is None:
        return
    rows = [oracle.ranked(problem.kernel, q, objects, among=among)[:k] for q in queries]
    oracle.assert_identical(hits, rows)
    oracle.assert_identical(index.search(problem.queries, k, only=among[::-1]), rows)
    assert hits.stats.kernel_evaluations == len(among) * len(queries)


@given(problem=search_problems(), data=st.data())
def test_above_returns_all_at_or_above_the_threshold(problem, data):
    objects, queries = problem.rows()
    try:
        index = make_index(problem)
    except KernelValueError:
        return
    ranked = [oracle.ranked(problem.kernel, q, objects) for q in queries]
    # A threshold that is somebody's value, so that "at least" is tested and not only "more".
    thresholds = [row[data.draw(st.integers(0, len(row) - 1))][0] for row in ranked]
    if not np.isfinite(thresholds).all():
        return
    hits = search_or_fault(
        problem,
        lambda: index.search_above(problem.queries, thresholds, threads=problem.threads),
    )
    if hits is None:
        return
    assert len(hits) == len(queries)
    for (values, indices), row, threshold in zip(hits, ranked, thresholds, strict=True):
        expected = [(value, i) for value, i in row if value >= threshold]
        assert list(zip(values.tolist(), indices.tolist(), strict=True)) == expected


@given(problem=search_problems())
def test_self_search_leaves_out_the_object_itself_and_nothing_else(problem):
    objects, _ = problem.rows()
    k = min(problem.k, len(objects) - 1)
    if k == 0:
        return
    ranked = [oracle.ranked(problem.kernel, x, objects, skip=i)[:k] for i, x in enumerate(objects)]
    try:
        index = make_index(problem)
        hits = index.search_self(k, threads=problem.threads)
    except KernelValueError:
        pairs = (oracle.canonical(problem.kernel, x, y) for x in objects for y in objects)
        assert "Normalized(" in repr(problem.kernel) or not all(map(math.isfinite, pairs))
        return
    oracle.assert_identical(hits, ranked)


def ranked_by_matrix(matrix, k):
    """Full sort of every row by (value descending, position ascending)."""
    positions = np.broadcast_to(np.arange(matrix.shape[1]), matrix.shape)
    order = np.lexsort((positions, -matrix), axis=1)[:, :k]
    return np.take_along_axis(matrix, order, axis=1), order


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("k", [1, 10, 1000, 2500])
@pytest.mark.parametrize("n_queries", [1, 3, 64, 130])
def test_many_blocks_batches_and_threads_change_nothing(n_queries, k, threads):
    """Sizes beyond one block of objects and one batch of queries, with ties everywhere."""
    rng = np.random.default_rng(0)
    objects = rng.integers(-2, 3, size=(2500, 7)).astype(float)
    queries = rng.integers(-2, 3, size=(n_queries, 7)).astype(float)
    values, indices = Index(objects).search(queries, k, threads=threads)
    expected_values, expected_indices = ranked_by_matrix(queries @ objects.T, k)  # exact: integers
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_array_equal(values, expected_values)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("kernel", [K.Linear(), K.Cosine(), K.Gaussian(2.0)], ids=str)
def test_batch_size_and_instruction_set_change_no_bit(layout, kernel, isa):
    rng = np.random.default_rng(1)
    objects = laid_out(rng.normal(size=(700, 33)), layout)
    queries = rng.normal(size=(130, 33))
    together = Index(objects, kernel).search(queries, 5)
    one_by_one = [Index(objects, kernel).search(q, 5, threads=1) for q in queries[::10]]
    for row, hits in zip(range(0, 130, 10), one_by_one, strict=True):
        np.testing.assert_array_equal(hits.values[0], together.values[row])
        np.testing.assert_array_equal(hits.indices[0], together.indices[row])
    rows = [oracle.ranked(kernel, queries[0].tolist(), as_lists(objects))[:5]]
    oracle.assert_identical(Index(objects, kernel).search(queries[0], 5), rows)


def as_lists(objects):
    return (objects.toarray() if sp.issparse(objects) else objects).tolist()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__.strip("_"))
def test_dense_and_sparse_float32_and_float64_give_the_same_bits(family):
    rng = np.random.default_rng(2)
    objects = np.clip(family(rng, 60, 19), -1e30, 1e30).astype(np.float32)
    queries = np.clip(family(rng, 9, 19), -1e30, 1e30).astype(np.float32)
    for kernel in (K.Linear(), K.Cosine(), K.Laplacian(3.0)):
        matrices = [
            kernel.matrix(laid_out(queries.astype(qt), q), laid_out(objects.astype(ot), o))
            for q in ("dense", "sparse")
            for o in ("dense", "sparse")
            for qt in (np.float32, np.float64)
            for ot in (np.float32, np.float64)
        ]
        for matrix in matrices[1:]:
            np.testing.assert_array_equal(matrix, matrices[0])


def test_more_columns_than_slots_give_the_same_bits():
    """Beyond 2^22 columns sparse rows are merged instead of looked up."""
    rng = np.random.default_rng(3)
    narrow = sp.random_array((40, 64), density=0.2, rng=rng, format="csr")
    wide = sp.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr), (40, 2**23))
    for kernel in (K.Linear(), K.Cosine(), K.Gaussian()):
        np.testing.assert_array_equal(kernel.matrix(wide, wide), kernel.matrix(narrow, narrow))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), k=st.sampled_from([1, 5, 400]))
def test_ties_at_rank_k_go_to_the_smaller_position(seed, k):
    rng = np.random.default_rng(seed)
    objects = rng.integers(0, 2, size=(400, 3)).astype(float)
    hits = Index(objects).search(np.ones((2, 3)), k, threads=3)
    expected = ranked_by_matrix(np.ones((2, 3)) @ objects.T, k)
    np.testing.assert_array_equal(hits.indices, expected[1])
