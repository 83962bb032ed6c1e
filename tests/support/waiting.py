"""Waiting in tests: for a condition, however busy the machine is."""

import time

PATIENCE = 600.0  # seconds; only what hangs takes that long


def wait_until(is_so):
    """Return as soon as a condition holds."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)
