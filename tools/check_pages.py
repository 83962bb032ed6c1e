"""Fail where a page is harder to read than it need be.

    python tools/check_pages.py [FILE ...]

A page has at most 250 lines, one of `how-it-works` 150; its first paragraph is a sentence that says
what it answers; a line holds one sentence of at most 40 words; a link names what it leads to. Pages
of generated data (docs/evidence/data) have tables of any length. Without files it reads README.md,
CONTRIBUTING.md and docs/.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
GENERATED = "docs/evidence/data/"
LINES = {"docs/how-it-works/": 150, "docs/evidence/index.md": 150, "docs/": 250, "": 250}
WORDS = 40  # in a sentence
_NEXT_SENTENCE = re.compile(r"(?<![.\d] )(?<!e\.g)(?<!i\.e)(?<!\bvs)[.!?][)`*\"]* (?=[A-Z`*\[(])")
_BARE_LINK = re.compile(r"\[`?[\w/-]+\.(?:md|html)`?\]\(")


def faults(name: str, text: str) -> Iterator[str]:
    """Yield a line for each fault of a page."""
    lines = text.splitlines()
    limit = next(most for start, most in LINES.items() if name.startswith(start))
    if len(lines) > limit:
        yield f"{name}: {len(lines)} lines: divide it, or cut it to {limit}"
    if not text.startswith("# "):
        yield f"{name}:1: begin with a title"
    first = next((line for line in lines[1:] if line.strip()), "")
    if not re.match(r"[A-Z*`\[\"]", first) or first.startswith(("* ", "```")):
        yield f"{name}:2: begin with a sentence that says what the page answers"
    is_code = False
    for number, line in enumerate(lines, 1):
        is_code ^= line.lstrip().startswith("```")
        if is_code or line.startswith(("```", "#", "|", "<", "    ")):
            continue
        if found := _BARE_LINK.search(line):
            yield f"{name}:{number}: {found[0]!r}: say what the link leads to"
        plain = re.sub(r"`[^`]*`", "x", re.sub(r"\]\([^)]*\)", "]", line))
        plain = re.sub(r"^\s*(?:\d+\.|[-*+]) ", "", plain)
        if _NEXT_SENTENCE.search(plain):
            yield f"{name}:{number}: one sentence per line"
        elif len(plain.split()) > WORDS:
            yield f"{name}:{number}: {len(plain.split())} words in a sentence"


def main() -> None:
    """Check the files given, or all pages."""
    pages = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
    names = sys.argv[1:] or [page.relative_to(ROOT).as_posix() for page in pages]
    read = (name for name in names if not name.startswith(GENERATED))
    found = [fault for name in read for fault in faults(name, (ROOT / name).read_text())]
    print("\n".join(found) if found else "pages: nothing too long")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
