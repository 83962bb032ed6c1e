"""The tables about the bars, made from stored cells and put into the documentation."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.kept import Kept
from benchmarks.peers.bars import (
    Bar,
    best_of,
    data_bytes,
    find_bars,
    kind_of,
    scan_share,
    work_share,
)
from benchmarks.race.cell import Cell, Figure
from benchmarks.race.names import AUTO
from benchmarks.report import markdown

__all__ = ["all_tables", "bar_table", "bars_of", "line_of", "summary"]

_K = 10  # what is shown where one k is
_ABOUT_EVERYONE = (
    "Microseconds per query, median; in brackets the queries with a wrong answer, of those "
    "checked, where there are any. ~: a first look, far behind. Fingerprints: single queries too."
)
_ABOUT_EXACTNESS = (
    "Queries with a wrong answer, of those checked, all cells together: at some rank the value is "
    "not that of the float64 truth. Ties, counted apart, are queries with other ids than the "
    "truth, but only among equal values."
)


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    cells = kept.cells
    largest = _largest_batch(cells)
    parts = [
        kept.describe(),
        "### The bars",
        bar_table(kept),
        "### Times less than the best peer of the bar",
        "Of our fastest engine; in brackets its microseconds per query, and the best peer.",
        _ratio_table(cells),
        "### Everyone, the largest batch",
        _ABOUT_EVERYONE,
        *(_everyone_table(some) for some in _alike(_shown_in_full(cells))),
        "### What ours costs, the largest batch",
        _cost_table([cell for cell in largest if cell.threads == 1] or largest),
        "### What peers cost before the first query",
        _build_table([cell for cell in largest if cell.threads == 1] or largest),
        "### Whose answers are the true ones",
        _ABOUT_EXACTNESS,
        _exactness_table(cells),
    ]
    return "\n\n".join(parts)


def summary(kept: Kept[Cell]) -> str:
    """Return the bars, the largest batch at k = 10, and whose answers are true."""
    shown = [cell for cell in _shown_in_full(kept.cells) if cell.threads == 1 and cell.k == _K]
    parts = [
        kept.describe(),
        bar_table(kept),
        f"**The largest batch, k = {_K}, one thread.** {_ABOUT_EVERYONE}",
        *(_everyone_table(some) for some in _alike(shown)),
        f"**Whose answers are the true ones.** {_ABOUT_EXACTNESS}",
        _exactness_table(kept.cells),
    ]
    return "\n\n".join(parts)


def line_of(cell: Cell) -> str:
    """Return one line about a cell that was just measured."""
    ours, peer = best_of(_ours(cell)), best_of(_bar_peers(cell))
    wrong = sum(one.differ or 0 for one in cell.figures if one.is_ours)
    failed = [
        f"{one.name}: {one.failure}" for one in cell.figures if one.failure and not one.is_refused
    ]
    parts = [str(cell.key)]
    for one in (ours, peer):
        if one is not None:
            parts.append(f"{one.name} {_us(one.median_us)} us")
    if ours is not None and ours.times_less is not None:
        parts.append(f"{ours.times_less:.2f} times less")
    parts.append(f"{wrong} of ours differ" if wrong else "ours exact")
    return "; ".join([*parts, *failed])


def bars_of(kept: Kept[Cell]) -> dict[str, list[Bar]]:
    """Return all bars, for our fastest engine and for the planner's choice."""
    has_tiles = bool(kept.circumstances.get("machine", {}).get("amx"))
    return {
        name: find_bars(kept.cells, engine=engine, has_tiles=has_tiles)
        for name, engine in (("best engine", None), ("auto", AUTO))
    }


def bar_table(kept: Kept[Cell]) -> str:
    """Return each bar, for our fastest engine and for the planner's choice."""
    best, auto = ({bar.claim: bar for bar in bars} for bars in bars_of(kept).values())
    head = ["bar", "needed", "best engine", "met in", "where it is worst", "auto", "met in"]
    rows = []
    for claim in {**best, **auto}:
        one = best.get(claim) or auto[claim]
        sign = "≤" if one.is_most else "≥"
        where = "geometric mean" if one.is_mean else one.worst[0]
        rows.append(
            [
                claim,
                f"{sign} {one.limit:g}",
                *_bar_cells(best.get(claim)),
                where,
                *_bar_cells(auto.get(claim)),
            ]
        )
    return markdown(head, rows)


def _bar_cells(bar: Bar | None) -> list[str]:
    if bar is None:
        return ["", ""]
    shown = f"{bar.decisive:.3g}"
    return [shown if bar.is_met else f"**{shown}**", f"{bar.n_met} of {len(bar.values)}"]


def _ratio_table(cells: Sequence[Cell]) -> str:
    """Sets, kernels, batches and threads down; k across."""
    ks = sorted({cell.k for cell in cells})
    places = _in_order((cell.problem, cell.kernel, cell.batch, cell.threads) for cell in cells)
    by_place = {(c.problem, c.kernel, c.batch, c.threads, c.k): c for c in cells}
    rows = []
    for place in places:
        found = (by_place.get((*place, k)) for k in ks)
        rows.append([*map(str, place), *(_ratio_cell(cell) for cell in found)])
    return markdown(["set", "kernel", "batch", "threads", *(f"k = {k}" for k in ks)], rows)


