"""Numbers as pages show them: how precise one is, whether a value agrees, how another is written.

A number is digits with or without a fraction, thousands apart by a blank or not ('13 951', '6066',
'0.84'), or a word from two to twelve. Signs and units are text around it: a quote gives its
value in the unit that the page shows, so that '12 %' needs 12 and '1.2 million' needs 1.2.
"""

import math
import re
from dataclasses import dataclass

__all__ = ["NUMBER", "Shown"]

_NAMES = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_WORDS = {name: number for number, name in enumerate(_NAMES, 2)}
_BLANK = "[ \n\u00a0\u202f]"
_DIGITS = rf"[0-9]{{1,3}}(?:{_BLANK}[0-9]{{3}})+|[0-9]+"
NUMBER = (
    rf"(?:(?<![\w.])(?:(?:{_DIGITS})(?:\.[0-9]+)?)(?![0-9eE⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ]|\.[0-9])"
    rf"|\b(?:{'|'.join(_WORDS)})\b)"
)
_SLACK = 1e-9  # of the value: 7.35 agrees with 7.4, however float64 has it


@dataclass(frozen=True)
class Shown:
    """A number in a page. All its digits count, or so many significant ones."""

    text: str
    significant: int | None = None

    @property
    def value(self) -> float:
        """The number itself."""
        if self.text in _WORDS:
            return float(_WORDS[self.text])
        return float(re.sub(_BLANK, "", self.text))

    def agrees(self, value: float) -> bool:
        """Whether a value, rounded as this number is, is this number."""
        if not math.isfinite(value):
            return False
        decimals = self._decimals(value)
        slack = _SLACK * max(abs(value), abs(self.value))
        if abs(round(self.value, decimals) - self.value) > slack:
            return False  # 42 589 shows five digits, whatever the quote says
        return abs(value - self.value) <= 10.0**-decimals / 2 + slack

    def rewritten(self, value: float) -> str:
        """Return how the page would show the value."""
        decimals = self._decimals(value)
        rounded = round(value, decimals)
        if self.text in _WORDS:
            words = {number: word for word, number in _WORDS.items()}
            return words.get(int(rounded), f"{rounded:.0f}")
        text = f"{rounded:.{max(decimals, 0)}f}"
        whole, point, fraction = text.partition(".")
        if self._has_blanks(len(whole)):
            whole = f"{int(whole):,}".replace(",", " ")
        return whole + point + fraction

    def _decimals(self, value: float) -> int:
        """How many decimals count; fewer than none for 42 600 at three significant digits."""
        if self.significant is None or value == 0:
            return len(self.text.partition(".")[2])
        rounded = float(f"{abs(value):.{self.significant - 1}e}")
        return self.significant - 1 - math.floor(math.log10(rounded))

    def _has_blanks(self, n_digits: int) -> bool:
        whole = self.text.partition(".")[0]
        if re.search(_BLANK, whole):
            return n_digits > 3
        return n_digits > 4 and len(whole) <= 4
