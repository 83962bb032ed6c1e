"""Hold pages against the stored results: what disagrees, and how they would agree."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pages import block_in, blocks_in, replace_block
from benchmarks.quotes.blocks import BLOCKS, Maker
from benchmarks.quotes.figures import figures_in, line_of, without_blocks
from benchmarks.quotes.pages import quotes_of
from benchmarks.quotes.quote import Entry, Quote, Stated
from benchmarks.quotes.shown import NUMBER, Shown
from benchmarks.quotes.stored import SelectionError, Stored

__all__ = [
    "Fault",
    "check",
    "check_blocks",
    "check_quotes",
    "check_source",
    "find_pages",
    "renewed",
    "write",
]

ROOT = Path(__file__).parents[2]
SOURCE = "docs/results.md"  # the README quotes from it alone

_Span = tuple[int, int]


@dataclass(frozen=True)
class Fault:
    """Something in a page that the stored results do not bear out."""

    page: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.what}"


def find_pages(root: Path = ROOT) -> list[str]:
    """Return README.md and all pages in docs and its folders."""
    pages = sorted((root / "docs").rglob("*.md"))
    return ["README.md", *(file.relative_to(root).as_posix() for file in pages)]


def check(
    stored: Stored,
    *,
    root: Path = ROOT,
    blocks: Mapping[tuple[str, str], Maker] = BLOCKS,
) -> list[Fault]:
    """Return all faults of all pages."""
    pages = find_pages(root)
    faults = [
        Fault(page, 1, f"there is no page for the block {name}; take it from BLOCKS.")
        for page, name in blocks
        if page not in pages
    ]
    for page in pages:
        text = (root / page).read_text(encoding="utf-8")
        faults += check_blocks(page, text, _blocks_of(page, blocks), stored)
        faults += check_quotes(page, text, quotes_of(page), stored)
        if page == "README.md" and SOURCE in pages:
            source = (root / SOURCE).read_text(encoding="utf-8")
            faults += check_source(page, text, quotes_of(page), source)
    return faults


def write(
    stored: Stored, *, root: Path = ROOT, blocks: Mapping[tuple[str, str], Maker] = BLOCKS
) -> None:
    """Put what is stored into all pages: generated blocks, and quoted figures at their digits."""
    for page in find_pages(root):
        file = root / page
        before = file.read_text(encoding="utf-8")
        after = renewed(before, quotes_of(page), _blocks_of(page, blocks), stored)
        if after != before:
            file.write_text(after, encoding="utf-8")


def check_blocks(page: str, text: str, makers: Mapping[str, Maker], stored: Stored) -> list[Fault]:
    """Return what is wrong with the generated blocks of a page."""
    faults = []
    for name in dict.fromkeys([*makers, *blocks_in(text)]):
        try:
            place = block_in(text, name)
        except ValueError as error:
            faults.append(Fault(page, 1, f"{error}"))
            continue
        what = _fault_of_block(text, name, makers.get(name), stored)
        if what:
            faults.append(Fault(page, line_of(text, place.start), f"the block {name!r} {what}"))
    return faults


def check_quotes(page: str, text: str, quotes: Sequence[Entry], stored: Stored) -> list[Fault]:
    """Return the quotes that are not as stored, and the figures of a page that nothing covers."""
    hand_written = without_blocks(text)
    faults = []
    covered: list[_Span] = []
    for entry in quotes:
        found = list(entry.pattern.finditer(hand_written))
        if len(found) != 1:
            line = line_of(text, found[1].start()) if found else 1
            faults.append(Fault(page, line, _not_once(entry, len(found))))
        elif isinstance(entry, Stated):
            covered.append(found[0].span())
        else:
            covered += [span for span, _, _ in entry.slots(found[0])]
            faults += _compare(page, text, entry, found[0], stored)
    faults += _uncovered(page, text, covered)
    return sorted(faults, key=lambda fault: fault.line)


def check_source(page: str, text: str, quotes: Sequence[Entry], source: str) -> list[Fault]:
    """Return the figures that a page quotes and that the page it quotes from does not show."""
    hand_written = without_blocks(text)
    known = {Shown(match.group()).value for match in re.finditer(NUMBER, source)}
    return [
        Fault(page, line_of(text, start), f"{shown.text} is not in {SOURCE}; say it there first.")
        for entry in quotes
        if isinstance(entry, Quote)
        for match in entry.pattern.finditer(hand_written)
        for (start, _), shown, _ in entry.slots(match)
        if shown.value not in known
    ]


def renewed(text: str, quotes: Sequence[Entry], makers: Mapping[str, Maker], stored: Stored) -> str:
    """Return a page with what is stored now; whatever cannot be renewed is left as it is."""
    for name in blocks_in(text):
        with suppress(SelectionError, ValueError):
            if name in makers:
                text = replace_block(text, name, makers[name](stored))
    hand_written = without_blocks(text)
    changes: dict[_Span, str] = {}
    for entry in quotes:
        found = list(entry.pattern.finditer(hand_written))
        if isinstance(entry, Quote) and len(found) == 1:
            changes |= _changes(entry, found[0], stored)
    for (start, stop), number in sorted(changes.items(), reverse=True):
        text = text[:start] + number + text[stop:]
    return text


def _changes(quote: Quote, match: re.Match[str], stored: Stored) -> dict[_Span, str]:
    changes = {}
    for span, shown, value in quote.slots(match):
        with suppress(SelectionError):
            present = value(stored)
            if not shown.agrees(present):
                changes[span] = shown.rewritten(present)
    return changes


def _fault_of_block(text: str, name: str, maker: Maker | None, stored: Stored) -> str:
    if maker is None:
        return "is made by no program; add it to BLOCKS, or take its markers away."
    try:
        is_as_stored = replace_block(text, name, maker(stored)) == text
    except SelectionError as error:
        return f"cannot be made: {error}"
    return "" if is_as_stored else "is not what is made of the stored results; use --write."


def _blocks_of(page: str, blocks: Mapping[tuple[str, str], Maker]) -> dict[str, Maker]:
    return {name: maker for (where, name), maker in blocks.items() if where == page}


def _not_once(entry: Entry, times: int) -> str:
    kind = "quoted" if isinstance(entry, Quote) else "stated"
    if times == 0:
        return f"the {kind} text {entry.text!r} is not in the page; change the one or the other."
    return f"the {kind} text {entry.text!r} occurs {times} times; make it longer."


def _compare(
    page: str, text: str, quote: Quote, match: re.Match[str], stored: Stored
) -> list[Fault]:
    faults = []
    for (start, _), shown, value in quote.slots(match):
        line = line_of(text, start)
        try:
            present = value(stored)
        except SelectionError as error:
            faults.append(
                Fault(page, line, f"{shown.text} in {quote.text!r} has no value: {error}")
            )
            continue
        if not shown.agrees(present):
            what = f"{shown.text} in {quote.text!r} is {present:.6g} in the stored results; "
            faults.append(Fault(page, line, f"{what}write {shown.rewritten(present)} (--write)."))
    return faults


def _uncovered(page: str, text: str, covered: Sequence[_Span]) -> list[Fault]:
    return [
        Fault(
            page,
            line_of(text, figure.start),
            f"{figure.text!r} is quoted from nowhere ({_around(text, figure.start, figure.stop)}); "
            "add a Quote, or a Stated if it is no measurement.",
        )
        for figure in figures_in(text)
        if not any(start <= figure.start and figure.stop <= stop for start, stop in covered)
    ]


def _around(text: str, start: int, stop: int) -> str:
    piece = text[max(0, start - 25) : stop + 20]
    return "..." + " ".join(piece.split()) + "..."
