"""What docs/sequences.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand, percent
from benchmarks.quotes.stored import Row, Stored

__all__ = ["QUOTES"]


def _largest(stored: Stored, k: int) -> Row:
    return stored.row("objects_proteins", p=3, n_objects=10_000, k=k)


def _saved(stored: Stored, k: int) -> float:
    return percent(1 - 1 / _largest(stored, k).number("speedup"))


def _slower(stored: Stored) -> float:
    row = _largest(stored, 10)
    return row.number("seconds") / row.number("scan_seconds")


QUOTES = (
    Stated("about 8 bytes for each different p-gram", "a column and a count in float32"),
    Quote("({} million residues)", by_hand("rows of counts", "million_residues")),
    Quote(
        "p = 3, 4 and 6 take {}, {} and {} s:",
        by_hand("rows of counts", "wall_s_3"),
        by_hand("rows of counts", "wall_s_4"),
        by_hand("rows of counts", "wall_s_6"),
    ),
    Quote(
        "10 000 of these proteins take {} s and {} MB under `Mismatch(3, 1)`",
        by_hand("rows of mismatches", "seconds_3"),
        by_hand("rows of mismatches", "mb_3"),
    ),
    Quote(
        "5 000 take {} s and {} GB under `Mismatch(5, 1)`",
        by_hand("rows of mismatches", "seconds_5"),
        by_hand("rows of mismatches", "gb_5"),
    ),
    Quote(
        "it saves {} to {} per cent of the evaluations at n = 10 000 and takes {} times as long",
        lambda stored: _saved(stored, 10),
        lambda stored: _saved(stored, 1),
        _slower,
    ),
    Quote(
        "Building it takes about {}·n² evaluations",
        lambda stored: _largest(stored, 1).number("build_evaluations") / 10_000**2,
    ),
)
