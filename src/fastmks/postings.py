"""The engine for sparse vectors: inverted lists that bound every score, and few evaluations."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastmks import _core
from fastmks.engine import AboveFound, Cost, Search, TopKFound, plain_int64
from fastmks.errors import InvalidArgument
from fastmks.progress import Progress
from fastmks.spaces import Space

__all__ = ["Postings", "build_postings", "fits_postings"]


@dataclass(frozen=True)
class Postings:
    """Adds up the columns a query has, in low precision, and evaluates what the sums leave."""

    space: Space
    core: _core.Postings
    name: ClassVar[str] = "filter"

    def top_k(self, search: Search, k: int) -> TopKFound:
        """Return the k best of each query: always exact, which keeps every promise about values."""
        search.refuse_early_stop("; got algorithm='filter'")
        with search.progress.bar(len(search.queries), unit=" queries") as report:
            values, positions, counts = _core.postings_top_k(
                self.space.core,
                search.queries.core,
                self.core,
                self.space.places(search.among),
                self.space.order,
                search.skip_self,
                k,
                search.threads,
                report,
            )
        gap = np.zeros(len(search.queries))
        return TopKFound(values, plain_int64(positions), gap, _named_cost(counts))

    def above(
        self, search: Search, thresholds: np.ndarray[Any, np.dtype[np.float64]]
    ) -> AboveFound:
        """Return all at or above each query's threshold."""
        with search.progress.bar(len(search.queries), unit=" queries") as report:
            (offsets, values, positions), counts = _core.postings_above(
                self.space.core,
                search.queries.core,
                self.core,
                self.space.places(search.among),
                self.space.order,
                thresholds,
                search.threads,
                report,
            )
        return AboveFound(plain_int64(offsets), values, plain_int64(positions), _named_cost(counts))

    @property
    def n_bytes(self) -> int:
        """The memory taken besides that of the objects."""
        return self.core.n_bytes


def fits_postings(space: Space) -> bool:
    """Whether a space can be searched through postings.

    It must hold sparse vectors (counts of substrings and of subgraphs among them) under a kernel
    whose values grow with an inner product or a cosine. Even powers grow on both sides of zero,
    and are not among them.
    """
    return _core.Postings.fits(space.core)


def build_postings(space: Space, *, progress: Progress) -> Postings:
    """Return an engine for a space that fits."""
    if not fits_postings(space):
        raise InvalidArgument(
            "inverted lists need sparse vectors and a kernel that grows with their inner product "
            f"or cosine; got {space.kernel!r}. Pass algorithm='scan' or 'tree'."
        )
    with progress.bar(len(space), unit=" objects") as report:
        return Postings(space, _core.postings(space.core, report))


def _named_cost(counts: tuple[int, int, int]) -> Cost:
    evaluations, bounds, operations = counts
    return Cost(evaluations=evaluations, bounds=bounds, bound_operations=operations)
