"""What docs/your-own.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, percent
from benchmarks.quotes.stored import Row, Stored

__all__ = ["QUOTES"]


def _tree(stored: Stored, objects: str, k: int) -> Row:
    case = f"tree, {objects} in Python, k = {k}, beside the scan"
    return stored.row("objects_own", case=case)


def _share(stored: Stored, objects: str, k: int) -> float:
    row = _tree(stored, objects, k)
    return percent(row.number("evaluations") / row.number("scan_evaluations"))


def _others(stored: Stored) -> float:
    note = stored.note("objects_own", "others took ")
    return float(note.removesuffix("% of the machine meanwhile"))


QUOTES = (
    Stated("that begin at multiples of 64 bytes", "a promise of the code"),
    Quote("of which other processes took {} % meanwhile", _others),
    Stated("a function of about 20 µs", "how long the function of the benchmark is made to take"),
    Quote(
        "Of {} small sets, {} queries, k = 1, it evaluated {} % of the pairs in {} of the scan's "
        "time; at k = 10, {} %,",
        lambda stored: _tree(stored, "small sets", 1).number("n_objects"),
        lambda stored: _tree(stored, "small sets", 1).number("n_queries"),
        lambda stored: _share(stored, "small sets", 1),
        lambda stored: _tree(stored, "small sets", 1).number("ratio"),
        lambda stored: _share(stored, "small sets", 10),
    ),
    Quote(
        "of three-letter parts it evaluated {} % and {} %",
        lambda stored: _share(stored, "sentences", 1),
        lambda stored: _share(stored, "sentences", 10),
    ),
    Quote(
        "Building took {} and {} evaluations",
        lambda stored: _tree(stored, "small sets", 1).number("build_evaluations"),
        lambda stored: _tree(stored, "sentences", 1).number("build_evaluations"),
    ),
)
