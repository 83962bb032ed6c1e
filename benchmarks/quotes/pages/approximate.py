"""What docs/approximate.md quotes."""

from benchmarks.quotes.quote import Stated

__all__ = ["QUOTES"]

QUOTES = (
    Stated("each makes up to 4096 evaluations between two looks", "a limit of the code"),
    Stated("t = 100, k = 1, d = 0.05 is 294", "the hypergeometric law"),
)
