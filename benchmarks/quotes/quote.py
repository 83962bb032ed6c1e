"""Figures that a page quotes from the stored results, and numbers that are no measurements."""

import re
from collections.abc import Callable, Iterator

from benchmarks.quotes.shown import NUMBER, Shown
from benchmarks.quotes.stored import Stored

__all__ = ["Entry", "Quote", "Stated", "Value", "by_hand", "percent"]

Value = Callable[[Stored], float]

_SLOT = re.compile(r"\{([0-9]?)\}")


class Quote:
    """A piece of a page with `{}` in place of each figure, and what these are.

    The piece must occur once in the page, line breaks apart, and each figure must be its value at
    the digits shown. `{3}` is for whole numbers that are shown to three significant digits, as
    42 600 for 42 589. A value is in the unit that the page shows.
    """

    def __init__(self, text: str, *values: Value) -> None:
        slots = _SLOT.findall(text)
        if not slots or len(slots) != len(values):
            raise ValueError(
                f"a quote must have one value for each {{}}; {text!r} has {len(slots)} of them "
                f"and {len(values)} values."
            )
        self.text = text
        self.values = values
        self._significant = [int(digits) if digits else None for digits in slots]
        self.pattern = _pattern(text)

    def slots(self, match: re.Match[str]) -> Iterator[tuple[tuple[int, int], Shown, Value]]:
        """Yield where each figure of an occurrence stands, what is shown there, and its value."""
        for i, (value, significant) in enumerate(zip(self.values, self._significant, strict=True)):
            yield match.span(i + 1), Shown(match.group(i + 1), significant), value


class Stated:
    """A piece of a page whose numbers are no measurements of ours, and why."""

    def __init__(self, text: str, why: str) -> None:
        if not text.strip() or not why.strip():
            raise ValueError(f"Stated must have a text and a reason; got {text!r} and {why!r}.")
        self.text = text
        self.why = why
        self.pattern = _pattern(text)


Entry = Quote | Stated


def by_hand(experiment: str, figure: str) -> Value:
    """Return what finds a figure of an experiment that was made once, by hand."""
    return lambda stored: stored.by_hand(experiment, figure)


def percent(share: float) -> float:
    """Return a share as a number of per cent."""
    return 100.0 * share


def _pattern(text: str) -> re.Pattern[str]:
    """Return what finds the text, with any white space for white space and any number for slots."""
    text = text.strip()
    parts = _SLOT.split(text)[::2]
    pieces = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in parts]
    before = r"(?<![\w.])" if text[0].isalnum() else ""
    after = r"(?!\w)" if text[-1].isalnum() else ""
    return re.compile(before + f"({NUMBER})".join(pieces) + after)
