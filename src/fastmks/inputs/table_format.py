"""The layout of a table of text: the delimiter, the header, the ids, and the columns used."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from fastmks.errors import InvalidArgument
from fastmks.inputs.chunks import Reading
from fastmks.inputs.headers import are_names, is_count, is_id_name, is_number, listed, open_header

_DELIMITERS = ("\t", ",", ";", "|", " ")
_CLEAR = ("\t", ",", ";")  # few texts have one of them equally often in every line
_LOOKED_AT = 50  # rows
_WITH_COMMA = re.compile(
    r"\s*[+-]?(?:\d[\d.]*,\d+(?:[eE][+-]?\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d*)?)\s*"
)


@dataclass(frozen=True)
class Layout:
    """The columns of a table: names, ids and objects."""

    delimiter: str
    has_header: bool
    names: tuple[str, ...]  # of the columns, in errors
    id_at: int | None  # None where missing or skipped
    used: tuple[int, ...]  # the columns of the objects

    @property
    def ids_from(self) -> str | None:
        """The column of ids in words; None where there are none."""
        if self.id_at is None:
            return None
        name = f" {self.names[self.id_at][:40]!r}" if self.has_header else ""
        return f"column {self.id_at + 1}{name}"

    @property
    def is_plain(self) -> bool:
        """Whether all columns are used, in their order."""
        return self.used == tuple(range(len(self.names)))


def has_decimal_comma(field: str) -> bool:
    """Whether a field would be a number if a comma were a decimal point, or between thousands.

    Examples
    --------
    >>> has_decimal_comma("-1.000,5e3"), has_decimal_comma("1,234,567"), has_decimal_comma("1,2,3")
    (True, True, False)
    """
    return _WITH_COMMA.fullmatch(field) is not None


def _is_meant(field: str) -> bool:
    """Whether a field is a number or meant to be one; readers refuse the latter in better words."""
    return is_number(field) or has_decimal_comma(field)


def split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the first rows of a table, without empty rows and without a row that is not complete.

    Examples
    --------
    >>> split(['"two\\n', 'lines",1\\n', "\\n", "x,2\\n", 'y,"3\\n'], ",")
    [['two\\nlines', '1'], ['x', '2']]
    """
    is_blank = delimiter == " "
    reader = csv.reader([*lines, "\n"], delimiter=delimiter, skipinitialspace=is_blank)
    rows = [trimmed(row) if is_blank else row for row in islice(reader, _LOOKED_AT)]
    if len(rows) > 2 and rows[-1] and reader.line_num > len(lines):
        rows.pop()  # the line added at the end is within its quotes
    filled = [row for row in rows if _is_filled(row, delimiter)]
    return filled or [row for row in rows if row]


def _is_filled(row: list[str], delimiter: str) -> bool:
    is_wide = len(row) > 1 and not delimiter.isspace()
    return is_wide or any(field.strip() for field in row)


def trimmed(row: list[str]) -> list[str]:
    """Return the fields of a line with blanks between them, without the one after the last blank.

    Examples
    --------
    >>> trimmed(["1", "2", ""])
    ['1', '2']
    """
    return row[:-1] if row and not row[-1].strip(" \t") else row


def find_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter: the one that gives lines of equal length, most fields numbers.

    Examples
    --------
    >>> find_delimiter(["a;b", "1;2"])
    ';'
    """
    tables = {delimiter: _rows(lines, delimiter) for delimiter in _DELIMITERS}
    first = {delimiter: rows[:1] for delimiter, rows in tables.items()}
    # Where some row is wrong, the first row decides.
    return _best(tables) or _best(first) or ","


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the first rows of a table; none where a field is longer than csv reads."""
    try:
        return split(lines, delimiter)
    except csv.Error:
        return []


def _best(tables: Mapping[str, list[list[str]]]) -> str | None:
    best, most = None, (0.0, 0)
    for delimiter, rows in tables.items():
        if len({len(row) for row in rows}) != 1 or len(rows[0]) == 1:
            continue
        fields = [field for row in rows[1:] or rows for field in row]
        score = (sum(map(_is_meant, fields)) / len(fields), len(rows[0]))
        if best is None or score > most:
            best, most = delimiter, score
    return best


def is_table(lines: Sequence[str]) -> bool:
    """Whether lines are a table of numbers, with a header and a column of ids or without.

    Where only blanks lie between fields, all of them must be numbers.

    Examples
    --------
    >>> is_table(["1 2", "3 4"]), is_table(["name,x", "ann,1"]), is_table(["one two"])
    (True, True, False)
    """
    delimiter = find_delimiter(lines)
    rows = _rows(lines, delimiter)
    if rows and all(_is_meant(field) for row in rows for field in row):
        return True  # also where a line is too short: that is an error, and no text
    if not rows or len({len(row) for row in rows}) != 1:
        return False
    below = rows[1:] or rows
    is_wide = len(rows[0]) > 1 and delimiter in _CLEAR
    return is_wide and all(_is_meant(field) for row in below for field in row[1:])


