"""The paper's two figures, their twins in time, and one about approximation."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.paper.approximate import ApproximateCell
from benchmarks.paper.tables import evaluation_speedup, time_speedup
from benchmarks.pictures import make_panels, save_picture
from benchmarks.race.cell import Cell
from benchmarks.race.names import AUTO, FILTER, MLPACK, NUMPY, TREE, TREE_OF_ONE

_Speedup: TypeAlias = Callable[[Cell, str], float | None]

_LEAST = 0.05  # slower than this is drawn as this
_BLUES = ("#9ecae1", "#6baed6", "#3182bd", "#08519c")  # k = 1, 2, 5, 10
_ORANGE = "#e6550d"
_MARKERS = {FILTER: ("D", _ORANGE), MLPACK: ("x", "#000000"), TREE: ("o", "#31a354")}
_MARKERS[NUMPY] = ("_", "#756bb1")
_PROMISED = {
    "epsilon": "promised error / median value",
    "relative": "promised relative error",
    "rank": "promised rank / objects",
    "budget": "budget / evaluations of the exact search",
}
# Of growing sets of proteins: what is drawn, and the entrants with the styles of their lines.
_PROTEINS: tuple[tuple[str, _Speedup, dict[str, str]], ...] = (
    ("evaluations", evaluation_speedup, {TREE_OF_ONE: "o-", FILTER: "D--"}),
    ("time", time_speedup, {TREE: "o-", AUTO: "D--"}),
)


def draw_all(cells: Sequence[Cell], promises: Sequence[ApproximateCell], folder: Path) -> None:
    """Write all pictures that have cells."""
    vectors = [cell for cell in cells if cell.facts.get("section") == "vectors"]
    grown = [cell for cell in cells if cell.facts.get("section") == "proteins"]
    fewer = "kernel evaluations of a linear scan / those of the search"
    faster = "time of fastmks' linear scan / that of the search"
    counted, timed = (TREE_OF_ONE, FILTER, MLPACK), (AUTO, TREE, MLPACK, NUMPY)
    if vectors:
        file = folder / "paper_evaluations.png"
        _draw_sets(vectors, file, evaluation_speedup, counted, fewer)
        _draw_sets(vectors, folder / "paper_times.png", time_speedup, timed, faster)
    if grown:
        _draw_proteins(grown, folder / "paper_proteins.png")
    if promises:
        _draw_promises(promises, folder / "paper_approximate.png")


def _draw_sets(
    cells: Sequence[Cell], file: Path, speedup: _Speedup, names: Sequence[str], title: str
) -> None:
    """A panel for each kernel, a group of bars for each set, a bar for each k; others as marks."""
    kernels = list(dict.fromkeys(cell.kernel for cell in cells))
    made = make_panels(len(kernels), 11.0, 3.1 * len(kernels) + 0.7)
    if made is None:
        return
    figure, panels = made
    for axes, kernel in zip(panels, kernels, strict=True):
        _draw_groups(axes, [one for one in cells if one.kernel == kernel], speedup, *names)
        axes.set_title(f"{kernel}: {title}", fontsize="medium")
    save_picture(figure, panels[-1:], file, fontsize="small", ncols=4)


def _draw_groups(
    axes: Any, cells: Sequence[Cell], speedup: _Speedup, bars: str, *marks: str
) -> None:
    ks = sorted({cell.k for cell in cells})
    labels = {c.problem: f"{c.problem}\n{c.n_objects} x {c.n_columns}" for c in reversed(cells)}
    sets = list(dict.fromkeys(cell.problem for cell in cells))
    width = 0.8 / len(ks)

    def heights(name: str, k: int) -> list[float | None]:
        mine = {cell.problem: speedup(cell, name) for cell in cells if cell.k == k}
        return [None if not (one := mine.get(name)) else max(one, _LEAST) for name in sets]

    for at, k in enumerate(ks):
        places = [x - 0.4 + (at + 0.5) * width for x in range(len(sets))]
        axes.bar(
            places,
            [height or 0.0 for height in heights(bars, k)],
            width * 0.95,
            color=_BLUES[-len(ks) :][at],
            label=f"{bars}, k = {k}",
        )
        for name in marks:
            marker, color = _MARKERS[name]
            points = [(x, y) for x, y in zip(places, heights(name, k), strict=True) if y]
            if points:
                style = {"marker": marker, "color": color, "s": 16, "zorder": 3}
                axes.scatter(*zip(*points, strict=True), label=name if at == 0 else None, **style)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(yscale="log", xlim=(-0.6, len(sets) - 0.4))
    axes.set_xticks(range(len(sets)), [labels[name] for name in sets], fontsize="x-small")
    axes.grid(visible=True, axis="y", alpha=0.3)


def _draw_proteins(cells: Sequence[Cell], file: Path) -> None:
    """The paper's second figure: speed-ups by the number of sequences, and below in time."""
    kernels = list(dict.fromkeys(cell.kernel for cell in cells))
    made = make_panels(2 * len(kernels), 4.2 * len(kernels), 7.0, n_columns=len(kernels))
    if made is None:
        return
    figure, panels = made
    for row, (what, speedup, styles) in enumerate(_PROTEINS):
        mine = panels[row * len(kernels) : (row + 1) * len(kernels)]
        for axes, kernel in zip(mine, kernels, strict=True):
            some = [cell for cell in cells if cell.kernel == kernel]
            for name, style in styles.items():
                _draw_lines(axes, some, speedup, name, style)
            axes.set(xlabel="sequences", yscale="log")
            axes.set_title(f"{kernel}, {what}", fontsize="medium")
            _dress(axes)
        mine[0].set_ylabel(f"the scan's {what} / theirs")
    save_picture(figure, panels[:: len(kernels)], file, fontsize="small", ncols=4)


