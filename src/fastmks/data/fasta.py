"""Read sequences and their ids from FASTA files."""

import io
import os
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from fastmks._util.lines import numbered_lines
from fastmks.errors import InvalidArgument

_GZIP = b"\x1f\x8b"  # how gzip files begin, whatever their name


class Fasta(NamedTuple):
    """Sequences and their ids; unpacks to ``ids, sequences``.

    An `Index` takes it as its objects, with their ids.

    Examples
    --------
    >>> from fastmks import Fasta
    >>> ids, sequences = Fasta(["P1", "P2"], ["MKV", "MLV"])
    >>> ids
    ['P1', 'P2']
    """

    ids: list[str]
    sequences: list[str]


def read_fasta(path: str | os.PathLike[str] | IO[str] | IO[bytes]) -> Fasta:
    """Read a FASTA file, plain or compressed with gzip.

    Parameters
    ----------
    path : str, path or open file
        The file; one that is open, for text or for bytes, is read from where it stands and stays
        open. A record begins with a line ``>name and a description``; the lines after it are its
        sequence. Blank lines, blanks within lines, and lines that begin with ``;`` are skipped.
        Letters are kept as they are, lower case included.

    Returns
    -------
    Fasta
        ``ids``, the first word of each description, and ``sequences``, both lists of str in the
        order of the file: ``Index(sequences, kernel, ids=ids)``. Two records of one name are an
        `InvalidArgument`, as is anything else that cannot be read; it names the file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fastmks import read_fasta
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "two.fasta"
    ...     _ = file.write_text(">P1 first protein\\nMKV\\nLAA\\n>P2\\nMLV\\n")
    ...     ids, sequences = read_fasta(file)
    >>> ids, sequences
    (['P1', 'P2'], ['MKVLAA', 'MLV'])
    """
    file = _Source(path)
    lines: dict[str, int] = {}  # where each name was given
    sequences: list[str] = []
    for name, line, sequence in fasta_records(_lines(file), str(file)):
        if name in lines:
            raise InvalidArgument(
                f"{file}, line {line}: the name {name!r} was given on line {lines[name]} already. "
                "Names are ids, so each must be unique: rename or drop one of the two."
            )
        lines[name] = line
        sequences.append(sequence)
    if not sequences:
        raise InvalidArgument(f"{file} has no sequences: no line begins with '>'.")
    return Fasta(list(lines), sequences)


class _Source:
    """A file by its name, or one that is open already."""

    def __init__(self, path: Any) -> None:
        self._open_file = path if hasattr(path, "read") else None
        if self._open_file is not None:
            self._name = str(getattr(path, "name", "the open file"))
            return
        if not isinstance(path, (str, os.PathLike)):
            raise InvalidArgument(
                f"path must be the name of a file, a path or an open file; got {path!r}."
            )
        if isinstance(path, str) and path.lstrip().startswith(">"):
            raise InvalidArgument(
                "path must be the name of a file; got the text of one. Pass io.StringIO(text)."
            )
        self._name = os.fsdecode(path)

    def __str__(self) -> str:
        return self._name

    def open(self) -> IO[bytes]:
        """Return its bytes; closing them does not close a file that was open before."""
        if self._open_file is None:
            return open(self._name, "rb")  # noqa: PTH123, pathlib takes long to import
        try:
            content = self._open_file.read()
        except UnicodeDecodeError as error:
            raise InvalidArgument(
                f"{self}: not text in {error.encoding} ({error.reason}). Open it as bytes ('rb')."
            ) from error
        is_text = isinstance(content, str)
        return io.BytesIO(content.encode(errors="surrogatepass") if is_text else content)


def fasta_records(lines: Iterable[tuple[int, str]], file: str) -> Iterator[tuple[str, int, str]]:
    """Yield the name of each record, its line, and its sequence; `file` is its name in errors.

    Examples
    --------
    >>> list(fasta_records(enumerate([">P1 first", "MKV", "LAA"], start=1), "x.fasta"))
    [('P1', 1, 'MKVLAA')]
    """
    name, begins, parts = "", 0, list[str]()
    for number, line in lines:
        if line.startswith(">"):
            if begins:
                yield name, begins, _joined(parts)
            words = line[1:].split(maxsplit=1)
            if not words:
                raise InvalidArgument(f"{file}, line {number}: a name must follow '>'.")
            name, begins, parts = words[0], number, []
        elif not begins and line.strip() and not line.startswith(";"):
            raise InvalidArgument(
                f"{file}, line {number}: a FASTA file begins with a line '>name'; got "
                f"{line.rstrip()[:40]!r}."
            )
        elif not line.startswith(";"):
            parts.append(line)
    if begins:
        yield name, begins, _joined(parts)


def _joined(parts: list[str]) -> str:
    return "".join("".join(parts).split())


def _lines(file: _Source) -> Iterator[tuple[int, str]]:
    import gzip  # here, since importing it costs time that few need

    with file.open() as raw:
        is_gzip = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        lines: Iterable[bytes] = gzip.GzipFile(fileobj=raw) if is_gzip else raw
        yield from numbered_lines(lines, str(file))
