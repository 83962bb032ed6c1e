"""Pictures of costs: how they grow, and what the paper's tree saves in evaluations and in time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.evidence.overview import BLUE, GREY
from benchmarks.pictures import make_panels, mark_plainly
from benchmarks.quotes.tables import Row, rows, show
from benchmarks.race.names import AUTO, MLPACK, SCAN, TREE

_K = 10
_LINES: dict[str, dict[str, Any]] = {
    SCAN: {"color": "#000000", "marker": "s", "label": "a scan of all objects"},
    MLPACK: {"color": "#D55E00", "marker": "x", "linestyle": "--", "label": "mlpack's tree"},
    TREE: {"color": "#009E73", "marker": "o", "label": "our tree"},
    AUTO: {"color": BLUE, "marker": "D", "label": "fastmks (auto)"},
}
_TREES = {TREE: ("our tree", "o", "#009E73"), MLPACK: ("mlpack's single tree", "x", "#D55E00")}


def draw_growth(results: Path, file: Path) -> None:
    """Draw the time of a query by the number of objects, and by the intrinsic dimension."""
    made = make_panels(3, 8.8, 3.9, n_columns=3, has_common_axes=True)
    if made is None:
        return
    figure, panels = made
    found = rows(results, "growth", kernel="linear", k=_K)
    cubes = [row for row in found if row["section"] == "dimension"]
    most = max(row["n_objects"] for row in cubes)
    cubes = [row for row in cubes if row["n_objects"] == most]
    series = ("galaxies", "decaying 64-d")
    for axes, problem in zip(panels, series, strict=False):
        _draw_lines(axes, [row for row in found if row["problem"] == problem], "n_objects")
    _draw_lines(panels[2], cubes, "dimension")
    titles = ("galaxies, 3 columns", "64 decaying axes", f"{show(most)} points")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(xscale="log", yscale="log", title=title, xlabel="objects")
        axes.grid(visible=True, alpha=0.3)
        mark_plainly(axes.yaxis)
    panels[2].set_xlabel("intrinsic dimension")
    mark_plainly(panels[2].xaxis)
    panels[0].set_ylabel("µs per query")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    figure.savefig(file, dpi=150)


def _draw_lines(axes: Any, found: Sequence[Row], across: str) -> None:
    for name, style in _LINES.items():
        mine = [row for row in found if row["name"] == name and "median_us" in row]
        points = sorted((row[across], row["median_us"]) for row in mine)
        if points:
            axes.plot(*zip(*points, strict=True), **style)


def draw_tree(results: Path, file: Path) -> None:
    """Draw what trees save in evaluations against what they save in time."""
    made = make_panels(1, 7.6, 4.6)
    if made is None:
        return
    figure, (axes,) = made
    found = [row for row in rows(results, "paper", section="vectors") if "median_us" in row]
    scan = {row["cell"]: row for row in found if row["name"] == SCAN}
    for name, (label, marker, colour) in _TREES.items():
        mine = [row for row in found if row["name"] == name and row.get("evaluations")]
        fewer = [row["n_objects"] / row["evaluations"] for row in mine]
        faster = [scan[row["cell"]]["median_us"] / row["median_us"] for row in mine]
        axes.scatter(fewer, faster, marker=marker, color=colour, s=22, alpha=0.7, label=label)
    axes.axhspan(1e-4, 1.0, color=GREY, alpha=0.6, linewidth=0, zorder=0)
    axes.plot([1.0, 3e4], [1.0, 3e4], color="black", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=(0.9, 4e4), ylim=(0.01, 3e3))
    axes.set(xlabel="times fewer evaluations than a scan", ylabel="times faster than a scan")
    axes.text(1.1, 0.013, "slower than a scan")
    axes.text(1500.0, 1700.0, "equal savings", ha="right")
    mark_plainly(axes.xaxis)
    mark_plainly(axes.yaxis)
    axes.legend(loc="lower right")
    figure.savefig(file, dpi=150)
