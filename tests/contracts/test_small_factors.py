"""Small factors and values that underflow: no engine loses an object to absolute rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fastmks import Index, InvalidArgument, KernelValueError, NotMercerError
from fastmks import kernels as K
from support.comparing import assert_identical

FACTORS = [0.05, 1e-3, 2.0**-60, 1e-160, 1e-300, 1e-310, 5e-324, 1e160]
LEAVES = [
    K.Linear(),
    K.Polynomial(degree=2),
    K.Polynomial(degree=3, scale=1e-100),
    K.Polynomial(degree=2, offset=1e-160, scale=1e-160),
    K.Polynomial(degree=2, offset=1e-40),
    K.Tanh(scale=1e-300),
    K.Tanh(scale=1e-12),
    K.Exponential(scale=200.0),
    K.Exponential(scale=1e-3),
    K.Cosine(),
    K.Gaussian(1.0),
    K.Laplacian(0.052),
    K.Epanechnikov(40.0),
    K.Triangular(39.0),
    K.Spherical(39.0),
    K.Normalized(K.Linear()),
]
# Scales of rows: values of Gaussian(1.0) underflow from 38.5 on, squares from 1.5e-162 on.
SCALES = [1.0, 38.9, 1e-20, 1e-80, 1e-154, 3e-160, 1e-162, 1e-170, 1e-300, 5e-324]


def shell(rng, n, d):
    """Return rows that are 38.4 to 39.5 long: Gaussians of them and zero are subnormal."""
    rows = rng.standard_normal((n, d))
    return rows / np.linalg.norm(rows, axis=1)[:, None] * rng.uniform(38.4, 39.5, size=(n, 1))


def thresholds_of(hits):
    """Return thresholds that are values: a bound that is short by one bit loses an object."""
    values = np.asarray(hits.values)
    return [values[:, 0], values[:, -1], np.nextafter(values[:, -1], np.inf), 5e-324, 0.0]


def assert_engines_agree(rows, queries, kernel, k):
    """Every engine that serves the kernel answers as the scan does."""
    try:
        scan = Index(rows, kernel, algorithm="scan", threads=1)
        expected = scan.search(queries, k)
    except KernelValueError:  # a value overflows, or cannot be normalised: there is no answer
        return
    for algorithm in ("filter", "tree", "dual-tree"):
        try:
            other = Index(rows, kernel, algorithm=algorithm, threads=1)
        except (InvalidArgument, NotMercerError):  # it does not serve this kernel
            continue
        assert_identical(other.search(queries, k), expected)
        for threshold in thresholds_of(expected):
            wanted = scan.search_above(queries, threshold)
            assert_identical(other.search_above(queries, threshold), wanted)


def test_gaussians_that_underflow_times_a_small_factor():
    rng = np.random.default_rng(0)
    rows = shell(rng, 5000, 3)
    queries = np.concatenate([np.zeros((1, 3)), 0.01 * rng.standard_normal((2, 3))])
    index = Index(rows, 0.001 * K.Gaussian(1.0), threads=1)
    for k in (1, 3, 20, 299):
        expected = index.search(queries, k, algorithm="scan")
        assert_identical(index.search(queries, k, algorithm="filter"), expected)
    for threshold in (5e-324, 1e-323, 0.0):
        expected = index.search_above(queries, threshold, algorithm="scan")
        assert_identical(index.search_above(queries, threshold, algorithm="filter"), expected)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("factor", FACTORS)
def test_every_kernel_under_every_factor(factor, scale):
    rng = np.random.default_rng(7)
    rows = scale * rng.standard_normal((60, 3))
    rows[::7] = rows[1]
    queries = np.concatenate([rows[:2], scale * rng.standard_normal((3, 3)), np.zeros((1, 3))])
    for leaf in LEAVES:
        assert_engines_agree(rows, queries, factor * leaf, 5)


@pytest.mark.parametrize(
    ("scale", "offset"), [(0.0, 1e-160), (1.0, 1e-40), (1e20, 1e-20), (1e-20, 1e-60)]
)
@pytest.mark.parametrize("degree", [2, 4])
def test_offsets_far_below_all_scores(degree, scale, offset):
    """Zero queries have all their scores that far from the least value of an even power."""
    rows = scale * np.random.default_rng(10).standard_normal((2000, 3))
    rows[:1500] *= 1e-20  # leaves of their own
    queries = np.concatenate([np.zeros((2, 3)), rows[:2], 1e-30 * rows[:1]])
    assert_engines_agree(rows, queries, K.Polynomial(degree, offset=offset), 7)


@pytest.mark.parametrize("scale", [1e-300, 1e-310, 1e-322, 5e-324])
@pytest.mark.parametrize("leaf", [K.Gaussian(1.0), K.Laplacian(1.0), K.Linear(), K.Cosine()])
def test_zeros_among_subnormal_vectors(leaf, scale):
    """The unit of the codes is far below 1, in which a zero vector is zero all the same."""
    rows = scale * np.random.default_rng(11).standard_normal((400, 1))
    rows[:300] = 0.0
    queries = np.concatenate([rows[-3:], np.zeros((1, 1)), -rows[-1:], np.ones((1, 1))])
    for k in (1, 7, 400):
        assert_engines_agree(rows, queries, leaf, k)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e-154, 1e-162, 5e-324])
def test_inverted_lists_under_every_factor(factor, scale):
    rng = np.random.default_rng(8)
    rows = scale * rng.integers(1, 9, size=(300, 40)) * (rng.random((300, 40)) < 0.1)
    for leaf in (K.Linear(), K.Cosine(), K.Polynomial(degree=3), K.Normalized(K.Linear())):
        assert_engines_agree(sparse.csr_array(rows), sparse.csr_array(rows[:8]), factor * leaf, 9)


@pytest.mark.parametrize("factor", [1e-3, 1e-160, 1e-310, 5e-324])
def test_pivots_and_own_bounds_under_small_factors(factor):
    rng = np.random.default_rng(9)
    words = ["".join(rng.choice(list("abcd"), size=rng.integers(3, 12))) for _ in range(80)]
    for leaf in (
        K.Spectrum(2),
        K.Normalized(K.Spectrum(1)),
        K.Custom(lambda x, y: 1e-150 * len(set(x) & set(y))),
    ):
        assert_engines_agree(words, words[:5], factor * leaf, 7)
    sets = [set(word) for word in words]
    assert_engines_agree(sets, sets[:5], factor * K.Jaccard(), 7)


@st.composite
def expressions(draw, depth=2):
    kind = draw(st.sampled_from(["leaf", "scaled", "sum", "product"] if depth else ["leaf"]))
    if kind == "leaf":
        return draw(st.sampled_from(LEAVES))
    first = draw(expressions(depth - 1))
    if kind == "scaled":
        return draw(st.sampled_from(FACTORS)) * first
    second = draw(expressions(depth - 1))
    return first + second if kind == "sum" else first * second


@given(data=st.data())
def test_any_expression_of_small_values(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    kernel = data.draw(st.sampled_from(FACTORS)) * data.draw(expressions())
    n, d = data.draw(st.integers(1, 60) | st.just(400)), data.draw(st.integers(1, 6))
    scale = data.draw(st.sampled_from(SCALES))
    family = data.draw(st.sampled_from(["normal", "shell", "mixed", "integers"]))
    rows = (
        scale
        * {
            "normal": lambda: rng.standard_normal((n + 4, d)),
            "shell": lambda: shell(rng, n + 4, d) / 38.9,
            "mixed": lambda: (
                rng.standard_normal((n + 4, d)) * 10.0 ** rng.uniform(-9, 3, (n + 4, 1))
            ),
            "integers": lambda: rng.integers(-2, 3, size=(n + 4, d)).astype(float),
        }[family]()
    )
    rows[rng.random(n + 4) < 0.2] = rows[0]
    rows[: data.draw(st.just(0) | st.integers(0, n), label="short ones")] *= 1e-20
    queries = np.concatenate([rows[n:], np.zeros((1, d)), -rows[:1]])
    objects = rows[:n]
    if data.draw(st.booleans(), label="sparse"):
        objects, queries = sparse.csr_array(objects), sparse.csr_array(queries)
    assert_engines_agree(objects, queries, kernel, data.draw(st.integers(1, n)))
