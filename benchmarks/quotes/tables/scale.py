"""The tables of shards on a cluster, and of the model of many machines."""

from benchmarks.kept import Kept
from benchmarks.quotes.stored import Stored
from benchmarks.scale.cell import read_cell
from benchmarks.scale.tables import all_tables

__all__ = ["scale"]


def scale(stored: Stored) -> str:
    """Return all tables of benchmarks.scale."""
    return all_tables(Kept("scale", stored.path("scale"), read=read_cell))
