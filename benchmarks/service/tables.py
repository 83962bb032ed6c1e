"""The table about the service, made from stored cells."""

from benchmarks.kept import Kept
from benchmarks.report import markdown
from benchmarks.service.cell import Cell

__all__ = ["all_tables"]

_WHAT = {"search": "search, one query", "batch": "search, {} queries", "add": "add, one object"}


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    about = (
        "**The service under load**: clients on loopback, each waiting for its answer before it "
        "asks again; milliseconds of a request at the client, and of the same search within a "
        "process, one thread."
    )
    rows = [
        [
            _WHAT[cell.section].format(cell.batch),
            str(cell.n_clients),
            *(_plain(cell.facts[name]) for name in ("p50", "p99")),
            f"{cell.facts['requests a second']:.0f}",
            _plain(cell.facts["in the process"]) if "in the process" in cell.facts else "",
        ]
        for cell in kept.cells
    ]
    head = ["request", "clients", "p50", "p99", "requests a second", "in the process"]
    return "\n\n".join([kept.describe(), about, markdown(head, rows)])


def _plain(figure: float) -> str:
    """Return three digits, and no power of ten."""
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.3g}"
