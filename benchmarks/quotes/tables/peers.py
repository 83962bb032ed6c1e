"""Tables of the bars: everything, and the sparse sets by themselves."""

from benchmarks.kept import Kept
from benchmarks.kernels import COSINE, LINEAR, SPECTRUM
from benchmarks.peers.bars import best_of
from benchmarks.peers.cells import MAIN_K
from benchmarks.peers.tables import all_tables
from benchmarks.quotes.stored import Stored
from benchmarks.quotes.tables.written import brief
from benchmarks.race.cell import Cell, read_cell
from benchmarks.report import markdown

__all__ = ["peers", "sparse"]

_SPARSE = {  # by set and kernel
    ("20 newsgroups", LINEAR.name): "20 newsgroups, inner product",
    ("20 newsgroups", COSINE.name): "20 newsgroups, cosine",
    ("blog posts", LINEAR.name): "blog posts, inner product",
    ("blog posts", COSINE.name): "blog posts, cosine",
    ("proteins", SPECTRUM.name): "proteins, `Spectrum(3)`",
}
_BATCHES = {1: "one query", 100: "batch of 100", 1000: "batch of 1000"}


def peers(stored: Stored) -> str:
    """Return all tables of the program."""
    return all_tables(_kept(stored))


def sparse(stored: Stored) -> str:
    """Return microseconds of a query of sparse sets, and how many times less than the best peer."""
    cells = {
        (cell.problem, cell.kernel, cell.batch): cell
        for cell in _kept(stored).cells
        if cell.k == MAIN_K and cell.threads == 1
    }
    rows = []
    for place, title in _SPARSE.items():
        found = [_time(cells.get((*place, batch))) for batch in _BATCHES]
        if any(found):
            rows.append([title, *found])
    if not rows:
        return "These sets are not measured yet."
    return markdown(["µs a query, times less", *_BATCHES.values()], rows)


def _kept(stored: Stored) -> Kept[Cell]:
    return Kept("peers_bars", stored.path("peers_bars"), read=read_cell)


def _time(cell: Cell | None) -> str:
    """Return what our fastest engine takes."""
    best = best_of(one for one in cell.figures if one.is_ours) if cell is not None else None
    if best is None or best.median_us is None:
        return ""
    times = "" if best.times_less is None else f", {brief(best.times_less)}×"
    return brief(best.median_us) + times
