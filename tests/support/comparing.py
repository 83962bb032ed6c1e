"""Compare answers, bit for bit."""

import numpy as np


def assert_identical(got, wanted):
    """Same indices and same bits of the same values, for Hits and HitsAbove alike."""
    if hasattr(wanted, "offsets"):
        np.testing.assert_array_equal(got.offsets, wanted.offsets)
    np.testing.assert_array_equal(got.indices, wanted.indices)
    np.testing.assert_array_equal(got.ids, wanted.ids)
    assert got.values.dtype == wanted.values.dtype == np.float64
    np.testing.assert_array_equal(got.values.view(np.int64), wanted.values.view(np.int64))
