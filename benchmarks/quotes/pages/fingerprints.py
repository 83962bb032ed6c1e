"""What docs/fingerprints.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Row, Stored

__all__ = ["QUOTES"]


def _single(stored: Stored) -> Row:
    return stored.row("objects_fingerprints", contestant="fastmks, single queries", threads=1)


QUOTES = (
    Stated("166 bits packed into 21 bytes are 168", "arithmetic"),
    Quote(
        "{} molecules of MOSES, Morgan fingerprints of radius 2 and 2048 bits, top 10 of {} "
        "queries",
        lambda stored: stored.common("objects_fingerprints", "n_objects"),
        lambda stored: stored.common("objects_fingerprints", "n_queries"),
    ),
    Quote(
        "The filter evaluated {} of the {} objects a query",
        lambda stored: _single(stored).number("evaluations"),
        lambda stored: stored.common("objects_fingerprints", "n_objects"),
    ),
    Stated("Signatures take 32 bytes an object", "256 bits, as many as fit sets of this size"),
    Quote("took {} times the scan's time", by_hand("random fingerprints", "times")),
)
