"""The engine for sparse vectors: inverted lists that bound every score, and few evaluations."""

from dataclasses import dataclass

from fastmks import _core
from fastmks._util.progress import Progress
from fastmks.engines.base import Offer
from fastmks.engines.filters.base import CoreFilter, FilterKind, Report
from fastmks.engines.space import Space
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record, first_difference, restoring

# Per object of some hundred entries: to add it to inverted lists, and to examine it there.
_LISTING_SECONDS = 1e-5
_LISTED_SECONDS = 5e-9


@dataclass(frozen=True)
class Postings(CoreFilter):
    """The engine that bounds scores by sums over the query's columns, in low precision."""

    core: _core.Postings
    core_top_k = _core.postings_top_k
    core_above = _core.postings_above
    core_approximate_top_k = _core.postings_approximate_top_k

    @property
    def structure(self) -> tuple[_core.Postings]:
        """The inverted lists."""
        return (self.core,)

    @property
    def n_bytes(self) -> int:
        """Memory of the lists, without the objects."""
        return self.core.n_bytes

    def record(self) -> Record:
        """Return the lists as a record, for a file."""
        return Record({"kind": POSTINGS.name}, self.core.arrays())

    def find_fault(self, threads: int, report: Report) -> str:
        """Return where the lists differ from those built again: they follow from the objects."""
        rebuilt = _core.postings(self.space.core, report)
        return first_difference(self.core.arrays(), rebuilt.arrays())


def fits_postings(space: Space) -> bool:
    """Whether a space can be searched with inverted lists.

    It must hold sparse vectors (counts of substrings and of subgraphs among them) under a kernel
    whose values grow with an inner product or a cosine. Even powers grow on both sides of zero,
    and are not among them.
    """
    return _core.Postings.fits(space.core)


def build_postings(space: Space, *, progress: Progress) -> Postings:
    """Return the engine for a space; one that it does not serve is an error."""
    if not fits_postings(space):
        raise InvalidArgument(
            "inverted lists need sparse vectors and a kernel that grows with their inner product "
            f"or cosine; got {space.kernel!r}. Pass algorithm='scan' or 'tree'."
        )
    with progress.bar(len(space), unit=" objects") as report:
        return Postings(space, _core.postings(space.core, report))


def _restore(space: Space, record: Record) -> Postings:
    """Return the inverted lists of a file."""
    with restoring("the inverted lists"):
        return Postings(space, _core.restore_postings(space.core, dict(record.arrays)))


def _guess_seconds(space: Space) -> float:
    return len(space) * _LISTING_SECONDS


POSTINGS = FilterKind(
    name="postings",
    serves=fits_postings,
    build=lambda space, *, progress, **_: build_postings(space, progress=progress),
    restore=_restore,
    guess_seconds=lambda space, _: _guess_seconds(space),
    offer=lambda space, *_, **__: Offer(
        space,
        _guess_seconds(space),
        len(space) * _LISTED_SECONDS,
        "a guess at inverted lists",
        lambda _, progress: build_postings(space, progress=progress),
    ),
)
