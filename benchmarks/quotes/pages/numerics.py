"""What docs/numerics.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand

__all__ = ["QUOTES"]

_FORMULA = "a constant of a formula"

QUOTES = (
    Stated("of d²·(−0.5/(w·w))", _FORMULA),
    Stated("((1−h)·(1−h))·(1 + 0.5·h)", _FORMULA),
    Quote(
        "Measured over {} million arguments, exp is off by at most {} ulp and tanh by at most {}",
        by_hand("exp and tanh", "million_arguments"),
        by_hand("exp and tanh", "exp_ulp"),
        by_hand("exp and tanh", "tanh_ulp"),
    ),
    Stated("Between 0 and 0.01.", "a limit of the code"),
    Stated("for A = 1.1·s", _FORMULA),
    Stated("Stated: 1.2·s·(12 + 4.4·c)·u", _FORMULA),
)
