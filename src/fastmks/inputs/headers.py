"""Whether the first line of a table is a header although it holds numbers."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fastmks.errors import InvalidArgument

_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_YEAR = re.compile(r"\s*(?:19|20)\d\d\s*")
_OF_IDS = ("code", "index", "item", "key", "label", "name", "names", "sku", "title", "word")
_FEW = 3  # fewer numbers in equal steps may be an object
_MANY = 6  # at least this many are no object if no row below has equal steps


def is_id_name(name: str) -> bool:
    """Whether a first column of this name holds ids; an index that pandas wrote has no name.

    Examples
    --------
    >>> is_id_name("ID"), is_id_name("item_id"), is_id_name(""), is_id_name("width")
    (True, True, True, False)
    """
    plain = name.strip().lower()
    return plain in ("", "id", "unnamed: 0") or plain.endswith(("_id", "-id", " id"))


def is_number(field: str) -> bool:
    """Whether a field is a number; 1_000 is not.

    Examples
    --------
    >>> is_number(" 1e-3 "), is_number("1_000"), is_number("")
    (True, False, False)
    """
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def is_count(fields: Sequence[str]) -> bool:
    """Whether fields are 0, 1, 2, ..., as pandas names columns.

    Examples
    --------
    >>> is_count(["0", "1"]), is_count(["0.0", "1.0"])
    (True, False)
    """
    return all(field.strip() == str(i) for i, field in enumerate(fields))


def listed(names: Sequence[str]) -> str:
    """Return the first names of columns, for an error.

    Examples
    --------
    >>> listed(["x", "y"])
    'x, y'
    """
    return f"{', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"


def open_header(first: Sequence[str], file: str) -> InvalidArgument:
    """Return the error for a first line that may be a header as well as an object.

    Examples
    --------
    >>> str(open_header(["0", "1"], "x.csv"))[:45]
    'x.csv: the first line (0, 1) may be a header '
    """
    return InvalidArgument(
        f"{file}: the first line ({listed(first)}) may be a header or an object. Pass header=True "
        "if it names the columns, header=False if it is an object."
    )


def are_names(
    first: Sequence[str], rows: Sequence[Sequence[str]], *, is_quoted: bool = False
) -> bool | None:
    """Whether numbers in a first row are the names of columns; None where that is open.

    They are names where they count 0, 1, 2, ... and rows below are fractions or text, where they
    follow the name of a column of ids, or where they are years above numbers that are none. It is
    open where a row of numbers in equal steps, or of whole numbers above fractions, may be both.

    Parameters
    ----------
    first, rows : sequences of str
        The first row, with an id as its first field or without, and those below, as long.
    is_quoted : bool, default False
        Whether the first row has quotes around each field, and the rows below have not.

    Examples
    --------
    >>> are_names(["0", "1"], [["0.5", "1.5"]]), are_names(["0", "1"], [["1", "0"]])
    (True, None)
    >>> are_names(["name", "2019", "2020"], [["ann", "1", "2"]])
    True
    >>> are_names(["ann", "7", "9"], [["bob", "1", "2"]])
    False
    """
    has_ids = not is_number(first[0]) and not any(is_number(row[0]) for row in rows)
    names, values = list(first), [list(row) for row in rows]
    if has_ids:
        names, values = names[1:], [row[1:] for row in values]
    follows_name = has_ids and _is_of_ids(first[0])
    is_id = has_ids and not follows_name and any(map(str.isdigit, first[0]))
    if is_id or not names or not all(map(is_number, names)):
        return False
    if is_count(names) and _has_text(values):
        return True if not has_ids or follows_name or len(names) > 1 else None
    if is_quoted and values and all(map(is_number, values[0])):
        return True
    if _is_sure(names, values, has_ids=has_ids, follows_name=follows_name):
        return True
    is_open = _is_open(names, values, has_ids=has_ids)
    return None if is_open or (follows_name and _is_open_behind(first[0], names)) else False


def _is_of_ids(name: str) -> bool:
    return is_id_name(name) or name.strip().lower() in _OF_IDS


def _is_open_behind(name: str, names: Sequence[str]) -> bool:
    """Whether a first field that may be the name of a column of ids may be an id as well."""
    return not name.strip() or _are_whole(names)


def _is_sure(
    names: list[str], values: list[list[str]], *, has_ids: bool, follows_name: bool
) -> bool:
    n, counts, are_years = len(names), is_count(names), _are_years(names, values)
    if follows_name:
        return counts or are_years or (n > 1 and _are_whole(names) and _are_steps(names))
    if has_ids and are_years and n > 1:
        return True
    if not (counts or (has_ids and _are_whole(names))):
        return False
    if counts and n > 1 and _are_fractions(values):
        return True
    # Rows with a number twice are no count, no permutation and no list of positions.
    some_repeat = any(len(set(row)) < n or not _are_whole(row) for row in values)
    return n >= _MANY and some_repeat and _are_steps(names) and not any(map(_are_steps, values))


def _is_open(names: list[str], values: list[list[str]], *, has_ids: bool) -> bool:
    n, are_whole = len(names), _are_whole(names)
    if is_count(names) and (values or n >= _FEW):
        return True
    if not values or (n == 1 and not has_ids):
        return False
    if are_whole and (_are_years(names, values) or (_grow(names) and _are_fractions(values))):
        return True
    if not _are_steps(names) or any(map(_are_steps, values)):
        return False
    counts = [float(name) for name in names] == list(range(n))
    return n >= (_FEW if are_whole or counts else _MANY)


def _has_text(rows: Sequence[Sequence[str]]) -> bool:
    """Whether no field of some column is a number."""
    return any(not any(map(is_number, column)) for column in zip(*rows, strict=True))


def _are_whole(fields: Iterable[str]) -> bool:
    return all(_WHOLE.fullmatch(field) for field in fields)


def _are_fractions(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all fields are numbers, none written as a whole number."""
    fields = (field for row in rows for field in row)
    return bool(rows) and all(is_number(one) and not _WHOLE.fullmatch(one) for one in fields)


def _are_years(names: Sequence[str], values: Sequence[Sequence[str]]) -> bool:
    """Whether the names are different years and the values below are not."""
    years = [bool(_YEAR.fullmatch(name)) for name in names]
    all_below = all(_YEAR.fullmatch(field) for row in values for field in row)
    return all(years) and len(set(names)) == len(names) and not (values and all_below)


def _grow(fields: Sequence[str]) -> bool:
    numbers = [float(field) for field in fields]
    return all(a < b for a, b in pairwise(numbers))


def _are_steps(fields: Sequence[str]) -> bool:
    """Whether at least two numbers have equal steps between them, which are not 0."""
    step, last = None, None
    for field in fields:
        if not is_number(field):
            return False
        number = float(field)
        if last is not None:
            if step is None:
                step = number - last
            if not (abs(step) > 0 and math.isclose(number - last, step, rel_tol=1e-6)):
                return False
        last = number
    return step is not None
