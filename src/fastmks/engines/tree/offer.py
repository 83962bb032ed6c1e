"""The forecast cost of a tree: measured on trees of a sample, and extrapolated."""

import math
import time

import numpy as np

from fastmks._util.arrays import Int64s
from fastmks._util.progress import Progress
from fastmks.engines.base import Offer, SearchRequest, plain_int64
from fastmks.engines.faults import Namer, named_faults
from fastmks.engines.space import Space
from fastmks.engines.traversal import DEFAULT_TRAVERSAL
from fastmks.engines.tree.single_search import WalkedTree
from fastmks.engines.tree.tree import build_tree

_SHARE = 16  # one object in this many is sampled
_FEWEST_SAMPLED, _MOST_SAMPLED = 64, 1024
_QUARTER = 4  # a second tree has this many times fewer objects: its costs tell how they grow
_N_QUERIES = 16
_NODE_SECONDS = 2e-6  # of an object in a tree that is built, besides evaluations


def tree_serves(space: Space) -> bool:
    """Whether bounds of a tree hold for the values of a space."""
    return space.is_mercer and bool(np.isfinite(space.rounding).all())


def guess_tree_seconds(space: Space, value_seconds: float) -> float:
    """Return an estimate of the time to sample trees on one thread."""
    n_sampled = _n_sampled(len(space))
    return n_sampled**2 / 4 * value_seconds + n_sampled * _NODE_SECONDS


def offer_tree(
    space: Space,
    queries: Space,
    k: int,
    *,
    base: float,
    threads: int,
    progress: Progress,
    name: Namer = "objects[{}]".format,
) -> Offer:
    """Return an offer of a tree for such queries and k hits, from small trees of some objects.

    Where few queries are given, objects that are in no tree are the queries.
    """
    n_sampled = _n_sampled(len(space))
    drawn = np.random.default_rng(0).permutation(len(space)).astype(np.int64)
    if len(queries) < _N_QUERIES // 4:
        queries = space.part(drawn[n_sampled : n_sampled + _N_QUERIES])
    elif len(queries) > _N_QUERIES:
        queries = queries.part(np.linspace(0, len(queries) - 1, _N_QUERIES).astype(np.int64))
    request = SearchRequest(queries=queries, threads=1, progress=progress)
    costs = []
    for n in (n_sampled // _QUARTER, n_sampled):
        part = np.sort(drawn[:n])
        name_part = _namer(name, part)
        tree = build_tree(space.part(part), base=base, threads=1, progress=progress, name=name_part)
        engine = WalkedTree(tree, DEFAULT_TRAVERSAL)
        started = time.perf_counter()
        name_place = _namer(name_part, plain_int64(tree.core.order()))
        with named_faults(space.kernel, "queries[{}]".format, name_place):
            found = engine.top_k(request, min(k, n))
        seconds = (time.perf_counter() - started) / len(queries)
        costs.append((tree.build_evaluations, found.cost.evaluations / len(queries)))
    (small_build, small_evaluations), (build, evaluations) = costs
    times = len(space) / n_sampled
    growth = times ** _exponent(small_evaluations, evaluations, least=0.0, most=1.0)
    share = min(evaluations * growth / len(space), 1.0)
    return Offer(
        space,
        tree.build_seconds * times ** _exponent(small_build, build, least=1.0, most=2.0),
        seconds * growth,
        f"small trees leave {share:.2g} of the objects",
        lambda threads, progress: build_tree(
            space, base=base, threads=threads, progress=progress, name=name
        ),
        share * len(space),
    )


def _n_sampled(n_objects: int) -> int:
    return min(max(n_objects // _SHARE, _FEWEST_SAMPLED), _MOST_SAMPLED, n_objects // 2)


def _namer(name: Namer, part: Int64s) -> Namer:
    return lambda place: name(int(part[place]))


def _exponent(small: float, large: float, *, least: float, most: float) -> float:
    """Return the growth of a cost from a quarter of the objects to all, as an exponent."""
    if small <= 0.0 or large <= 0.0:
        return most
    return min(max(math.log(large / small) / math.log(_QUARTER), least), most)
