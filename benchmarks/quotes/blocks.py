"""Blocks of pages that programs write: which function makes each from the stored results."""

from collections.abc import Callable

from benchmarks.quotes.stored import Stored
from benchmarks.quotes.tables import by_hand, objects, results
from benchmarks.quotes.tables.living import living
from benchmarks.quotes.tables.peers import peers, sparse
from benchmarks.quotes.tables.scale import scale
from benchmarks.quotes.tables.service import service

__all__ = ["BLOCKS", "Maker"]

Maker = Callable[[Stored], str]

BLOCKS: dict[tuple[str, str], Maker] = {  # by page and name
    ("docs/alignments.md", "alignments"): objects.alignments,
    ("docs/filter.md", "pivots"): objects.pivots,
    ("docs/filter.md", "thresholds"): by_hand.thresholds,
    ("docs/filter.md", "units"): by_hand.units,
    ("docs/fingerprints.md", "fingerprints"): objects.fingerprints,
    ("docs/graphs.md", "graphs"): objects.graphs,
    ("docs/hardness.md", "hardness"): by_hand.hardness,
    ("docs/living.md", "living"): living,
    ("docs/performance.md", "amx"): by_hand.tiles,
    ("docs/performance.md", "peers"): peers,
    ("docs/results.md", "bars"): results.bars,
    ("docs/results.md", "growth"): results.growth,
    ("docs/results.md", "paper"): results.paper,
    ("docs/scale.md", "scale"): scale,
    ("docs/sequences.md", "grams"): by_hand.grams,
    ("docs/sequences.md", "look-ups"): by_hand.look_ups,
    ("docs/sequences.md", "proteins"): results.proteins,
    ("docs/series.md", "series"): objects.series,
    ("docs/service.md", "service"): service,
    ("docs/sparse.md", "sparse"): sparse,
    ("docs/your-own.md", "own"): objects.own,
}