def _ratio_cell(cell: Cell | None) -> str:
    ours = None if cell is None else best_of(_ours(cell))
    peer = None if cell is None else best_of(_bar_peers(cell))
    if ours is None:
        return ""
    mine = f"{ours.name.removeprefix('fastmks ')} {_us(ours.median_us)}"
    if peer is None or ours.times_less is None:
        return mine
    return f"{ours.times_less:.3g} ({mine}; {peer.name} {_us(peer.median_us)})"


def _everyone_table(cells: Sequence[Cell]) -> str:
    names = _names(cells)
    head = ["set", "kernel", "k", "batch", "threads", *names.values()]
    rows = []
    for cell in cells:
        by_name = {one.name: one for one in cell.figures}
        row = [cell.problem, cell.kernel, str(cell.k), str(cell.batch), str(cell.threads)]
        rows.append([*row, *(_time_cell(by_name.get(name)) for name in names)])
    return markdown(head, rows)


def _time_cell(one: Figure | None) -> str:
    if one is None:
        return ""
    if one.failure is not None:
        return one.failure.partition("\n")[0][:60]
    wrong = f" ({one.wrong} of {one.checked})" if one.wrong else ""
    return f"{'~' * (one.rounds == 1)}{_us(one.median_us)}{wrong}"


def _cost_table(cells: Sequence[Cell]) -> str:
    head = ["set", "kernel", "k", "engine", "us / query", "build s", "MB beside the data"]
    head += ["share of the data", "evaluations / query", "share of the scan's", "all work, share"]
    rows = []
    for cell in cells:
        for one in _ours(cell):
            if one.failure is not None:
                continue
            rows.append(
                [
                    cell.problem,
                    cell.kernel,
                    str(cell.k),
                    one.name.removeprefix("fastmks "),
                    _us(one.median_us),
                    f"{one.build_seconds or 0.0:.3f}",
                    _megabytes(one),
                    "?" if one.n_bytes is None else f"{one.n_bytes / data_bytes(cell):.2f}",
                    _number(one.evaluations),
                    _share(scan_share(cell, one)),
                    _share(work_share(cell, one)),
                ]
            )
    return markdown(head, rows)


def _build_table(cells: Sequence[Cell]) -> str:
    head = ["set", "kernel", "peer", "preparation s", "build s", "MB beside the data"]
    rows = {}
    for cell in cells:
        for one in cell.figures:
            if one.is_ours or one.failure is not None:
                continue
            rows[cell.problem, cell.kernel, one.name] = [
                cell.problem,
                cell.kernel,
                _title(one),
                f"{one.prepare_seconds or 0.0:.3f}",
                f"{one.build_seconds or 0.0:.3f}",
                _megabytes(one),
            ]
    return markdown(head, list(rows.values()))


def _exactness_table(cells: Sequence[Cell]) -> str:
    """One line for each entrant, one column for each kernel and k."""
    columns = _in_order((cell.kernel, cell.k) for cell in sorted(cells, key=_kernel_and_k))
    rows = []
    for name, title in _names(cells).items():
        row = [title]
        for column in columns:
            mine = [
                one
                for cell in cells
                if (cell.kernel, cell.k) == column
                for one in cell.figures
                if one.name == name and one.checked
            ]
            counts = [sum(getattr(one, field) or 0 for one in mine) for field in _COUNTS]
            row.append(_count_cell(*counts))
        rows.append(row)
    return markdown(["", *(f"{kernel}, k = {k}" for kernel, k in columns)], rows)


_COUNTS = ("wrong", "checked", "ties")


def _count_cell(wrong: int, checked: int, ties: int) -> str:
    if checked == 0:
        return ""
    return f"{wrong} of {checked}" + (f", {ties} ties" if ties else "")


def _names(cells: Iterable[Cell]) -> dict[str, str]:
    """Return all names and how they are shown: ours first, who approximates last."""
    figures = [one for cell in cells for one in cell.figures]
    figures.sort(key=lambda one: (not one.is_ours, not one.is_exact))
    return {one.name: _title(one) for one in figures}


def _title(one: Figure) -> str:
    return one.name if one.is_exact else f"{one.name} (approximate)"


def _ours(cell: Cell) -> list[Figure]:
    return [one for one in cell.figures if one.is_ours]


def _bar_peers(cell: Cell) -> list[Figure]:
    return [one for one in cell.figures if not one.is_ours and one.in_bar]


def _largest_batch(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.batch == cell.n_queries]


def _shown_in_full(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of the largest batch, and of single fingerprints: some take no batches."""
    return [cell for cell in cells if cell.batch == cell.n_queries or kind_of(cell) == "bits"]


def _alike(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return cells of one kind of rows and number of threads together: they have the same peers."""
    kinds = _in_order((kind_of(cell), cell.threads) for cell in cells)
    return [[cell for cell in cells if (kind_of(cell), cell.threads) == kind] for kind in kinds]


def _kernel_and_k(cell: Cell) -> tuple[str, int]:
    return cell.kernel, cell.k


def _in_order(things: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(things))


def _us(microseconds: float | None) -> str:
    if microseconds is None:
        return "-"
    return f"{microseconds:.3g}" if microseconds < 1e3 else f"{microseconds:.0f}"


def _megabytes(one: Figure) -> str:
    return "?" if one.n_bytes is None else f"{one.n_bytes / 1e6:.1f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3%}"
