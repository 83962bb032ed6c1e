"""Fail when a built site asks other hosts, links to a missing place, or copies output as code.

    python tools/check_site.py build/site

A link that a reader may follow to another host is fine; what a page loads by itself must come from
the site: scripts, styles, fonts, pictures. The copy button skips what site.css hides: prompts and
output.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_STYLE_URL = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^'\")]+)|@import\s+['\"](https?:[^'\"]+)")
_SHOWN = {"gt", "gr"}  # errors in examples, which the copy button would take
_LOADED = {"link", "script", "img", "iframe", "source", "video", "audio", "object", "embed"}


class _References(HTMLParser):
    """The files that a page loads, and the targets of its links."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.classes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the references of an element."""
        named = {name: value or "" for name, value in attrs}
        self.classes |= set(named.get("class", "").split())
        self.ids |= {named[name] for name in ("id", "name") if name in named}
        target = named.get("src") or named.get("href") or named.get("data")
        if not target:
            return
        if tag in _LOADED and named.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(target)
        elif tag == "a":
            self.links.append(target)


def faults(site: Path) -> Iterator[str]:
    """Yield the faults of a site."""
    pages = {file: _read(file) for file in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site}: there are no pages"
    for file, page in pages.items():
        where = file.relative_to(site)
        for target in page.loaded:
            if urlsplit(target).netloc:
                yield f"{where}: loads {target}"
            elif not target.startswith("data:") and _lost(site, file, target):
                yield f"{where}: loads {target}, which is not there"
        yield from (f"{where}: .{name} is copied as code" for name in sorted(page.classes & _SHOWN))
        if where.name != "404.html":  # its links begin at the root of a server
            yield from (f"{where}: {fault}" for fault in _lost_links(site, file, pages))
    for style in sorted(site.rglob("*.css")):
        for found in _STYLE_URL.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)}: loads {''.join(found)}"


def _lost_links(site: Path, file: Path, pages: dict[Path, _References]) -> Iterator[str]:
    for target in pages[file].links:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        if parts.path and _lost(site, file, target):
            yield f"links to {target}, which is not there"
            continue
        there = _place(site, file, parts.path) if parts.path else file
        anchor = unquote(parts.fragment)
        if anchor and there in pages and anchor not in pages[there].ids:
            yield f"links to {target}, and there is no such place in that page"


def _lost(site: Path, file: Path, target: str) -> bool:
    path = urlsplit(target).path
    return bool(path) and not _place(site, file, path).exists()


def _place(site: Path, file: Path, path: str) -> Path:
    start = site if path.startswith("/") else file.parent
    place = (start / unquote(path).lstrip("/")).resolve()
    return place / "index.html" if place.is_dir() else place


def _read(file: Path) -> _References:
    found = _References()
    found.feed(file.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Check the site that is given."""
    found = list(faults(Path(sys.argv[1]).resolve()))
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
