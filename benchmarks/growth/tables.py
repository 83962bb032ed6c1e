"""The tables about growth, made from kept cells."""

from collections.abc import Iterator, Sequence

from benchmarks.growth.curves import (
    DIMENSION,
    SIZE,
    Cost,
    Place,
    cells_at,
    curve_of,
    fit_ranges,
    greatest_k,
    places_of,
)
from benchmarks.growth.dimension_tables import dimension_tables
from benchmarks.kept import Kept
from benchmarks.race.cell import Cell, Figure
from benchmarks.race.entrant import NOT_INSTALLED
from benchmarks.race.names import AUTO, FILTER, MLPACK, SCAN, TREE, TREE_OF_ONE
from benchmarks.report import Check, markdown

__all__ = ["all_tables", "checks", "line_of"]

_ABOUT_FITS = (
    "Least squares in logarithms over the sizes measured, all of them and their upper half: b ± "
    "its standard error (95 % interval; number of sizes). The interval takes residuals as "
    "independent. An exponent describes growth over these sizes; it proves nothing about others."
)
_ABOUT_EVALUATIONS = (
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


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    cells, places = kept.cells, places_of(kept.cells, SIZE)
    parts = [kept.describe()]
    if places:
        parts += [
            "### Evaluations per query, as n^b",
            f"{_ABOUT_FITS} {_ABOUT_EVALUATIONS}",
            _exponent_table(cells, places, (TREE, TREE_OF_ONE, FILTER, MLPACK), _evaluations),
            "### Time per query, as n^b",
            _exponent_table(cells, places, (SCAN, TREE, FILTER, AUTO, MLPACK), _microseconds),
            "### What auto chose, by n",
            _ABOUT_CHOICES,
            _choice_table(cells, places),
            "### Building, by n",
            _ABOUT_BUILDING,
            _build_table(cells, places),
            "### Building, as n^b",
            _build_exponents(cells, places),
            *_failures(cells),
        ]
    parts += dimension_tables(cells, places_of(cells, DIMENSION))
    return "\n\n".join(parts)


def checks(cells: Sequence[Cell]) -> list[Check]:
    """Return what must hold: every answer of ours is the scan's, and none is missing."""
    ours = [one for cell in cells for one in cell.figures if one.is_ours]
    counts = {
        "queries with other ids than the scan's, ours": sum(one.differ or 0 for one in ours),
        "searches that failed, ours": sum(one.failure is not None for one in ours),
    }
    return [
        Check(claim=claim, value=float(value), limit=0.0, is_required=True)
        for claim, value in counts.items()
    ]


def line_of(cell: Cell) -> str:
    """Return one line about a cell that was just measured."""
    parts = [f"{cell.problem}, {cell.n_objects} objects, {cell.kernel}, k={cell.k}"]
    for one in cell.figures:
        if one.failure is None:
            engine = f" ({one.engine})" if one.name == AUTO else ""
            parts.append(f"{one.name.removeprefix('fastmks ')}{engine} {one.median_us:.3g} us")
        elif not one.failure.startswith(NOT_INSTALLED):
            parts.append(f"{one.name}: {one.failure}")
    wrong = sum(one.differ or 0 for one in cell.figures if one.is_ours)
    parts.append(f"{wrong} of ours differ" if wrong else "ours exact")
    return "; ".join(parts)


def _evaluations(figure: Figure) -> float | None:
    return figure.evaluations


def _microseconds(figure: Figure) -> float | None:
    return figure.median_us


def _build_evaluations(figure: Figure) -> float | None:
    return figure.build_evaluations


def _build_seconds(figure: Figure) -> float | None:
    return figure.build_seconds


def _n_bytes(figure: Figure) -> float | None:
    return figure.n_bytes


_BUILD_COLUMNS: tuple[tuple[str, str, Cost, float], ...] = (
    ("evaluations, tree", TREE, _build_evaluations, 1.0),
    ("mlpack", MLPACK, _build_evaluations, 1.0),
    ("µs, tree", TREE, _build_seconds, 1e6),
    ("mlpack", MLPACK, _build_seconds, 1e6),
    ("filter", FILTER, _build_seconds, 1e6),
    ("bytes, tree", TREE, _n_bytes, 1.0),
    ("filter", FILTER, _n_bytes, 1.0),
)


def _exponent_table(
    cells: Sequence[Cell], places: Sequence[Place], names: Sequence[str], cost: Cost
) -> str:
    head = ["series", "kernel", "k", "sizes", *(name.removeprefix("fastmks ") for name in names)]
    columns = [(name, cost) for name in names]
    rows = []
    for place in places:
        for span, laws in _law_rows(cells_at(cells, place), columns):
            rows.append([place.series, place.kernel, str(place.k), span, *laws])
    return markdown(head, rows)


def _build_exponents(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    columns = [one for one in _BUILD_COLUMNS if one[2] is not _n_bytes]
    costs = [(name, cost) for _, name, cost, _ in columns]
    rows = []
    for place in greatest_k(places):
        for span, laws in _law_rows(cells_at(cells, place), costs):
            rows.append([place.series, place.kernel, span, *laws])
    return markdown(["series", "kernel", "sizes", *(title for title, *_ in columns)], rows)


def _law_rows(
    cells: Sequence[Cell], columns: Sequence[tuple[str, Cost]]
) -> Iterator[tuple[str, list[str]]]:
    """Yield a row for all sizes and one for the upper half: a law for each entrant's cost."""
    fits = [fit_ranges(curve_of(cells, name, cost)) for name, cost in columns]
    for span in ("all", "upper half"):
        yield span, [str(laws[span] or "") for laws in fits]


def _choice_table(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    sizes = sorted({cell.n_objects for place in places for cell in cells_at(cells, place)})
    rows = []
    for place in places:
        shown = {cell.n_objects: _choice(cell) for cell in cells_at(cells, place)}
        chosen = [shown.get(size, "") for size in sizes]
        rows.append([place.series, place.kernel, str(place.k), *chosen])
    return markdown(["series", "kernel", "k", *map(str, sizes)], rows)


def _choice(cell: Cell) -> str:
    auto = cell.figure(AUTO)
    single = [cell.figure(name) for name in (SCAN, TREE, FILTER)]
    times = [one.median_us for one in single if one is not None and one.median_us]
    if auto is None or auto.median_us is None or not times:
        return ""
    return f"{auto.engine} {auto.median_us / min(times):.2f}"


def _build_table(cells: Sequence[Cell], places: Sequence[Place]) -> str:
    rows = []
    for place in greatest_k(places):
        mine = cells_at(cells, place)
        for cell in mine:
            if cell is mine[-1] or _is_power_of_ten(cell.n_objects):
                rows.append([place.series, place.kernel, str(cell.n_objects), *_build_cells(cell)])
    return markdown(["series", "kernel", "n", *(title for title, *_ in _BUILD_COLUMNS)], rows)


def _build_cells(cell: Cell) -> Iterator[str]:
    for _, name, cost, factor in _BUILD_COLUMNS:
        figure = cell.figure(name)
        total = None if figure is None or figure.failure is not None else cost(figure)
        yield "" if total is None else f"{factor * total / cell.n_objects:.3g}"


def _failures(cells: Sequence[Cell]) -> list[str]:
    """Return a line for each curve of mlpack that ends before the others."""
    found: dict[tuple[str, str], str] = {}
    for cell in sorted(cells, key=lambda cell: cell.n_objects):
        figure = cell.figure(MLPACK)
        if figure is not None and figure.failure is not None:
            line = f"mlpack, {cell.problem}, {cell.kernel}, {cell.n_objects} objects"
            found.setdefault((cell.problem, cell.kernel), f"{line}: {figure.failure}.")
    return ["\n".join(found.values())] if found else []


def _is_power_of_ten(number: int) -> bool:
    return str(number).strip("0") == "1"
