"""Merge the answers of segments or shards. Pure functions; order and grouping are free."""

from collections.abc import Sequence

import numpy as np

from fastmks._util.arrays import Array, Floats
from fastmks.engines.base import AboveFound, Cost, TopKFound

NOWHERE = 2**62  # the position of entries that fill an answer up: after those of all objects


def merge_top_k(found: Sequence[TopKFound], k: int) -> TopKFound:
    """Return the k best of each query from answers over different objects.

    Positions must be those of all the objects together. Each answer must hold the k best of its own
    objects, or all of them. A value that it missed is then at most its gap above its own k-th
    value, which is at most the k-th of all: so the greatest gap holds for the whole.
    """
    if len(found) == 1:
        return found[0]
    values = np.concatenate([part.values for part in found], axis=1)
    positions = np.concatenate([part.positions for part in found], axis=1)
    best = np.lexsort((positions, -values), axis=1)[:, :k]
    ids = _join_ids([part.ids for part in found], axis=1)
    return TopKFound(
        np.take_along_axis(values, best, axis=1),
        np.take_along_axis(positions, best, axis=1),
        np.max([part.gap for part in found], axis=0),
        add_costs([part.cost for part in found]),
        None if ids is None else np.take_along_axis(ids, best, axis=1),
    )


def floors_of(found: TopKFound | None, k: int) -> Floats | None:
    """Return the k-th value of each query, given an answer: objects below it cannot be hits.

    An object with an equal value may still come before it. None where fewer than k are known.
    """
    if found is None or found.values.shape[1] < k:
        return None
    return np.ascontiguousarray(found.values[:, k - 1])


def merge_above(found: Sequence[AboveFound]) -> AboveFound:
    """Return all hits of answers over different objects, best first for each query."""
    if len(found) == 1:
        return found[0]
    values = np.concatenate([part.values for part in found])
    positions = np.concatenate([part.positions for part in found])
    counts = [np.diff(part.offsets) for part in found]
    queries = np.concatenate([np.repeat(np.arange(len(n)), n) for n in counts])
    order = np.lexsort((positions, -values, queries))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.sum(counts, axis=0))])
    ids = _join_ids([part.ids for part in found], axis=0)
    return AboveFound(
        offsets.astype(np.int64),
        values[order],
        positions[order],
        add_costs([part.cost for part in found]),
        None if ids is None else ids[order],
    )


def _join_ids(ids: Sequence[Array | None], *, axis: int) -> Array | None:
    known = [some for some in ids if some is not None]
    return np.concatenate(known, axis=axis) if len(known) == len(ids) else None


def add_costs(costs: Sequence[Cost]) -> Cost:
    """Return the total cost of several searches."""
    pruned: dict[str, int] = {}
    for cost in costs:
        for name, count in cost.pruned.items():
            pruned[name] = pruned.get(name, 0) + count
    return Cost(
        evaluations=sum(cost.evaluations for cost in costs),
        self_evaluations=sum(cost.self_evaluations for cost in costs),
        query_evaluations=sum(cost.query_evaluations for cost in costs),
        bounds=sum(cost.bounds for cost in costs),
        bound_operations=sum(cost.bound_operations for cost in costs),
        nodes=sum(cost.nodes for cost in costs),
        pruned=pruned,
    )
