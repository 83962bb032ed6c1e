"""The promises of approximate answers, checked against exact ones."""

import math

import numpy as np


def assert_gap_is_true(got, exact):
    """No true k-th value lies above its gap; without a gap the answer is the scan's.

    A proven hit is the scan's of its rank.
    """
    assert (got.gap >= 0).all()
    assert (got.indices == exact.indices)[got.proven].all()
    assert (np.diff(got.proven.astype(int), axis=1) <= 0).all()  # the first ones of each row
    assert got.proven[got.gap == 0].all()
    for row, gap in enumerate(got.gap.tolist()):
        # exact in rationals: a gap is a float64 rounded up
        missed = math.fsum([exact.values[row, -1], -got.values[row, -1], -gap])
        assert missed <= 0
        if gap == 0:
            np.testing.assert_array_equal(got.indices[row], exact.indices[row])
            np.testing.assert_array_equal(
                got.values[row].view(np.int64), exact.values[row].view(np.int64)
            )


def assert_within(got, exact, *, epsilon=0.0, relative=0.0):
    for value, true in zip(got.values.ravel().tolist(), exact.values.ravel().tolist(), strict=True):
        allowed = epsilon + relative * abs(true)
        assert math.fsum([true, -value, -allowed]) <= 1e-15 * allowed
