"""What docs/index.md states."""

from benchmarks.quotes.quote import Stated

__all__ = ["QUOTES"]

QUOTES = (Stated("Python 3.10 or later", "what the package needs"),)
