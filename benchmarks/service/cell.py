"""One cell: so many clients asked a service for a while; how long each answer took."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Cell", "Key", "read_cell"]


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
class Cell(Key):
    """One cell, with its figures: milliseconds, and requests a second."""

    commit: str
    others: float | None = None  # of the machine; clients and service are no others
    seconds: float = 0.0  # that the clients asked for
    n_requests: int = 0
    differ: int = 0  # answers that were not those of the index
    refused: int = 0  # requests that got no answer
    facts: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What tells it from other cells."""
        return Key(**{name: getattr(self, name) for name in Key.__dataclass_fields__})


def read_cell(fields: dict[str, Any]) -> Cell:
    """Return a cell from its plain form."""
    return Cell(**fields)
