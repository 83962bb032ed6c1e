"""Canonical values: order of operations, stated error, independence of the CPU."""

import math

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fastmks import InvalidArgument, KernelValueError, NotMercerError, _core
from fastmks import kernels as K
from fastmks.engines.space import Space, chosen_isa
from fastmks.kernels.objects import read_objects
from support import oracle
from support.strategies import FAMILIES, KERNELS


def space(objects, kernel):
    return Space(read_objects(np.asarray(objects), kernel), kernel)


@given(
    kernel=st.sampled_from(KERNELS),
    family=st.sampled_from(FAMILIES),
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 40),
)
def test_values_lie_within_the_stated_rounding_error(kernel, family, seed, d):
    """Against the formula with 60 digits."""
    rng = np.random.default_rng(seed)
    objects = family(rng, 3, d)
    try:
        under = space(objects, kernel)
        values = kernel.matrix(objects)
        self_values = under.self_values()
    except KernelValueError:
        return
    relative, absolute = under.rounding
    if math.isinf(relative) or not np.isfinite(self_values).all():
        return
    rows = objects.tolist()
    exact_self = [oracle.exact(kernel, x, x) for x in rows]
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            error = abs(mpmath.mpf(float(values[i, j])) - oracle.exact(kernel, x, y))
            allowed = relative * mpmath.sqrt(exact_self[i] * exact_self[j]) + absolute
            assert error <= allowed, (float(error), float(allowed))


@pytest.mark.parametrize("kernel", [K.Cosine(), K.Normalized(K.Linear())], ids=str)
def test_a_long_sparse_query_has_its_own_rounding_error(kernel):
    """Its norm is a longer sum than any object's: each small term is lost in its partial sum."""
    n = 2**14
    query = np.full(n, math.sqrt(2.0**-53) * 0.99)
    query[:8] = 1.0
    objects = Space(read_objects(sp.csr_array(np.eye(1, n)), kernel), kernel)
    queries = objects.queries(sp.csr_array(query[None, :]))
    value = kernel(query, np.eye(1, n))
    error = abs(mpmath.mpf(value) - oracle.exact(kernel, query.tolist(), np.eye(1, n)[0].tolist()))
    assert error > 10 * objects.rounding.relative
    assert error <= objects.rounding.joined(queries.rounding).relative


def test_the_stated_error_is_not_idle():
    """Real errors reach a fair share of the bound, so a bound ten times smaller would fail."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for d in (8, 64, 500):
        objects = np.abs(rng.normal(size=(60, d)))
        values = K.Linear().matrix(objects)
        norms = np.sqrt(np.diag(values))
        relative, _ = space(objects, K.Linear()).rounding
        for i in range(0, 60, 6):
            for j in range(60):
                error = abs(
                    mpmath.mpf(values[i, j]) - oracle.exact(K.Linear(), objects[i], objects[j])
                )
                worst = max(worst, float(error / (norms[i] * norms[j])) / relative)
    assert 0.05 < worst <= 1.0


@pytest.mark.parametrize("kernel", [K.Tanh(), K.Polynomial(degree=3, offset=-1.0)], ids=str)
def test_no_error_is_stated_where_none_can_be(kernel):
    assert space([[1.0, 2.0]], kernel).rounding == (math.inf, math.inf)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_self_values_are_the_values_of_equal_objects(kernel, isa):
    objects = np.random.default_rng(1).normal(size=(20, 11)) * 0.7
    np.testing.assert_array_equal(
        space(objects, kernel).self_values(), np.diag(kernel.matrix(objects))
    )


def test_elementary_functions_stay_within_a_few_ulps(isa):
    """exp and tanh are our own, since a system's differ from CPU to CPU."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.uniform(-700, 700, 400), rng.normal(size=400), [0.0, 1e-300, -1e-9]])
    one = np.ones((1, 1))
    exponentials = K.Exponential().matrix(one, x[:, None])[0]
    tangents = K.Tanh().matrix(one, x[:, None])[0]
    for a, e, t in zip(x.tolist(), exponentials.tolist(), tangents.tolist(), strict=True):
        assert abs(mpmath.mpf(e) - mpmath.exp(a)) <= mpmath.exp(a) * 2.0**-52
        assert abs(mpmath.mpf(t) - mpmath.tanh(a)) <= abs(mpmath.tanh(a)) * 3 * 2.0**-52