def lay_out(
    lines: Sequence[str], reading: Reading, *, is_tab: bool, is_whole: bool, file: str
) -> Layout:
    """Return the layout of a table, from its first lines, which may be the whole of it.

    The first line is a header where no field of it is a number and all fields of a column below
    are, where it names a column that is asked for, where its first field says that ids are below,
    and where its numbers are names (`are_names`). Where that is open, it must be said.
    """
    delimiter = "\t" if is_tab and any("\t" in line for line in lines) else find_delimiter(lines)
    first, *below = split(lines, delimiter)
    rows = [row for row in below if len(row) == len(first)]
    has_header = reading.header
    if has_header is None:
        is_quoted = _is_quoted([line for line in lines if line.strip()], delimiter)
        has_header = _has_header(first, rows, reading, file, is_quoted=is_quoted)
    if is_whole and not below and (has_header or _is_header_alone(first, reading)):
        raise InvalidArgument(
            f"{file} holds no objects: there are no rows below its header ({listed(first)})."
        )
    named = first if has_header else [str(i + 1) for i in range(len(first))]
    id_at = _id_column(named, below if has_header else [first, *below], reading, file, has_header)
    if reading.columns is None:
        used = tuple(i for i in range(len(first)) if i != id_at)
    else:
        used = tuple(_find(name, named, file, "columns") for name in reading.columns)
    if not used:
        raise InvalidArgument(f"{file} has no column but that of ids.")
    if reading.header is None and not has_header:
        _check_unused(first, rows, used, file)
    return Layout(delimiter, has_header, tuple(named), id_at if reading.has_ids else None, used)


def _is_header_alone(first: list[str], reading: Reading) -> bool:
    """Whether the only row of a table names columns, since vectors have numbers."""
    is_text = reading.kind in ("strings", "fingerprints")
    return reading.header is None and not is_text and not any(map(_is_meant, first))


def _has_header(
    first: list[str], rows: list[list[str]], reading: Reading, file: str, *, is_quoted: bool
) -> bool:
    asked = [*(reading.columns or ()), *filter(None, [reading.id_column])]
    if any(name in first and not _is_place(name, len(first)) for name in asked):
        return True
    if rows and len(first) > 1 and is_id_name(first[0]):
        if first[0].strip() or not any(map(_is_meant, first[1:])):
            return True
        if is_count(first[1:]):  # as pandas names columns after its index
            return True
    has_names = are_names(first, rows, is_quoted=is_quoted)
    if has_names is None:
        raise open_header(first, file)
    if has_names or any(map(_is_meant, first)):
        return has_names  # a row with something wrong in it is an error
    return any(bool(rows) and all(_is_meant(row[i]) for row in rows) for i in range(len(first)))


def _check_unused(first: list[str], rows: list[list[str]], used: Sequence[int], file: str) -> None:
    """Refuse a first row that has text where rows below have numbers, in a column not used."""
    for i in set(range(len(first))).difference(used):
        if rows and not _is_meant(first[i]) and all(_is_meant(row[i]) for row in rows):
            raise open_header(first, file)


def _is_place(name: str, n_columns: int) -> bool:
    """Whether a column is asked for by its number, from 1."""
    return name.isdecimal() and 1 <= int(name) <= n_columns


def _is_quoted(lines: Sequence[str], delimiter: str) -> bool:
    """Whether each field of the first line has quotes around it, and those of the others not."""
    quoted = rf'\s*"[^"]*"(?:{re.escape(delimiter)}"[^"]*")*\s*'
    first, *others = (re.fullmatch(quoted, line) is not None for line in lines[:_LOOKED_AT])
    return first and bool(others) and not any(others)


def _id_column(
    named: list[str], rows: list[list[str]], reading: Reading, file: str, has_header: bool
) -> int | None:
    if reading.id_column is not None:
        return _find(reading.id_column, named, file, "id_column")
    if len(named) == 1:
        return None
    if has_header and is_id_name(named[0]):
        return 0
    first = [row[0] for row in rows if row]
    return 0 if first and not any(map(_is_meant, first)) else None


def _find(wanted: str, named: list[str], file: str, argument: str) -> int:
    """Return the column of a name, or of a number from 1."""
    if wanted in named:
        return named.index(wanted)
    if _is_place(wanted, len(named)):
        return int(wanted) - 1
    raise InvalidArgument(
        f"{argument} must name columns of {file}, or number them from 1 to {len(named)}; it has "
        f"{listed(named)}; got {wanted!r}."
    )
