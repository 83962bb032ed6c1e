"""Messages of commands: the one module that writes them.

A name or a file may hold characters that control a terminal. They are shown as escapes.
"""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

import typer

from fastmks.cli.arguments import as_options
from fastmks.errors import FastmksError

DEBUG = "--debug"  # the option that shows the trace of an error

# Control characters, what ends a line or sets the direction of writing, halves of surrogate pairs.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return text in one line, with escapes for characters that would control a terminal.

    Examples
    --------
    >>> print(printable("red \\x1b[31m and\\nmore"))
    red \\x1b[31m and\\nmore
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_lines(text: str) -> str:
    """Return text with such escapes in each of its lines."""
    return "\n".join(map(printable, text.split("\n")))


def say(text: str) -> None:
    """Print lines on standard output."""
    typer.echo(printable_lines(text))


def note(text: str) -> None:
    """Print a line on standard error, apart from the output."""
    typer.echo(printable(text), err=True)


def one_line(error: Exception) -> str:
    """Return an error as one line."""
    if hasattr(error, "format_message"):  # an error of typer
        text = error.format_message().removeprefix("Invalid value: ")
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror + ("" if error.filename is None else f": {error.filename}")
    elif isinstance(error, FastmksError):
        text = as_options(str(error))
    elif isinstance(error, (ImportError, OSError)):
        text = str(error)
    elif isinstance(error, MemoryError):
        text = f"out of memory. {error}".strip()
    else:
        text = f"{type(error).__name__}: {error} ({DEBUG} shows where)"
    return " ".join(text.split())


def data_output() -> IO[bytes]:
    """Return standard output for data in UTF-8; a terminal gets control characters escaped."""
    return cast("IO[bytes]", _ShownData()) if sys.stdout.isatty() else sys.stdout.buffer


class _ShownData:
    def write(self, data: bytes) -> int:
        return sys.stdout.buffer.write(printable_lines(data.decode()).encode())

    def flush(self) -> None:
        sys.stdout.buffer.flush()


class _LogFormat(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(super().format(record))


@contextmanager
def shown_logs() -> Iterator[None]:
    """Print warnings and errors of our logs on standard error."""
    handler, log = logging.StreamHandler(), logging.getLogger("fastmks")
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_LogFormat())
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
