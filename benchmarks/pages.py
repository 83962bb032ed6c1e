"""Pages of the documentation: the blocks of them that programs write, between two markers."""

import re

_BEGIN, _END = "<!-- {}: begin -->", "<!-- {}: end -->"
_ANY_BEGIN = re.compile(r"<!-- ([\w.-]+): begin -->")


def blocks_in(page: str) -> list[str]:
    """Return the names of all blocks, in their order."""
    return _ANY_BEGIN.findall(page)


def block_in(page: str, name: str) -> slice:
    """Return the range of a block in a page, without its markers."""
    begin, end = _BEGIN.format(name), _END.format(name)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
        raise ValueError(f"the page must have the lines {begin!r} and {end!r}, once each.")
    return slice(page.index(begin) + len(begin), page.index(end))


def replace_block(page: str, name: str, text: str) -> str:
    """Return the page with another text between the markers."""
    place = block_in(page, name)
    return f"{page[: place.start]}\n\n{text.strip()}\n\n{page[place.stop :]}"
