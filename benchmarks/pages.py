"""Pages of the documentation: the blocks of them that programs write, between two markers."""

import re

_BEGIN, _END = "<!-- {}: begin -->", "<!-- {}: end -->"
_ANY_BEGIN = re.compile(r"<!-- ([\w.-]+): begin -->")


def blocks_in(page: str) -> list[str]:
    """Return the names of all blocks, in their order."""
    return _ANY_BEGIN.findall(page)


def replace_block(page: str, name: str, text: str) -> str:
    """Return the page with another text between the markers of a block."""
    begin, end = _BEGIN.format(name), _END.format(name)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
        raise ValueError(f"the page must have the lines {begin!r} and {end!r}, once each.")
    before, after = page[: page.index(begin) + len(begin)], page[page.index(end) :]
    return f"{before}\n\n{text.strip()}\n\n{after}"
