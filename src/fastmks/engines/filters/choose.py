"""Choose the filter of a space: inexpensive bounds of all values, before any is evaluated."""

from fastmks._util.progress import Progress
from fastmks.engines.base import Offer
from fastmks.engines.faults import Namer
from fastmks.engines.filters.base import CoreFilter, FilterKind
from fastmks.engines.filters.codes import CODES
from fastmks.engines.filters.own_bounds import OWN_BOUNDS
from fastmks.engines.filters.pivots import PIVOTS
from fastmks.engines.filters.postings import POSTINGS
from fastmks.engines.space import Space
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record

FILTERS = (OWN_BOUNDS, CODES, POSTINGS, PIVOTS)  # a space gets the first that serves it


def has_filter(space: Space) -> bool:
    """Whether some filter serves the space."""
    return _kind_for(space) is not None


def has_offer(space: Space) -> bool:
    """Whether a filter serves the space whose cost is known without evaluations."""
    kind = _kind_for(space)
    return kind is not None and kind.is_free


def guess_filter_seconds(space: Space, value_seconds: float) -> float:
    """Return an estimate of the time to build the filter of a space, without examining it.

    A filter serves the space; an evaluation takes `value_seconds`.
    """
    kind = _kind_for(space)
    assert kind is not None
    return kind.guess_seconds(space, value_seconds)


def offer_filter(
    space: Space,
    queries: Space,
    k: int,
    *,
    threads: int,
    progress: Progress,
    name: Namer = "objects[{}]".format,
) -> Offer:
    """Return an offer of a filter for such queries and k hits, after examining the objects.

    A filter serves the space, which has no bounds of its own.
    """
    kind = _kind_for(space)
    assert kind is not None
    assert kind.offer is not None
    return kind.offer(space, queries, k, threads=threads, progress=progress, name=name)


def build_filter(
    space: Space,
    *,
    threads: int,
    progress: Progress,
    name: Namer,
    like: CoreFilter | None = None,
) -> CoreFilter:
    """Return the engine that bounds every value of a space and evaluates what the bounds keep.

    `name` gives the text that errors use for the object at a place of the space. The choices are
    taken from a filter of like objects, where one of more objects exists: choosing takes longer
    than building a small one.
    """
    kind = _kind_for(space)
    if kind is None:
        raise InvalidArgument(
            f"algorithm='filter' needs upper bounds; {space.kernel!r} on {space.objects.kind} has "
            "none. Pass algorithm='tree' for a Mercer kernel, or 'scan'."
        )
    return kind.build(space, threads=threads, progress=progress, name=name, like=like)


def restore_filter(space: Space, record: Record) -> CoreFilter:
    """Return the filter of a file; one that does not serve the space is an error."""
    name = record.fact("kind", str)
    kind = next((one for one in FILTERS if one.name == name), None)
    if kind is None or not kind.serves(space):
        raise IndexFileError(f"a filter of the kind {name!r} does not serve {space.kernel!r}.")
    return kind.restore(space, record)


def _kind_for(space: Space) -> FilterKind | None:
    return next((kind for kind in FILTERS if kind.serves(space)), None)
