"""The cost of a search: measured on indexes of parts of a sample, and extrapolated."""

import math
from typing import Any

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Int64s
from fastmks._util.progress import Progress
from fastmks.analysis.dimension import Sample
from fastmks.engines.traversal import Traversal
from fastmks.index.index import Index
from fastmks.kernels.precomputed import Remembered

MOST_QUERIES = 100  # a tenth of the sample where no queries are given
_MOST_PARTS = 4  # of the sample, of one size: the mean is over their trees
_LEAST_TREE = 16  # objects
_FEWEST_EVALUATIONS = Traversal(order="best-first", block=1)


def measure(
    drawn: Sample, asked: Sample | None, algorithm: str, progress: Progress
) -> tuple[tuple[int, float], ...]:
    """Return the evaluations per query of indexes of growing size, on queries they do not hold."""
    n_held_out = 0 if asked is not None else min(MOST_QUERIES, len(drawn) // 10)
    if asked is not None:
        queries = asked.part(slice(MOST_QUERIES))
    else:
        queries = drawn.part(slice(n_held_out or None))  # all, where too few to hold any out
    rest = np.arange(n_held_out, len(drawn))
    parts = [part for halvings in (3, 2, 1, 0) for part in parts_of(rest, halvings)]
    costs: dict[int, list[float]] = {}
    with progress.bar(len(parts), unit=f" {algorithm}s") as report:
        for done, part in enumerate(parts, start=1):
            costs.setdefault(len(part), []).append(_evaluations(drawn, part, queries, algorithm))
            if report is not None:
                report(done)
    return tuple((size, sum(each) / len(each)) for size, each in costs.items())


def parts_of(places: Int64s, halvings: int) -> list[Int64s]:
    """Return a few disjoint parts, each of this many halvings; none where they would be tiny."""
    size = len(places) >> halvings
    if halvings > 0 and size < _LEAST_TREE:
        return []
    return [places[i * size : (i + 1) * size] for i in range(min(2**halvings, _MOST_PARTS))]


def _evaluations(drawn: Sample, part: Int64s, queries: Sample, algorithm: str) -> float:
    """Return the evaluations per query of an index of the objects at these places of the sample."""
    part = part[np.argsort(drawn.positions[part])]  # a tree of all is then that of an index of them
    objects: Any = drawn.objects.take(drawn.positions[part])
    asked: Any = queries.space.objects
    kernel = drawn.space.kernel
    if drawn.is_expensive:
        objects = drawn.values_from(drawn)[np.ix_(part, part)]
        asked = np.column_stack([drawn.values_from(queries)[:, part], queries.self_values])
        kernel = Remembered(kernel=kernel, rtol=drawn.rounding_with(queries).relative)
    ids = drawn.positions[part]
    index = Index(objects, kernel, algorithm=algorithm, ids=ids, threads=drawn.threads)
    hits = index.search(asked, traversal=_FEWEST_EVALUATIONS)
    return hits.stats.kernel_evaluations / len(queries)


@own_arithmetic()
def extrapolate(points: tuple[tuple[int, float], ...], n_objects: int) -> tuple[float, float]:
    """Return b of evaluations = a n^b through the points, and the share of n objects at n.

    The curve goes through the largest tree: nothing is extrapolated where that holds all objects.
    """
    sizes, evaluations = np.log(np.maximum(points, 1.0)).T
    sizes -= sizes.mean()
    exponent = math.nan
    if len(points) > 1:
        exponent = float(np.sum(sizes * evaluations) / np.sum(sizes * sizes))
    growth = 1.0 if math.isnan(exponent) else min(max(exponent, 0.0), 1.0)
    last_size, last_cost = points[-1]
    expected = last_cost * (n_objects / last_size) ** growth
    return exponent, float(min(max(expected, 1.0) / n_objects, 1.0))
