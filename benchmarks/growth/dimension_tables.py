"""The tables about growth with the intrinsic dimension."""

from collections.abc import Iterator, Sequence

from benchmarks.growth.curves import Curve, Place, cells_at, curve_of, dimension_of
from benchmarks.growth.fit import Law, fit_exponential, fit_power
from benchmarks.race.cell import Cell, Figure
from benchmarks.race.names import AUTO, FILTER, SCAN, TREE, TREE_OF_ONE
from benchmarks.report import markdown

__all__ = ["dimension_tables"]

_ABOUT = (
    "Uniform in a cube of d dimensions around zero, turned into 32 columns; one thread. The last "
    "column names the engine that auto chose."
)
_ABOUT_LAWS = (
    "Each cost as a power d^b and as an exponential e^(c d), by least squares in logarithms: b or "
    "c ± its standard error (95 % interval; number of dimensions), and R² of the logarithms, the "
    "greater in bold. A tree that evaluates most objects can hardly get worse, so its laws are "
    "also fitted to the dimensions in which it evaluates at most half of them. This is growth as "
    "measured, from the least d to the greatest, and no law beyond them."
)
_HALF = 0.5  # of the objects: beyond, evaluations level off


def dimension_tables(cells: Sequence[Cell], places: Sequence[Place]) -> list[str]:
    """Return titles, words and tables; nothing where the dimension did not grow."""
    if not places:
        return []
    return [
        "### Costs by intrinsic dimension",
        _ABOUT,
        _cost_table(cells, places),
        "### Laws of the intrinsic dimension",
        _ABOUT_LAWS,
        _law_table(cells, places),
    ]


def _cost_table(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    head = ["n", "kernel", "k", "d", "evaluations, tree", "blocks of one", "filter"]
    head += ["µs, scan", "tree", "filter", "auto", "tree: build s", "build evaluations / object"]
    rows = []
    for place in places:
        for cell in cells_at(cells, place):
            known = [cell.n_objects, cell.kernel, cell.k, dimension_of(cell)]
            rows.append([*map(str, known), *_costs(cell), (_figure(cell, AUTO).engine or "")])
    return markdown([*head, "auto chose"], rows)


def _costs(cell: Cell) -> Iterator[str]:
    for name in (TREE, TREE_OF_ONE, FILTER):
        yield _number(_figure(cell, name).evaluations)
    for name in (SCAN, TREE, FILTER, AUTO):
        yield _number(_figure(cell, name).median_us)
    tree = _figure(cell, TREE)
    yield _number(tree.build_seconds)
    yield _number(None if tree.build_evaluations is None else _each(cell, tree.build_evaluations))


def _law_table(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    head = ["n", "kernel", "what", "engine", "d", "d^b: b", "R²", "e^(c d): c", "R²"]
    rows = []
    for place in places:
        mine = cells_at(cells, place)
        n_objects = str(mine[0].n_objects)
        for what, curve in _curves(mine):
            name = curve.name.removeprefix("fastmks ")
            for points in _ranges(curve, mine):
                laws = fit_power(points), fit_exponential(points)
                if laws[0] is not None and laws[1] is not None:
                    span = f"{points[0][0]:.0f} to {points[-1][0]:.0f}"
                    row = [n_objects, place.kernel, what, name, span]
                    rows.append([*row, *_law_cells(laws[0], laws[1])])
    return markdown(head, rows)


def _curves(cells: Sequence[Cell]) -> Iterator[tuple[str, Curve]]:
    for name in (TREE, TREE_OF_ONE, FILTER):
        yield "evaluations", curve_of(cells, name, lambda figure: figure.evaluations)
    for name in (SCAN, TREE, FILTER, AUTO):
        yield "time", curve_of(cells, name, lambda figure: figure.median_us)
    yield "build evaluations", curve_of(cells, TREE, lambda figure: figure.build_evaluations)


def _ranges(curve: Curve, cells: Sequence[Cell]) -> list[tuple[tuple[float, float], ...]]:
    """Return all points, and those before evaluations level off, where these are fewer."""
    steep = {
        float(dimension_of(cell))
        for cell in cells
        if (_figure(cell, curve.name).evaluations or 0.0) <= _HALF * cell.n_objects
    }
    some = tuple(point for point in curve.points if point[0] in steep)
    if curve.name not in (TREE, TREE_OF_ONE) or len(some) in (0, len(curve.points)):
        return [curve.points]
    return [curve.points, some]


def _law_cells(power: Law, exponential: Law) -> list[str]:
    best = max(power.r_squared or 0.0, exponential.r_squared or 0.0)
    cells = []
    for law in (power, exponential):
        fit = "" if law.r_squared is None else f"{law.r_squared:.3f}"
        cells += [str(law), f"**{fit}**" if fit and law.r_squared == best else fit]
    return cells


def _figure(cell: Cell, name: str) -> Figure:
    """Return what an entrant did, or a figure without figures."""
    found = cell.figure(name)
    return found or Figure(name=name, is_ours=True, in_bar=True, is_brute=False)


def _each(cell: Cell, total: float) -> float:
    return total / cell.n_objects


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100.0 else f"{value:.3g}"
