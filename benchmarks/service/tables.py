"""What is measured of the service, and the table of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.report import markdown, three_digits
from benchmarks.suite import Kept, Measured

_ABOUT = (
    "**The service under load**: clients on loopback, each waiting for its answer before it "
    "asks again; milliseconds of a request at the client, and of the same search within a "
    "process, one thread."
)
_WHAT = {"search": "search, one query", "batch": "search, {} queries", "add": "add, one object"}


@dataclass(frozen=True, kw_only=True)
class Key:
    """What tells one cell from another."""

    section: str  # what is asked for: "search", "batch" or "add"
    n_objects: int
    n_columns: int
    batch: int  # queries, or objects to add, of a request
    k: int
    n_clients: int

    def __str__(self) -> str:
        return (
            f"{self.section} of {self.batch}: {self.n_objects} objects of {self.n_columns} "
            f"columns, k = {self.k}, {self.n_clients} clients"
        )


@dataclass(frozen=True, kw_only=True)
class Cell(Key, Measured):
    """One cell, with its figures: milliseconds, and requests a second."""

    n_requests: int = 0
    differ: int = 0  # answers that were not those of the index
    refused: int = 0  # requests that got no answer
    facts: Mapping[str, float] = field(default_factory=dict)


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    rows = [
        [
            _WHAT[cell.section].format(cell.batch),
            cell.n_clients,
            *(three_digits(cell.facts[name]) for name in ("p50", "p99")),
            f"{cell.facts['requests a second']:.0f}",
            three_digits(cell.facts.get("in the process"), none=""),
        ]
        for cell in kept.cells
    ]
    head = "request|clients|p50|p99|requests a second|in the process"
    return "\n\n".join([kept.describe(), _ABOUT, markdown(head, rows)])
