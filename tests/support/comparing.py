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


def assert_as_scan(search, *arguments, algorithm="filter", **options):
    """A search of an index finds what the scan finds; returns the hits."""
    hits = search(*arguments, algorithm=algorithm, **options)
    assert_identical(hits, search(*arguments, algorithm="scan", **options))
    return hits


def assert_same_found(found, wanted):
    """Check that two engines found the same positions and the same bits of their values."""
    if hasattr(wanted, "offsets"):
        np.testing.assert_array_equal(found.offsets, wanted.offsets)
    np.testing.assert_array_equal(found.positions, wanted.positions)
    np.testing.assert_array_equal(found.values.view(np.int64), wanted.values.view(np.int64))
