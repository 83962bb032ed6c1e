"""The bytes of a file or of standard input: decompressed, the first ones read ahead."""

import errno
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, cast

from fastmks._util.lines import numbered_lines
from fastmks.errors import InvalidArgument

_GZIP = b"\x1f\x8b"  # how gzip files begin, whatever their name
_PREFIX = 2**16  # bytes read ahead
_LONGEST, _N_LINES = 2**24, 3  # bytes, to have this many lines of a text whose lines are long


class _Joined(io.RawIOBase):
    """Bytes that were read already, and those that follow them."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._rest = memoryview(first), rest

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, with less than it holds where the first bytes end."""
        view = memoryview(buffer).cast("B")
        if len(self._first):
            n = min(len(view), len(self._first))
            view[:n], self._first = self._first[:n], self._first[n:]
            return n
        part = self._rest.read1(len(view))  # type: ignore[attr-defined]  # the bytes now in a pipe
        view[: len(part)] = part
        return len(part)


@dataclass(frozen=True)
class Stream:
    """A file that is read once, from its beginning to its end."""

    name: str  # in errors
    path: str | None  # None for standard input
    prefix: bytes  # the first bytes, read ahead
    is_whole: bool  # the prefix is all of it
    file: IO[bytes]
    others: list[IO[bytes]] = field(default_factory=list)  # to be closed with it

    def lines(self, *, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
        """Yield the number of each line, and its text."""
        return numbered_lines(self.file, self.name, keep_ends=keep_ends)

    def first_lines(self, most: int) -> list[str]:
        """Return the lines at the beginning that are read ahead as a whole, at most `most`.

        Empty lines are skipped, and lines have no ends.
        """
        lines = (line.rstrip("\r\n") for line in self.beginning())
        return [line for line in lines if line.strip()][:most]

    def beginning(self) -> list[str]:
        """Return all lines that are read ahead as a whole, with their ends."""
        text = self.prefix.decode("utf-8-sig", errors="replace")
        lines = list(io.StringIO(text, newline=""))
        if not self.is_whole and len(lines) > 1:
            lines.pop()  # it may be cut
        return lines

    def seekable(self) -> IO[bytes]:
        """Return the bytes as a file that can be read in any order; a copy on disk if need be."""
        if self.path is not None and os.path.isfile(self.path):  # noqa: PTH113
            plain = open(self.path, "rb")  # noqa: PTH123, SIM115, closed with the stream
            self.others.append(plain)
            if plain.read(len(self.prefix)) == self.prefix:  # not compressed
                plain.seek(0)
                return plain
        copy = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115, closed with the stream
        self.others.append(copy)
        with damage_named(self.name):
            while piece := self.file.read(2**20):
                copy.write(piece)
        copy.seek(0)
        return copy

    def close(self) -> None:
        """Close the file; standard input stays open."""
        for file in (*self.others, self.file):
            file.close()


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Turn the errors of readers of binary files into one that names the file."""
    import gzip  # here, since importing them takes time and few calls need them
    import zipfile
    import zlib

    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidArgument(f"{name}: the gzip file is damaged ({error}).") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{name} is damaged ({error}).") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a wrong size: a seek before the beginning
            raise
        raise InvalidArgument(f"{name} is damaged ({error}).") from error


def open_stream(path: str | os.PathLike[str]) -> Stream:
    """Open a file, or standard input for ``-``; gzip is decompressed whatever the name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "x.txt"
    ...     _ = file.write_text("one\\ntwo\\n")
    ...     stream = open_stream(file)
    ...     list(stream.lines())
    ...     stream.close()
    [(1, 'one'), (2, 'two')]
    """
    given = os.fspath(path)
    raw: IO[bytes]
    if given == "-":
        # In a reader of its own: closing that leaves standard input open.
        name, raw = "standard input", io.BufferedReader(_Joined(b"", sys.stdin.buffer))
    else:
        name, raw = given, open(given, "rb")  # noqa: PTH123, SIM115, it is closed with the stream
    stream = _look(raw, name, None if given == "-" else given)
    if not stream.prefix.startswith(_GZIP):
        return stream
    import gzip

    with damage_named(name):
        return _look(cast("IO[bytes]", gzip.GzipFile(fileobj=stream.file)), name, stream.path)


def _look(raw: IO[bytes], name: str, path: str | None) -> Stream:
    """Return a stream, its first bytes read ahead; a pipe may need several reads."""
    prefix, is_whole, size = bytearray(), False, _PREFIX
    while not is_whole and len(prefix) < size:
        piece = raw.read(size - len(prefix))
        prefix += piece
        is_whole = not piece
        if len(prefix) == size < _LONGEST and _has_long_lines(prefix):
            size *= 2
    joined = io.BufferedReader(_Closing(bytes(prefix), raw), 2**18)
    return Stream(name, path, bytes(prefix), is_whole, joined)


def _has_long_lines(prefix: bytearray) -> bool:
    """Whether bytes are a text with few ends of lines so far, such as a table of many columns."""
    return 0 not in prefix and max(prefix.count(b"\n"), prefix.count(b"\r")) < _N_LINES


class _Closing(_Joined):
    """A `_Joined` that closes the file it reads from."""

    def close(self) -> None:
        """Close both."""
        if not self.closed:
            self._rest.close()
        super().close()
