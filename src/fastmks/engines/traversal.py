"""How a search walks a tree, and how far apart its levels are: costs change, answers do not."""

from dataclasses import dataclass
from typing import Any

from fastmks import _core
from fastmks._util.validation import check_count, check_number
from fastmks.errors import InvalidArgument

BOUNDS = ("ball", "cap", "shell", "parent")
_ORDERS = ("auto", "best-first", "level")


@dataclass(frozen=True, kw_only=True)
class Traversal:
    """Settings of a tree search. They change the cost of an exact answer, never the answer.

    Parameters
    ----------
    order : {"auto", "best-first", "level"}, default "auto"
        The next node: the one with the greatest bound, or all of a level at once, which gives
        large blocks to kernels that cost much per call. "auto" measures the cost of a call.
    block : int, optional
        Subtrees of at most this many objects are evaluated whole. 1 needs the fewest evaluations;
        chosen from the measured cost of one evaluation when not given.
    bounds : collection of {"ball", "cap", "shell", "parent"}, default all
        The bounds to use: the distance to the furthest object below (Theorem 4.1 of the paper),
        the greatest norm below (Cauchy-Schwarz), both at once (which is Theorem 4.2 for normalised
        kernels), and these three with the parent's point before a child is evaluated.

    Examples
    --------
    >>> import fastmks
    >>> fastmks.Traversal(block=1, bounds=["ball"])
    Traversal(order='auto', block=1, bounds=('ball',))
    """

    order: str = "auto"
    block: int | None = None
    bounds: tuple[str, ...] = BOUNDS

    def __post_init__(self) -> None:
        if self.order not in _ORDERS:
            raise InvalidArgument(
                f"order must be one of {', '.join(map(repr, _ORDERS))}; got {self.order!r}."
            )
        if self.block is not None:
            object.__setattr__(self, "block", check_count("block", self.block, most=2**32))
        bounds = self.bounds
        if isinstance(bounds, str) or not set(bounds) <= set(BOUNDS):
            raise InvalidArgument(
                f"bounds must be a collection of {', '.join(map(repr, BOUNDS))}; got {bounds!r}."
            )
        object.__setattr__(self, "bounds", tuple(name for name in BOUNDS if name in bounds))


def check_base(base: Any) -> float:
    """Return the base of a tree's levels."""
    number = check_number("base", base)
    if number < _core.smallest_base:
        raise InvalidArgument(
            f"base must be greater than 1 (at least {_core.smallest_base}); got {base!r}."
        )
    return number


DEFAULT_TRAVERSAL = Traversal()


def check_traversal(traversal: Any) -> Traversal:
    """Return a Traversal; None means the default one."""
    if traversal is None:
        return DEFAULT_TRAVERSAL
    if not isinstance(traversal, Traversal):
        raise InvalidArgument(f"traversal must be a fastmks.Traversal; got {traversal!r}.")
    return traversal
