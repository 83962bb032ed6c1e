"""The tables about growth: costs, and the laws that were fitted to them."""

from collections.abc import Iterator, Sequence

from benchmarks.growth.curves import (
    DIMENSION,
    SIZE,
    Place,
    Points,
    cells_at,
    curve_of,
    fit_exponential,
    fit_power,
    greatest_k,
    places_of,
    upper_half,
)  # fmt: skip
from benchmarks.race.cell import Cell
from benchmarks.race.names import AUTO, FILTER, MLPACK, SCAN, TREE, TREE_OF_ONE
from benchmarks.report import markdown, three_digits
from benchmarks.suite import Kept

_ABOUT_FITS = (
    "Least squares in logarithms over the sizes measured, all of them and their upper half: b ± "
    "its standard error (95 % interval; number of sizes). The interval takes residuals as "
    "independent. An exponent describes growth over these sizes; it proves nothing about others. "
    "The scan's are n. The filter's bounds cost multiply-adds, which are not among its "
    "evaluations. The tree chooses its blocks by measured costs; with blocks of one its "
    "evaluations compare with mlpack's base cases."
)
_ABOUT_CHOICES = (
    "The engine that auto searched with, and its time over that of the fastest single engine."
)
_ABOUT_BUILDING = (
    "Costs for each object, one thread. Bytes are those of the tree or filter, beside the objects."
)
_ABOUT_DIMENSIONS = (
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
_EVALUATIONS = [(name, "evaluations") for name in (TREE, TREE_OF_ONE, FILTER, MLPACK)]
_TIMES = [(name, "median_us") for name in (SCAN, TREE, FILTER, AUTO, MLPACK)]
_BUILDING = {  # by the title of their column
    "evaluations, tree|mlpack": [(name, "build_evaluations") for name in (TREE, MLPACK)],
    "µs, tree|mlpack|filter": [(name, "build_seconds") for name in (TREE, MLPACK, FILTER)],
    "bytes, tree|filter": [(name, "n_bytes") for name in (TREE, FILTER)],
}


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    cells, places = kept.cells, places_of(kept.cells, SIZE)
    parts = [kept.describe()]
    if places:
        built = [one for some in list(_BUILDING.values())[:2] for one in some]
        sizes = "series|kernel|k|sizes"
        parts += [
            "### Evaluations per query, as n^b",
            _ABOUT_FITS,
            _exponents(cells, places, f"{sizes}|{_names(_EVALUATIONS)}", _EVALUATIONS),
            "### Time per query, as n^b",
            _exponents(cells, places, f"{sizes}|{_names(_TIMES)}", _TIMES),
            "### What auto chose, by n",
            _ABOUT_CHOICES,
            _choices(cells, places),
            "### Building, by n",
            _ABOUT_BUILDING,
            _building(cells, places),
            "### Building, as n^b",
            _exponents(
                cells,
                greatest_k(places),
                "series|kernel|sizes|" + "|".join(list(_BUILDING)[:2]),
                built,
            ),
            *_failures(cells),
        ]
    if places := places_of(cells, DIMENSION):
        parts += [
            "### Costs by intrinsic dimension",
            _ABOUT_DIMENSIONS,
            _costs(cells, places),
            "### Laws of the intrinsic dimension",
            _ABOUT_LAWS,
            _laws(cells, places),
        ]
    return "\n\n".join(parts)


def _brief(name: str) -> str:
    return name.removeprefix("fastmks ")


def _names(columns: Sequence[tuple[str, str]]) -> str:
    return "|".join(_brief(name) for name, _ in columns)


def _exponents(
    cells: Sequence[Cell], places: Sequence[Place], head: str, columns: Sequence[tuple[str, str]]
) -> str:
    """A row for all sizes and one for the upper half: a law for each entrant's cost."""
    rows = []
    for place in places:
        mine = cells_at(cells, place)
        known = [place.series, place.kernel, *([place.k] if "|k|" in head else [])]
        curves = [curve_of(mine, *column) for column in columns]
        for span, some in (("all", curves), ("upper half", map(upper_half, curves))):
            rows.append([*known, span, *(fit_power(points) or "" for points in some)])
    return markdown(head, rows)


def _choices(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    sizes = sorted({cell.n_objects for place in places for cell in cells_at(cells, place)})
    rows = []
    for place in places:
        shown = {cell.n_objects: _choice(cell) for cell in cells_at(cells, place)}
        chosen = [shown.get(size, "") for size in sizes]
        rows.append([place.series, place.kernel, place.k, *chosen])
    return markdown(f"series|kernel|k|{'|'.join(map(str, sizes))}", rows)


def _choice(cell: Cell) -> str:
    times = [us for name in (SCAN, TREE, FILTER) if (us := cell.get(name, "median_us"))]
    mine = cell.get(AUTO, "median_us")
    return f"{cell.get(AUTO, 'engine')} {mine / min(times):.2f}" if mine and times else ""


def _building(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    rows = []
    for place in greatest_k(places):
        mine = cells_at(cells, place)
        for cell in mine:
            if cell is mine[-1] or str(cell.n_objects).strip("0") == "1":
                row = [_each(cell, *one) for some in _BUILDING.values() for one in some]
                rows.append([place.series, place.kernel, cell.n_objects, *row])
    return markdown(f"series|kernel|n|{'|'.join(_BUILDING)}", rows)


def _each(cell: Cell, name: str, field: str) -> str:
    total = cell.get(name, field)
    factor = 1e6 if field == "build_seconds" else 1.0
    return "" if total is None else f"{factor * total / cell.n_objects:.3g}"


def _failures(cells: Sequence[Cell]) -> list[str]:
    """Return a line for each curve of mlpack that ends before the other curves."""
    found: dict[tuple[str, str], str] = {}
    for cell in sorted(cells, key=lambda cell: cell.n_objects):
        figure = cell.figure(MLPACK)
        if figure is not None and figure.failure is not None:
            line = f"mlpack, {cell.problem}, {cell.kernel}, {cell.n_objects} objects"
            found.setdefault((cell.problem, cell.kernel), f"{line}: {figure.failure}.")
    return ["\n".join(found.values())] if found else []


def _costs(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    head = "n|kernel|k|d|evaluations, tree|blocks of one|filter|µs, scan|tree|filter|auto"
    rows = []
    for place in places:
        for cell in cells_at(cells, place):
            built = cell.get(TREE, "build_evaluations")
            costs = [cell.get(*one) for one in (*_EVALUATIONS[:3], *_TIMES[:4])]
            costs += [cell.get(TREE, "build_seconds"), built and built / cell.n_objects]
            known = [cell.n_objects, cell.kernel, cell.k, cell.facts["dimension"]]
            shown = [three_digits(cost, none="") for cost in costs]
            rows.append([*known, *shown, cell.get(AUTO, "engine") or ""])
    return markdown(f"{head}|tree: build s|build evaluations / object|auto chose", rows)


def _laws(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    rows = []
    for place in places:
        mine = cells_at(cells, place)
        for name, field in (*_EVALUATIONS[:3], *_TIMES[:4], (TREE, "build_evaluations")):
            what = {"median_us": "time"}.get(field, field.replace("_", " "))
            for points in _ranges(mine, name, curve_of(mine, name, field)):
                span = f"{points[0][0]:.0f} to {points[-1][0]:.0f}" if points else ""
                if law := list(_law(points)):
                    known = [mine[0].n_objects, place.kernel, what, _brief(name), span]
                    rows.append([*known, *law])
    return markdown("n|kernel|what|engine|d|d^b: b|R²|e^(c d): c|R²", rows)


def _ranges(cells: Sequence[Cell], name: str, points: Points) -> list[Points]:
    """Return all points, and those before evaluations level off, where these are fewer."""
    steep = {
        float(cell.facts["dimension"])
        for cell in cells
        if (cell.get(name, "evaluations") or 0.0) <= _HALF * cell.n_objects
    }
    some = [point for point in points if point[0] in steep]
    is_tree = name in (TREE, TREE_OF_ONE) and len(some) not in (0, len(points))
    return [points, some] if is_tree else [points]


def _law(points: Points) -> Iterator[str]:
    """Yield a power, its fit, an exponential and its fit, the better fit in bold."""
    power, exponential = fit_power(points), fit_exponential(points)
    if power is None or exponential is None:
        return
    best = max(power.r_squared or 0.0, exponential.r_squared or 0.0)
    for law in (power, exponential):
        fit = "" if law.r_squared is None else f"{law.r_squared:.3f}"
        yield from (str(law), f"**{fit}**" if fit and law.r_squared == best else fit)
