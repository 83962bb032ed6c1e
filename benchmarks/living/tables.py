"""The tables about living indexes, made from stored cells, and the claims they bear out."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from benchmarks.living.cell import Cell, Figure
from benchmarks.living.sides import FASTMKS
from benchmarks.report import Check, markdown

__all__ = ["all_tables", "checks", "line_of"]

_Column: TypeAlias = tuple[str, str, Callable[[float], str]]  # head, measure, how to show it


def _number(value: float) -> str:
    """Show three digits, and all that stand before the point."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _thousands(value: float) -> str:
    return _number(value / 1e3)


_ADDING: tuple[_Column, ...] = (
    ("thousand objects/s", "objects_per_second", _thousands),
    ("all, s", "seconds", _number),
    ("one build, s", "rebuild_seconds", _number),
    ("builds", "rebuilds", _number),
    ("first search after, ms", "first_search_ms", _number),
    ("search between, ms", "search_ms", _number),
    ("builds, with searches", "rebuilds_with_searches", _number),
)
_MOVING: tuple[_Column, ...] = (
    ("adding, s", "seconds", _number),
    ("one build, s", "rebuild_seconds", _number),
    ("builds", "rebuilds", _number),
    ("builds, with searches", "rebuilds_with_searches", _number),
    ("builds, in evaluations", "evaluation_rebuilds", _number),
    ("with searches", "evaluation_rebuilds_with_searches", _number),
    ("moves / object", "moved_per_object", _number),
    ("log2 n", "log2_n", _number),
    ("parts", "parts", _number),
)
_REMOVING: tuple[_Column, ...] = (
    ("thousand objects/s", "objects_per_second", _thousands),
    ("all, s", "seconds", _number),
)
_MIXING: tuple[_Column, ...] = (
    ("p50, ms", "p50_ms", _number),
    ("p99, ms", "p99_ms", _number),
    ("max, ms", "max_ms", _number),
    ("queries/s", "queries_per_second", _number),
    ("changes/s", "changes_per_second", _number),
)
_FILES: dict[str, tuple[_Column, ...]] = {
    "saving": (
        ("save, ms", "save_ms", _number),
        ("with fsync, ms", "save_and_sync_ms", _number),
        ("file, MB", "file_mb", _number),
        ("times the data", "times_data", _number),
    ),
    "loading": (
        ("load, ms", "load_ms", _number),
        ("first query, ms", "first_ms", _number),
        ("load to first answer, ms", "to_first_answer_ms", _number),
        ("second query, ms", "second_ms", _number),
        ("RSS, MB", "rss_mb", _number),
        ("more than before, MB", "rss_more_mb", _number),
        ("of it anonymous, MB", "anonymous_more_mb", _number),
        ("cached before", "cached_before", lambda share: f"{share:.0%}"),
    ),
    "four processes": (
        ("sum of PSS, MB", "pss_mb", _number),
        ("more than before, MB", "pss_more_mb", _number),
    ),
    "90 % removed": (
        ("full, MB", "full_mb", _number),
        ("left, MB", "left_mb", _number),
        ("left after gc.collect(), MB", "left_when_collected_mb", _number),
        ("removing, s", "seconds", _number),
    ),
}
_MOVE_CLAIMS = ("rebuilds", "evaluation_rebuilds", "evaluation_rebuilds_with_searches")
_TITLES = {
    "adding": "Adding a tenth more",
    "moving": "What growing one by one costs",
    "removing": "Removing a tenth",
    "mixing": "Single queries, k = 10, while another thread adds and removes",
    "files": "Files",
}


def all_tables(cells: Sequence[Cell]) -> str:
    """Return everything as Markdown: medians of the rounds."""
    parts = []
    for section, title in _TITLES.items():
        mine = [cell for cell in cells if cell.section == section]
        if not mine:
            continue
        parts.append(f"### {title}")
        for some in _by_set(mine):
            parts += [_set_title(some[0]), *_section_tables(section, some)]
    notes = _notes(cells)
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else []), ""])


