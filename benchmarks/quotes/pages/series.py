"""What docs/series.md quotes."""

from benchmarks.quotes.quote import Quote

__all__ = ["QUOTES"]

QUOTES = (
    Quote(
        "{} series of 96 samples of ElectricDevices, {} queries, k = {}",
        lambda stored: stored.common("objects_series", "n_objects"),
        lambda stored: stored.common("objects_series", "n_queries"),
        lambda stored: stored.common("objects_series", "k"),
    ),
)
