"""Tables of the long programs: the paper's evaluation, growth, and the bars in short."""

from benchmarks.growth import tables as growth_tables
from benchmarks.kept import Kept
from benchmarks.paper import approximate
from benchmarks.paper import tables as paper_tables
from benchmarks.peers import tables as peer_tables
from benchmarks.quotes.stored import Stored
from benchmarks.race.cell import Cell, read_cell

__all__ = ["bars", "growth", "paper", "proteins"]


def bars(stored: Stored) -> str:
    """Return what peers.all_tables shows, in short."""
    return peer_tables.summary(_cells(stored, "peers_bars"))


def paper(stored: Stored) -> str:
    """Return everything about the paper's evaluation."""
    name = "paper_approximate"
    promises = Kept(name, stored.path(name), read=approximate.read)
    return paper_tables.all_tables(_cells(stored, "paper"), promises)


def proteins(stored: Stored) -> str:
    """Return the paper's experiment with proteins."""
    cells = _cells(stored, "paper").cells
    return paper_tables.protein_table([cell for cell in cells if cell.problem == "proteins"])


def growth(stored: Stored) -> str:
    """Return everything about growth."""
    return growth_tables.all_tables(_cells(stored, "growth"))


def _cells(stored: Stored, name: str) -> Kept[Cell]:
    stored.file(name)  # says so where it is not there
    return Kept(name, stored.path(name), read=read_cell)
