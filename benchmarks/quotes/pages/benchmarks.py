"""What docs/benchmarks.md quotes."""

from benchmarks.quotes.quote import Stated

__all__ = ["QUOTES"]

QUOTES = (
    Stated("stops after nine minutes in the same way", "what the option says"),
    Stated("tiles of about 16 MB of scores", "a setting of the program"),
)
