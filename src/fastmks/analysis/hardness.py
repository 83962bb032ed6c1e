"""How hard objects are to search: expansion, directional concentration, and measured forecasts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats, Int64s
from fastmks._util.progress import Progress
from fastmks._util.validation import check_count, check_seed, check_threads, import_extra
from fastmks.analysis.dimension import Sample, evaluations_of, expansions, most_balls
from fastmks.analysis.forecast import MOST_QUERIES, extrapolate, measure
from fastmks.engines.filters.choose import has_filter
from fastmks.engines.space import Space
from fastmks.errors import InvalidArgument, NotMercerError
from fastmks.kernels import Kernel, as_kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.objects import Objects, read_objects, read_queries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_COVERED = 1000  # objects whose intervals are covered: one cover may evaluate all their pairs
_DIRECTIONS = 32  # of objects, and as many of queries
_EVALUATIONS = 8  # for each object, of a kernel whose evaluations take long
# Shares up to which the advice is a tree, or depends: docs/how-it-works/hardness.md.
_PAYS, _SAVES = 0.03, 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class Hardness:
    """The findings of `hardness`. Print it for a summary.

    Attributes
    ----------
    kernel : Kernel
        The kernel that was examined.
    n_objects : int
        Objects given.
    positions : int64 array (n_sampled,)
        Positions of the sampled objects.
    expansion_constant : float
        The greatest ratio ``|B(p, 2r)| / |B(p, r)|`` seen, at least 2 by definition.
    expansion_samples : float64 array (n_sampled,)
        For each sampled object p, in the order of `positions`, the greatest ratio over all r.
    directional_concentration : float
        The most balls that an interval needed, at least 1 by definition.
    directional_samples : float64 array
        For each sampled pair of a direction and a point, the most balls over the widths tried.
    forecast : float
        Share of the objects that a tree search for the best one evaluates, extrapolated to all
        objects from `forecast_points`.
    forecast_points : tuple of (int, float)
        Objects in a tree, and the kernel evaluations measured per query.
    forecast_exponent : float
        b of ``evaluations = a * n**b`` through these points; NaN where there is one point only.
    forecasts : mapping of str to float
        The same share for every engine that can search these objects: "scan", which is 1, "tree"
        and "filter", which for expensive kernels is that of pivots.
    advice : str
        What to expect, with the figures it rests on.

    Examples
    --------
    >>> import fastmks
    >>> line = [[float(i)] for i in range(64)]
    >>> found = fastmks.hardness(line)
    >>> found.expansion_constant, found.directional_concentration
    (3.0, 1.0)
    """

    kernel: Kernel
    n_objects: int
    positions: Int64s
    expansion_constant: float
    expansion_samples: Floats
    directional_concentration: float
    directional_samples: Floats
    forecast: float
    forecast_points: tuple[tuple[int, float], ...]
    forecast_exponent: float
    forecasts: Mapping[str, float]
    advice: str

    def quantiles(self, levels: Sequence[float] = (0.5, 0.9, 1.0)) -> dict[str, Floats]:
        """Return quantiles of both samples: measured values, not interpolated ones.

        Examples
        --------
        >>> import fastmks
        >>> fastmks.hardness([[float(i)] for i in range(64)]).quantiles([0.5, 1.0])
        {'expansion': array([3., 3.]), 'directional': array([1., 1.])}
        """
        samples = {"expansion": self.expansion_samples, "directional": self.directional_samples}
        return {name: _quantiles(seen, levels) for name, seen in samples.items()}

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw both distributions as the share of the samples up to each value.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; pyplot's current axes when not given.

        Examples
        --------
        >>> import fastmks
        >>> from matplotlib.figure import Figure
        >>> axes = Figure().subplots()
        >>> fastmks.hardness([[1.0], [2.0], [4.0]]).plot(axes).get_xlabel()
        'constant seen'
        """
        if ax is None:
            import_extra("matplotlib", extra="plot", needed_by="drawing")
            from matplotlib import pyplot

            ax = pyplot.gca()
        for name, greatest, seen in self._distributions():
            shares = np.arange(1, len(seen) + 1) / max(1, len(seen))
            ax.step(np.sort(seen), shares, where="post", label=f"{name}, up to {_short(greatest)}")
        ax.set(xscale="log", xlabel="constant seen", ylabel="share of samples", ylim=(0.0, 1.02))
        ax.legend()
        return ax

    def figure(self, path: Any = None) -> "Figure":
        """Return a figure of both distributions and of the forecast; saved to a path if given.

        Examples
        --------
        >>> import fastmks
        >>> len(fastmks.hardness([[1.0], [2.0], [4.0]]).figure().axes)
        2
        """
        import_extra("matplotlib", extra="plot", needed_by="drawing")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10.0, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        self.plot(left)
        sizes, evaluations = zip(*self.forecast_points, strict=True)
        right.loglog(sizes, evaluations, "o", label="measured")
        right.loglog([self.n_objects], [self.forecast * self.n_objects], "x", label="forecast")
        right.set(xlabel="objects", ylabel="kernel evaluations per query")
        right.legend()
        if path is not None:
            figure.savefig(path)
        return figure

    def _distributions(self) -> tuple[tuple[str, float, Floats], ...]:
        return (
            ("expansion constant", self.expansion_constant, self.expansion_samples),
            ("directional concentration", self.directional_concentration, self.directional_samples),
        )

    def __repr__(self) -> str:
        return (
            f"<Hardness: expansion {_short(self.expansion_constant)}, directional concentration "
            f"{_short(self.directional_concentration)}, forecast {_short(100.0 * self.forecast)} % "
            f"of {self.n_objects} objects>"
        )

    def __str__(self) -> str:
        sampled = f"{len(self.positions)} of {self.n_objects} objects"
        lines = [
            f"Hardness of {sampled} under {self.kernel!r}",
            f"{'':30}{'greatest':>10}{'90 %':>10}{'median':>10}{'samples':>10}",
        ]
        for name, greatest, seen in self._distributions():
            high, median = _quantiles(seen, [0.9, 0.5])
            lines.append(
                f"{name:30}{_short(greatest):>10}{_short(high):>10}{_short(median):>10}{len(seen):10}"
            )
        measured = ", ".join(f"{_short(cost)} of {size}" for size, cost in self.forecast_points)
        growth = "" if len(self.forecast_points) == 1 else f"; ~ n^{self.forecast_exponent:.2f}"
        lines.append(f"evaluations of a tree search  {measured}{growth}")
        shares = [f"{name} {_short(100.0 * share)} %" for name, share in self.forecasts.items()]
        lines.append(f"forecast of the objects evaluated: {', '.join(shares)}. {self.advice}")
        return "\n".join(lines)


