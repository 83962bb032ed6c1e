"""The engines that the planner tries beside the scan. CANDIDATES is the one list of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastmks._util.progress import Progress
from fastmks.engines.base import Engine, Offer, SearchRequest
from fastmks.engines.filters.choose import (
    guess_filter_seconds,
    has_filter,
    has_offer,
    offer_filter,
)
from fastmks.engines.space import Space
from fastmks.engines.tree.offer import guess_tree_seconds, offer_tree, tree_serves
from fastmks.engines.tree.single_search import WalkedTree
from fastmks.index.built_engines import BuiltEngines

# Why an engine does not serve a space.
NO_BOUND = "no inexpensive bound is known for this kernel"
NOT_DECLARED = "the kernel is not declared to be Mercer"
NOT_MERCER = "its bounds need a Mercer kernel"
NO_ROUNDING = "its values have no known rounding error"


@dataclass(frozen=True)
class Candidate:
    """An engine beside the scan: what it needs, and how it is sampled, built and found.

    `objection` says why it does not serve a space. `guess` is the seconds of sampling an offer,
    from those of an evaluation.
    """

    name: str
    objection: Callable[[Space], str]
    guess: Callable[[Space, float], float]
    offer: Callable[..., Offer]
    build: Callable[[BuiltEngines, Progress, Offer | None], object]
    engine: Callable[[BuiltEngines, SearchRequest], Engine | None]


def _filter_objection(space: Space) -> str:
    if not has_filter(space):
        return NO_BOUND
    return "" if has_offer(space) or space.is_trusted else NOT_DECLARED


def _tree_objection(space: Space) -> str:
    if not space.is_mercer:
        return NOT_MERCER
    if not space.is_trusted:
        return NOT_DECLARED
    return "" if tree_serves(space) else NO_ROUNDING


def _offer_filter(engines: BuiltEngines, *arguments: Any, **options: Any) -> Offer:
    return offer_filter(engines.space, *arguments, name=engines.name_place, **options)


def _offer_tree(engines: BuiltEngines, *arguments: Any, **options: Any) -> Offer:
    return offer_tree(
        engines.space, *arguments, base=engines.base, name=engines.name_place, **options
    )


def _built_filter(engines: BuiltEngines, request: SearchRequest) -> Engine | None:
    if engines.built_filter is None and engines.space.has_bounds:
        return engines.filter(request.progress)
    return engines.built_filter


def _built_tree(engines: BuiltEngines, request: SearchRequest) -> Engine | None:
    # Its answers must not depend on times: those of an approximate search do, in a tree.
    tree = None if request.approximation.given() else engines.tree_to_search
    return None if tree is None else WalkedTree(tree, request.traversal)


CANDIDATES = (
    Candidate(
        "filter",
        _filter_objection,
        guess_filter_seconds,
        _offer_filter,
        lambda engines, progress, offer: engines.filter(progress, offer),
        _built_filter,
    ),
    Candidate(
        "tree",
        _tree_objection,
        guess_tree_seconds,
        _offer_tree,
        lambda engines, progress, _: engines.try_tree(progress),
        _built_tree,
    ),
)