def _draw_lines(axes: Any, cells: Sequence[Cell], speedup: _Speedup, name: str, style: str) -> None:
    ks = sorted({cell.k for cell in cells})
    is_tree = name in (TREE, TREE_OF_ONE)
    for at, k in enumerate(ks):
        mine = sorted((cell for cell in cells if cell.k == k), key=lambda cell: cell.n_objects)
        points = [(cell.n_objects, height) for cell in mine if (height := speedup(cell, name))]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                style,
                color=_BLUES[-len(ks) :][at] if is_tree else _ORANGE,
                alpha=1.0 if is_tree else 0.4 + 0.6 * (at + 1) / len(ks),
                markersize=4,
                label=f"{name.removeprefix('fastmks ')}, k = {k}",
            )


def _dress(axes: Any) -> None:
    axes.set_xscale("log")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.grid(visible=True, alpha=0.3)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter("")


def _draw_promises(cells: Sequence[ApproximateCell], file: Path) -> None:
    """Draw errors as shares of the promised limit, and costs, for each mode."""
    made = make_panels(2 * len(_PROMISED), 13.0, 7.0, n_columns=len(_PROMISED))
    if made is None:
        return
    figure, panels = made
    k = max(cell.k for cell in cells)
    mine = [cell for cell in cells if cell.k == k]
    colors = {name: f"C{at}" for at, name in enumerate(dict.fromkeys(c.problem for c in mine))}
    for column, (mode, promised) in enumerate(_PROMISED.items()):
        above, below = panels[column], panels[len(_PROMISED) + column]
        for cell in mine:
            _draw_outcomes(above, below, cell, mode, colors[cell.problem])
        above.set_title(mode)
        below.set(xlabel=promised, yscale="log")
        _dress(above)
        _dress(below)
    panels[0].set_ylabel("greatest seen / promised")
    panels[len(_PROMISED) - 1].set_ylabel("k-th value missed by / median value")
    panels[len(_PROMISED)].set_ylabel("evaluations / those of the exact search")
    title = f"approximate searches of the tree, k = {k}, one line for each set and kernel"
    save_picture(figure, panels[:1], file, title=title, fontsize="small", ncols=6)


def _draw_outcomes(above: Any, below: Any, cell: ApproximateCell, mode: str, color: str) -> None:
    outcomes = [one for one in cell.outcomes if one.mode == mode]
    unit = {"epsilon": cell.scale, "rank": cell.n_objects, "budget": cell.exact_evaluations}
    promises = [one.promise / unit.get(mode, 1.0) for one in outcomes]
    least = cell.scale or 1.0
    achieved = [one.greatest / (least if mode == "budget" else one.promise) for one in outcomes]
    costs = [one.evaluations / cell.exact_evaluations for one in outcomes]
    style = {"color": color, "markersize": 4, "linewidth": 1.0}
    line, label = "o-" if cell.kernel == "linear" else "s--", f"{cell.problem}, {cell.kernel}"
    for axes, heights in ((above, achieved), (below, costs)):
        axes.plot(promises, heights, line, label=label, **style)
