"""The paper's two figures, their twins in time, and one about approximation."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.kernels import LINEAR
from benchmarks.paper.approximate import ApproximateCell
from benchmarks.paper.tables import evaluation_speedup, time_speedup
from benchmarks.pictures import make_panels, save_picture
from benchmarks.race.cell import Cell
from benchmarks.race.names import AUTO, FILTER, MLPACK, NUMPY, TREE, TREE_OF_ONE

_Speedup: TypeAlias = Callable[[Cell, str], float | None]

_LEAST = 0.05  # slower than this is drawn as this
_BLUES = ("#9ecae1", "#6baed6", "#3182bd", "#08519c")  # k = 1, 2, 5, 10
_MARKERS = {
    FILTER: ("D", "#e6550d"),
    MLPACK: ("x", "#000000"),
    TREE: ("o", "#31a354"),
    NUMPY: ("_", "#756bb1"),
}
_PROMISED = {
    "epsilon": "promised error / median value",
    "relative": "promised relative error",
    "rank": "promised rank / objects",
    "budget": "budget / evaluations of the exact search",
}


def draw_all(cells: Sequence[Cell], promises: Sequence[ApproximateCell], folder: Path) -> None:
    """Write all pictures for which there are cells."""
    vectors = [cell for cell in cells if cell.facts.get("section") == "vectors"]
    grown = [cell for cell in cells if cell.facts.get("section") == "proteins"]
    if vectors:
        _draw_sets(
            vectors,
            folder / "paper_evaluations.png",
            evaluation_speedup,
            bars=TREE_OF_ONE,
            marks=(FILTER, MLPACK),
            title="kernel evaluations of a linear scan / those of the search",
        )
        linear = [cell for cell in vectors if cell.kernel == LINEAR.name]
        for name, some in (("paper_times", vectors), ("paper_overview", linear)):
            if some:
                _draw_sets(
                    some,
                    folder / f"{name}.png",
                    time_speedup,
                    bars=AUTO,
                    marks=(TREE, MLPACK, NUMPY),
                    title="time of fastmks' linear scan / that of the search",
                )
    if grown:
        _draw_proteins(grown, folder / "paper_proteins.png")
    if promises:
        _draw_promises(promises, folder / "paper_approximate.png")


def _draw_sets(
    cells: Sequence[Cell],
    file: Path,
    speedup: _Speedup,
    *,
    bars: str,
    marks: Sequence[str],
    title: str,
) -> None:
    """A panel for each kernel, a group of bars for each set, a bar for each k."""
    kernels = list(dict.fromkeys(cell.kernel for cell in cells))
    made = make_panels(len(kernels), 11.0, 3.1 * len(kernels) + 0.7)
    if made is None:
        return
    figure, panels = made
    for axes, kernel in zip(panels, kernels, strict=True):
        mine = [cell for cell in cells if cell.kernel == kernel]
        _draw_groups(axes, mine, speedup, bars, marks)
        axes.set_title(f"{kernel}: {title}", fontsize="medium")
    handles, labels = panels[-1].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=4)
    save_picture(figure, file)


def _draw_groups(
    axes: Any, cells: Sequence[Cell], speedup: _Speedup, bars: str, marks: Sequence[str]
) -> None:
    ks = sorted({cell.k for cell in cells})
    rows = _ordered(cells)
    width = 0.8 / len(ks)
    for at, k in enumerate(ks):
        mine = {cell.problem: cell for cell in cells if cell.k == k}
        places = [x - 0.4 + (at + 0.5) * width for x in range(len(rows))]
        heights = [_height(mine.get(row), speedup, bars) for row in rows]
        shade = _BLUES[-len(ks) :][at]
        axes.bar(
            places,
            [height or 0.0 for height in heights],
            width * 0.95,
            color=shade,
            label=f"{bars}, k = {k}",
        )
        for name in marks:
            marker, color = _MARKERS[name]
            seen = [
                (x, _height(mine.get(row), speedup, name))
                for x, row in zip(places, rows, strict=True)
            ]
            points = [(x, height) for x, height in seen if height is not None]
            if points:
                label = name if at == 0 else None
                axes.scatter(
                    *zip(*points, strict=True),
                    marker=marker,
                    color=color,
                    s=16,
                    zorder=3,
                    label=label,
                )
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(yscale="log", xlim=(-0.6, len(rows) - 0.4))
    axes.set_xticks(range(len(rows)), [_label(cells, row) for row in rows], fontsize="x-small")
    axes.grid(visible=True, axis="y", alpha=0.3)


def _ordered(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.problem for cell in cells))


def _label(cells: Sequence[Cell], problem: str) -> str:
    cell = next(cell for cell in cells if cell.problem == problem)
    return f"{problem}\n{cell.n_objects} x {cell.n_columns}"


def _height(cell: Cell | None, speedup: _Speedup, name: str) -> float | None:
    value = None if cell is None else speedup(cell, name)
    return None if value is None else max(value, _LEAST)


def _draw_proteins(cells: Sequence[Cell], file: Path) -> None:
    """The paper's second figure: speed-ups by the number of sequences, and below in time."""
    kernels = list(dict.fromkeys(cell.kernel for cell in cells))
    made = make_panels(2 * len(kernels), 4.2 * len(kernels), 7.0, n_columns=len(kernels))
    if made is None:
        return
    figure, panels = made
    measures: Sequence[tuple[str, _Speedup, tuple[str, ...]]] = (
        ("evaluations", evaluation_speedup, (TREE_OF_ONE, FILTER)),
        ("time", time_speedup, (TREE, AUTO)),
    )
    for row, (what, speedup, names) in enumerate(measures):
        for column, kernel in enumerate(kernels):
            axes = panels[row * len(kernels) + column]
            mine = [cell for cell in cells if cell.kernel == kernel]
            for name, style in zip(names, ("o-", "D--"), strict=True):
                _draw_lines(axes, mine, speedup, name, style)
            axes.axhline(1.0, color="black", linewidth=0.8)
            axes.set(xscale="log", yscale="log", xlabel="sequences")
            axes.set_title(f"{kernel}, {what}", fontsize="medium")
            axes.grid(visible=True, alpha=0.3)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_minor_formatter("")
        panels[row * len(kernels)].set_ylabel(f"the scan's {what} / theirs")
    drawn = [panel.get_legend_handles_labels() for panel in panels[:: len(kernels)]]
    handles, labels = ([one for some in drawn for one in some[part]] for part in (0, 1))
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=4)
    save_picture(figure, file)


