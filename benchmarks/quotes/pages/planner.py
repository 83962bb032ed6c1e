"""What docs/planner.md quotes."""

from benchmarks.quotes.quote import Quote, by_hand
from benchmarks.quotes.stored import Stored

__all__ = ["QUOTES"]


def _saved(stored: Stored) -> list[float]:
    """How many times fewer evaluations than the scan's pivots take on series."""
    rows = stored.rows("objects_pivots", problem="series")
    return [row.number("n_objects") / row.number("evaluations") for row in rows]


QUOTES = (
    Quote("planning takes some {} µs", by_hand("planning", "us")),
    Quote(
        "a factor of {} to {} on [series]",
        lambda stored: min(_saved(stored)),
        lambda stored: max(_saved(stored)),
    ),
)
