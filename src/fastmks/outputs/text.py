"""Answers as text: CSV, and JSON lines. Numbers are written so that they read back the same."""

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from fastmks.outputs.answers import Answers, no_utf8

_END = "\r\n"


def csv_pieces(chunks: Iterable[Answers]) -> Iterator[bytes]:
    """Yield the bytes of a CSV file, a header first.

    Examples
    --------
    >>> import fastmks
    >>> from fastmks.outputs import answers_of
    >>> hits = fastmks.Index([[0.1]]).search([[3.0]])
    >>> b"".join(csv_pieces([answers_of(hits, ["q"])]))
    b'query,rank,id,value\\nq,1,0,0.30000000000000004\\n'
    """
    is_first = True
    for answers in chunks:
        lines = _Lines()
        writer = csv.writer(lines, lineterminator=_END)
        if is_first:
            writer.writerow(answers.fields)
            is_first = False
        writer.writerows(answers.rows())
        try:
            yield "".join(lines).encode()
        except UnicodeEncodeError as error:
            raise no_utf8(answers, "CSV") from error


class _Lines(list[str]):
    """The lines of a writer. Before Python 3.13 it quotes a \\r only where lines end in one."""

    def write(self, line: str) -> None:
        """Keep a line, which ends as those of a text file do."""
        self.append(f"{line.removesuffix(_END)}\n")


def json_pieces(chunks: Iterable[Answers]) -> Iterator[bytes]:
    """Yield the bytes of a file with a line of JSON for each hit.

    Examples
    --------
    >>> import fastmks
    >>> from fastmks.outputs import answers_of
    >>> hits = fastmks.Index([[0.1]]).search([[3.0]])
    >>> b"".join(json_pieces([answers_of(hits, ["q"])]))
    b'{"query": "q", "rank": 1, "id": 0, "value": 0.30000000000000004}\\n'
    """
    for answers in chunks:
        lines = list[bytes]()
        for row in answers.rows():
            record = dict(zip(answers.fields, row, strict=True))
            if record.get("gap") == float("inf"):
                record["gap"] = None  # JSON has no infinity
            lines.append(_line(record))
        yield b"".join(lines)


def _line(record: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can escape
        text = json.dumps(record).encode()
    return text + b"\n"
