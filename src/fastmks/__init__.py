"""Exact max-kernel search: the k objects with the greatest kernel value, to the last bit.

Examples
--------
>>> import fastmks
>>> index = fastmks.Index([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]], kernel="linear")
>>> values, indices = index.search([[1.0, 2.0]], k=2)
>>> values
array([[4., 3.]])
"""

from fastmks._util.early_interrupt import heed_early_interrupts

heed_early_interrupts()  # before what takes long to import

from fastmks import kernels
from fastmks._core import version as __version__
from fastmks.analysis.hardness import Hardness, hardness
from fastmks.data.fasta import Fasta, read_fasta
from fastmks.engines.traversal import Traversal
from fastmks.engines.tree.tree import Tree
from fastmks.errors import (
    ClusterError,
    FastmksError,
    IndexFileError,
    InvalidArgument,
    KernelValueError,
    NotMercerError,
    ShardError,
)
from fastmks.index.hits import Hits, HitsAbove, Stats
from fastmks.index.index import Index
from fastmks.index.load import load
from fastmks.index.plan import Plan

__all__ = [
    "ClusterError",
    "Fasta",
    "FastmksError",
    "Hardness",
    "Hits",
    "HitsAbove",
    "Index",
    "IndexFileError",
    "InvalidArgument",
    "KernelValueError",
    "NotMercerError",
    "Plan",
    "ShardError",
    "Stats",
    "Traversal",
    "Tree",
    "__version__",
    "hardness",
    "kernels",
    "load",
    "read_fasta",
]
