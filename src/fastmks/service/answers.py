"""Ask an index what a request asks, and write the answer as JSON has it."""

import math
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.hits import Hits, HitsAbove, Stats
from fastmks.index import Index
from fastmks.progress import Progress
from fastmks.service.asking import FEW, Asking
from fastmks.service.limits import Limits

__all__ = ["explain", "search", "show_stats"]


def search(
    index: Index, asking: Asking, limits: Limits, progress: Progress
) -> tuple[list[dict[str, Any]], Stats]:
    """Return an answer for each query, and what they cost."""
    if asking.threshold is not None:
        above = index.search_above(
            asking.queries,
            asking.threshold,
            threads=limits.threads,
            progress=progress,
            **asking.options,
        )
        if len(above.values) > limits.hits:
            raise InvalidArgument(
                f"an answer has at most {limits.hits} hits; {len(above.values)} objects reach the "
                "threshold. Pass a greater one."
            )
        return [_above(above, i) for i in range(len(above))], above.stats
    hits = index.search(
        asking.queries,
        _k(index, asking),
        threads=limits.threads,
        progress=progress,
        **asking.options,
    )
    return [_best(hits, i) for i in range(len(hits.values))], hits.stats


def explain(index: Index, asking: Asking, limits: Limits, progress: Progress) -> dict[str, Any]:
    """Return what would be done with a search, and why."""
    plan = index.explain(
        asking.queries,
        _k(index, asking),
        threads=limits.threads,
        progress=progress,
        **asking.options,
    )
    shown = _finite(plan.as_dict())
    assert isinstance(shown, dict)
    return {**shown, "text": str(plan)}


def show_stats(stats: Stats) -> dict[str, Any]:
    """Return what a search cost."""
    return {
        "evaluations": stats.kernel_evaluations,
        "scan_share": stats.scan_share,
        "algorithm": stats.algorithm,
        "seconds": stats.seconds,
    }


def _k(index: Index, asking: Asking) -> int:
    if asking.k is not None:
        return asking.k
    only = asking.options.get("only")
    return min(FEW, max(1, len(index) if only is None else len(set(only))))


def _best(hits: Hits, query: int) -> dict[str, Any]:
    gap = float(hits.gap[query])
    return {
        "hits": _pairs(hits.ids[query].tolist(), hits.values[query].tolist()),
        "gap": gap if math.isfinite(gap) else None,
    }


def _above(hits: HitsAbove, query: int) -> dict[str, Any]:
    values, _ = hits[query]
    return {"hits": _pairs(hits.ids_of(query).tolist(), values.tolist()), "gap": 0.0}


def _pairs(ids: list[Any], values: list[float]) -> list[dict[str, Any]]:
    return [{"id": name, "value": value} for name, value in zip(ids, values, strict=True)]


def _finite(value: Any) -> Any:
    """Return plain values with null for numbers that JSON has not."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
