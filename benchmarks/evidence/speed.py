"""Pictures of speed beside other libraries: where fastmks is faster, and where it is not."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.evidence.grids import SETS
from benchmarks.evidence.overview import BLUE, GREY, RED, medians_in, race_in, wrong_of
from benchmarks.pictures import make_panels, mark_plainly
from benchmarks.quotes.tables import Row, rows, show
from benchmarks.race.names import AUTO, TREE

_K = 10
_MARKS = {  # by kernel: its name, marker and colour
    "linear": ("inner product", "o", BLUE),
    "cosine": ("cosine", "D", "#E69F00"),
    "polynomial 10": ("10th power of the inner product", "^", "#009E73"),
    "spectrum 3": ("common substrings (Spectrum)", "s", "#56B4E9"),
    "tanimoto": ("Tanimoto", "X", "#CC79A7"),
}
_GRAPHS = (("Gowalla, cosine", "gowalla", "cosine"), ("GIST", "cifar10_gist384", "linear"))
_CHANGES = (
    ("adding", "faiss flat", "FAISS"),
    ("removing", "usearch, smallest graph", "usearch"),
)


def draw_speedups(results: Path, file: Path) -> None:
    """Draw times faster than the fastest other exact library: batches, and one query."""
    made = make_panels(2, 8.6, 5.2, n_columns=2, has_common_axes=True)
    if made is None:
        return
    figure, panels = made
    cells: dict[Any, list[Row]] = {}
    for row in rows(results, "peers_bars", k=_K, threads=1):
        is_single = row["batch"] == 1
        if is_single or row["batch"] == row["n_queries"]:
            cells.setdefault((is_single, row["problem"], row["kernel"]), []).append(row)
    places = {name: at for at, name in enumerate(SETS)}
    for (is_single, problem, kernel), found in cells.items():
        name, marker, colour = _MARKS[kernel]
        style: dict[str, Any] = {"marker": marker, "color": colour, "s": 45, "label": name}
        panels[is_single].scatter(race_in(found).times, places[problem], **style)
    for axes, title in zip(panels, ("many queries at once", "one query at a time"), strict=True):
        axes.axvspan(0.1, 1.0, color=GREY, alpha=0.6, linewidth=0, zorder=0)
        axes.set(xscale="log", xlim=(0.4, 1500.0), xlabel="times faster", title=title)
        axes.set_yticks(range(len(SETS)), SETS.values())
        axes.grid(visible=True, alpha=0.3)
        mark_plainly(axes.xaxis)
    panels[0].invert_yaxis()
    labels = {label: one for one, label in zip(*panels[0].get_legend_handles_labels(), strict=True)}
    figure.legend(labels.values(), labels, loc="outside lower center", ncols=3, fontsize="small")
    figure.savefig(file, dpi=150)


def draw_losses(results: Path, file: Path) -> None:
    """Draw what others do faster, as fastmks' speed in shares of theirs."""
    made = make_panels(1, 8.4, 4.2)
    if made is None:
        return
    figure, (axes,) = made
    found = sorted(_losses(results), key=lambda one: -one[1])
    axes.barh([name for name, _ in found], [share for _, share in found], color=RED)
    for at, (_, share) in enumerate(found):
        axes.text(share + 0.01, at, show(share, ".0%"), va="center")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(xlim=(0.0, 1.1), xlabel="speed of fastmks / speed of the one named after the colon")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)


def _losses(results: Path) -> Iterator[tuple[str, float]]:
    """Yield what is slower here, and our speed over the other's."""
    single = partial(rows, results, "peers_bars", k=_K, batch=1, threads=1)
    race = race_in(single(problem="movielens", kernel="linear"))
    yield "one query, 3706 vectors: FAISS", race.times
    for name, problem, kernel in _GRAPHS:
        found = single(problem=problem, kernel=kernel)
        (wrong, checked), times = wrong_of(found, "hnswlib"), medians_in(found)
        share = times["hnswlib"] / times[AUTO]
        yield f"one query, {name}: hnswlib, {show(wrong / checked, '.0%')} wrong", share
    living = partial(rows, results, "living", problem="decaying", dtype="float32")
    for section, other, name in _CHANGES:
        changed = living(section=section, case="one by one")
        rates = {row["contestant"]: row["objects_per_second"] for row in changed}
        share = rates["fastmks filter"] / rates[other]
        yield f"{section} vectors one by one: {name}", share
    for k in (1, 10):
        times = medians_in(rows(results, "paper", kernel="spectrum 1", n_objects=99_900, k=k))
        yield f"proteins, Spectrum(1), k = {k}: our own tree", times[TREE] / times[AUTO]
    (row,) = rows(results, "service", section="search", n_clients=1)
    yield "one query over HTTP: in the process", row["in the process"] / row["p50"]
    (row,) = rows(results, "scale", section="search", problem="mnist", batch=1, n_workers=2)
    alone, shards = (median(row["rounds"][name]) for name in ("one index, 1 thread", "sharded"))
    yield "one query, 2 Dask workers: one index", alone / shards