def checks(cells: Sequence[Cell]) -> list[Check]:
    """Return the claims: nothing of ours is wrong, and growing costs less than two builds."""
    wrong = [figure.wrong or 0 for cell in cells for figure in cell.figures if _is_ours(figure)]
    failed = [figure for cell in cells for figure in cell.figures if _is_ours(figure)]
    found = [
        Check(
            claim="wrong answers of ours, and cells where we failed",
            value=float(sum(wrong) + sum(one.failure is not None for one in failed)),
            limit=0.0,
            is_required=True,
        )
    ]
    for cell in cells:
        for figure in cell.figures:
            if cell.section == "adding" and figure.contestant == FASTMKS:
                names = ["rebuilds", "rebuilds_with_searches"]
            elif cell.section == "moving":
                names = list(_MOVE_CLAIMS) if cell.n_objects > 1 else []
            else:
                continue
            for name in names:
                value = figure.get(name)
                if value is not None:
                    found.append(
                        Check(
                            claim=f"{name}, {cell.key}", value=value, limit=2.0, is_required=False
                        )
                    )
    return found


def line_of(cell: Cell) -> str:
    """Return a cell in one line, for whoever waits for it."""
    names = {
        "adding": "seconds",
        "moving": "rebuilds",
        "removing": "seconds",
        "mixing": "p99_ms",
        "files": "to_first_answer_ms",
    }
    shown = []
    for figure in cell.figures:
        value = figure.get(names[cell.section])
        shown.append(f"{figure.contestant} {'-' if value is None else _number(value)}")
    others = "" if cell.others is None else f" (others {cell.others:.0%})"
    return f"{cell.key}{others}: {names[cell.section]}: {'; '.join(shown)}"


def _section_tables(section: str, cells: Sequence[Cell]) -> list[str]:
    if section != "files":
        columns = {
            "adding": _ADDING,
            "moving": _MOVING,
            "removing": _REMOVING,
            "mixing": _MIXING,
        }[section]
        return [_table(cells, columns)]
    found = []
    for name, columns in _FILES.items():
        wanted = ("cold", "warm") if name == "loading" else (name,)
        mine = [cell for cell in cells if cell.case in wanted]
        if mine:
            found.append(_table(mine, columns))
    return found


def _table(cells: Sequence[Cell], columns: Sequence[_Column]) -> str:
    """One line for each case and contestant; columns that nobody fills are left out."""
    figures = [(cell, figure) for cell in cells for figure in cell.figures]
    used = [one for one in columns if any(one[1] in figure.measures for _, figure in figures)]
    rows = []
    for cell, figure in figures:
        if figure.failure is not None:
            rows.append([cell.case, figure.contestant, figure.failure])
            continue
        row = [cell.case, _marked(figure)]
        row += [_shown(figure, name, show) for _, name, show in used]
        rows.append([*row, "-" if figure.wrong is None else f"{figure.wrong} of {figure.checked}"])
    head = ["case", "contestant", *(title for title, _, _ in used), "wrong"]
    rows = [row + [""] * (len(head) - len(row)) for row in rows]
    return markdown(head, rows)


def _shown(figure: Figure, name: str, show: Callable[[float], str]) -> str:
    value = figure.get(name)
    return "-" if value is None else show(value)


def _marked(figure: Figure) -> str:
    is_partial = any("extrapolated" in note for note in figure.notes)
    return f"{figure.contestant}{' *' * is_partial}"


def _notes(cells: Iterable[Cell]) -> list[str]:
    lines: dict[str, None] = {}
    for cell in cells:
        for figure in cell.figures:
            for note in figure.notes:
                where = f" ({cell.key})" if "extrapolated" in note else ""
                mark = "* " if where else ""
                lines[f"- {mark}{figure.contestant}{where}: {note}"] = None
    return list(lines)


def _set_title(cell: Cell) -> str:
    threads = f"{cell.threads} thread{'s' * (cell.threads > 1)}"
    if cell.section == "moving":
        return f"**{cell.problem}** x {cell.n_columns} {cell.dtype}, {threads}"
    shape = f"{cell.n_objects} x {cell.n_columns} {cell.dtype}"
    return f"**{cell.problem}**, {shape}, {threads}"


def _by_set(cells: Sequence[Cell]) -> list[list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_set_title(cell), []).append(cell)
    return list(groups.values())


def _is_ours(figure: Figure) -> bool:
    return figure.contestant.startswith("fastmks")
