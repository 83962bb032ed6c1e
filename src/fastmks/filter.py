"""Which filter serves a space: what bounds its values, cheaply, before any is evaluated."""

from fastmks.engine import Engine
from fastmks.errors import InvalidArgument
from fastmks.own_bounds import OwnBounds
from fastmks.progress import Progress
from fastmks.sketch import build_sketch
from fastmks.spaces import Space

__all__ = ["build_filter", "has_filter"]


def has_filter(space: Space) -> bool:
    """Whether some filter serves the space."""
    return space.has_bounds or space.has_dense_scores


def build_filter(space: Space, *, threads: int, progress: Progress) -> Engine:
    """Return the engine that bounds every value of a space and evaluates what is left."""
    if space.has_bounds:
        return OwnBounds(space)
    if space.has_dense_scores:
        return build_sketch(space, threads=threads, progress=progress)
    raise InvalidArgument(
        f"algorithm='filter' needs upper bounds; {space.kernel!r} on {space.objects.kind} has "
        "none. Pass algorithm='tree' for a Mercer kernel, or 'scan'."
    )
