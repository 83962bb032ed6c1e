"""Tables in columns: Parquet and Arrow files, read in batches by pyarrow."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmks._util.validation import import_extra
from fastmks.errors import InvalidArgument
from fastmks.inputs.chunks import Chunk, Opened, Reading
from fastmks.inputs.headers import is_id_name
from fastmks.inputs.molecules import Fingerprints
from fastmks.inputs.streams import Stream

if TYPE_CHECKING:
    import pyarrow


def open_parquet(stream: Stream, reading: Reading) -> Opened:
    """Open a Parquet file."""
    import_extra("pyarrow", extra="arrow", needed_by=f"reading {stream.name}")
    from pyarrow import parquet

    with _named(stream.name):
        file = parquet.ParquetFile(stream.seekable())
        columns = _Columns(file.schema_arrow, reading, stream.name)
        batches = file.iter_batches(reading.block, columns=columns.wanted)
    chunks = _chunks(batches, columns, reading.block)
    return columns.opened(chunks, file.metadata.num_rows)


def open_arrow(stream: Stream, reading: Reading) -> Opened:
    """Open an Arrow file or Arrow stream."""
    import_extra("pyarrow", extra="arrow", needed_by=f"reading {stream.name}")
    from pyarrow import ipc

    with _named(stream.name):
        if stream.prefix.startswith(b"ARROW1"):
            file = ipc.open_file(stream.seekable())
            batches: Iterable[Any] = (file.get_batch(i) for i in range(file.num_record_batches))
        else:
            batches = file = ipc.open_stream(stream.file)
    columns = _Columns(file.schema, reading, stream.name)
    return columns.opened(_chunks(batches, columns, reading.block))


@contextmanager
def _named(file: str) -> Iterator[None]:
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise InvalidArgument(f"{file} cannot be read: {error}.") from error


class _Columns:
    """The columns of a schema: which hold ids, and which hold the objects."""

    def __init__(self, schema: "pyarrow.Schema", reading: Reading, file: str) -> None:
        self.file, self._reading, self._schema = file, reading, schema
        if len(set(schema.names)) < len(schema.names):
            raise InvalidArgument(f"{file} must have columns of different names.")
        found = self._id_column()
        self.id = found if reading.has_ids else None  # skipped ids are not read
        self.objects = [name for name in schema.names if name != found]
        if reading.columns is not None:
            self.objects = [self._find(name, "columns") for name in reading.columns]
        if not self.objects:
            raise InvalidArgument(f"{file} has no column but that of ids.")
        self.kind = self._kind()

    @property
    def wanted(self) -> list[str]:
        """All columns to read."""
        ids = [] if self.id is None else [self.id]
        return list(dict.fromkeys([*self.objects, *ids]))

    def opened(self, chunks: Iterator[Chunk], n_objects: int | None = None) -> Opened:
        """Return the opened file, with the facts of its columns."""
        is_wide = self.kind == "vectors" and not _is_list(self._schema.field(self.objects[0]).type)
        return Opened(
            self.kind,
            chunks,
            n_objects,
            len(self.objects) if is_wide else None,
            ids_from=None if self.id is None else f"column {self.id!r}",
        )

    def _find(self, name: str, argument: str) -> str:
        names = self._schema.names
        if name in names:
            return name
        if name.isdecimal() and 1 <= int(name) <= len(names):
            return str(names[int(name) - 1])
        raise InvalidArgument(
            f"{argument} must name columns of {self.file}, which has {', '.join(names[:12])}"
            f"{', ...' if len(names) > 12 else ''}; got {name!r}."
        )

    def _id_column(self) -> str | None:
        names = self._schema.names
        if self._reading.id_column is not None:
            return self._find(self._reading.id_column, "id_column")
        if len(names) < 2:
            return None
        for name in names:
            if name.lower() in ("id", "__index_level_0__"):
                return str(name)
        if is_id_name(str(names[0])):
            return str(names[0])
        return str(names[0]) if _is_text(self._schema.field(names[0]).type) else None

    def _kind(self) -> str:
        types = [self._schema.field(name).type for name in self.objects]
        if len(types) == 1 and _is_text(types[0]):
            return "fingerprints" if self._reading.kind == "fingerprints" else "strings"
        if len(types) == 1 and _is_list(types[0]):
            return "series" if self._reading.kind == "series" else "vectors"
        for name, kind in zip(self.objects, types, strict=True):
            if not _is_numeric(kind):
                raise InvalidArgument(
                    f"{self.file}: the column {name!r} holds {kind}; vectors are made of columns "
                    "of numbers, or of one column of lists. Choose others (columns=), or say "
                    "which one holds ids (id_column=)."
                )
        return "vectors"

    def chunk(self, table: "pyarrow.Table", begins: int) -> Chunk:
        """Return the objects and ids of some rows, the first of which has a number."""
        self._check_filled(table, begins)
        ids = None if self.id is None else self._names(table.column(self.id))
        if self.kind in ("strings", "fingerprints"):
            texts = table.column(self.objects[0]).to_pylist()
            if self.kind == "strings":
                return Chunk(texts, ids)
            made = Fingerprints(radius=self._reading.radius, bits=self._reading.bits)
            places = [f"{self.file}, row {begins + i + 1}" for i in range(len(texts))]
            return Chunk(made.of(texts, places), ids)
        if _is_list(self._schema.field(self.objects[0]).type):
            return Chunk(self._lists(table.column(self.objects[0]), begins), ids)
        columns = [table.column(name).to_numpy() for name in self.objects]
        return Chunk(np.stack(columns, axis=1), ids)

    def _names(self, column: Any) -> Any:
        kind = column.type
        if _is_text(kind):
            return column.to_pylist()
        if not _is_whole(kind):
            raise InvalidArgument(
                f"{self.file}: ids are whole numbers or strings; the column {self.id!r} holds "
                f"{kind}."
            )
        return column.to_numpy()

    def _lists(self, column: Any, begins: int) -> Any:
        """Return lists of numbers as rows, or as series of any lengths."""
        from pyarrow import compute

        lengths = compute.list_value_length(column).to_numpy()
        values = compute.list_flatten(column)
        place = f"{self.file}, column {self.objects[0]!r}"
        if values.null_count or not _is_numeric(values.type):
            raise InvalidArgument(
                f"{place}: lists are made of numbers, none of them missing; got {values.type} "
                f"with {values.null_count} missing."
            )
        numbers = values.to_numpy()
        if self.kind == "series":
            return np.split(numbers, np.cumsum(lengths)[:-1])
        other = np.flatnonzero(lengths != lengths[0])
        if len(other):
            raise InvalidArgument(
                f"{place}, row {begins + other[0] + 1}: vectors have as many numbers as the first, "
                f"{lengths[0]}; got {lengths[other[0]]}."
            )
        return numbers.reshape(len(lengths), -1)

    def _check_filled(self, table: "pyarrow.Table", begins: int) -> None:
        for name in self.wanted:
            column = table.column(name)
            if column.null_count:
                at = int(np.flatnonzero(column.is_null().to_numpy())[0])
                raise InvalidArgument(
                    f"{self.file}, row {begins + at + 1}, column {name!r}: the value is missing. "
                    "Fill it, or drop the row."
                )


def _chunks(batches: Iterable[Any], columns: _Columns, size: int) -> Iterator[Chunk]:
    """Yield chunks of one size, however the file was cut into batches."""
    import pyarrow

    held, n_held, done = list[Any](), 0, 0
    with _named(columns.file):
        for batch in batches:
            batch.validate(full=True)  # offsets of a damaged file may lie outside it
            held.append(batch)
            n_held += batch.num_rows
            while n_held >= size:
                table = pyarrow.Table.from_batches(held).select(columns.wanted)
                yield columns.chunk(table.slice(0, size), done)
                held, n_held, done = table.slice(size).to_batches(), n_held - size, done + size
        if n_held:
            yield columns.chunk(pyarrow.Table.from_batches(held).select(columns.wanted), done)


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _is_whole(kind: Any) -> bool:
    return str(kind).removeprefix("u").startswith("int")


def _is_numeric(kind: Any) -> bool:
    return _is_whole(kind) or str(kind) in ("bool", "halffloat", "float", "double")


def _is_list(kind: Any) -> bool:
    return str(kind).split("<")[0] in ("list", "large_list", "fixed_size_list")
