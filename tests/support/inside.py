"""The inside of an index, for tests."""

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
