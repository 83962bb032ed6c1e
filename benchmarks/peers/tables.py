"""The tables about the bars, built from stored cells and put into the documentation."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.peers import bars
from benchmarks.peers.bars import Bar, best_of, kind_of
from benchmarks.race.cell import Cell, Figure, count_wrong
from benchmarks.race.names import AUTO
from benchmarks.report import markdown, three_digits
from benchmarks.suite import Kept

_ABOUT_EVERYONE = (
    "Microseconds per query, median; in brackets the queries with a wrong answer, of those "
    "checked, where there are any. ~: measured once, since it is far slower. Fingerprints: single "
    "queries too."
)
_ABOUT_EXACTNESS = (
    "Queries with a wrong answer, of those checked, all cells together: at some rank the value is "
    "not that of the float64 truth. Ties, counted apart, are queries with other ids than the "
    "truth, but only among equal values."
)


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    cells = kept.cells
    largest = [cell for cell in cells if cell.batch == cell.n_queries]
    largest = [cell for cell in largest if cell.threads == 1] or largest
    parts = [
        kept.describe(),
        "### The bars",
        bar_table(kept),
        "### Speed-up over the best peer of the bar",
        "Of our fastest engine; in brackets its microseconds per query, and the best peer.",
        _ratio_table(cells),
        "### All entrants, the largest batch",
        _ABOUT_EVERYONE,
        *(_everyone_table(some) for some in _alike(_shown_in_full(cells))),
        "### Costs of our engines, the largest batch",
        _cost_table(largest),
        "### Costs of peers before the first query",
        _build_table(largest),
        "### Exactness of the answers",
        _ABOUT_EXACTNESS,
        _exactness_table(cells),
    ]
    return "\n\n".join(parts)


def bars_of(kept: Kept[Cell]) -> dict[str, list[Bar]]:
    """Return all bars, for our fastest engine and for the planner's choice."""
    has_tiles = bool(kept.circumstances.get("machine", {}).get("amx"))
    return {
        name: bars.find_bars(kept.cells, engine=engine, has_tiles=has_tiles)
        for name, engine in (("best engine", None), ("auto", AUTO))
    }


def bar_table(kept: Kept[Cell]) -> str:
    """Return each bar, for our fastest engine and for the planner's choice."""
    best, auto = ({bar.claim: bar for bar in some} for some in bars_of(kept).values())
    rows = []
    for claim in {**best, **auto}:
        one = best.get(claim) or auto[claim]
        needed = f"{'≤' if one.is_most else '≥'} {one.limit:g}"
        where = "geometric mean" if one.is_mean else one.worst[0]
        found = _bar_cells(best.get(claim)), _bar_cells(auto.get(claim))
        rows.append([claim, needed, *found[0], where, *found[1]])
    return markdown("bar|needed|best engine|met in|where it is worst|auto|met in", rows)


def _bar_cells(bar: Bar | None) -> list[str]:
    if bar is None:
        return ["", ""]
    shown, n_met = f"{bar.decisive:.3g}", sum(map(bar.meets, bar.values.values()))
    is_met = bar.meets(bar.decisive)
    return [shown if is_met else f"**{shown}**", f"{n_met} of {len(bar.values)}"]


def _ratio_table(cells: Sequence[Cell]) -> str:
    """Return a table: sets, kernels, batches and threads down; k across."""
    ks = sorted({cell.k for cell in cells})
    places = _in_order((cell.problem, cell.kernel, cell.batch, cell.threads) for cell in cells)
    by_place = {(c.problem, c.kernel, c.batch, c.threads, c.k): c for c in cells}
    rows = [[*place, *(_ratio(by_place.get((*place, k))) for k in ks)] for place in places]
    return markdown("|".join(["set|kernel|batch|threads", *(f"k = {k}" for k in ks)]), rows)


def _ratio(cell: Cell | None) -> str:
    ours = None if cell is None else best_of(cell.ours)
    if cell is None or ours is None:
        return ""
    peer = best_of(_bar_peers(cell))
    mine = f"{ours.name.removeprefix('fastmks ')} {three_digits(ours.median_us)}"
    if peer is None or ours.times_less is None:
        return mine
    return f"{ours.times_less:.3g} ({mine}; {peer.name} {three_digits(peer.median_us)})"


