"""What docs/reductions.md quotes."""

from benchmarks.quotes.quote import Stated

__all__ = ["QUOTES"]

QUOTES = (
    Stated("at which tanh rounds to 1.0 are ten ties", "a value"),
    Stated("for τ = 1.0 ends", "a value"),
)
