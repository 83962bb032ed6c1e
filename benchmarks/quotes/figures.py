"""What counts as a figure in a page: everything that must be quoted from the stored results.

A figure is a number outside of code, generated blocks, comments and targets of links that

- is followed by a unit of measurement (`UNITS`): 12 ms, 3 times, 5 %, 20 evaluations, 7×; of
  numbers in a row ('5 to 15 evaluations') each is one; words from two to twelve count as well;
- or follows 'factor of';
- or has a decimal fraction;
- or stands in a cell of a table that holds nothing but numbers, units and signs between them.

No figures are versions (1.17.1), numbers of theorems and the like (`_REFERENCES`), divisors in
formulas (n²/2), and shapes, where the sign × stands between two numbers (100 000 × 64) instead of
behind one (7×).
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from benchmarks.pages import block_in, blocks_in
from benchmarks.quotes.shown import NUMBER

__all__ = ["UNITS", "Figure", "figures_in", "line_of", "without_blocks"]

UNITS = (
    *("times", "fold", "faster", "slower", "fewer", "less", "ulp"),
    *(
        "ns",
        "us",
        "µs",
        "μs",
        "ms",
        r"(?<=\s)s",
        "seconds?",
        "minutes?",
        "hours?",
        "GHz",
        "Gflop/s",
    ),
    *("bytes?", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB", "%", "per cent", "percent"),
    *("evaluations?", r"(?:[\w-]+\s)?(?:a|per)\ssecond"),
    *(r"x(?=[\s,.;:)|])", r"×(?!\s?(?:[0-9]|[b-z]\b))"),
)
_REFERENCES = r"\b(?:Theorem|Definition|Lemma|Algorithm|Section|Table|Figure|arXiv)\s+$"
_GAP = r"[*_]*[^\S\n]?\n?[^\S\n]*"  # between a number and its unit: emphasis, a blank, a new line
_UNIT = rf"(?:{'|'.join(UNITS)})(?!\w)"
_JOINED = rf"(?<![^0-9\s]/){NUMBER}(?:{_GAP}(?:to|and|or|against|/|–|→){_GAP}{NUMBER})*"
_WITH_UNIT = re.compile(rf"({_JOINED}){_GAP}{_UNIT}")
_FACTOR = re.compile(rf"factor\s+of\s+({_JOINED})")
_NUMBER = re.compile(NUMBER)
_NUMERIC_CELL = re.compile(rf"(?:{_JOINED}|{_UNIT}|[\s~<>≤≥≈+−()*:;,/→–-])+")
_HIDDEN = re.compile(
    r"^```.*?^```[^\n]*$"  # fenced code
    r"|(?<=\n\n)(?: {4,}[^\n]*\n+)+"  # indented code, behind an empty line
    r"|<!--.*?-->"
    r"|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)"  # inline code
    r"|(?<=\])\([^)\s]*\)",  # targets of links
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, order=True)
class Figure:
    """A number that must be quoted, and where it stands in the page."""

    start: int
    text: str

    @property
    def stop(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


def figures_in(page: str) -> list[Figure]:
    """Return all figures of a page, in their order."""
    plain = _HIDDEN.sub(_blank, without_blocks(page))
    found = {
        Figure(number.start(), number.group())
        for start, stop in _places(plain)
        for number in _NUMBER.finditer(plain, start, stop)
    }
    found |= {
        Figure(number.start(), number.group())
        for number in _NUMBER.finditer(plain)
        if "." in number.group() and not re.search(_REFERENCES, plain[: number.start()][-20:])
    }
    return sorted(found)


def without_blocks(page: str) -> str:
    """Return the page with blanks for generated blocks, everything else at its place."""
    for name in blocks_in(page):
        with suppress(ValueError):  # without an end it is no block
            place = block_in(page, name)
            page = page[: place.start] + _blanks(page[place]) + page[place.stop :]
    return page


def line_of(page: str, position: int) -> int:
    """Return the number of the line, from 1."""
    return page.count("\n", 0, position) + 1


def _places(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where numbers with units are, and where numeric cells of tables are."""
    for pattern in (_WITH_UNIT, _FACTOR):
        for match in pattern.finditer(plain):
            yield match.span(1)
    start = 0
    for line in plain.splitlines(keepends=True):
        if line.lstrip().startswith("|"):
            yield from _numeric_cells(line, start)
        start += len(line)


def _numeric_cells(line: str, start: int) -> Iterator[tuple[int, int]]:
    for cell in re.finditer(r"(?:[^|\\\n]|\\.)+", line):
        if _NUMERIC_CELL.fullmatch(cell.group()) and _NUMBER.search(cell.group()):
            yield start + cell.start(), start + cell.end()


def _blank(match: re.Match[str]) -> str:
    return _blanks(match.group())


def _blanks(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
