"""Which filter serves a space: what bounds its values, cheaply, before any is evaluated."""

from collections.abc import Callable
from dataclasses import dataclass

from fastmks._util.progress import Progress
from fastmks.engines.filters.axes import choose_axes
from fastmks.engines.filters.base import CoreFilter
from fastmks.engines.filters.codes import Codes, build_codes, guess_build_seconds, restore_codes
from fastmks.engines.filters.own_bounds import OwnBounds
from fastmks.engines.filters.pivots import build_pivots, can_have_pivots, restore_pivots
from fastmks.engines.filters.postings import build_postings, fits_postings, restore_postings
from fastmks.engines.space import Namer, Space
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record

__all__ = [
    "FilterOffer",
    "build_filter",
    "guess_filter_seconds",
    "has_filter",
    "has_offer",
    "offer_filter",
    "restore_filter",
]

_QUERY_SECONDS = 5e-6  # of a query, whatever the objects
# Of an object of some hundred entries, to be put into inverted lists, and to be looked at there.
_LISTING_SECONDS = 1e-5
_LISTED_SECONDS = 5e-9


@dataclass(frozen=True)
class FilterOffer:
    """A filter that could be built, and what to expect of it on one thread."""

    space: Space
    build_seconds: float
    seconds_per_query: float
    basis: str
    build: Callable[[int, Progress], CoreFilter]


def has_filter(space: Space) -> bool:
    """Whether some filter serves the space."""
    return has_offer(space) or can_have_pivots(space)


def has_offer(space: Space) -> bool:
    """Whether a filter serves it whose cost is known without building it, evaluating nothing.

    Pivots cost evaluations before anything is known of them, so they are for those who ask.
    """
    return space.has_bounds or space.has_dense_scores or fits_postings(space)


def guess_filter_seconds(space: Space) -> float:
    """Return about what the filter of a space takes to build, before anything is known of it."""
    if space.has_bounds:
        return 0.0
    if space.has_dense_scores:
        return guess_build_seconds(len(space), space.n_columns)
    return len(space) * _LISTING_SECONDS


def offer_filter(
    space: Space, queries: Space, k: int, *, threads: int, progress: Progress
) -> FilterOffer:
    """Look at the objects, and say what a filter for such queries and k hits would be like."""
    if not space.has_dense_scores:
        return FilterOffer(
            space,
            guess_filter_seconds(space),
            len(space) * _LISTED_SECONDS,
            "a guess at inverted lists",
            lambda _, progress: build_postings(space, progress=progress),
        )
    axes = choose_axes(space, queries=queries, k=k, threads=threads, progress=progress)
    return FilterOffer(
        space,
        guess_build_seconds(len(space), space.n_columns, axes.dimension),
        _QUERY_SECONDS + len(space) * axes.seconds_per_object,
        f"{axes.dimension} axes leave {axes.survivors:.2g} of a sample",
        lambda threads, progress: build_codes(
            space, axes=axes, threads=threads, progress=progress
        ),
    )


def build_filter(
    space: Space,
    *,
    threads: int,
    progress: Progress,
    name: Namer,
    like: CoreFilter | None = None,
) -> CoreFilter:
    """Return the engine that bounds every value of a space and evaluates what is left.

    `name` is what errors call the object at a place of the space. What could be chosen for it is
    taken from a filter of like objects, where there is one of more of them: choosing takes longer
    than building a small one.
    """
    if space.has_bounds:
        return OwnBounds(space)
    if space.has_dense_scores:
        axes = None
        if isinstance(like, Codes) and len(like.space) >= len(space) // 2:
            axes = like.axes
        return build_codes(space, axes=axes, threads=threads, progress=progress)
    if fits_postings(space):
        return build_postings(space, progress=progress)
    if can_have_pivots(space):
        return build_pivots(space, threads=threads, progress=progress, name=name)
    raise InvalidArgument(
        f"algorithm='filter' needs upper bounds; {space.kernel!r} on {space.objects.kind} has "
        "none. Pass algorithm='tree' for a Mercer kernel, or 'scan'."
    )


def restore_filter(space: Space, record: Record) -> CoreFilter:
    """Return the filter of a file, if it is one that serves the space."""
    kind = record.fact("kind", str)
    if kind == "own bounds" and space.has_bounds:
        return OwnBounds(space)
    if kind == "sketch" and space.has_dense_scores:
        return restore_codes(space, record)
    if kind == "postings" and fits_postings(space):
        return restore_postings(space, record)
    if kind == "pivots" and can_have_pivots(space):
        return restore_pivots(space, record)
    raise IndexFileError(f"a filter of the kind {kind!r} does not serve {space.kernel!r}.")
