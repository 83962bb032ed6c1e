"""Answer one comparison: a query under one kernel, with its cost and its drawings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmks._util.progress import Progress
from fastmks._util.validation import check_count
from fastmks.engines.traversal import Traversal
from fastmks.errors import InvalidArgument
from fastmks.index.hits import Hits
from fastmks.index.index import Index
from fastmks.index.plan import Plan
from fastmks.kernels.object_kernel import leaves
from fastmks.service.page.kernel_choices import Choice, short_name
from fastmks.service.page.views import MOST_HITS, View

__all__ = ["compare"]

_FIELDS = ("id", "object", "kernel", "k", "epsilon", "rank", "budget", "algorithm")
_FEW = 20_000  # objects up to which a scan is timed
# One object at a time and without timing: bounds prune the most, and the same each time.
_ONE_BY_ONE = Traversal(order="best-first", block=1)
_N_TIMED, _LONG = 5, 0.1  # the most searches to time, and about the seconds for them
_N_SETTLING = 64  # searches with an engine after which "auto" knows its time
_SOON = 0.02  # seconds of a scan that is always measured


@dataclass(frozen=True)
class _PageSearch:
    """A request, checked as far as the library does not check it."""

    choice: Choice
    query: Any
    query_id: str | None
    k: int
    algorithm: str
    promises: dict[str, Any]
    progress: Progress  # of all its searches


def compare(view: View, request: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return the answer to a request, as plain values."""
    wanted = _read(view, request, progress)
    index = view.under(wanted.choice, progress, algorithm=wanted.algorithm)
    if wanted.algorithm == "auto" and wanted.choice.can_settle:
        _settle(index, wanted)
    plan = index.explain(wanted.query, k=wanted.k, algorithm="auto", progress=progress)
    hits = _search(index, wanted, wanted.algorithm, wanted.promises, trace=True)
    engine = hits.stats.algorithm
    exact = hits
    if wanted.promises:
        exact = _search(index, wanted, engine, {}, trace=False)
    return {
        "version": view.version,
        "kernel": wanted.choice.text,
        "label": short_name(wanted.choice.kernel),
        "k": wanted.k,
        "algorithm": engine,
        "query": {"id": wanted.query_id, **view.form.draw(wanted.query[0])},
        "hits": _drawn_hits(view, wanted, hits, exact),
        "gap": _finite(float(hits.gap[0])),
        "evaluations": hits.stats.kernel_evaluations,
        "scan_evaluations": len(index),
        "seconds": _seconds(index, wanted, engine, wanted.promises),
        "scan_seconds": _scan_seconds(index, wanted, plan),
        "exact": {
            "evaluations": exact.stats.kernel_evaluations,
            "seconds": _seconds(index, wanted, engine, {}) if wanted.promises else None,
            "found": int((hits.values[0] >= exact.values[0, -1]).sum()),
        },
        "plan": _in_words(plan),
        "map": _on_map(view, wanted, hits),
        "tree": _in_tree(view, wanted, hits),
    }


def _read(view: View, request: Mapping[str, Any], progress: Progress) -> _PageSearch:
    unknown = [name for name in request if name not in _FIELDS]
    if unknown:
        raise InvalidArgument(f"{unknown[0]!r} is none of the fields {', '.join(_FIELDS)}.")
    choice = view.choice(request.get("kernel"))
    if ("id" in request) == ("object" in request):
        raise InvalidArgument("give either id, that of an indexed object, or object.")
    query_id = None
    if "id" in request:
        name = view.read_id(request["id"])
        query, query_id = view.query(name, progress), str(name)
    else:
        query = _as_batch(view.form.read(request["object"]))
    algorithm = request.get("algorithm", choice.algorithms[0])
    if algorithm not in choice.algorithms:
        known = ", ".join(map(repr, choice.algorithms))
        raise InvalidArgument(f"algorithm must be one of {known} under this kernel.")
    k = check_count("k", request.get("k", 10), most=min(MOST_HITS, len(view.index)))
    given = {name: request.get(name) for name in ("epsilon", "rank", "budget")}
    promises = {name: value for name, value in given.items() if value is not None}
    return _PageSearch(choice, query, query_id, k, algorithm, promises, progress)


def _as_batch(query: Any) -> Any:
    return query[None, :] if isinstance(query, np.ndarray) else [query]


