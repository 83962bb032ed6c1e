"""Tables that pages declare, built from the stored results.

A page declares one in a comment: its name and rows, the head, and a template for each cell.

    <!-- loads: living; section=files; case=warm|cold; by=contestant; across=case
    | file | warm, ms | of the first query |
    | {contestant} | {load_ms warm:brief} | {load_ms warm/first_ms warm:.0%} |
    -->

Rows are those whose fields have one of the values. With `by`, those that agree in its fields make
one line, where "load_ms warm" is the `load_ms` of the row that has "warm" in the field `across`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import truediv
from pathlib import Path
from string import Formatter
from typing import Any

Row = dict[str, Any]
DECLARED = re.compile(r"<!-- ([\w-]+): ([^>\n]+)\n\|(.+)\|\n\|(.+)\|\n-->")
_SCALES = {"ms": 1e3, "us": 1e6}  # of seconds


def make_table(page: str, name: str, folder: Path) -> str:
    """Return the table that the page declares, filled from the results in the folder."""
    declared = [found.groups() for found in DECLARED.finditer(page) if found[1] == name]
    if len(declared) != 1:
        raise LookupError(f"the page must declare it once, not {len(declared)} times")
    _, source, head, template = declared[0]
    cells = template.split("|")
    lines = ["|".join(fill(cell, row) for cell in cells) for row in _lines(folder, source)]
    return "\n".join(f"|{line}|" for line in [head, "|".join([" --- "] * len(cells)), *lines])


def _lines(folder: Path, declared: str) -> Sequence[Row]:
    source, *fields = declared.split("; ")
    wanted = {name: tuple(value.split("|")) for name, value in (one.split("=") for one in fields)}
    by, across = wanted.pop("by", ()), wanted.pop("across", ("",))[0]
    found = rows(folder, source, **wanted)
    if not by:
        return found
    lines: dict[tuple[str, ...], Row] = {}
    for row in found:
        line = lines.setdefault(tuple(row[name] for name in by), {})
        if f"{across} {row[across]}" in line:
            raise LookupError(f"two rows of a line have {across}={row[across]}")
        line |= row | {f"{name} {row[across]}": row[name] for name in row}
    every = dict.fromkeys(name for line in lines.values() for name in line)
    return [every | line for line in lines.values()]


def rows(folder: Path, name: str, /, **wanted: object) -> Sequence[Row]:
    """Return the rows of a file whose fields are as wanted: at least one.

    A tuple selects any of its values. A file of cells has a row for each figure, with the fields of
    its cell, or one for each cell. `experiments/hardness` names the rows of one experiment.
    """
    file, _, experiment = name.partition("/")
    stored = json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))
    found = stored["rows"] if "rows" in stored else list(_figures(stored["cells"]))
    if experiment:
        found = [row for one in found if one["experiment"] == experiment for row in one["rows"]]
    for field, value in wanted.items():
        values = [str(one) for one in (value if isinstance(value, tuple) else (value,))]
        found = [row for row in found if str(row.get(field)) in values]
    if not found:
        raise LookupError(f"{name} has no row with {wanted}")
    return found


def _figures(cells: Sequence[Row]) -> Iterator[Row]:
    """Yield figures with the fields of their cell; `is_best` is the fastest of ours."""
    for number, cell in enumerate(cells):
        figures = cell.get("figures", [{}])
        ours = [one for one in figures if one.get("is_ours") and "median_us" in one]
        best = min(ours, key=lambda one: one["median_us"], default=None)
        for one in figures:
            medians = {name: seen["median"] for name, seen in one.get("measures", {}).items()}
            place = {"cell": number, "is_best": one is best}
            yield cell | cell.get("facts", {}) | one | medians | place


def fill(template: str, row: Row) -> str:
    """Return a template with the fields of a row; a dash if one of them is null."""
    text = ""
    for before, names, form, _ in Formatter().parse(template):
        values = [row[name] for name in names.split("/")] if names else []
        if None in values:
            return " – "
        text += before + (show(reduce(truediv, values), form or "") if values else "")
    return text


def show(value: Any, form: str = "") -> str:
    """Return text as it is, and a number in a format of Python's or one of these.

    `brief` has two digits below ten and three above 1000, `ms` and `us` are `brief` for seconds,
    `code` is for kernels. Thousands are apart from 10 000 on.
    """
    if isinstance(value, str):
        return f"`{value.replace('kernel=', '')}`" if form == "code" else value
    if form in _SCALES:
        value, form = value * _SCALES[form], "brief"
    if form == "brief":
        form = "#.2g" if value < 9.95 else ".0f"
        value = float(f"{value:.3g}") if value >= 1000 else value
    text = f"{value:{form}}".replace("%", " %")
    whole, point, rest = text.partition(".")
    if len(whole) > 4 and whole.isdigit():
        whole = f"{int(whole):,}".replace(",", " ")
    return whole + point + rest
