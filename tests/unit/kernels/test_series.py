"""The global alignment kernel, against the sum over all alignments in 40 digits."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument, KernelValueError
from fastmks import kernels as K
from support.inside import data_of

mpmath.mp.dps = 40
NUMBERS = st.sampled_from([0.0, -0.0, 0.5, 1.0, -3.25, 40.0, 1e-200, 1e160])
SERIES = st.lists(NUMBERS, min_size=1, max_size=9)


def exact(x, y, bandwidth, triangular=None):
    """Cuturi's recurrence, with the local kernel written out."""
    x, y = (np.asarray(s, dtype=float).reshape(len(s), -1) for s in (x, y))

    def local(i, j):
        square = sum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(x[i], y[j], strict=True))
        value = mpmath.exp(-square / (2 * mpmath.mpf(bandwidth) ** 2))
        if triangular is not None:
            value *= max(mpmath.mpf(0), 1 - mpmath.mpf(abs(i - j)) / triangular)
        return value / (2 - value)

    table = {(-1, -1): mpmath.mpf(1)}
    for i in range(len(x)):
        for j in range(len(y)):
            before = [table.get(at, 0) for at in ((i - 1, j - 1), (i - 1, j), (i, j - 1))]
            table[i, j] = local(i, j) * sum(before)
    return table[len(x) - 1, len(y) - 1]


@settings(max_examples=100)
@given(
    x=SERIES,
    y=SERIES,
    bandwidth=st.sampled_from([0.05, 1.0, 30.0, 1e200]),
    triangular=st.sampled_from([None, 1, 2, 4, 50]),
)
def test_every_alignment_is_counted(x, y, bandwidth, triangular):
    kernel = K.GlobalAlignment(bandwidth, triangular)
    rounding = data_of(Index([x, y], kernel)).space.rounding.relative
    roots = [mpmath.sqrt(exact(s, s, bandwidth, triangular)) for s in (x, y)]
    value = exact(x, y, bandwidth, triangular)
    assert abs(kernel(x, y) - value) <= rounding * roots[0] * roots[1]
    assert kernel(x, y) == kernel(y, x)
    normalized = K.Normalized(kernel)
    assert abs(normalized(x, y) - value / roots[0] / roots[1]) <= 3 * rounding
    assert normalized(x, x) == 1.0


def test_channels_are_compared_together():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)), rng.normal(size=(9, 3))
    assert K.GlobalAlignment(1.5)(x, y) == pytest.approx(float(exact(x, y, 1.5)), rel=1e-13)
    flat = [row.reshape(-1, 1) for row in rng.normal(size=(4, 7))]
    np.testing.assert_array_equal(
        K.GlobalAlignment(1.0).matrix(flat), K.GlobalAlignment(1.0).matrix([f[:, 0] for f in flat])
    )


def test_long_series_neither_overflow_nor_underflow():
    """1500 times: K(x, x) is about 2^3800, and K(x, y) far below 2^-1074 at small bandwidths."""
    x = np.zeros(1500)
    for bandwidth in (1.0, 1e-3):
        kernel = K.Normalized(K.GlobalAlignment(bandwidth))
        assert kernel(x, x) == 1.0
        assert kernel(x, x[:1499]) > 0.5
    # exp(-t) of 1500 pairs at t = 1: e^-1500 of the local kernel, times as many paths.
    near = K.Normalized(K.GlobalAlignment(1.0))(x, x + 1.0)
    assert 0.0 <= near < 1e-300
    with pytest.raises(
        KernelValueError, match=r"Normalized\(GlobalAlignment\(...\)\), which never"
    ):
        Index([x], K.GlobalAlignment(1.0)).search(x)


def test_values_are_the_same_on_every_cpu(isa):
    rng = np.random.default_rng(1)
    series = [rng.normal(size=(n, 2)) for n in (1, 5, 33, 64)]
    for kernel in (K.GlobalAlignment(0.7), K.Normalized(K.GlobalAlignment(0.7, triangular=20))):
        matrix = kernel.matrix(series)
        np.testing.assert_array_equal(matrix, matrix.T)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FASTMKS_ISA", "baseline")
            np.testing.assert_array_equal(matrix, kernel.matrix(series))


def test_ways_to_hand_over_series():
    rows = np.random.default_rng(2).normal(size=(5, 8))
    kernel = K.Normalized(K.GlobalAlignment(1.0))
    wanted = Index(rows, kernel).search(rows[2], k=5)
    for given_ in (list(rows), rows.tolist(), pd.DataFrame(rows), rows[:, :, None]):
        index = Index(given_, kernel)
        query = rows[2][None, :, None] if np.ndim(given_) == 3 else rows[2]
        np.testing.assert_array_equal(index.search(query, k=5).values, wanted.values)
    for query in (pd.Series(rows[2], index=pd.date_range("2020", periods=8)), list(rows[2])):
        np.testing.assert_array_equal(Index(rows, kernel).search(query, k=5).values, wanted.values)
    assert Index(rows, kernel).search(np.array([])).values.shape == (0, 1)
    whole = pd.DataFrame({"a": [1, 2], "b": [True, False]}).astype({"a": "Int64", "b": "boolean"})
    np.testing.assert_array_equal(kernel.matrix(whole), kernel.matrix([[1, 1], [2, 0]]))
    assert repr(Index(rows, kernel)).startswith("<Index: 5 series of 1 channel,")
    with pytest.raises(InvalidArgument, match="the objects they are compared with have 1"):
        Index(rows, kernel).search([np.ones((4, 2))])


def test_a_series_too_different_in_length_has_the_value_zero():
    kernel = K.GlobalAlignment(1.0, triangular=3)
    assert kernel(np.zeros(5), np.zeros(8)) == 0.0
    assert kernel(np.zeros(5), np.zeros(7)) > 0.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: K.GlobalAlignment(0.0), "bandwidth must be a positive finite number"),
        (lambda: K.GlobalAlignment(1e-305), "bandwidth must be at least 1e-300"),
        (lambda: K.GlobalAlignment(1.0, triangular=0), "triangular must be a whole number"),
        (lambda: K.GlobalAlignment(1.0, triangular=1.5), "triangular must be a whole number"),
    ],
)
def test_bad_parameters_are_named(make, words):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert words in str(error.value)
