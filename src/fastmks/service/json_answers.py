"""Run the searches of requests on an index, and return their answers as JSON values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastmks._util.progress import Progress
from fastmks.errors import InvalidArgument
from fastmks.index.hits import Hits, HitsAbove, Stats
from fastmks.index.index import Index
from fastmks.service.limits import Limits
from fastmks.service.schema import FEW, HttpSearch

_BYTES = 128 << 20  # of hits that are found before they are counted
_BYTES_PER_HIT = 64
_ADDED = (
    *("kernel_evaluations", "self_evaluations", "query_evaluations", "n_queries", "seconds"),
    *("bounds", "bound_operations", "nodes"),
)


def search(
    index: Index, asked: HttpSearch, limits: Limits, progress: Progress
) -> tuple[list[dict[str, Any]], Stats]:
    """Return an answer for each query, and the stats of the search."""
    if asked.threshold is not None:
        return _search_above(index, asked, limits, progress)
    hits = index.search(
        asked.queries,
        _k(index, asked),
        threads=limits.threads,
        progress=progress,
        **asked.options,
    )
    n_proven = hits.proven.sum(axis=1).tolist()
    return [_best(hits, i, n) for i, n in enumerate(n_proven)], hits.stats


def _search_above(
    index: Index, asked: HttpSearch, limits: Limits, progress: Progress
) -> tuple[list[dict[str, Any]], Stats]:
    """Return all objects that reach the threshold, for as many queries at a time as fit in memory.

    Any query may find all objects, and their number is known only after the search.
    """
    at_once = max(1, _BYTES // (_BYTES_PER_HIT * max(1, len(index))))
    answers: list[dict[str, Any]] = []
    stats: list[Stats] = []
    n_hits = 0
    for begin in range(0, asked.n_queries, at_once):
        above = index.search_above(
            asked.queries[begin : begin + at_once],
            asked.threshold,
            threads=limits.threads,
            progress=progress,
            **asked.options,
        )
        n_hits += len(above.values)
        if n_hits > limits.hits:
            raise InvalidArgument(
                f"an answer has at most {limits.hits} hits; at least {n_hits} objects reach "
                "the threshold. Pass a greater one."
            )
        answers += [_above(above, i) for i in range(len(above))]
        stats.append(above.stats)
    return answers, _added(stats)


def _added(parts: Sequence[Stats]) -> Stats:
    """Return the sums of the stats of searches of the same objects."""
    sums = {name: sum(getattr(part, name) for part in parts) for name in _ADDED}
    pruned = sum((Counter(part.pruned) for part in parts), Counter())
    return replace(parts[0], **sums, pruned=dict(pruned))


def explain(index: Index, asked: HttpSearch, limits: Limits, progress: Progress) -> dict[str, Any]:
    """Return the plan of a search, with its reason."""
    plan = index.explain(
        asked.queries,
        _k(index, asked),
        threads=limits.threads,
        progress=progress,
        **asked.options,
    )
    shown = _finite(plan.as_dict())
    assert isinstance(shown, dict)
    return {**shown, "text": str(plan)}


def show_stats(stats: Stats) -> dict[str, Any]:
    """Return the stats of a search as JSON values."""
    return {
        "evaluations": stats.kernel_evaluations,
        "scan_share": stats.scan_share,
        "algorithm": stats.algorithm,
        "seconds": stats.seconds,
    }


def _k(index: Index, asked: HttpSearch) -> int:
    if asked.k is not None:
        return asked.k
    only = asked.options.get("only")
    return min(FEW, max(1, len(index) if only is None else len(set(only))))


def _best(hits: Hits, query: int, n_proven: int) -> dict[str, Any]:
    gap = float(hits.gap[query])
    return {
        "hits": _pairs(hits.ids[query].tolist(), hits.values[query].tolist()),
        "gap": gap if math.isfinite(gap) else None,
        "n_proven": n_proven,
    }


def _above(hits: HitsAbove, query: int) -> dict[str, Any]:
    values, _ = hits[query]
    pairs = _pairs(hits.ids_of(query).tolist(), values.tolist())
    return {"hits": pairs, "gap": 0.0, "n_proven": len(pairs)}


def _pairs(ids: list[Any], values: list[float]) -> list[dict[str, Any]]:
    return [{"id": name, "value": value} for name, value in zip(ids, values, strict=True)]


def _finite(value: Any) -> Any:
    """Return plain values, with null for numbers that JSON cannot hold."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
