"""Blocks of pages that programs write: which function makes each from the stored results."""

from collections.abc import Callable

from benchmarks.growth import tables as growth
from benchmarks.kept import Kept
from benchmarks.paper import approximate
from benchmarks.paper import tables as paper
from benchmarks.peers import tables as peers
from benchmarks.quotes.stored import Stored
from benchmarks.quotes.tables import by_hand, objects
from benchmarks.quotes.tables.living import living
from benchmarks.race.cell import Cell, read_cell

__all__ = ["BLOCKS", "Maker"]

Maker = Callable[[Stored], str]


def _peers(stored: Stored) -> str:
    return peers.all_tables(_cells(stored, "peers_bars"))


def _bars(stored: Stored) -> str:
    return peers.summary(_cells(stored, "peers_bars"))


def _paper(stored: Stored) -> str:
    name = "paper_approximate"
    promises = Kept(name, stored.path(name), read=approximate.read)
    return paper.all_tables(_cells(stored, "paper"), promises)


def _proteins(stored: Stored) -> str:
    cells = _cells(stored, "paper").cells
    return paper.protein_table([cell for cell in cells if cell.problem == "proteins"])


def _growth(stored: Stored) -> str:
    return growth.all_tables(_cells(stored, "growth"))


def _cells(stored: Stored, name: str) -> Kept[Cell]:
    return Kept(name, stored.path(name), read=read_cell)


BLOCKS: dict[tuple[str, str], Maker] = {  # by page and name
    ("docs/alignments.md", "alignments"): objects.alignments,
    ("docs/filter.md", "pivots"): objects.pivots,
    ("docs/filter.md", "thresholds"): by_hand.thresholds,
    ("docs/filter.md", "units"): by_hand.units,
    ("docs/fingerprints.md", "fingerprints"): objects.fingerprints,
    ("docs/graphs.md", "graphs"): objects.graphs,
    ("docs/hardness.md", "hardness"): by_hand.hardness,
    ("docs/living.md", "living"): living,
    ("docs/performance.md", "peers"): _peers,
    ("docs/results.md", "bars"): _bars,
    ("docs/results.md", "growth"): _growth,
    ("docs/results.md", "paper"): _paper,
    ("docs/sequences.md", "grams"): by_hand.grams,
    ("docs/sequences.md", "look-ups"): by_hand.look_ups,
    ("docs/sequences.md", "proteins"): _proteins,
    ("docs/series.md", "series"): objects.series,
    ("docs/your-own.md", "own"): objects.own,
}
