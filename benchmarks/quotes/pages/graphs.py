"""What docs/graphs.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Row, Stored

__all__ = ["QUOTES"]


def _nci1(stored: Stored, kernel: str) -> Row:
    return stored.row("objects_graphs", problem="nci1", kernel=kernel, k=1)


def _deep(stored: Stored) -> Row:
    return _nci1(stored, "WeisfeilerLehman(iterations=5)")


def _slower(stored: Stored) -> list[float]:
    """How many times as long as the scan the tree takes, under normalised kernels."""
    return [
        row.number("seconds") / row.number("scan_seconds")
        for row in stored.rows("objects_graphs", problem="nci1")
        if row.text("kernel").startswith("Normalized")
    ]


def _faster(stored: Stored) -> list[float]:
    """How many times as long as inverted lists the scan takes."""
    return [
        row.number("scan_seconds") / row.number("lists_seconds")
        for row in stored.rows("objects_graphs", problem="nci1")
    ]


def _evaluated(stored: Stored) -> float:
    return max(
        row.number("lists_evaluations") / row.number("n_queries")
        for row in stored.rows("objects_graphs", problem="nci1", k=10)
    )


QUOTES = (
    Stated("(1, 1.0 and True are one label)", "a value"),
    Quote(
        "Nine tenths of NCI1 ({} molecules, about {3} nodes) take {} s with five iterations, "
        "{} s for shortest paths",
        lambda stored: _deep(stored).number("n_objects"),
        lambda stored: _deep(stored).number("n_nodes"),
        lambda stored: _deep(stored).number("read_seconds"),
        lambda stored: _nci1(stored, "ShortestPath()").number("read_seconds"),
    ),
    Quote("all features: {3} after five rounds", by_hand("features of NCI1", "n_features")),
    Quote(
        "NCI1, {} molecules searched for {} others",
        lambda stored: _deep(stored).number("n_objects"),
        lambda stored: _deep(stored).number("n_queries"),
    ),
    Quote(
        "`WeisfeilerLehman(2)` all {} queries",
        lambda stored: _deep(stored).number("n_queries"),
    ),
    Quote(
        "has a value of {} for the median query and the median molecule still {} (",
        by_hand("neighbours of molecules", "best_value"),
        by_hand("neighbours of molecules", "median_value"),
    ),
    Quote("at most {} molecules for the 10 best", _evaluated),
    Quote(
        "uses them: {} to {} times faster than the scan",
        lambda stored: min(_faster(stored)),
        lambda stored: max(_faster(stored)),
    ),
    Quote(
        "takes {} to {} times as long as the scan",
        lambda stored: min(_slower(stored)),
        lambda stored: max(_slower(stored)),
    ),
)
