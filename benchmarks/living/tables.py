"""The tables about living indexes, built from stored cells, and their claims."""

from collections.abc import Sequence

from benchmarks.living.cell import Cell, Figure
from benchmarks.living.sides import FASTMKS
from benchmarks.report import Check, markdown, three_digits
from benchmarks.suite import Kept

_MOVE_CLAIMS = ("rebuilds", "evaluation_rebuilds", "evaluation_rebuilds_with_searches")
_FILES = (("saving",), ("cold", "warm"), ("four processes",), ("90 % removed",))  # their tables
_TITLES = {
    "adding": "Adding a tenth more",
    "moving": "The cost of growing one by one",
    "removing": "Removing a tenth",
    "mixing": "Single queries, k = 10, while another thread adds and removes",
    "files": "Files",
}


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything as Markdown: medians of the rounds."""
    parts = []
    for section, title in _TITLES.items():
        mine = [cell for cell in kept.cells if cell.section == section]
        parts += [f"### {title}"] if mine else []
        for set_title in dict.fromkeys(map(_set_title, mine)):
            some = [cell for cell in mine if _set_title(cell) == set_title]
            tables = [[cell for cell in some if cell.case in cases] for cases in _FILES]
            parts += [
                set_title,
                *map(_table, filter(None, tables if section == "files" else [some])),
            ]
    notes = [
        f"- {'* ' if where else ''}{one.contestant}{where}: {note}"
        for cell in kept.cells
        for one in cell.figures
        for note in one.notes
        for where in [f" ({cell.key})" if "extrapolated" in note else ""]
    ]
    return "\n\n".join([*parts, "\n".join(dict.fromkeys(notes)), ""])


def checks(kept: Kept[Cell]) -> list[Check]:
    """Return the claims: nothing of ours is wrong, and growing costs less than two builds."""
    figures = [(cell, one) for cell in kept.cells for one in cell.figures if one.is_ours]
    wrong = sum((one.wrong or 0) + (one.failure is not None) for _, one in figures)
    found = [Check(claim="wrong answers of ours, and cells where we failed", value=float(wrong))]
    for cell, one in figures:
        names: tuple[str, ...] = ()
        if cell.section == "adding" and one.contestant == FASTMKS:
            names = ("rebuilds", "rebuilds_with_searches")
        elif cell.section == "moving" and cell.n_objects > 1:
            names = _MOVE_CLAIMS
        for name in names:
            if (value := one.get(name)) is not None:
                claim = f"{name}, {cell.key}"
                found.append(Check(claim=claim, value=value, limit=2.0, is_required=False))
    return found


def _table(cells: Sequence[Cell]) -> str:
    """Return a table: a line for each case and contestant, a column for each measure."""
    figures = [(cell, one) for cell in cells for one in cell.figures]
    names = list(dict.fromkeys(name for _, one in figures for name in one.measures))
    rows = [[cell.case, *_row(one, names)] for cell, one in figures]
    titles = (name.replace("_", " ") for name in names)
    return markdown("|".join(["case", "contestant", *titles, "wrong"]), rows)


def _row(one: Figure, names: Sequence[str]) -> list[str]:
    if one.failure is not None:
        return [one.contestant, one.failure, *[""] * len(names)]
    mark = " *" * any("extrapolated" in note for note in one.notes)
    wrong = "-" if one.wrong is None else f"{one.wrong} of {one.checked}"
    return [f"{one.contestant}{mark}", *(three_digits(one.get(name)) for name in names), wrong]


def _set_title(cell: Cell) -> str:
    threads = f"{cell.threads} thread{'s' * (cell.threads > 1)}"
    n_objects = "" if cell.section == "moving" else f", {cell.n_objects}"
    return f"**{cell.problem}**{n_objects} x {cell.n_columns} {cell.dtype}, {threads}"
