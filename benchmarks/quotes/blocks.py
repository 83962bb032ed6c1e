"""Blocks of pages that programs write: which function makes each from the stored results."""

from collections.abc import Callable

from benchmarks.peers import tables as peers
from benchmarks.peers.kept import Kept
from benchmarks.quotes.stored import Stored

__all__ = ["BLOCKS", "Maker"]

Maker = Callable[[Stored], str]


def _peers(stored: Stored) -> str:
    return peers.all_tables(Kept(stored.path("peers_bars")))


BLOCKS: dict[tuple[str, str], Maker] = {  # by page and name
    ("docs/performance.md", "peers"): _peers,
}
