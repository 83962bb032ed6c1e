"""Where other implementations of this search went wrong: one test per case, at its size."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fastmks import Index, InvalidArgument
from fastmks import kernels as K
from support import oracle


def assert_ranked_like_the_oracle(objects, queries, kernel, k):
    hits = Index(objects, kernel).search(queries, k)
    rows = [oracle.ranked(kernel, q, objects.tolist())[:k] for q in queries.tolist()]
    oracle.assert_identical(hits, rows)
    return hits


@pytest.mark.parametrize(
    "kernel",
    [K.Polynomial(3, 1.0), K.Polynomial(10), K.Gaussian(0.2), K.Epanechnikov(2.0)],
    ids=str,
)
def test_parameters_that_are_not_the_defaults_reach_both_sides(kernel):
    rng = np.random.default_rng(0)
    assert_ranked_like_the_oracle(rng.random((300, 8)), rng.random((40, 8)), kernel, 5)


def test_cosine_with_an_all_zero_first_row():
    rng = np.random.default_rng(1)
    objects = rng.normal(size=(200, 5))
    objects[0] = 0.0
    queries = -np.abs(rng.normal(size=(50, 5)))
    queries[0] = 0.0
    hits = assert_ranked_like_the_oracle(objects, queries, K.Cosine(), 200)
    assert hits.values[0].tolist() == [0.0] * 200
    assert hits.indices[0].tolist() == list(range(200))


def test_cosine_of_a_query_exactly_opposite_the_first_object():
    rng = np.random.default_rng(2)
    objects = rng.normal(size=(200, 3))
    queries = -objects[:1] * np.array([[1.0], [3.0], [7.0]])
    hits = assert_ranked_like_the_oracle(objects, queries, K.Cosine(), 200)
    assert hits.indices[:, -1].tolist() == [0, 0, 0]
    assert hits.values[0, -1] == -1.0
    assert (hits.values >= -1.0).all()


@pytest.mark.parametrize(
    "kernel", [K.Linear(), K.Cosine(), K.Polynomial(3, 1.0), K.Tanh()], ids=str
)
def test_data_spread_by_a_millionth_around_1000(kernel):
    rng = np.random.default_rng(3)
    data = 1000.0 + 1e-6 * rng.normal(size=(150, 3))
    assert_ranked_like_the_oracle(data[:120], data[120:], kernel, 10)


def test_tanh_on_normal_points_where_it_is_not_mercer():
    rng = np.random.default_rng(4)
    assert_ranked_like_the_oracle(rng.normal(size=(200, 3)), rng.normal(size=(20, 3)), K.Tanh(), 7)


def test_a_saturated_kernel_ties_everything_and_positions_decide():
    """tanh of the digits' inner products is 1.0 for every pair."""
    digits = load_digits().data
    hits = Index(digits, K.Tanh()).search(digits[:50], k=10)
    np.testing.assert_array_equal(hits.values, np.ones((50, 10)))
    np.testing.assert_array_equal(hits.indices, np.tile(np.arange(10), (50, 1)))


def test_a_gaussian_that_underflows_ties_at_zero():
    objects = np.arange(20.0)[:, None] * 1e3
    hits = Index(objects, K.Gaussian()).search([[5e3]], k=4)
    assert hits.values.tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert hits.indices.tolist() == [[5, 0, 1, 2]]


def test_near_duplicates_far_from_the_origin_are_ranked_by_their_true_distance():
    """From norms and inner products, half of these distances would be too small, or negative."""
    rng = np.random.default_rng(5)
    data = 10.0 + 1e-6 * rng.normal(size=(200, 50))
    query, objects = data[0], data[1:]
    exact = [
        sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(query.tolist(), row, strict=True))
        for row in objects.tolist()
    ]
    hits = Index(objects, K.Gaussian(bandwidth=1e-5)).search(query, k=199)
    assert hits.indices[0].tolist() == sorted(range(199), key=lambda i: (exact[i], i))


def test_answers_do_not_change_with_a_power_of_two_scale_or_the_batch():
    rng = np.random.default_rng(6)
    objects, queries = rng.normal(size=(2000, 24)), rng.normal(size=(200, 24))
    together = Index(objects).search(queries, k=10)
    scaled = Index(objects * 2.0**40).search(queries, k=10)
    np.testing.assert_array_equal(scaled.values, together.values * 2.0**40)
    np.testing.assert_array_equal(scaled.indices, together.indices)
    for i in (0, 77, 199):
        np.testing.assert_array_equal(
            Index(objects).search(queries[i], k=10).values[0], together.values[i]
        )


def test_float32_data_is_ranked_in_float64():
    """In float32 these inner products are all equal; in float64 the last one is the greatest."""
    objects = np.full((5, 2), 4096.0, dtype=np.float32)
    objects[:, 1] += np.arange(5, dtype=np.float32) * 2.0**-11
    query = np.array([4096.0, 1.0], dtype=np.float32)
    assert len(np.unique(objects @ query)) < 5
    assert Index(objects).search(query, k=5).indices.tolist() == [[4, 3, 2, 1, 0]]


def test_one_object_one_query_and_a_second_search_with_another_k():
    index = Index([[1.0, 2.0]])
    assert index.search([[3.0, 4.0]]).values.tolist() == [[11.0]]
    many = Index(np.random.default_rng(7).normal(size=(500, 4)))
    first = many.search(np.ones(4), k=20)
    assert many.search(np.ones(4), k=3).indices.tolist() == [first.indices[0, :3].tolist()]


def test_bad_calls_are_errors_and_not_index_minus_one():
    index = Index(np.ones((3, 2)))
    with pytest.raises(InvalidArgument, match=r"queries\[0, 0\] is nan"):
        index.search([[np.nan, 1.0]])
    with pytest.raises(InvalidArgument, match="the 2 other objects; got k=3"):
        index.search_self(k=3)
    assert index.search(np.empty((0, 2))).indices.shape == (0, 1)


def test_the_index_holds_on_to_its_data():
    def build():
        return Index(np.random.default_rng(8).normal(size=(20_000, 8)))

    index = build()
    before = index.search(np.ones(8), k=3)
    overwrite = [np.zeros((20_000, 8)) for _ in range(20)]
    after = index.search(np.ones(8), k=3)
    np.testing.assert_array_equal(before.values, after.values)
    assert len(overwrite) == 20
