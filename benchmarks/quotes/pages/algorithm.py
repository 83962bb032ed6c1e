"""What docs/algorithm.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Stored

__all__ = ["QUOTES"]

_EASY = ("uniform 3-d", "galaxies", "covertype")
_HARD = ("normal 10-d",)


def _each(stored: Stored, name: str, problems: tuple[str, ...]) -> list[float]:
    """What trees over sets of all sizes took for each object."""
    return [
        cell.one("figures", name="fastmks tree").number(name) / cell.number("n_objects")
        for problem in problems
        for cell in stored.file("growth").all("cells", problem=problem, k=10)
    ]


QUOTES = (
    Stated("at most 96 bytes per object", "the layout of nodes and arrays of a tree"),
    Quote(
        "({} to {} in practice)",
        lambda stored: min(_each(stored, "n_bytes", _EASY + _HARD)),
        lambda stored: max(_each(stored, "n_bytes", _EASY + _HARD)),
    ),
    Quote(
        "some {} to {} evaluations per object",
        lambda stored: min(_each(stored, "build_evaluations", _EASY)),
        lambda stored: max(_each(stored, "build_evaluations", _EASY)),
    ),
    Quote(
        "{} to {} on normal data in ten dimensions",
        lambda stored: min(_each(stored, "build_evaluations", _HARD)),
        lambda stored: max(_each(stored, "build_evaluations", _HARD)),
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
