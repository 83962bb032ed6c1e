"""Objects from files of all formats: in chunks, so that a file may be larger than memory."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from fastmks._util.validation import check_count
from fastmks.errors import InvalidArgument
from fastmks.inputs.arrays import open_npy, open_npz
from fastmks.inputs.chunks import Chunk, Opened, Reading, join_chunks
from fastmks.inputs.columns import open_arrow, open_parquet
from fastmks.inputs.file_format import recognise
from fastmks.inputs.molecules import open_smiles
from fastmks.inputs.series import open_ucr
from fastmks.inputs.streams import Stream, damage_named, open_stream
from fastmks.inputs.tables import open_csv
from fastmks.inputs.text import open_fasta, open_lines

_Open: TypeAlias = Callable[[Stream, Reading], Opened]
_READERS: dict[str, _Open] = {
    "arrow": open_arrow,
    "csv": open_csv,
    "fasta": open_fasta,
    "lines": open_lines,
    "npy": open_npy,
    "npz": open_npz,
    "parquet": open_parquet,
    "smiles": open_smiles,
    "ucr": open_ucr,
}
FORMS = tuple(_READERS)
_TABLES = ("arrow", "csv", "parquet")


class ObjectFile:
    """A file of objects, read once from its beginning: iterate over its chunks, or `read` it.

    Attributes
    ----------
    name : str
        The name of the file in errors.
    form : str
        One of `FORMS`.
    kind : str
        The objects: vectors, strings, fingerprints or series.
    n_objects : int or None
        The number of objects, where the file gives it.
    n_columns : int or None
        The numbers of a vector, where the file gives it.
    has_header : bool or None
        Whether the first line of a table of text names the columns.
    ids_from : str or None
        Where ids come from, in words such as ``column 1 'x'``; None where there are none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fastmks.inputs import open_objects
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "x.csv"
    ...     _ = path.write_text("id,x,y\\na,1,2\\nb,3,4\\nc,5,6\\n")
    ...     with open_objects(path, chunk=2) as file:
    ...         for vectors, ids in file:
    ...             print(vectors.tolist(), ids)
    [[1.0, 2.0], [3.0, 4.0]] ['a', 'b']
    [[5.0, 6.0]] ['c']
    """

    def __init__(self, stream: Stream, form: str, opened: Opened) -> None:
        self.name, self.form = stream.name, form
        self.kind, self.n_objects = opened.kind, opened.n_objects
        self.n_columns, self.has_header = opened.n_columns, opened.has_header
        self.ids_from = opened.ids_from
        self._stream, self._chunks = stream, opened.chunks

    def __repr__(self) -> str:
        return f"<ObjectFile: {self.kind} of {self.name}, form {self.form!r}>"

    def __iter__(self) -> Iterator[Chunk]:
        """Yield chunks of objects with their ids; a file without any is an error."""
        is_empty = True
        with damage_named(self.name):
            for chunk in self._chunks:
                is_empty = False
                yield chunk
        if is_empty:
            raise InvalidArgument(f"{self.name} holds no objects.")

    def read(self) -> Chunk:
        """Return all objects and their ids.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from fastmks.inputs import open_objects
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "x.txt"
        ...     _ = path.write_text("one\\ntwo\\n")
        ...     with open_objects(path) as file:
        ...         file.read().objects
        ['one', 'two']
        """
        return join_chunks(list(self))

    def close(self) -> None:
        """Close the file.

        Examples
        --------
        >>> import io
        >>> from fastmks.inputs import Chunk, ObjectFile
        >>> from fastmks.inputs.chunks import Opened
        >>> from fastmks.inputs.streams import Stream
        >>> stream = Stream("x", "x", b"", True, io.BytesIO())
        >>> ObjectFile(stream, "lines", Opened("strings", iter([]))).close()
        >>> stream.file.closed
        True
        """
        self._stream.close()

    def __enter__(self) -> "ObjectFile":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_objects(
    path: str | os.PathLike[str],
    *,
    form: str | None = None,
    kind: str | None = None,
    id_column: str | None = None,
    has_ids: bool = True,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    chunk: int | None = 4096,
    radius: int = 2,
    bits: int = 2048,
) -> ObjectFile:
    """Open a file of objects.

    Parameters
    ----------
    path : path-like
        The file, or ``-`` for standard input. Compression with gzip is detected.
    form : str, optional
        One of `FORMS`; when not given, found by its first bytes, then by its suffix.
    kind : str, optional
        The objects wanted (vectors, strings, fingerprints or series), where the file could be read
        in several ways: a text without a suffix, a column of text.
    id_column : str, optional
        The column with ids, by name or by number from 1. When not given, a first column that is
        called id or has no name, or whose fields are no numbers, with points or with commas.
        An error for formats without columns.
    has_ids : bool, default True
        False skips ids that the file holds.
    columns : sequence of str, optional
        The columns of the objects, or the array of an .npz file; all when not given.
    header : bool, optional
        Whether the first line of a table of text names the columns. Detected when not given; a
        line of numbers that may be a header or an object is then an error.
    chunk : int or None, default 4096
        Objects in a chunk; None for all at once.
    radius, bits : int, default 2 and 2048
        Of the Morgan fingerprints that are computed from SMILES.

    Returns
    -------
    ObjectFile
        To be used in a ``with`` statement. An error in the file is an `InvalidArgument`
        that names the file, and the line or row.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from fastmks.inputs import open_objects
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "x.npy"
    ...     np.save(path, np.eye(3))
    ...     with open_objects(path) as file:
    ...         file.kind, file.n_objects
    ('vectors', 3)
    """
    if form is not None and form not in _READERS:
        raise InvalidArgument(f"form must be one of {', '.join(FORMS)}; got {form!r}.")
    reading = Reading(
        chunk=None if chunk is None else check_count("chunk", chunk),
        kind=kind,
        id_column=id_column,
        has_ids=has_ids,
        columns=None if columns is None else tuple(columns),
        header=header,
        radius=radius,
        bits=bits,
    )
    stream = open_stream(path)
    try:
        if not stream.prefix:
            raise InvalidArgument(f"{stream.name} is empty.")
        known = form or recognise(stream, kind)
        if id_column is not None and known not in _TABLES:
            raise InvalidArgument(
                f"{stream.name} was read as {known}, which has no column {id_column!r}: omit "
                "id_column=, and take the ids of an index from another file (ids=)."
            )
        with damage_named(stream.name):
            return ObjectFile(stream, known, _READERS[known](stream, reading))
    except BaseException:
        stream.close()
        raise
