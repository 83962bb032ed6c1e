"""Objects that can be added and removed one by one, and the engines of an index."""

import numpy as np

from support.inside import data_of
from support.kinds import KINDS

# The objects of a Gram matrix fit only each other: see test_precomputed.py.
SEPARATE = [kind for kind in KINDS if "Precomputed" not in repr(kind.kernel)]


def take(objects, positions):
    """Some of the objects of a kind, as the kind has them."""
    if isinstance(objects, list):
        return [objects[i] for i in positions]
    return objects[np.asarray(positions, dtype=np.int64)]


def algorithms(index):
    names = ["scan", "auto"]
    if data_of(index).space.is_mercer:
        names += ["tree", "dual-tree"]
    if data_of(index).engines.has_filter:
        names.append("filter")
    return names
