"""Counts and times of requests, in the text format of Prometheus."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

from fastmks.index.hits import Stats

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_ABOUT = {
    "fastmks_requests_total": ("counter", "Requests answered, by route, method and status."),
    "fastmks_refused_total": ("counter", "Requests refused, by the type of the error."),
    "fastmks_queries_total": ("counter", "Queries searched for."),
    "fastmks_evaluations_total": ("counter", "Kernel evaluations, by what was compared."),
    "fastmks_changes_total": ("counter", "Objects added and removed, acknowledged."),
    "fastmks_request_seconds": ("histogram", "Seconds from a request to its answer, by route."),
    "fastmks_in_flight": ("gauge", "Requests being answered now."),
    "fastmks_working": ("gauge", "Requests that a worker runs or that wait for one."),
    "fastmks_overdue": ("gauge", "Requests past their time whose thread is still busy."),
    "fastmks_objects": ("gauge", "Objects in the index."),
    "fastmks_journal_bytes": ("gauge", "Bytes in the journal."),
    "fastmks_can_write": ("gauge", "1 if changes are accepted, else 0."),
}
_Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts; any thread may add to them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, _Labels]] = Counter()
        self._times: dict[str, Counter[int]] = {}  # by route: requests in each class
        self._seconds: dict[str, float] = {}
        self.n_in_flight = 0  # changed by the event loop only

    def add(self, name: str, amount: int = 1, **labels: str) -> None:
        """Count something."""
        with self._lock:
            self._counts[name, tuple(labels.items())] += amount

    def add_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        labels = (("route", route), ("method", method), ("status", str(status)))
        with self._lock:
            self._counts["fastmks_requests_total", labels] += 1
            self._times.setdefault(route, Counter())[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def add_search(self, stats: Stats) -> None:
        """Count a search."""
        self.add("fastmks_queries_total", stats.n_queries)
        self.add("fastmks_evaluations_total", stats.kernel_evaluations, kind="object")
        self.add("fastmks_evaluations_total", stats.self_evaluations, kind="self")
        self.add("fastmks_evaluations_total", stats.query_evaluations, kind="query")

    def text(self, now: Mapping[str, int]) -> str:
        """Return all metrics as text; `now` has the gauges."""
        with self._lock:
            samples = {(name, labels): str(count) for (name, labels), count in self._counts.items()}
            samples |= self._histograms()
        samples |= {(name, ()): str(value) for name, value in now.items()}
        lines = []
        for family, (kind, about) in _ABOUT.items():
            lines += [f"# HELP {family} {about}", f"# TYPE {family} {kind}"]
            lines += [
                f"{name}{_shown(labels)} {value}"
                for (name, labels), value in samples.items()
                if name == family or (kind == "histogram" and name.startswith(f"{family}_"))
            ]
        return "\n".join(lines) + "\n"

    def _histograms(self) -> dict[tuple[str, _Labels], str]:
        samples: dict[tuple[str, _Labels], str] = {}
        family = "fastmks_request_seconds"
        for route, times in self._times.items():
            mine = ("route", route)
            totals = list(accumulate(times[i] for i in range(len(_BOUNDS) + 1)))
            for bound, total in zip([*map(str, _BOUNDS), "+Inf"], totals, strict=True):
                samples[f"{family}_bucket", (mine, ("le", bound))] = str(total)
            samples[f"{family}_sum", (mine,)] = repr(self._seconds[route])
            samples[f"{family}_count", (mine,)] = str(totals[-1])
        return samples


def _shown(labels: _Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
