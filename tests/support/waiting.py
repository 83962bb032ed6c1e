"""Waiting in tests: for a condition, however busy the machine is."""

import time

PATIENCE = 600.0  # seconds; only what hangs takes that long


def wait_until(is_so):
    """Return as soon as a condition holds."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)


def stop_after(n_calls):
    """A check of progress that stops the work at the next call, and the list of its calls."""
    calls = []

    def check():
        calls.append(1)
        if len(calls) > n_calls:
            raise TimeoutError("enough")

    return check, calls
