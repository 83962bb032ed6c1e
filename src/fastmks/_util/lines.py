"""Lines of text files, numbered: an error in one names the file and the line."""

import codecs
import zlib
from collections.abc import Iterable, Iterator

from fastmks.errors import InvalidArgument


def numbered_lines(
    raw: Iterable[bytes], name: str, *, keep_ends: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield the number of each line, from 1, and its text, with or without the end of the line.

    Examples
    --------
    >>> list(numbered_lines([b"one\\r\\n", b"two"], "x.txt"))
    [(1, 'one'), (2, 'two')]
    >>> list(numbered_lines([b"one\\r\\n", b"two"], "x.txt", keep_ends=True))
    [(1, 'one\\r\\n'), (2, 'two')]
    """
    import gzip  # here, since few need it and the import takes time

    number = 0
    try:
        for number, line in enumerate(_split_lines(raw), start=1):
            text = line.decode()
            yield number, text if keep_ends else text.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{name}, line {number}: not text in UTF-8 ({error.reason})."
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidArgument(
            f"{name}, after line {number}: the gzip file is damaged ({error})."
        ) from error


def _split_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Split at carriage returns too, which end lines in old files, and drop a byte order mark."""
    is_first = True
    for line in lines:
        kept = line.removeprefix(codecs.BOM_UTF8) if is_first else line
        is_first = False
        yield from kept.splitlines(keepends=True)
