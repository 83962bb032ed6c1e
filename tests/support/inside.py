"""The inside of an index, for tests."""

import os
from contextlib import contextmanager

from fastmks.index.view import current_of


def snapshot_of(index):
    """Return the snapshot that the index searches now."""
    return current_of(index).snapshot


def store_of(objects):
    """Return the first store of objects."""
    return next(iter(objects.stores.values()))


def data_of(index):
    """Return the data of the largest segment."""
    return max(snapshot_of(index).segments, key=len).data


def pool_of(kernel):
    """Return the worker processes of a kernel in Python; None where it has none."""
    return kernel._pool  # noqa: SLF001, only a test asks which processes run


@contextmanager
def forced_isa(isa):
    """Use an instruction set during the block."""
    before = os.environ.get("FASTMKS_ISA")
    os.environ["FASTMKS_ISA"] = isa
    try:
        yield
    finally:
        os.environ.pop("FASTMKS_ISA")
        if before is not None:
            os.environ["FASTMKS_ISA"] = before
