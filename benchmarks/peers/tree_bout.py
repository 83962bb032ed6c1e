"""One problem, kernel and k on two trees: the figures, the bars they must meet, and the tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.harness import ratio
from benchmarks.report import Check, markdown

__all__ = ["Bout", "Side", "build_table", "checks", "search_table"]

_MOST_EVALUATIONS = 1.05  # times mlpack's
_MOST_BUILD_EVALUATIONS = 1.1
_LEAST_SPEEDUP = 3.0  # in building and in searching


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one side did, round after round; nothing where it failed."""

    evaluations: int | None = None  # of one round: all rounds do the same
    seconds: tuple[float, ...] = ()
    cpu_seconds: tuple[float, ...] = ()

    @staticmethod
    def of(laps: Sequence[Any]) -> "Side":
        """Put the rounds together (`Built`, `Found` or None)."""
        if any(lap is None for lap in laps):
            return Side()
        return Side(
            evaluations=laps[0].evaluations,
            seconds=tuple(lap.seconds for lap in laps),
            cpu_seconds=tuple(lap.cpu_seconds for lap in laps),
        )

    @property
    def median_seconds(self) -> float | None:
        """The median of the rounds."""
        return median(self.seconds) if self.seconds else None


@dataclass(frozen=True, kw_only=True)
class Bout:
    """fastmks and mlpack on one problem; what is mlpack's is called the peer's."""

    problem: str
    origin: str
    n_objects: int
    n_columns: int
    n_queries: int
    kernel: str
    k: int
    build: Side
    peer_build: Side
    search: Side  # as planned
    peer_search: Side
    evaluations: int  # with blocks of one object
    differs_from_scan: bool  # in any bit of any value or index
    scan_seconds: float
    peer_wrong: int | None  # queries, against our scan
    peer_ties: int | None
    peer_failure: str | None
    others: float | None  # share of the machine that other processes took meanwhile

    @property
    def title(self) -> str:
        """Problem and kernel."""
        return f"{self.problem}, {self.kernel}"


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A ratio, ours / mlpack's, and the most it may be; no value where mlpack failed."""

    name: str
    value: float | None
    limit: float
    is_time: bool = False

    @property
    def cell(self) -> str:
        """The ratio as a table shows it: times as how many times less we take."""
        if self.value is None:
            return "-"
        shown = f"{1.0 / self.value:.2f}" if self.is_time else f"{self.value:.3f}"
        return shown if self.value <= self.limit else f"**{shown}**"


def search_bars(bout: Bout) -> list[Bar]:
    """Return the bars of one search."""
    return [
        Bar(
            name="evaluations",
            value=_over(bout.evaluations, bout.peer_search.evaluations),
            limit=_MOST_EVALUATIONS,
        ),
        _time_bar("query time", bout.search, bout.peer_search),
    ]


def build_bars(bout: Bout) -> list[Bar]:
    """Return the bars of building the tree that a search used."""
    return [
        Bar(
            name="build evaluations",
            value=_over(bout.build.evaluations, bout.peer_build.evaluations),
            limit=_MOST_BUILD_EVALUATIONS,
        ),
        _time_bar("build time", bout.build, bout.peer_build),
    ]


def checks(bouts: Sequence[Bout]) -> list[Check]:
    """Return every bar of every bout as a claim; bars without a peer are left out."""
    found = []
    for bout in bouts:
        found.append(
            Check(
                claim=f"differs from the scan, {bout.title}, k={bout.k}",
                value=float(bout.differs_from_scan),
                limit=0.0,
                is_required=True,
            )
        )
        found += _claims(f"{bout.title}, k={bout.k}", search_bars(bout))
    for bout in _first_of_each(bouts):
        found += _claims(bout.title, build_bars(bout))
    return found


def search_table(bouts: Sequence[Bout]) -> str:
    """Return the searches as Markdown; what misses its bar is bold."""
    head = ["data", "kernel", "n", "k", "evaluations / query", "mlpack", "ratio (<= 1.05)"]
    head += ["us / query", "mlpack", "times less (>= 3)", "scan us", "mlpack wrong", "same as scan"]
    return markdown([*head, "verdict"], [_search_cells(bout) for bout in bouts])


def build_table(bouts: Sequence[Bout]) -> str:
    """Return the builds as Markdown."""
    head = ["data", "kernel", "n", "evaluations / object", "mlpack", "ratio (<= 1.1)"]
    head += ["s", "mlpack s", "times less (>= 3)", "verdict"]
    return markdown(head, [_build_cells(bout) for bout in _first_of_each(bouts)])


def _search_cells(bout: Bout) -> list[str]:
    evaluations, time = search_bars(bout)
    per_query = 1.0 / bout.n_queries
    return [
        bout.problem,
        bout.kernel,
        str(bout.n_objects),
        str(bout.k),
        f"{bout.evaluations * per_query:.1f}",
        bout.peer_failure or _number(bout.peer_search.evaluations, per_query, 1),
        evaluations.cell,
        _number(bout.search.median_seconds, 1e6 * per_query, 2),
        _number(bout.peer_search.median_seconds, 1e6 * per_query, 2),
        time.cell,
        f"{bout.scan_seconds * 1e6 * per_query:.1f}",
        "-" if bout.peer_wrong is None else str(bout.peer_wrong),
        "NO" if bout.differs_from_scan else "yes",
        _verdict([evaluations, time], is_right=not bout.differs_from_scan),
    ]


def _build_cells(bout: Bout) -> list[str]:
    evaluations, time = build_bars(bout)
    per_object = 1.0 / bout.n_objects
    return [
        bout.problem,
        bout.kernel,
        str(bout.n_objects),
        _number(bout.build.evaluations, per_object, 1),
        bout.peer_failure or _number(bout.peer_build.evaluations, per_object, 1),
        evaluations.cell,
        _number(bout.build.median_seconds, 1.0, 4),
        _number(bout.peer_build.median_seconds, 1.0, 4),
        time.cell,
        _verdict([evaluations, time], is_right=True),
    ]


def _verdict(bars: Sequence[Bar], *, is_right: bool) -> str:
    missed = [bar.name for bar in bars if bar.value is not None and bar.value > bar.limit]
    if not is_right:
        missed.append("exactness")
    if missed:
        return f"FAIL: {', '.join(missed)}"
    return "pass" if all(bar.value is not None for bar in bars) else "no peer"


def _claims(title: str, bars: Sequence[Bar]) -> list[Check]:
    return [
        Check(claim=f"{bar.name}, {title}", value=bar.value, limit=bar.limit, is_required=True)
        for bar in bars
        if bar.value is not None
    ]


def _first_of_each(bouts: Sequence[Bout]) -> list[Bout]:
    return list({bout.title: bout for bout in reversed(bouts)}.values())[::-1]


def _time_bar(name: str, ours: Side, peers: Side) -> Bar:
    value = ratio(ours.seconds, peers.seconds) if ours.seconds and peers.seconds else None
    return Bar(name=name, value=value, limit=1.0 / _LEAST_SPEEDUP, is_time=True)


def _over(ours: int | None, peers: int | None) -> float | None:
    return None if ours is None or not peers else ours / peers


def _number(value: float | None, factor: float, n_decimals: int) -> str:
    return "-" if value is None else f"{value * factor:.{n_decimals}f}"
