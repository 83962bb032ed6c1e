"""What docs/service.md quotes."""

from benchmarks.kept import Kept
from benchmarks.quotes.quote import Quote, Stated
from benchmarks.quotes.stored import Stored
from benchmarks.service.cell import read_cell

__all__ = ["QUOTES"]


def _fact(stored: Stored, section: str, n_clients: int, name: str) -> float:
    kept = Kept("service", stored.path("service"), read=read_cell)
    (cell,) = (
        cell for cell in kept.cells if (cell.section, cell.n_clients) == (section, n_clients)
    )
    return cell.facts[name]


QUOTES = (
    Stated("engines ask some twenty times a second", "a limit of the code"),
    Stated("headers of more than 64 KiB", "a limit of the code"),
    Stated("among 200 000 vectors", "the size of the benchmark"),
    Quote(
        "a single client waits {} ms (p50; p99 {} ms) for a search that takes {} ms in the process",
        lambda stored: _fact(stored, "search", 1, "p50"),
        lambda stored: _fact(stored, "search", 1, "p99"),
        lambda stored: _fact(stored, "search", 1, "in the process"),
    ),
    Quote(
        "512 clients at once get {} answers a second, at {} ms (p50) and {} ms (p99)",
        lambda stored: _fact(stored, "search", 512, "requests a second"),
        lambda stored: _fact(stored, "search", 512, "p50"),
        lambda stored: _fact(stored, "search", 512, "p99"),
    ),
    Stated("batches of 100 queries", "the size of the benchmark"),
    Quote(
        "{} batches of",
        lambda stored: _fact(stored, "batch", 16, "requests a second"),
    ),
    Quote(
        "512 writers get {} acknowledgements a second",
        lambda stored: _fact(stored, "add", 512, "requests a second"),
    ),
)
