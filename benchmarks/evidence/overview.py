"""The picture of the README: time per query beside the fastest other library, by kind of data."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.pictures import make_panels
from benchmarks.quotes.tables import Row, rows, show
from benchmarks.race.names import AUTO

BLUE, GREY, RED = "#0072B2", "#d4d4d4", "#b8420a"
_K = 10
_HEIGHT = 0.38  # of a bar; a kind of data has the height 1
_SETS = {  # by problem, kernel and batch: the kind of data, and the set
    ("mnist", "linear", 5000): ("Images", "60 000 digits of MNIST"),
    ("gowalla", "linear", 5000): ("Recommendations", "40 981 places of Gowalla"),
    ("glove100_50k", "linear", 5000): ("Word vectors", "45 000 words of GloVe"),
    ("proteins", "spectrum 3", 1000): ("Proteins", "99 000 of Swiss-Prot"),
    ("fingerprints", "tanimoto", 1): ("Molecules", "200 000 of MOSES"),
    ("lcdm", "linear", 5000): ("Points in space", "1 230 904 galaxies"),
}
_TITLES = {  # of entrants whose names say too little
    "faiss flat": "FAISS",
    "faiss flat, tuned": "FAISS, tuned",
    "faiss panorama": "FAISS Panorama",
    "faiss panorama, rotated": "FAISS Panorama",
    "sklearn BallTree": "scikit-learn's ball tree",
    "sparse_dot_topn float32": "sparse_dot_topn",
}


class Race(NamedTuple):
    """fastmks and the fastest other exact entrant of a cell, in microseconds per query."""

    ours: float
    others: float
    name: str
    times: float  # as many times faster


def race_in(found: Sequence[Row]) -> Race:
    """Return the two sides of a cell, from its rows."""
    (ours,) = [row["median_us"] for row in found if row["name"] == AUTO]
    exact = [row for row in found if not row["is_ours"] and row.get("is_exact", True)]
    best = min((row for row in exact if "median_us" in row), key=lambda row: row["median_us"])
    return Race(ours, best["median_us"], best["name"], best["median_us"] / ours)


def medians_in(found: Sequence[Row]) -> dict[str, float]:
    """Return the microseconds per query of the entrants of a cell."""
    return {row["name"]: row["median_us"] for row in found if "median_us" in row}


def wrong_of(found: Sequence[Row], name: str) -> tuple[int, int]:
    """Return how many answers of an entrant are wrong, of those checked."""
    mine = [row for row in found if row["name"] == name and row.get("checked")]
    wrong = sum(row["differ"] - row["ties"] for row in mine)
    return wrong, sum(row["checked"] for row in mine)


def draw_overview(results: Path, file: Path) -> None:
    """Write the picture: two bars for each kind of data, in shares of the other's time."""
    made = make_panels(1, 9.0, 5.6)
    if made is None:
        return
    figure, (axes,) = made
    for at, ((problem, kernel, batch), (kind, members)) in enumerate(_SETS.items()):
        every = rows(results, "peers_bars", problem=problem)
        where = {"kernel": kernel, "batch": batch, "k": _K, "threads": 1}
        race = race_in([row for row in every if where.items() <= row.items()])
        share = race.ours / race.others
        axes.barh(at - 0.2, share, _HEIGHT, color=BLUE)
        axes.barh(at + 0.2, 1.0, _HEIGHT, color=GREY)
        ours = f"fastmks {_microseconds(race.ours)}"
        axes.text(share + 0.01, at - 0.2, ours, va="center", color=BLUE, weight="bold")
        others = f"{_TITLES.get(race.name, race.name)} {_microseconds(race.others)}"
        axes.text(0.01, at + 0.2, others, va="center")
        wrong, checked = wrong_of(every, race.name)
        if wrong:
            text = f"{show(wrong)} of {show(checked)} wrong"
            axes.text(0.99, at + 0.2, text, va="center", ha="right", color=RED, weight="bold")
        axes.text(
            1.02,
            at,
            f"{show(race.times, 'brief')}× faster",
            va="center",
            fontsize=14,
            weight="bold",
        )
        axes.text(-0.02, at - 0.16, kind, va="center", ha="right", fontsize=14, weight="bold")
        axes.text(-0.02, at + 0.22, members, va="center", ha="right", fontsize=10)
    axes.set(xlim=(0.0, 1.3), ylim=(len(_SETS) - 0.45, -0.55))
    axes.set_axis_off()
    title = "Time per query: fastmks and the fastest other exact library"
    figure.suptitle(title, fontsize=15, weight="bold")
    figure.savefig(file, dpi=150)


def _microseconds(value: float) -> str:
    return f"{show(value, 'brief')} µs"