def hardness(
    objects: Any,
    kernel: Kernel | str = "linear",
    *,
    queries: Any = None,
    sample: int = 1000,
    budget: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool = False,
) -> Hardness:
    """Estimate how hard objects are to search under a kernel, and what each engine will evaluate.

    Parameters
    ----------
    objects : sequence
        As an `Index` takes them.
    kernel : Kernel, str or function, default "linear"
        A Mercer kernel; another is a `NotMercerError`.
    queries : sequence, optional
        Typical queries. Without them, objects that are in no tree stand in.
    sample : int, default 1000
        Most objects to examine. All pairs of them are evaluated.
    budget : int, optional
        Most kernel evaluations, for kernels whose evaluations take long: functions in Python,
        alignments and series. Fewer objects and queries are examined where these would take more.
        8 for each object when not given: what 8 queries cost a scan. The values of other kernels
        are not kept but evaluated again, some milliseconds in all, so that only the sample
        follows from the budget, where one is given.
    seed : int, default 0
        Chooses the sample: the same seed, the same result.
    threads : int, optional
        OMP_NUM_THREADS or the usable CPUs when not given.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    Hardness
        The *expansion constant* is exact for the sampled objects as a set of their own; that of
        all objects is another number where the sample is not all of them. The *directional
        concentration* is the greatest of greedy covers of intervals of eight widths around 4
        objects along each of up to 32 directions of objects, and 32 of queries, among at most
        1000 of the sampled objects. The *forecast* is measured on trees of the sampled objects,
        their halves, quarters and eighths, with up to 100 queries, and extrapolated where there
        are more objects.

    Examples
    --------
    >>> import fastmks
    >>> basis = [[float(i == j) for j in range(20)] for i in range(20)]
    >>> found = fastmks.hardness(basis)
    >>> found.expansion_constant  # every object as far from every other
    20.0
    >>> found.directional_concentration
    20.0
    """
    checked_kernel = as_kernel(kernel)
    most = check_count("sample", sample)
    rng = np.random.default_rng(check_seed(seed))
    n_threads = check_threads(threads)
    read = read_objects(objects, checked_kernel)
    asked_read = None if queries is None else _some_queries(queries, checked_kernel, read)
    # As many queries as are used, below: there are fewer directions than queries of the forecast.
    n_asked = 0 if asked_read is None else min(len(asked_read), most, MOST_QUERIES)
    n_drawn = min(len(read), most)
    is_expensive = any(leaf.is_expensive for _, leaf in leaves(checked_kernel))
    if budget is not None or is_expensive:
        limit = _EVALUATIONS * len(read) if budget is None else check_count("budget", budget)
        n_drawn, n_asked = _affordable(n_drawn, n_asked, limit)
    drawn = Sample(checked_kernel, read, _draw(rng, len(read), n_drawn), "objects", n_threads)
    _check_mercer(drawn.space)
    asked = None
    if asked_read is not None:
        places = _draw(rng, len(asked_read), most)
        asked = Sample(checked_kernel, asked_read, places[:n_asked], "queries", n_threads)
    shown = Progress(bool(progress))
    with shown.bar(len(drawn) ** 2) as report:
        ratios = expansions(drawn, report)
    balls = _concentrations(drawn, asked, rng)
    points = measure(drawn, asked, "tree", shown)
    exponent, share = extrapolate(points, len(read))
    forecasts = {"scan": 1.0, "tree": share}
    if has_filter(drawn.space):
        forecasts["filter"] = extrapolate(measure(drawn, asked, "filter", shown), len(read))[1]
    return Hardness(
        kernel=checked_kernel,
        n_objects=len(read),
        positions=drawn.positions,
        expansion_constant=float(ratios.max(initial=2.0)),
        expansion_samples=ratios,
        directional_concentration=float(balls.max(initial=1.0)),
        directional_samples=balls,
        forecast=share,
        forecast_points=points,
        forecast_exponent=exponent,
        forecasts=forecasts,
        advice=_advise(forecasts, len(read), is_expensive=is_expensive),
    )


