"""Kernels as values: equality, printing, checked parameters, facts and algebra."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmks import InvalidArgument, KernelValueError
from fastmks import kernels as K
from support import oracle
from support.strategies import COMBINED, KERNELS, LEAVES

EVERY_CLASS = (
    K.Cosine,
    K.Epanechnikov,
    K.Exponential,
    K.Gaussian,
    K.Laplacian,
    K.Linear,
    K.Polynomial,
    K.Spherical,
    K.Tanh,
    K.Triangular,
)


class TestValue:
    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_repr_evaluates_back(self, kernel):
        assert eval(repr(kernel), vars(K).copy()) == kernel

    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_copies_and_pickles_are_equal_with_equal_hashes(self, kernel):
        for twin in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
            assert twin == kernel
            assert hash(twin) == hash(kernel)

    def test_all_are_different(self):
        assert len(set(KERNELS)) == len(KERNELS)

    @pytest.mark.parametrize("cls", EVERY_CLASS)
    def test_immutable(self, cls):
        with pytest.raises(AttributeError):
            cls().bandwidth = 3.0

    def test_whole_numbers_and_numpy_numbers_are_the_same_parameters(self):
        assert K.Gaussian(2) == K.Gaussian(np.float32(2.0)) == K.Gaussian(2.0)
        assert repr(K.Polynomial(np.int64(3), np.float64(1))) == repr(K.Polynomial(3, 1.0))


class TestParameters:
    @pytest.mark.parametrize(
        "cls", [K.Gaussian, K.Laplacian, K.Epanechnikov, K.Triangular, K.Spherical]
    )
    @pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", None, True, 1j, 10**400])
    def test_bandwidth(self, cls, bad):
        with pytest.raises(
            InvalidArgument, match="bandwidth must be a positive finite number; got"
        ):
            cls(bandwidth=bad)

    @pytest.mark.parametrize("bad", [0, -2, 2.5, "3", None, True, 10_001])
    def test_degree(self, bad):
        with pytest.raises(
            InvalidArgument, match=r"degree must be a whole number from 1 to 10000; got"
        ):
            K.Polynomial(degree=bad)

    @pytest.mark.parametrize("make", [K.Polynomial, K.Tanh])
    def test_offset_and_scale(self, make):
        with pytest.raises(InvalidArgument, match="offset must be a finite number; got nan"):
            make(offset=math.nan)
        with pytest.raises(
            InvalidArgument, match=r"scale must be a positive finite number; got 0\.0"
        ):
            make(scale=0.0)

    def test_factor(self):
        for bad in (0.0, -1.0, math.inf):
            with pytest.raises(
                InvalidArgument, match="factor must be a positive finite number; got"
            ):
                bad * K.Linear()
        with pytest.raises(InvalidArgument, match="factor must be a positive finite number; got"):
            10**400 * K.Linear()
        with pytest.raises(TypeError):
            True * K.Linear()


class TestNames:
    @pytest.mark.parametrize("cls", EVERY_CLASS)
    def test_every_kernel_has_its_name(self, cls):
        assert K.as_kernel(cls.__name__.lower()) == cls()
        assert K.as_kernel(cls.__name__.upper()) == cls()

    def test_all_names_are_listed(self):
        assert set(K.KERNEL_NAMES) >= {cls.__name__.lower() for cls in EVERY_CLASS}

    def test_a_near_miss_gets_a_hint(self):
        with pytest.raises(InvalidArgument, match=r"got 'gausian'. Did you mean 'gaussian'\?"):
            K.as_kernel("gausian")

    @pytest.mark.parametrize("bad", [None, 3, "", ["linear"]])
    def test_anything_else_is_an_error(self, bad):
        with pytest.raises(
            InvalidArgument, match="kernel must be a kernel from fastmks.kernels, a function"
        ):
            K.as_kernel(bad)

    def test_a_derived_class_is_refused_even_under_a_known_name(self):
        for name in ("MyLinear", "Gaussian"):
            derived = type(name, (K.Linear,), {})()
            with pytest.raises(InvalidArgument, match=f"of the derived class {name}"):
                derived.matrix([[1.0]])

    def test_a_class_is_not_a_kernel(self):
        with pytest.raises(InvalidArgument, match=r"not its class. Write Gaussian\(\.\.\.\)"):
            K.as_kernel(K.Gaussian)


class TestAlgebra:
    def test_sums_and_products_are_flat(self):
        a, b, c = K.Linear(), K.Cosine(), K.Gaussian()
        assert (a + b) + c == a + (b + c) == K.Sum((a, b, c))
        assert (a * b) * c == a * (b * c) == K.Product((a, b, c))

    def test_nested_sums_and_products_are_flattened(self):
        a, b, c = K.Linear(), K.Cosine(), K.Gaussian()
        for kernel in (K.Sum((a, K.Sum((b, c)))), K.Product((a, K.Product((b, c))))):
            assert eval(repr(kernel), vars(K).copy()) == kernel

    def test_sum_of_a_list(self):
        assert sum([K.Linear(), K.Cosine()]) == K.Linear() + K.Cosine()
        with pytest.raises(TypeError):
            1 + K.Linear()

    def test_precedence_is_printed(self):
        kernel = 2.0 * ((K.Linear() + K.Cosine()) * (3.0 * K.Gaussian()))
        assert repr(kernel) == ("2.0 * ((Linear() + Cosine()) * (3.0 * Gaussian(bandwidth=1.0)))")

    def test_numbers_stand_on_either_side_and_may_be_numpys(self):
        assert K.Linear() * 2 == 2 * K.Linear() == np.float64(2.0) * K.Linear()

    @pytest.mark.parametrize("bad", ["2", None, [1.0], np.ones(3)])
    def test_other_things_do_not_combine(self, bad):
        with pytest.raises(TypeError):
            K.Linear() + bad
        with pytest.raises(TypeError):
            bad * K.Linear()

    def test_parts_must_be_kernels(self):
        with pytest.raises(InvalidArgument, match="each of terms must be a kernel"):
            K.Sum((K.Linear(), "cosine"))
        with pytest.raises(InvalidArgument, match="kernel must be a kernel"):
            K.Normalized("linear")
        with pytest.raises(InvalidArgument, match="factors must be a tuple of at least two"):
            K.Product((K.Linear(),))


class TestFacts:
    @pytest.mark.parametrize(
        ("kernel", "columns"),
        [
            (K.Linear(), math.inf),
            (K.Polynomial(3, 0.0), math.inf),
            (K.Polynomial(3, 2.0), math.inf),
            (K.Polynomial(3, -0.1), 0),
            (K.Cosine(), math.inf),
            (K.Tanh(), 0),
            (K.Exponential(), math.inf),
            (K.Gaussian(), math.inf),
            (K.Laplacian(), math.inf),
            (K.Epanechnikov(), 0),
            (K.Triangular(), 1),
            (K.Spherical(), 3),
            (K.Linear() + K.Triangular(), 1),
            (K.Spherical() * K.Gaussian(), 3),
            (2.0 * K.Tanh(), 0),
            (K.Normalized(K.Linear()), math.inf),
        ],
        ids=str,
    )
    def test_mercer(self, kernel, columns):
        assert kernel.mercer_columns == columns
        assert kernel.is_mercer == (columns == math.inf)

    @pytest.mark.parametrize("kernel", [k for k in KERNELS if k.mercer_columns >= 1], ids=str)
    @pytest.mark.parametrize("d", [1, 2, 3, 8])
    def test_gram_matrices_of_mercer_kernels_have_no_negative_eigenvalue(self, kernel, d):
        if d > kernel.mercer_columns:
            return
        gram = kernel.matrix(np.random.default_rng(d).normal(size=(80, d)))
        eigenvalues = np.linalg.eigvalsh(gram)
        assert eigenvalues[0] > -1e-12 * 80 * eigenvalues[-1]

    @pytest.mark.parametrize(
        ("kernel", "d"),
        [
            (K.Tanh(), 3),
            (K.Epanechnikov(bandwidth=2.0), 1),
            (K.Triangular(bandwidth=2.0), 2),
            (K.Polynomial(degree=3, offset=-1.0), 2),
        ],
        ids=str,
    )
    def test_counterexamples_of_those_that_are_not(self, kernel, d):
        gram = kernel.matrix(np.random.default_rng(0).normal(size=(200, d)))
        assert np.linalg.eigvalsh(gram)[0] < -0.01

    def test_spherical_is_not_mercer_on_the_corners_of_a_cube_in_eight_dimensions(self):
        corners = np.array(list(itertools.product([0.0, 1.0], repeat=8)))
        assert np.linalg.eigvalsh(K.Spherical(bandwidth=1.48).matrix(corners))[0] < -0.04

    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_normalised_means_one_or_zero_on_the_diagonal(self, kernel):
        objects = np.random.default_rng(5).normal(size=(30, 4))
        objects[0] = 0.0
        diagonal = set(np.diag(kernel.matrix(objects)).tolist())
        assert kernel.is_normalized == (diagonal <= {0.0, 1.0})

    @given(kernel=st.sampled_from(KERNELS), seed=st.integers(0, 2**32 - 1))
    def test_values_stay_in_range(self, kernel, seed):
        values = kernel.matrix(np.random.default_rng(seed).normal(size=(10, 5)))
        low, high = kernel.value_range
        assert low <= values.min()
        assert values.max() <= high

    def test_ranges_are_derived(self):
        assert (K.Gaussian() + 2.0 * K.Cosine()).value_range == (-2.0, 3.0)
        assert (K.Gaussian() * K.Cosine()).value_range == (-1.0, 1.0)
        assert (K.Linear() * K.Gaussian()).value_range == (-math.inf, math.inf)
        assert K.Normalized(K.Polynomial(2)).value_range == (0.0, 1.0)
        assert K.Normalized(K.Tanh()).value_range == (-math.inf, math.inf)


class TestEvaluation:
    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_matrix_is_the_oracles(self, kernel):
        rng = np.random.default_rng(6)
        A, B = rng.normal(size=(3, 9)), rng.normal(size=(5, 9))
        expected = [[oracle.canonical(kernel, a, b) for b in B.tolist()] for a in A.tolist()]
        assert kernel.matrix(A, B).tolist() == expected
        assert kernel(A[0], B[1]) == expected[0][1]

    @pytest.mark.parametrize("kernel", LEAVES + COMBINED, ids=str)
    def test_symmetric(self, kernel):
        matrix = kernel.matrix(np.random.default_rng(7).normal(size=(20, 13)) * 0.5)
        np.testing.assert_array_equal(matrix, matrix.T)

    def test_one_object_each(self):
        with pytest.raises(InvalidArgument, match=r"one object each; for more, use kernel.matrix"):
            K.Linear()([[1.0], [2.0]], [1.0])

    def test_errors_name_the_one_argument_there_is(self):
        with pytest.raises(InvalidArgument, match="A must be two-dimensional"):
            K.Linear().matrix([1.0, 2.0])
        with pytest.raises(KernelValueError, match=r"A\[1\] and A\[1\] the value inf"):
            K.Linear().matrix([[1.0], [1e300]])

    def test_columns_must_agree(self):
        with pytest.raises(InvalidArgument, match="A must have 3 columns.*got 2"):
            K.Linear().matrix([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
        with pytest.raises(InvalidArgument, match="x must have 3 columns.*got 2"):
            K.Linear()([1.0, 2.0], [1.0, 2.0, 3.0])
