"""The oracle is code too: its values against 60 digits, its comparer against planted errors."""

from types import SimpleNamespace

import numpy as np
import pytest

from fastmks import kernels as K
from support import oracle
from support.strategies import FAMILIES, KERNELS


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_canonical_values_are_close_to_the_formula(kernel):
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.normal(size=(2, 9)).tolist()
        exact = float(oracle.exact(kernel, x, y))
        assert oracle.canonical(kernel, x, y) == pytest.approx(exact, rel=1e-11, abs=1e-13)


def test_elementary_functions():
    for x in np.random.default_rng(1).uniform(-40, 40, 500).tolist():
        assert oracle.exp(x) == pytest.approx(np.exp(x), rel=3e-16)
        assert oracle.tanh(x) == pytest.approx(np.tanh(x), rel=1e-15)
    assert (oracle.exp(0.0), oracle.exp(-800.0), oracle.exp(800.0)) == (1.0, 0.0, np.inf)


def test_power_is_repeated_multiplication_for_exact_cases():
    assert [oracle.power(3.0, n) for n in range(1, 9)] == [3.0**n for n in range(1, 9)]


def test_ranking_breaks_ties_by_position():
    rows = oracle.ranked(K.Linear(), [1.0], [[1.0], [2.0], [1.0], [2.0]])
    assert rows == [(2.0, 1), (2.0, 3), (1.0, 0), (1.0, 2)]
    assert oracle.ranked(K.Linear(), [1.0], [[1.0], [2.0], [3.0]], among=[0, 1], skip=1) == [
        (1.0, 0)
    ]


@pytest.mark.parametrize("change", ["value", "index", "order"])
def test_the_comparer_sees_a_planted_error(change):
    values, indices = np.array([[2.0, 1.0]]), np.array([[1, 0]])
    rows = [[(2.0, 1), (1.0, 0)]]
    oracle.assert_identical(SimpleNamespace(values=values, indices=indices), rows)
    if change == "value":
        values = np.nextafter(values, 0.0)
    elif change == "index":
        indices = indices + 1
    else:
        values, indices = values[:, ::-1], indices[:, ::-1]
    with pytest.raises(AssertionError):
        oracle.assert_identical(SimpleNamespace(values=values, indices=indices), rows)


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_finite_and_of_the_right_shape(family):
    data = family(np.random.default_rng(2), 6, 5)
    assert data.shape == (6, 5)
    assert np.isfinite(data).all()