def _check_mercer(space: Space) -> None:
    if not space.is_mercer:
        culprit = next(leaf for _, leaf in leaves(space.kernel) if leaf.is_mercer is False)
        advice = culprit.mercer_advice or "Take one that is."
        raise NotMercerError(
            "kernel must be Mercer, since distances and directions come from it; "
            f"{space.kernel!r} is not on {space.objects.kind}. {advice}"
        )


def _some_queries(queries: Any, kernel: Kernel, like: Objects) -> Objects:
    read = read_queries(queries, kernel, like)
    if len(read) == 0:
        raise InvalidArgument("queries must hold at least one object, or be omitted; got none.")
    return read


def _draw(rng: "np.random.Generator", n: int, most: int) -> Int64s:
    """Return up to `most` positions below n, each once, in random order."""
    return rng.choice(n, size=min(n, most), replace=False).astype(np.int64)


def _concentrations(drawn: Sample, asked: Sample | None, rng: "np.random.Generator") -> Floats:
    """Return the balls needed along directions of the objects, then of the queries."""
    covered = drawn.part(slice(_MOST_COVERED))
    _, nearest = covered.squares_from(covered)
    first = slice(_DIRECTIONS)  # places are in random order already
    balls = most_balls(covered, covered.part(first), rng, nearest)
    if asked is not None:
        balls += most_balls(covered, asked.part(first), rng, nearest)
    return np.array(balls, dtype=np.float64)


def _affordable(n_objects: int, n_queries: int, budget: int) -> tuple[int, int]:
    """Return how many objects and queries a budget of evaluations allows."""
    while evaluations_of(n_objects, n_queries) > budget:
        if n_queries > max(1, n_objects // 4):
            n_queries -= 1
        elif n_objects > 1:
            n_objects -= 1
        else:
            break
    return n_objects, n_queries


def _advise(forecasts: Mapping[str, float], n_objects: int, *, is_expensive: bool) -> str:
    shown = {name: _short(share * n_objects) for name, share in forecasts.items()}
    if is_expensive:
        return _advise_expensive(forecasts, shown)
    cost = f"about {shown['tree']} kernel evaluations a query, a scan {n_objects}"
    share = forecasts["tree"]
    if share <= _PAYS:
        return f"A tree pays: it needs {cost}."
    if share <= _SAVES:
        return f"A tree pays where evaluations are expensive, else scan: it needs {cost}."
    return f"A scan is as good: a tree needs {cost}."


def _advise_expensive(forecasts: Mapping[str, float], shown: Mapping[str, str]) -> str:
    costs = {"scan": f"a scan {shown['scan']}"}
    costs |= {
        engine: f"{name} about {shown[engine]}"
        for engine, name in (("tree", "a tree"), ("filter", "pivots"))
        if engine in shown
    }
    best = min(forecasts, key=forecasts.__getitem__)
    if forecasts[best] > _SAVES:
        best, advice = "scan", f"A scan is as good: it needs {shown['scan']}"
    else:
        pays = "Pivots pay: they need" if best == "filter" else "A tree pays: it needs"
        advice = f"{pays} about {shown[best]}"
    others = "".join(f", {costs[engine]}" for engine in reversed(costs) if engine != best)
    return f"{advice} kernel evaluations a query{others}."


def _short(number: float) -> str:
    """Return a number with three digits, or with all before the point where they are more."""
    return f"{number:.0f}" if number >= 100.0 else f"{number:.3g}"


@own_arithmetic()
def _quantiles(seen: Floats, levels: Sequence[float]) -> Floats:
    """Return quantiles of measured values; NaN where none exist."""
    if len(seen) == 0:
        return np.full(len(levels), math.nan)
    return np.asarray(np.quantile(seen, levels, method="inverted_cdf"), dtype=np.float64)