def _draw_lines(axes: Any, cells: Sequence[Cell], speedup: _Speedup, name: str, style: str) -> None:
    ks = sorted({cell.k for cell in cells})
    color = {FILTER: "#e6550d", AUTO: "#e6550d"}.get(name)
    for at, k in enumerate(ks):
        mine = sorted((cell for cell in cells if cell.k == k), key=lambda cell: cell.n_objects)
        points = [(cell.n_objects, height) for cell in mine if (height := speedup(cell, name))]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                style,
                color=color or _BLUES[-len(ks) :][at],
                alpha=1.0 if color is None else 0.4 + 0.6 * (at + 1) / len(ks),
                markersize=4,
                label=f"{name.removeprefix('fastmks ')}, k = {k}",
            )


def _draw_promises(cells: Sequence[ApproximateCell], file: Path) -> None:
    """What came true as a share of what was promised, and what it cost, for each mode."""
    made = make_panels(2 * len(_PROMISED), 13.0, 7.0, n_columns=len(_PROMISED))
    if made is None:
        return
    figure, panels = made
    k = max(cell.k for cell in cells)
    mine = [cell for cell in cells if cell.k == k]
    colors = {name: f"C{at}" for at, name in enumerate(dict.fromkeys(c.problem for c in mine))}
    for column, mode in enumerate(_PROMISED):
        above, below = panels[column], panels[len(_PROMISED) + column]
        for cell in mine:
            _draw_outcomes(above, below, cell, mode, colors[cell.problem])
        _dress(above, below, mode)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=6)
    figure.suptitle(f"approximate searches of the tree, k = {k}, one line for each set and kernel")
    save_picture(figure, file)


def _draw_outcomes(above: Any, below: Any, cell: ApproximateCell, mode: str, color: str) -> None:
    outcomes = [one for one in cell.outcomes if one.mode == mode]
    unit = {"epsilon": cell.scale, "rank": cell.n_objects, "budget": cell.exact_evaluations}
    promises = [one.promise / unit.get(mode, 1.0) for one in outcomes]
    if mode == "budget":
        achieved = [one.greatest / (cell.scale or 1.0) for one in outcomes]
    else:
        achieved = [one.greatest / one.promise for one in outcomes]
    costs = [one.evaluations / cell.exact_evaluations for one in outcomes]
    for axes, heights in ((above, achieved), (below, costs)):
        axes.plot(
            promises,
            heights,
            "o-" if cell.kernel == "linear" else "s--",
            color=color,
            markersize=4,
            linewidth=1.0,
            label=f"{cell.problem}, {cell.kernel}",
        )


def _dress(above: Any, below: Any, mode: str) -> None:
    is_first = mode == "epsilon"
    above.set_title(mode)
    if mode == "budget":
        above.set_ylabel("k-th value missed by / median value")
    elif is_first:
        above.set_ylabel("greatest seen / promised")
    below.set_xlabel(_PROMISED[mode])
    below.set_yscale("log")
    if is_first:
        below.set_ylabel("evaluations / those of the exact search")
    for axes in (above, below):
        axes.set_xscale("log")
        axes.axhline(1.0, color="black", linewidth=0.8)
        axes.grid(visible=True, alpha=0.3)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter("")
