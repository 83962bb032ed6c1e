"""What docs/service.md quotes."""

from benchmarks.quotes.quote import Stated

__all__ = ["QUOTES"]

QUOTES = (Stated("engines ask some twenty times a second", "a limit of the code"),)
