"""Select figures of entrants in the cells of the long programs."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.quotes.stored import Row, SelectionError, Stored
from benchmarks.race.names import AUTO, NUMPY, SCAN

__all__ = [
    "checked",
    "evaluations",
    "faster",
    "fewer",
    "geometric_mean",
    "microseconds",
    "over_numpy",
    "paper_cell",
    "paper_cells",
    "peer_cell",
    "rank_correlation",
    "slower",
    "times_less",
    "wrong",
]


def paper_cell(stored: Stored, problem: str, kernel: str, k: int) -> Row:
    """Return a cell of the paper's grid."""
    return stored.cell("paper", problem=problem, kernel=kernel, k=k)


def paper_cells(stored: Stored, **wanted: object) -> list[Row]:
    """Return cells of the paper's grid, proteins apart."""
    found = stored.file("paper").all("cells", **wanted)
    return [cell for cell in found if cell.text("facts", "section") == "vectors"]


def peer_cell(stored: Stored, problem: str, *, kernel: str = "linear", k: int = 10) -> Row:
    """Return the cell with the largest batch and one thread."""
    found = stored.file("peers_bars").all("cells", problem=problem, kernel=kernel, k=k, threads=1)
    whole = [cell for cell in found if cell.number("batch") == cell.number("n_queries")]
    if len(whole) != 1:
        raise SelectionError(f"peers_bars.json has {len(whole)} largest batches of {problem}.")
    return whole[0]


def evaluations(cell: Row, name: str) -> float:
    """Return the evaluations of an entrant for one query."""
    return cell.one("figures", name=name).number("evaluations")


def microseconds(cell: Row, name: str) -> float:
    """Return the time of an entrant for one query."""
    return cell.one("figures", name=name).number("median_us")


def fewer(cell: Row, name: str) -> float:
    """Return the scan's evaluations over those of an entrant."""
    return cell.number("n_objects") / evaluations(cell, name)


def faster(cell: Row, name: str, *, than: str = SCAN) -> float:
    """Return the time of another over that of an entrant."""
    return microseconds(cell, than) / microseconds(cell, name)


def slower(cell: Row, name: str, *, than: str = SCAN) -> float:
    """Return the time of an entrant over that of another."""
    return 1.0 / faster(cell, name, than=than)


def times_less(cell: Row) -> float:
    """Return how many times less than the best peer our fastest engine took."""
    ours = [one for one in cell.all("figures", is_ours=True) if one.has("median_us")]
    return min(ours, key=lambda one: one.number("median_us")).number("times_less")


def checked(cells: Sequence[Row], name: str) -> float:
    """Return how many answers of an entrant were checked."""
    return sum(one.number("checked") for one in _of(cells, name))


def wrong(cells: Sequence[Row], name: str) -> float:
    """Return how many queries an entrant answered wrongly, ties apart."""
    return sum(one.number("differ") - one.number("ties") for one in _of(cells, name))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def rank_correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return Spearman's correlation: that of the ranks, equal values sharing theirs."""
    return float(np.corrcoef(_ranks(xs), _ranks(ys))[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[places])


def over_numpy(cells: Sequence[Row]) -> list[float]:
    """Return numpy's time over that of auto, in each cell that has both."""
    both = [cell for cell in cells if _of([cell], NUMPY)]
    return [faster(cell, AUTO, than=NUMPY) for cell in both]


def _of(cells: Sequence[Row], name: str) -> list[Row]:
    """Return the figures of an entrant, where it had answers."""
    found = []
    for cell in cells:
        figures = [one for one in cell.all("figures") if one.text("name") == name]
        found += [one for one in figures if one.has("checked")]
    return found
