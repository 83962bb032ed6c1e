"""What docs/sequences.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand, percent
from benchmarks.quotes.stored import Row, Stored
from benchmarks.race.names import SCAN, TREE, TREE_OF_ONE

__all__ = ["QUOTES"]


_N = 10_000  # the largest set of which every program builds a tree


def _figure(stored: Stored, name: str, k: int) -> Row:
    cell = stored.cell("paper", problem="proteins", kernel="spectrum 3", n_objects=_N, k=k)
    return cell.one("figures", name=name)


def _saved(stored: Stored, k: int) -> float:
    return percent(1 - _figure(stored, TREE_OF_ONE, k).number("evaluations") / _N)


def _slower(stored: Stored) -> float:
    tree, scan = (_figure(stored, name, 10).number("median_us") for name in (TREE, SCAN))
    return tree / scan


QUOTES = (
    Stated("(120 seconds unless said otherwise)", "a setting of the program"),
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
        lambda stored: _figure(stored, TREE, 1).number("build_evaluations") / _N**2,
    ),
    Quote(
        "the k best: {} of 99 900 proteins under `Normalized(Spectrum(3))`, in {} ms a query where "
        "the scan takes {} ms",
        by_hand("normalised proteins", "lists_evaluations"),
        by_hand("normalised proteins", "lists_ms"),
        by_hand("normalised proteins", "scan_ms"),
    ),
)
