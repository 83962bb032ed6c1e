"""The table of the service under load."""

from benchmarks.kept import Kept
from benchmarks.quotes.stored import Stored
from benchmarks.service.cell import read_cell
from benchmarks.service.tables import all_tables

__all__ = ["service"]


def service(stored: Stored) -> str:
    """Return all tables of benchmarks.service."""
    return all_tables(Kept("service", stored.path("service"), read=read_cell))
