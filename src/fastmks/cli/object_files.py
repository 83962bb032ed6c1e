"""Objects and queries of commands: from their files, with a kernel that suits them."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np

from fastmks._util.arrays import Array
from fastmks._util.wording import counted
from fastmks.cli.messages import note
from fastmks.cli.options import FileOptions
from fastmks.errors import InvalidArgument
from fastmks.files.index_lock import n_pending
from fastmks.index.index import Index
from fastmks.index.load import load
from fastmks.index.view import view_of
from fastmks.inputs import Chunk, ObjectFile, open_objects, read_names
from fastmks.inputs.headers import listed
from fastmks.inputs.table_format import find_delimiter, split
from fastmks.kernels import Kernel, as_kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.registry import text_kernels

_BITS = 2048


def load_index(path: str, *, threads: int | None = None) -> Index:
    """Load an index, and note changes that a service acknowledged and its file lacks."""
    index = load(path, threads=threads)
    pending = n_pending(Path(path))
    if pending:
        note(
            f"note: {path}.journal has {counted(pending, 'change')} of a service that {path} lacks "
            "until fastmks serve --writable ends."
        )
    return index


def kind_of(kernel: Kernel | None) -> str | None:
    """Return the kind of objects that a kernel compares, as in `open_objects`, or None.

    Examples
    --------
    >>> kind_of(as_kernel("normalized:spectrum:p=3"))
    'strings'
    """
    if kernel is None:
        return None
    _, leaf = next(iter(leaves(kernel)))
    return None if leaf.kind.in_files == "vectors" else leaf.kind.in_files or None


def read_objects(
    path: str, options: FileOptions, kernel: Kernel | None, *, ids_file: str | None = None
) -> tuple[Chunk, Kernel]:
    """Return all objects of a file with their ids, and the kernel, the one for them by default.

    A line on standard error says how the file was read; `ids_file` replaces the ids in the file.
    """
    arguments = _arguments(options, ids_file, bits=_BITS)
    with open_objects(path, kind=kind_of(kernel), chunk=None, **arguments) as file:
        _check_kernel(file, kernel)
        objects, ids = file.read()
    is_given = kernel is not None
    kernel = kernel or default_kernel(file.kind, objects)
    chosen = "" if is_given else f"; kernel {kernel!r} (--kernel for another)"
    note(f"{_understood(file, options, ids_file)}{chosen}")
    if ids_file is not None:
        names = ids_of_file(ids_file, options, objects)
        return Chunk(objects, read_names(names, where=ids_file)), kernel
    return Chunk(objects, None if ids is None else read_names(ids, where=file.name)), kernel


def _arguments(options: FileOptions, ids_file: str | None, *, bits: int) -> dict[str, Any]:
    """Return the arguments to read objects; a column of ids is that of `ids_file` if given."""
    arguments = options.as_arguments(bits=bits)
    return arguments if ids_file is None else arguments | {"id_column": None}


def _check_kernel(file: ObjectFile, kernel: Kernel | None) -> None:
    """Refuse the bits of molecules where their bytes would be taken for numbers."""
    if file.kind == "fingerprints" and kernel is not None and kind_of(kernel) != file.kind:
        raise InvalidArgument(
            f"{file.name} holds molecules, which are read as fingerprints; {kernel!r} does not "
            "compare these. Use the kernel tanimoto; for others, make vectors of them in Python."
        )


def _understood(file: ObjectFile, options: FileOptions, ids_file: str | None = None) -> str:
    """Return in a line how a file was read."""
    objects, form = file.kind, file.form
    if file.n_columns is not None:
        objects += f" of {counted(file.n_columns, 'column')}"
    if file.has_header is not None:
        form += " with header" if file.has_header else " without header"
    ids_from = ids_file or file.ids_from
    if ids_file is not None and options.id_column is not None:
        ids_from = f"column {options.id_column!r} of {ids_file}"
    return f"{file.name}: {objects}, read as {form}, " + (
        "no ids" if ids_from is None else f"ids from {ids_from}"
    )


def open_queries(
    path: str,
    options: FileOptions,
    index: Index,
    *,
    chunk: int | None = 4096,
    ids_file: str | None = None,
) -> ObjectFile:
    """Open a file of objects of the kind of an index, and print how it was read."""
    kind = kind_of(index.kernel)
    bits = _n_bits(index) if kind == "fingerprints" else _BITS
    file = open_objects(path, kind=kind, chunk=chunk, **_arguments(options, ids_file, bits=bits))
    _check_kernel(file, index.kernel)
    note(_understood(file, options, ids_file))
    return file


def check_filled(index: Index, path: str) -> None:
    """Refuse to search an empty index."""
    if len(index) == 0:
        raise InvalidArgument(f"{path} is an empty index: fastmks add puts objects into it.")


@contextmanager
def form_named(file: ObjectFile) -> Iterator[None]:
    """Add to an error about objects how their file was read, which may be the cause."""
    try:
        yield
    except InvalidArgument as error:
        is_about_objects = str(error).startswith(("queries", "objects"))
        if file.name in str(error) or not is_about_objects:
            raise
        raise InvalidArgument(
            f"{error} ({file.name} was read as {file.form}: {file.kind}; --form for another.)"
        ) from error


def _n_bits(index: Index) -> int:
    """Return the bits of the fingerprints of an index; an index of sets has no such number."""
    rows = index.get(index.ids[:1])
    return rows.shape[1] if isinstance(rows, np.ndarray) and len(rows) else _BITS


def default_kernel(kind: str, objects: Any) -> Kernel:
    """Return the default kernel for a kind of objects.

    Examples
    --------
    >>> default_kernel("vectors", [[1.0]])
    Linear()
    """
    kinds = {one.kind for one in text_kernels().values()}
    return as_kernel(next(one for one in kinds if one.in_files == kind).file_kernel(objects))


def read_id_list(text: str, index: Index) -> Any:
    """Return different ids, given with commas between them, or in a file after @."""
    is_text = view_of(index).settings.has_text_ids
    path = id_file(text)
    given = [name.strip() for name in text.split(",")] if path is None else id_lines(path)
    names = list(dict.fromkeys(given))
    if not names:
        raise InvalidArgument(f"--only must name at least one id; {path} holds none.")
    unknown = next((name for name in names if not _is_id(name, index)), None)
    if unknown is not None:
        kind = "strings" if is_text else "whole numbers"
        is_file = isfile(text)  # noqa: PTH113, which is False for text too long for a name
        hint = f" For the file {text}, write @{text}." if is_file else ""
        raise InvalidArgument(
            f"--only must be ids of the index ({kind}) with commas between them, or @ and a file "
            f"with one on each line; {unknown!r} is no id of it.{hint}"
        )
    return read_names(names, is_text=is_text, where="--only")


def id_file(text: str | None) -> str | None:
    """Return the file of ids that --only names; None where it is ids, or nothing.

    Examples
    --------
    >>> id_file("@some.txt"), id_file("3,5")
    ('some.txt', None)
    """
    return text[1:] if text is not None and text.startswith("@") else None


def _is_id(name: str, index: Index) -> bool:
    if view_of(index).settings.has_text_ids:
        return name in index
    return len(name) <= 20 and name.removeprefix("-").isdecimal() and int(name) in index


def id_lines(path: str) -> Iterator[str]:
    """Yield the ids of a file, one on each line; empty lines are skipped."""
    with open_objects(path, form="lines") as file:
        for lines, _ in file:
            yield from (line.strip() for line in lines if line.strip())


def ids_of_file(path: str, options: FileOptions, objects: Any) -> Sequence[str] | Array:
    """Return the ids of `objects` in another file: its lines, or the --id-column of a table."""
    if options.id_column is not None:
        return _column_of_ids(path, options.id_column, options)
    names = list(id_lines(path))
    _check_one_column(names, path)
    n_objects = objects.shape[0] if hasattr(objects, "shape") else len(objects)
    if len(names) == n_objects + 1:
        raise InvalidArgument(
            f"{path} must name each of the {n_objects} objects; got {len(names)} ids. If its first "
            f"line ({names[0][:40]}) is a header, say which column holds the ids (id_column=)."
        )
    return names


def _check_one_column(lines: Sequence[str], path: str) -> None:
    """Refuse lines of several columns in a file that is a table by its name."""
    if Path(path.lower().removesuffix(".gz")).suffix not in (".csv", ".tsv", ".tab"):
        return
    rows = split(lines[:50], find_delimiter(lines[:50]))
    if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
        raise InvalidArgument(
            f"{path} has {len(rows[0])} columns ({listed(rows[0])}): say which one holds the ids "
            "(id_column=)."
        )


def _column_of_ids(path: str, column: str, options: FileOptions) -> Sequence[str] | Array:
    """Return a column of a table: a text, unless the name is that of another format."""
    is_binary = Path(path.lower()).suffix in (".parquet", ".pq", ".arrow", ".feather", ".ipc")
    with open_objects(
        path,
        form=None if is_binary else "csv",
        kind="strings",
        id_column=column,
        columns=[column],
        header=options.header,
        chunk=None,
    ) as file:
        ids = file.read().ids
    assert ids is not None  # since id_column is given
    return ids


def is_terminal(file: Any = None) -> bool:
    """Whether a user watches: at standard error, where bars are shown, if not given."""
    return bool((file or sys.stderr).isatty())
