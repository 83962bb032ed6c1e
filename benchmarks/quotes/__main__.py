"""Compare README.md and docs with the stored results: `python -m benchmarks.quotes`.

Prints every difference and exits with 1 if there is any. `--write` first puts what is stored into
the pages: generated blocks and headline figures.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.growth import tables as growth
from benchmarks.pages import blocks_in, replace_block
from benchmarks.paper import tables as paper
from benchmarks.paper.approximate import ApproximateCell
from benchmarks.peers import tables as peers
from benchmarks.quotes.headlines import SENTENCES, figures
from benchmarks.quotes.tables import DECLARED, make_table, show
from benchmarks.race.cell import Cell
from benchmarks.scale import tables as scale
from benchmarks.service import __main__ as service
from benchmarks.suite import Kept

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
# By page and block: the function that builds the tables, and the files and cells it needs.
PROGRAMS: Mapping[tuple[str, str], tuple[Callable[..., str], Mapping[str, type[Any]]]] = {
    ("docs/evidence/performance.md", "peers"): (peers.all_tables, {"peers_bars": Cell}),
    ("docs/evidence/index.md", "bars"): (peers.summary, {"peers_bars": Cell}),
    ("docs/evidence/index.md", "growth"): (growth.all_tables, {"growth": Cell}),
    ("docs/evidence/index.md", "paper"): (
        paper.all_tables,
        {"paper": Cell, "paper_approximate": ApproximateCell},
    ),
    ("docs/evidence/data/scale.md", "scale"): (scale.all_tables, {"scale": scale.Cell}),
    ("docs/evidence/data/service.md", "service"): (service.all_tables, {"service": service.Cell}),
}
_NUMBER = r"(\d+(?: \d{3})*(?:\.\d+)?)"


def main() -> str | None:
    """Check all pages; return the faults."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quotes", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew blocks and figures first")
    if parser.parse_args().write:
        write()
    return "\n".join(check()) or None


def check(root: Path = ROOT, folder: Path = RESULTS) -> Iterator[str]:
    """Yield the differences between the pages and the stored results."""
    for page, text, wanted, faults in _pages(root, folder):
        yield from (f"{page}: {fault}" for fault in faults)
        if text != wanted:
            lines = unified_diff(text.splitlines(), wanted.splitlines(), n=0, lineterm="")
            yield "\n".join([f"{page}: is not as stored; use --write", *list(lines)[2:]])


def write(root: Path = ROOT, folder: Path = RESULTS) -> None:
    """Put the stored results into the pages; keep blocks that cannot be renewed."""
    for page, _, wanted, _ in _pages(root, folder):
        (root / page).write_text(wanted, encoding="utf-8")


def _pages(root: Path, folder: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield each page, its text, the text it should have, and faults to repair by hand."""
    headlines = figures(folder)
    for file in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        page, text = file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")
        expected = [name for where, name in PROGRAMS if where == page]
        declared = [found[1] for found in DECLARED.finditer(text)]
        blocks = dict.fromkeys([*expected, *declared, *blocks_in(text)])
        sentences = [sentence for sentence, pages in SENTENCES.items() if page in pages]
        steps = [(name, partial(_with_block, page, name, folder)) for name in blocks]
        steps += [(sentence, partial(_with_figures, sentence, headlines)) for sentence in sentences]
        wanted, faults = text, []
        for what, renew in steps:
            try:
                wanted = renew(wanted)
            except (LookupError, OSError, ValueError) as error:
                faults.append(f"{what!r} cannot be renewed: {error}")
        yield page, text, wanted, faults


def _with_block(page: str, name: str, folder: Path, text: str) -> str:
    """Return a page with one of its generated blocks."""
    if (page, name) not in PROGRAMS:
        return replace_block(text, name, make_table(text, name, folder))
    tables, files = PROGRAMS[page, name]
    paths = {file: (folder / f"{file}.json").resolve(strict=True) for file in files}
    kept = [Kept(file, paths[file], kind) for file, kind in files.items()]
    return replace_block(text, name, tables(*kept))


def _with_figures(sentence: str, headlines: Mapping[str, float], text: str) -> str:
    """Return a page with the figures of a sentence, at as many decimals as it shows."""
    words, names = re.split(r"\{\w+\}", sentence), re.findall(r"\{(\w+)\}", sentence)
    pattern = _NUMBER.join(r"\s+".join(map(re.escape, some.split(" "))) for some in words)
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        raise LookupError(f"the page must say so once, not {len(found)} times")
    for group, name in reversed(list(enumerate(names, 1))):
        decimals = len(found[0][group].partition(".")[2])
        start, stop = found[0].span(group)
        text = text[:start] + show(headlines[name], f".{decimals}f") + text[stop:]
    return text


if __name__ == "__main__":
    sys.exit(main())