def _search(
    index: Index, wanted: _PageSearch, algorithm: str, promises: Mapping[str, Any], *, trace: bool
) -> Hits:
    return index.search(
        wanted.query,
        k=wanted.k,
        algorithm=algorithm,
        traversal=_ONE_BY_ONE,
        progress=wanted.progress,
        trace=trace,
        **promises,
    )


def _settle(index: Index, wanted: _PageSearch) -> None:
    """Search with filter and scan until "auto" chooses between them by their times."""
    if not index.explain(
        wanted.query, k=wanted.k, algorithm="auto", progress=wanted.progress
    ).is_clear:
        _search(index, wanted, "filter", {}, trace=False)  # builds it
        for algorithm in ("filter", "scan"):
            _seconds(index, wanted, algorithm, {}, most=_N_SETTLING)


def _seconds(
    index: Index,
    wanted: _PageSearch,
    algorithm: str,
    promises: Mapping[str, Any],
    *,
    most: int = _N_TIMED,
) -> float:
    """Return the shortest time of the search, with everything built."""
    taken: list[float] = []
    while len(taken) < most and sum(taken) < _LONG:
        taken.append(_search(index, wanted, algorithm, promises, trace=False).stats.seconds)
    return min(taken)


def _scan_seconds(index: Index, wanted: _PageSearch, plan: Plan) -> float | None:
    """Return the time of a scan: measured where it is short, else forecast by the plan."""
    forecast = plan.forecasts.get("scan")
    seconds = None if forecast is None else forecast.seconds_per_query
    if seconds is not None and seconds > _SOON:
        return _finite(seconds)
    is_expensive = any(leaf.is_expensive for _, leaf in leaves(wanted.choice.kernel))
    if seconds is None and (is_expensive or len(index) > _FEW):
        return None
    return _seconds(index, wanted, "scan", {})


def _drawn_hits(view: View, wanted: _PageSearch, hits: Hits, exact: Hits) -> list[dict[str, Any]]:
    last = exact.values[0, -1]
    return [
        {
            "value": float(value),
            "is_query": one["id"] == wanted.query_id,
            "is_exact": bool(value >= last),  # as good as one of the true k best
            **one,
        }
        for one, value in zip(view.drawn(_ids(view, hits)), hits.values[0], strict=True)
    ]


def _ids(view: View, hits: Hits) -> Any:
    """Return the ids of the hits, which another index of the same objects may have found."""
    return view.index.ids[hits.indices[0]]


def _in_words(plan: Plan) -> dict[str, Any]:
    return {
        "algorithm": plan.algorithm,
        "sentence": f"With algorithm “auto”, the index would choose {plan.algorithm}: "
        f"{plan.reason}.",
        "forecasts": [
            {
                "algorithm": name,
                "seconds": _finite(forecast.seconds_per_query),
                "build_seconds": _finite(forecast.build_seconds or 0.0),
                "basis": forecast.basis or forecast.reason,
            }
            for name, forecast in plan.forecasts.items()
            if forecast.seconds_per_query is not None
        ],
    }


def _on_map(view: View, wanted: _PageSearch, hits: Hits) -> dict[str, Any] | None:
    map_ = view.map(wanted.choice, wanted.progress)
    assert hits.evaluated is not None  # traced
    if map_ is None:
        return None
    n_objects, n_evaluated = len(hits.evaluated), int(hits.evaluated.sum())
    words = (
        f"Map of {len(map_.positions):,} of {n_objects:,} objects, on {map_.basis}. "
        f"{n_evaluated:,} objects were evaluated, {n_objects - n_evaluated:,} were pruned."
    )
    return {
        "evaluated": map_.marks(hits.evaluated),
        "hits": map_.place(view.index.get(_ids(view, hits)), wanted.progress),
        "query": map_.place(wanted.query, wanted.progress)[0],
        "words": words,
    }


def _in_tree(view: View, wanted: _PageSearch, hits: Hits) -> dict[str, Any] | None:
    if hits.stats.algorithm != "tree":
        return None
    assert hits.evaluated is not None
    return view.icicle(wanted.choice, wanted.progress).shares(hits.evaluated)


def _finite(number: float) -> float | None:
    """Return a number, or None where it is not finite, which JSON cannot hold."""
    return number if math.isfinite(number) else None
