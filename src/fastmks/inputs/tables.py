"""Tables of text: vectors from CSV and TSV files, one a line, with or without header and ids."""

import csv
from collections.abc import Iterator

import numpy as np

from fastmks._util.arrays import Array
from fastmks.errors import InvalidArgument
from fastmks.inputs.chunks import Chunk, Opened, Reading, batches
from fastmks.inputs.headers import is_number
from fastmks.inputs.molecules import Fingerprints
from fastmks.inputs.streams import Stream
from fastmks.inputs.table_format import Layout, has_decimal_comma, lay_out, trimmed


def open_csv(stream: Stream, reading: Reading) -> Opened:
    """Open a table: a vector a line; or one column of strings or SMILES, where these are wanted."""
    lines = stream.beginning()
    if not any(line.strip() for line in lines):
        raise InvalidArgument(f"{stream.name} is empty.")
    is_tab = (stream.path or "").lower().removesuffix(".gz").endswith(".tsv")
    try:
        layout = lay_out(lines, reading, is_tab=is_tab, is_whole=stream.is_whole, file=stream.name)
    except csv.Error as error:
        raise InvalidArgument(f"{stream.name} is no table ({error}).") from error
    rows = _rows(stream, layout)
    kind, n_columns = "vectors", None
    if len(layout.used) == 1 and reading.kind == "strings":
        kind, chunks = "strings", _strings(rows, layout, reading)
    elif len(layout.used) == 1 and reading.kind == "fingerprints":
        kind, chunks = "fingerprints", _fingerprints(rows, layout, reading, stream.name)
    else:
        n_columns, chunks = len(layout.used), _vectors(rows, layout, reading, stream.name)
    return Opened(
        kind,
        chunks,
        n_columns=n_columns,
        has_header=layout.has_header,
        ids_from=layout.ids_from,
    )


def _rows(stream: Stream, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row, and the number of the line where it begins."""
    is_first, n_fields = True, len(layout.names)
    for number, row in _filled(stream, layout.delimiter):
        if n_fields > 1 and len(row) == 1 and not row[0].strip():
            continue
        if len(row) != n_fields:
            raise InvalidArgument(
                f"{stream.name}, line {number}: {len(row)} fields, where the first line has "
                f"{n_fields}."
            )
        if not (is_first and layout.has_header):
            yield number, row
        is_first = False


def _filled(stream: Stream, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty; a row with ends of lines in quotes has several lines."""
    is_blank = delimiter == " "
    lines = (line for _, line in stream.lines(keep_ends=True))
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=is_blank, strict=True)
    number = 1
    try:
        for row in reader:
            fields = trimmed(row) if is_blank else row
            if fields:
                yield number, fields
            number = reader.line_num + 1
    except csv.Error as error:
        raise InvalidArgument(f"{stream.name}, line {number}: {_explained(error)}") from error


def _explained(error: csv.Error) -> str:
    """Return the fault of a row, in words for the writer of the file."""
    text = str(error)
    if text.startswith("unexpected end"):
        return (
            "a quote that this row opens is not closed. Close it, or write a quote within quotes "
            "as two."
        )
    if text.startswith("field larger"):
        return (
            f"a field of this row has more than {csv.field_size_limit()} characters. Close its "
            "quote if that is open; texts as long as this can be read from Parquet, or one a line."
        )
    return f"{text}."


def _ids(batch: list[tuple[int, list[str]]], layout: Layout) -> list[str] | None:
    at = layout.id_at
    return None if at is None else [row[at].strip(" \t") for _, row in batch]


def _strings(
    rows: Iterator[tuple[int, list[str]]], layout: Layout, reading: Reading
) -> Iterator[Chunk]:
    (at,) = layout.used
    for batch in batches(rows, reading.block):
        yield Chunk([row[at] for _, row in batch], _ids(batch, layout))


def _fingerprints(
    rows: Iterator[tuple[int, list[str]]], layout: Layout, reading: Reading, file: str
) -> Iterator[Chunk]:
    (at,) = layout.used
    made = Fingerprints(radius=reading.radius, bits=reading.bits)
    for batch in batches(rows, reading.block):
        places = [f"{file}, line {number}" for number, _ in batch]
        smiles = [row[at].strip() for _, row in batch]
        yield Chunk(made.of(smiles, places), _ids(batch, layout))


def _vectors(
    rows: Iterator[tuple[int, list[str]]], layout: Layout, reading: Reading, file: str
) -> Iterator[Chunk]:
    for batch in batches(rows, reading.block):
        fields = [row for _, row in batch]
        if not layout.is_plain:
            fields = [[row[i] for i in layout.used] for row in fields]
        vectors = _numbers(fields)
        if vectors is None or not np.isfinite(vectors).all():
            raise InvalidArgument(_fault(batch, layout, reading, file))
        if reading.kind == "fingerprints" and bool(np.isin(vectors, (0.0, 1.0)).all()):
            vectors = vectors.astype(bool)
        yield Chunk(vectors, _ids(batch, layout))


def _numbers(fields: list[list[str]]) -> Array | None:
    """Return the fields as numbers; None where one is none."""
    if any("_" in "".join(row) for row in fields):
        return None
    try:
        return np.array(fields, dtype=np.float64)
    except ValueError:
        return None


def _fault(batch: list[tuple[int, list[str]]], layout: Layout, reading: Reading, file: str) -> str:
    """Return the message about the first field that is no finite number."""
    is_seen = reading.header is None and not layout.has_header
    say = " If this line names the columns, say so (header=True)." if is_seen else ""
    for number, row in batch:
        for i in layout.used:
            if is_number(row[i]) and np.isfinite(float(row[i])):
                continue
            name = f" ({layout.names[i]})" if layout.has_header else ""
            given = repr(row[i][:40]) if row[i].strip() else "an empty field"
            return (
                f"{file}, line {number}, column {i + 1}{name}: vectors are made of finite numbers; "
                f"got {given}. {_way_out(row[i], may_be_id=i == 0 and len(row) > 1)}"
                f"{say if number == 1 else ''}"
            )
    return f"{file}: vectors are made of finite numbers."


def _way_out(field: str, *, may_be_id: bool) -> str:
    if has_decimal_comma(field):
        say = ", or say that it holds ids (id_column=)" if may_be_id else ""
        return (
            "Commas are no decimal points: save the table with points, as in "
            f"{_with_points(field.strip())}{say}."
        )
    return "Fill it, choose other columns (columns=), or say which one holds ids (id_column=)."


def _with_points(field: str) -> str:
    """Return a number without commas; two where a comma may be decimal or between thousands."""
    whole = field.replace(",", "")
    if field.count(",") > 1 or field.find(".") > field.find(","):
        return whole
    with_point = field.replace(".", "").replace(",", ".")
    is_either = "." not in field and len(field.partition(",")[2]) == 3
    return f"{with_point} or {whole}" if is_either else with_point