class TestExtremeScales:
    @pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-150, 1e150, 1e300])
    def test_cosine_does_not_see_the_scale(self, scale):
        objects = np.random.default_rng(3).integers(-9, 10, size=(12, 9)) + 0.5
        small = K.Cosine().matrix(objects * scale)
        assert np.abs(small - K.Cosine().matrix(objects)).max() < (
            1e-2 if scale < 1e-310 else 1e-14
        )
        np.testing.assert_array_equal(np.diag(small), np.ones(12))

    def test_cosine_of_scales_far_apart(self):
        assert K.Cosine()([1e300, 1e300], [1e-300, 1e-300]) == pytest.approx(1.0, abs=1e-15)
        assert K.Cosine()([1e-320, 0.0], [0.0, 1e300]) == 0.0

    def test_cosine_is_symmetric_and_canonical_near_the_limits(self):
        pairs = [
            ([2.0**-399, 0.0], [2.0**-301 * 1.2345678901234567, 2.0**399]),
            ([1.5 * 2.0**-401] * 4 + [0.0], [2.0**-670 * 1.2345678901234567, 0.0, 0.0, 0.0, 1.0]),
            ([2.0**401, 1.0], [2.0**399, 2.0**-600]),
        ]
        for x, y in pairs:
            assert K.Cosine()(x, y) == K.Cosine()(y, x) == oracle.canonical(K.Cosine(), x, y)
            assert K.Cosine()(x, y) == pytest.approx(float(oracle.exact(K.Cosine(), x, y)))

    @pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
    @pytest.mark.parametrize(
        "cls", [K.Gaussian, K.Laplacian, K.Epanechnikov, K.Triangular, K.Spherical]
    )
    def test_distance_kernels_do_not_see_a_scale_the_bandwidth_shares(self, cls, scale):
        x, y = [0.5, 1.0, -0.25], [0.25, 0.5, 0.125]
        scaled = cls(bandwidth=2.0 * scale)([a * scale for a in x], [a * scale for a in y])
        assert scaled == pytest.approx(cls(bandwidth=2.0)(x, y), rel=1e-13)

    @pytest.mark.parametrize(
        "cls", [K.Gaussian, K.Laplacian, K.Epanechnikov, K.Triangular, K.Spherical]
    )
    def test_distances_beyond_float64_are_just_far(self, cls):
        assert cls()([1e300], [-1e300]) == 0.0
        assert cls(bandwidth=1e-300)([1.0], [2.0]) == 0.0
        assert cls(bandwidth=1e308)([1.7e308], [-1.7e308]) < 0.2

    @pytest.mark.parametrize("bandwidth", [5e-324, 2.0**-1024, 2.0**-1022, 1e-310])
    @pytest.mark.parametrize(
        "cls", [K.Gaussian, K.Laplacian, K.Epanechnikov, K.Triangular, K.Spherical]
    )
    def test_subnormal_bandwidths(self, cls, bandwidth):
        kernel = cls(bandwidth=bandwidth)
        points = [[0.0], [5e-324], [1.0]]
        rows = [[oracle.canonical(kernel, x, y) for y in points] for x in points]
        assert kernel.matrix(points).tolist() == rows
        assert rows[0][0] == 1.0
        assert rows[0][2] == 0.0
        exact = float(oracle.exact(kernel, points[0], points[1]))
        assert rows[0][1] == pytest.approx(exact, rel=1e-14)

    def test_overflow_names_the_objects(self):
        with pytest.raises(KernelValueError, match=r"gives A\[1\] and B\[0\] the value inf"):
            K.Linear().matrix([[1.0], [1e300]], [[1e300], [1.0]])
        with pytest.raises(KernelValueError, match=r"gives x and y the value inf"):
            K.Exponential()([30.0], [30.0])

    def test_underflow_is_zero(self):
        assert K.Polynomial(degree=10)([1e-100], [1e-100]) == 0.0
        assert K.Gaussian()([0.0], [100.0]) == 0.0


class TestNormalized:
    def test_an_object_with_itself_is_exactly_one(self):
        objects = np.random.default_rng(4).normal(size=(200, 7)) * 1e3
        kernel = K.Normalized(K.Polynomial(degree=7, offset=0.3))
        np.testing.assert_array_equal(np.diag(kernel.matrix(objects)), np.ones(200))
        assert np.abs(kernel.matrix(objects)).max() == 1.0

    def test_zero_objects_give_zero(self):
        matrix = K.Normalized(K.Linear()).matrix([[0.0, 0.0], [1.0, 2.0]])
        np.testing.assert_array_equal(matrix, [[0.0, 0.0], [0.0, 1.0]])

    def test_negative_self_value_is_not_mercer(self):
        with pytest.raises(NotMercerError, match=r"K\(x, x\) = -0\.76.* for A\[0\]"):
            K.Normalized(K.Tanh(offset=-1.0)).matrix([[0.0], [1.0]])

    def test_self_value_lost_to_underflow_is_an_error(self):
        with pytest.raises(KernelValueError, match=r"K\(x, x\) = 1.*e-300 for A\[0\], which"):
            K.Normalized(K.Linear()).matrix([[1e-150]])
        for kernel in (
            K.Linear(),
            2.0 * K.Linear(),
            K.Polynomial(degree=3),
            K.Linear() + K.Polynomial(),
            K.Linear() * K.Gaussian(),
        ):
            with pytest.raises(KernelValueError, match=r"K\(x, x\) = 0\.0 for A\[1\], which"):
                K.Normalized(kernel).matrix([[0.0], [1e-200]])
            assert K.Normalized(kernel).matrix([[0.0]]).tolist() == [[0.0]]

    def test_zero_is_not_zero_where_the_kernel_has_an_offset(self):
        matrix = K.Normalized(K.Polynomial(degree=2, offset=0.5)).matrix([[0.0], [1.0]])
        np.testing.assert_array_equal(np.diag(matrix), [1.0, 1.0])

    def test_values_above_one_survive_for_kernels_that_are_not_mercer(self):
        kernel = K.Normalized(K.Polynomial(degree=1, offset=-1.0))
        assert kernel([2.0], [1.2]) > 1.2


def test_stated_errors_are_never_nan():
    """Factors so small that their product is 0, times an error that is infinite."""
    tiny = (5e-324 * K.Tanh()) * (5e-324 * K.Triangular()) * K.Linear()
    for kernel in (tiny, tiny + tiny, 2.0 * (tiny * tiny)):
        assert space([[1.0]], kernel).rounding == (math.inf, math.inf)


class TestInstructionSet:
    def test_the_best_one_is_the_default(self, monkeypatch):
        monkeypatch.delenv("FASTMKS_ISA", raising=False)
        assert chosen_isa() == _core.available_isas()[-1]

    def test_the_environment_forces_one(self, isa):
        assert space([[1.0]], K.Linear()).isa == isa

    def test_one_the_cpu_lacks_is_an_error(self, monkeypatch):
        monkeypatch.setenv("FASTMKS_ISA", "sse9")
        with pytest.raises(InvalidArgument, match=r"FASTMKS_ISA must be one of baseline.*'sse9'"):
            space([[1.0]], K.Linear())
