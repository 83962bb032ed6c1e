"""Pictures of growth: a panel for each set and kernel, a line for each entrant."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.growth.curves import (
    DIMENSION,
    SIZE,
    Place,
    cells_at,
    curve_of,
    greatest_k,
    places_of,
)
from benchmarks.growth.series import DIMENSIONS
from benchmarks.pictures import make_panels, mark_plainly, save_picture
from benchmarks.race.cell import Cell
from benchmarks.race.names import AUTO, FILTER, MLPACK, SCAN, TREE, TREE_OF_ONE

_PANEL_WIDTH, _PANEL_HEIGHT, _MORE_HEIGHT = 4.6, 2.5, 1.0  # inches
_N_COLUMNS = 2

# Colours that most colour-blind people tell apart (Okabe and Ito), markers for those who cannot.
_STYLES: dict[str, dict[str, Any]] = {
    SCAN: {"color": "#000000", "marker": "s"},
    TREE: {"color": "#009E73", "marker": "o"},
    TREE_OF_ONE: {"color": "#56B4E9", "marker": "v"},
    FILTER: {"color": "#E69F00", "marker": "D"},
    AUTO: {
        "color": "#CC79A7",
        "marker": "o",
        "linestyle": ":",
        "markersize": 10.0,  # a ring around the engine that it chose
        "fillstyle": "none",
        "markeredgewidth": 1.5,
        "zorder": 3,
    },
    MLPACK: {"color": "#D55E00", "marker": "x", "linestyle": "--"},
}


class _Picture(NamedTuple):
    """A picture: its file and texts, and the cost and entrants drawn for every place."""

    file: str
    title: str
    label: str
    cost: str  # a field of figures
    names: tuple[str, ...]


_EVALUATIONS = _Picture(
    "growth_evaluations.png",
    "Kernel evaluations per query",
    "evaluations per query",
    "evaluations",
    (SCAN, TREE, TREE_OF_ONE, FILTER, MLPACK),
)
_TIME = _Picture(
    "growth_time.png",
    "Time per query in one thread",
    "µs per query",
    "median_us",
    (SCAN, TREE, FILTER, AUTO, MLPACK),
)
_BUILD = _Picture(
    "growth_build.png",
    "Time to build in one thread",
    "seconds to build",
    "build_seconds",
    (TREE, FILTER, MLPACK),
)


def draw_all(cells: Sequence[Cell], folder: Path) -> None:
    """Write the pictures that have cells, for the greatest k of every set."""
    sizes = greatest_k(places_of(cells, SIZE))
    if sizes:
        for picture in (_EVALUATIONS, _TIME, _BUILD):
            panels = [(picture, place) for place in sizes]
            is_search = picture is not _BUILD
            k = f", k = {sizes[0].k}" if is_search else ""
            title = f"{picture.title} against the number of objects{k}"
            _draw(cells, panels, folder / picture.file, title, "objects")
    dimensions = greatest_k(places_of(cells, DIMENSION))
    if dimensions:
        panels = [(picture, place) for picture in (_EVALUATIONS, _TIME) for place in dimensions]
        title = f"Cost of a query against the intrinsic dimension, k = {dimensions[0].k}"
        _draw(cells, panels, folder / "growth_dimension.png", title, "intrinsic dimension")


def _draw(
    cells: Sequence[Cell],
    panels: Sequence[tuple[_Picture, Place]],
    file: Path,
    title: str,
    x_label: str,
) -> None:
    n_rows = -(-len(panels) // _N_COLUMNS)
    made = make_panels(
        len(panels),
        _N_COLUMNS * _PANEL_WIDTH,
        n_rows * _PANEL_HEIGHT + _MORE_HEIGHT,
        n_columns=_N_COLUMNS,
        has_common_axes=True,
    )
    if made is None:
        return
    figure, axes = made
    for one, (picture, place) in zip(axes, panels, strict=False):
        _draw_panel(one, cells_at(cells, place), picture)
        one.set(title=f"{place.series}, {place.kernel}", xlabel=x_label)
        if place.section == DIMENSION:
            _mark_dimensions(one)
    for one, (picture, _) in list(zip(axes, panels, strict=False))[::_N_COLUMNS]:
        one.set(ylabel=picture.label)
    for one in axes[len(panels) :]:
        one.set_visible(False)
    save_picture(figure, axes, file, title=title, ncols=3)


def _mark_dimensions(axes: Any) -> None:
    low, high = axes.get_xlim()
    inside = [dimension for dimension in DIMENSIONS if low <= dimension <= high]
    axes.set_xticks(inside, map(str, inside))
    axes.minorticks_off()


def _draw_panel(axes: Any, cells: Sequence[Cell], picture: _Picture) -> None:
    for name in picture.names:
        points = curve_of(cells, name, picture.cost)
        if points:
            axes.plot(*zip(*points, strict=True), label=name, **_STYLES[name])
    axes.set(xscale="log", yscale="log")
    mark_plainly(axes.yaxis)
    axes.grid(visible=True, alpha=0.3)