def _everyone_table(cells: Sequence[Cell]) -> str:
    names = _names(cells)
    rows = []
    for cell in cells:
        times = (_time(cell.figure(name)) for name in names)
        rows.append([cell.problem, cell.kernel, cell.k, cell.batch, cell.threads, *times])
    return markdown("|".join(["set|kernel|k|batch|threads", *names.values()]), rows)


def _time(one: Figure | None) -> str:
    if one is None:
        return ""
    if one.failure is not None:
        return one.failure.partition("\n")[0][:60]
    wrong = f" ({one.wrong} of {one.checked})" if one.wrong else ""
    return f"{'~' * (one.rounds == 1)}{three_digits(one.median_us)}{wrong}"


def _cost_table(cells: Sequence[Cell]) -> str:
    head = "set|kernel|k|engine|us / query|build s|MB beside the data|share of the data"
    rows = [
        [
            cell.problem,
            cell.kernel,
            cell.k,
            one.name.removeprefix("fastmks "),
            three_digits(one.median_us),
            f"{one.build_seconds or 0.0:.3f}",
            _megabytes(one),
            "?" if one.n_bytes is None else f"{one.n_bytes / bars.data_bytes(cell):.2f}",
            "-" if one.evaluations is None else f"{one.evaluations:.1f}",
            _share(bars.scan_share(cell, one)),
            _share(bars.work_share(cell, one)),
        ]
        for cell in cells
        for one in cell.ours
        if one.failure is None
    ]
    return markdown(f"{head}|evaluations / query|share of the scan's|all work, share", rows)


def _build_table(cells: Sequence[Cell]) -> str:
    rows = {}
    for cell in cells:
        for one in cell.figures:
            if not one.is_ours and one.failure is None:
                seconds = (f"{s or 0.0:.3f}" for s in (one.prepare_seconds, one.build_seconds))
                row = [cell.problem, cell.kernel, _title(one), *seconds, _megabytes(one)]
                rows[cell.problem, cell.kernel, one.name] = row
    return markdown("set|kernel|peer|preparation s|build s|MB beside the data", rows.values())


def _exactness_table(cells: Sequence[Cell]) -> str:
    """One line for each entrant, one column for each kernel and k."""
    columns = sorted({(cell.kernel, cell.k) for cell in cells})
    rows = []
    for name, title in _names(cells).items():
        row = [title]
        for column in columns:
            found = count_wrong([one for one in cells if (one.kernel, one.k) == column], name)
            ties = f", {found.ties} ties" if found and found.ties else ""
            row.append(f"{found.wrong} of {found.checked}{ties}" if found else "")
        rows.append(row)
    return markdown("|".join(["", *(f"{kernel}, k = {k}" for kernel, k in columns)]), rows)


def _names(cells: Iterable[Cell]) -> dict[str, str]:
    """Return all names and how they are shown: ours first, approximate ones last."""
    figures = [one for cell in cells for one in cell.figures]
    figures.sort(key=lambda one: (not one.is_ours, not one.is_exact))
    return {one.name: _title(one) for one in figures}


def _title(one: Figure) -> str:
    return one.name if one.is_exact else f"{one.name} (approximate)"


def _bar_peers(cell: Cell) -> list[Figure]:
    return [one for one in cell.figures if not one.is_ours and one.in_bar]


def _shown_in_full(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of the largest batch, and of single fingerprints: some take no batches."""
    return [cell for cell in cells if cell.batch == cell.n_queries or kind_of(cell) == "bits"]


def _alike(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return cells of one kind of rows and number of threads together: they have the same peers."""
    kinds = _in_order((kind_of(cell), cell.threads) for cell in cells)
    return [[cell for cell in cells if (kind_of(cell), cell.threads) == kind] for kind in kinds]


def _in_order(things: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(things))


def _megabytes(one: Figure) -> str:
    return "?" if one.n_bytes is None else f"{one.n_bytes / 1e6:.1f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3%}"
