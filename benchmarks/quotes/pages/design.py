"""What docs/design.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Stored

__all__ = ["QUOTES"]


def _about(stored: Stored) -> float:
    names = ("started_least_us", "started_greatest_us")
    return sum(stored.by_hand("threads", name) for name in names) / 2


QUOTES = (
    Quote(
        "it costs nothing: {} against numpy's {} Gflop/s",
        by_hand("fused multiply-add", "fastmks_gflops"),
        by_hand("fused multiply-add", "numpy_gflops"),
    ),
    Quote(
        "costs {} to {} % less at 32 to 128 columns",
        by_hand("rows at cache lines", "least_percent"),
        by_hand("rows at cache lines", "greatest_percent"),
    ),
    Stated("(Zen 4: a 64-byte load from two lines takes twice as long)", "the width of a load"),
    Quote(
        "costs {} to {} µs with OpenMP and {} to {} µs when a thread is started for it",
        by_hand("threads", "openmp_least_us"),
        by_hand("threads", "openmp_greatest_us"),
        by_hand("threads", "started_least_us"),
        by_hand("threads", "started_greatest_us"),
    ),
    Stated("once a call has lasted 100 µs", "a limit of the code"),
    Quote("for a longer one {1} µs are small", _about),
    Stated("while they take less than 5 ms", "a limit of the code"),
    Quote("that would cost {} % more at", by_hand("heap in the scan", "more_percent")),
)
