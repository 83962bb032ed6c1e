"""What docs/algorithm.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Row, Stored

__all__ = ["QUOTES"]

_HARD = "normal 10-d"


def _tree_bytes(stored: Stored) -> list[float]:
    return [_each(row, "tree_bytes") for row in stored.rows("growth_build")]


def _evaluations(stored: Stored, *, is_hard: bool) -> list[float]:
    rows = stored.rows("growth_build")
    return [_each(row, "evaluations") for row in rows if (row.text("series") == _HARD) == is_hard]


def _each(row: Row, name: str) -> float:
    return row.number(name) / row.number("n_objects")


QUOTES = (
    Stated("at most 96 bytes per object", "the layout of nodes and arrays of a tree"),
    Quote(
        "({} to {} in practice)",
        lambda stored: min(_tree_bytes(stored)),
        lambda stored: max(_tree_bytes(stored)),
    ),
    Quote(
        "some {} to {} evaluations per object",
        lambda stored: min(_evaluations(stored, is_hard=False)),
        lambda stored: max(_evaluations(stored, is_hard=False)),
    ),
    Quote(
        "{} to {} on normal data in ten dimensions",
        lambda stored: min(_evaluations(stored, is_hard=True)),
        lambda stored: max(_evaluations(stored, is_hard=True)),
    ),
    Quote(
        "take {} s to build, and a scan of them answers 100 queries in {} s",
        by_hand("equidistant tree", "build_seconds"),
        by_hand("equidistant tree", "scan_seconds"),
    ),
    Stated("4.3r for the recommended base 1.3", "base / (base - 1) for the base of the paper"),
    Stated("with base 1.3 two cousins", "the base, a setting"),
    Stated("kernels that cost more than 10 µs per call", "a limit of the code"),
    Stated("*Base 1.3* is", "the base, a setting"),
)
