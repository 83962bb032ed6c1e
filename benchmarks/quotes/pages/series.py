"""What docs/series.md quotes."""

from benchmarks.quotes.quote import Quote
from benchmarks.quotes.stored import Row, Stored

__all__ = ["QUOTES"]


def _first(stored: Stored) -> Row:
    return stored.rows("objects_series")[0]


QUOTES = (
    Quote(
        "{} series of 96 samples of ElectricDevices, {} queries, k = {}",
        lambda stored: _first(stored).number("n_objects"),
        lambda stored: _first(stored).number("n_queries"),
        lambda stored: _first(stored).number("k"),
    ),
)
