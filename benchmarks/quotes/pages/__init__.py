"""What each page quotes: one module for each page, with its `QUOTES`."""

from importlib import import_module
from importlib.util import find_spec

from benchmarks.quotes.quote import Entry

__all__ = ["quotes_of"]


def quotes_of(page: str) -> tuple[Entry, ...]:
    """Return the quotes of a page such as docs/your-own.md, from the module `your_own` here.

    Those of docs/guides/text.md are in the module `guides_text`.
    """
    name = page.removeprefix("docs/").removesuffix(".md").lower()
    name = name.replace("-", "_").replace("/", "_")
    module = f"{__name__}.{name}"
    if find_spec(module) is None:
        return ()
    found: tuple[Entry, ...] = import_module(module).QUOTES
    return found
