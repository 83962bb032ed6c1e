"""Compare README.md and docs with the stored results: `python -m benchmarks.quotes`.

Prints every difference and exits with 1 if there is any. `--write` first puts what is stored into
the generated blocks of the pages; figures in sentences are for people to renew.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

from benchmarks.growth import tables as growth
from benchmarks.living import tables as living
from benchmarks.living.cell import Cell as LivingCell
from benchmarks.pages import blocks_in, replace_block
from benchmarks.paper import tables as paper
from benchmarks.paper.approximate import ApproximateCell
from benchmarks.peers import tables as peers
from benchmarks.quotes.headlines import PAGES, figures, unknown_figures
from benchmarks.quotes.tables import DECLARED, make_table
from benchmarks.race.cell import Cell
from benchmarks.scale import tables as scale
from benchmarks.service import __main__ as service
from benchmarks.suite import Kept

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
# By page and block: the function that builds the tables, and the files and cells it needs.
PROGRAMS: Mapping[tuple[str, str], tuple[Callable[..., str], Mapping[str, type[Any]]]] = {
    ("docs/evidence/data/peers.md", "peers"): (peers.all_tables, {"peers_bars": Cell}),
    ("docs/evidence/data/growth.md", "growth"): (growth.all_tables, {"growth": Cell}),
    ("docs/evidence/data/paper.md", "paper"): (
        paper.all_tables,
        {"paper": Cell, "paper_approximate": ApproximateCell},
    ),
    ("docs/evidence/data/living.md", "living"): (living.all_tables, {"living": LivingCell}),
    ("docs/evidence/data/scale.md", "scale"): (scale.all_tables, {"scale": scale.Cell}),
    ("docs/evidence/data/service.md", "service"): (service.all_tables, {"service": service.Cell}),
}


def main() -> str | None:
    """Check all pages; return the faults."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quotes", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew generated blocks first")
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
        wanted, faults = text, list(unknown_figures(text, headlines) if page in PAGES else ())
        for name in blocks:
            try:
                wanted = _with_block(page, name, folder, wanted)
            except (LookupError, OSError, ValueError) as error:
                faults.append(f"{name!r} cannot be renewed: {error}")
        yield page, text, wanted, faults


def _with_block(page: str, name: str, folder: Path, text: str) -> str:
    """Return a page with one of its generated blocks."""
    if (page, name) not in PROGRAMS:
        return replace_block(text, name, make_table(text, name, folder))
    tables, files = PROGRAMS[page, name]
    paths = {file: (folder / f"{file}.json").resolve(strict=True) for file in files}
    kept = [Kept(file, paths[file], kind) for file, kind in files.items()]
    return replace_block(text, name, tables(*kept))


if __name__ == "__main__":
    sys.exit(main())
