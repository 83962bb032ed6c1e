"""Write answers to files: in chunks, under another name until they are complete."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TypeAlias

from fastmks.errors import InvalidArgument
from fastmks.files.atomic import replace_file
from fastmks.outputs.answers import Answers
from fastmks.outputs.binary import npz_pieces, parquet_pieces
from fastmks.outputs.text import csv_pieces, json_pieces

_Pieces: TypeAlias = Callable[[Iterable[Answers]], Iterator[bytes]]
_WRITERS: dict[str, _Pieces] = {
    "csv": csv_pieces,
    "jsonl": json_pieces,
    "npz": npz_pieces,
    "parquet": parquet_pieces,
}
OUTPUT_FORMS = tuple(_WRITERS)
_SUFFIXES = {"ndjson": "jsonl", "pq": "parquet"} | {form: form for form in OUTPUT_FORMS}


def output_form(path: str | os.PathLike[str]) -> str:
    """Return the format of the suffix of a file.

    Examples
    --------
    >>> from fastmks.outputs import output_form
    >>> output_form("hits.jsonl")
    'jsonl'
    """
    name = os.fspath(path)
    suffix = name.rpartition(".")[2].lower()
    if suffix not in _SUFFIXES:
        known = ", ".join(f".{known}" for known in sorted(_SUFFIXES))
        raise InvalidArgument(
            f"hits are written to files that end in {known}; got {name!r}. Say the format with "
            "form=."
        )
    return _SUFFIXES[suffix]


def write_answers(
    path: str | os.PathLike[str] | IO[bytes],
    chunks: Iterable[Answers],
    *,
    form: str | None = None,
) -> None:
    """Write answers chunk by chunk; memory holds one chunk at a time.

    Parameters
    ----------
    path : path-like or binary file
        Where to; a file is replaced as a whole once all is written, and left alone where anything
        goes wrong. An open file, a pipe and a device are written to at once.
    chunks : iterable of Answers
        From `answers_of`.
    form : {"csv", "jsonl", "npz", "parquet"}, optional
        By the suffix when not given.

    Examples
    --------
    >>> import fastmks, pathlib, tempfile
    >>> from fastmks.outputs import answers_of, write_answers
    >>> hits = fastmks.Index([[1.0], [2.0]]).search([[3.0]], k=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "hits.csv"
    ...     write_answers(path, [answers_of(hits, ["q"])])
    ...     path.read_text().split()
    ['query,rank,id,value', 'q,1,1,6.0', 'q,2,0,3.0']
    """
    if form is not None and form not in _WRITERS:
        raise InvalidArgument(f"form must be one of {', '.join(OUTPUT_FORMS)}; got {form!r}.")
    if not isinstance(path, (str, os.PathLike)):
        _write_to(path, _WRITERS[form or "csv"](chunks))
        return
    pieces = _WRITERS[form or output_form(path)](chunks)
    if _is_special(path):
        with open(path, "wb") as file:  # noqa: PTH123
            _write_to(file, pieces)
    else:
        replace_file(path, pieces)


def _write_to(file: IO[bytes], pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        file.write(piece)
        file.flush()


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a pipe or a device, which cannot be replaced."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
