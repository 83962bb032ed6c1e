"""The engine for sparse vectors: inverted lists that bound every score, and few evaluations."""

from dataclasses import dataclass

from fastmks import _core
from fastmks._util.progress import Progress
from fastmks.engines.base import Cost, SearchRequest
from fastmks.engines.filters.base import CoreFilter, Report
from fastmks.engines.space import Space
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record, first_difference, restoring

__all__ = ["Postings", "build_postings", "fits_postings", "restore_postings"]


@dataclass(frozen=True)
class Postings(CoreFilter):
    """Adds up the columns a query has, in low precision, and evaluates what the sums leave."""

    core: _core.Postings
    core_top_k = _core.postings_top_k
    core_above = _core.postings_above

    @property
    def structure(self) -> tuple[_core.Postings]:
        """The lists."""
        return (self.core,)

    @property
    def n_bytes(self) -> int:
        """The memory taken besides that of the objects."""
        return self.core.n_bytes

    def record(self) -> Record:
        """What the lists are made of, for a file."""
        return Record({"kind": "postings"}, self.core.arrays())

    def find_fault(self, threads: int, report: Report) -> str:
        """Return where the lists differ from those built again: nothing of them is a choice."""
        rebuilt = _core.postings(self.space.core, report)
        return first_difference(self.core.arrays(), rebuilt.arrays())

    def cost(self, counts: tuple[int, ...], request: SearchRequest) -> Cost:
        """Return the core's counts by name."""
        evaluations, bounds, operations = counts
        return Cost(evaluations=evaluations, bounds=bounds, bound_operations=operations)


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


def restore_postings(space: Space, record: Record) -> Postings:
    """Return the inverted lists of a file."""
    with restoring("the inverted lists"):
        return Postings(space, _core.restore_postings(space.core, dict(record.arrays)))
