"""The paper's model of a distributed search, fitted to timed runs: how many machines are best."""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats
from fastmks._util.wording import counted
from fastmks.dask.cluster import FAN_IN, Cluster, Packed, pack, unpack
from fastmks.dask.shard_build import Shard
from fastmks.dask.shard_work import Answer, merge_answers
from fastmks.engines.base import Cost, TopKFound
from fastmks.errors import InvalidArgument
from fastmks.index.index import Index

_Pairs: TypeAlias = Sequence[tuple[float, float]]
_N_QUERIES = 64
_LARGEST_TIMED = 2**16  # objects; a tree of more takes long to build
_N_SIZES = 4
_LEAST_TIMED = 64
_ROUNDS = 5
_WIDTHS = (1, 2, 4, 8, 16, 32)  # tasks at the same time


@dataclass(frozen=True)
class Law:
    """A line through measured times, and their root mean square relative distance from it."""

    at_zero: float
    slope: float
    misfit: float
    points: tuple[tuple[float, float], ...]

    def at(self, x: float) -> float:
        """Return the time on the line, at least 0."""
        return max(0.0, self.at_zero + self.slope * x)


@dataclass(frozen=True)
class Advice:
    """Forecasts of searches on m machines, from times measured on this cluster.

    Attributes
    ----------
    overhead : Law
        Seconds of a search of m empty shards, by m: its slope is the paper's c₁.
    scan : Law
        Seconds per query of a scan, by the number of objects: its slope is c₂.
    tree : Law
        Seconds per query of a tree, by log2 of the number of objects: its slope is c₂'.
    tree_exponent : float
        The power of the number of objects that the times of the tree follow, which the paper's
        logarithm omits. Forecasts beyond the sizes that were timed are as good as the law.
    n_objects, n_queries, k, n_machines : int
        The search that the forecasts are for.

    Examples
    --------
    >>> from fastmks.dask.advice import Advice, fit_line
    >>> advice = Advice(
    ...     overhead=fit_line([(1, 0.002), (2, 0.003), (4, 0.005)]),
    ...     scan=fit_line([(1000, 1e-3), (2000, 2e-3)]),
    ...     tree=fit_line([(10, 1e-3), (11, 1.1e-3)]),
    ...     tree_exponent=0.1, n_objects=1_000_000, n_queries=1, k=1, n_machines=64,
    ... )
    >>> advice.best("scan"), advice.best("tree")
    (32, 1)
    """

    overhead: Law
    scan: Law
    tree: Law
    tree_exponent: float
    n_objects: int
    n_queries: int
    k: int
    n_machines: int

    def seconds(self, algorithm: str, n_machines: int) -> float:
        """Return the forecast for the whole batch of queries on this many machines.

        Examples
        --------
        >>> from fastmks.dask.advice import Advice, fit_line
        >>> line = fit_line([(1, 1.0), (2, 2.0)])
        >>> advice = Advice(line, line, line, 0.1, n_objects=8, n_queries=1, k=1, n_machines=4)
        >>> round(advice.seconds("scan", 2))
        6
        """
        size = max(1.0, self.n_objects / n_machines)
        law, x = (self.scan, size) if algorithm == "scan" else (self.tree, math.log2(size))
        return self.overhead.at(n_machines) + self.n_queries * law.at(x)

    def best(self, algorithm: str) -> int:
        """Return the number of machines, up to all, for which the forecast is the least.

        Examples
        --------
        >>> from fastmks.dask.advice import Advice, fit_line
        >>> line = fit_line([(1, 1.0), (2, 2.0)])
        >>> advice = Advice(line, line, line, 0.1, n_objects=100, n_queries=1, k=1, n_machines=40)
        >>> advice.best("scan")
        10
        """
        c1 = max(self.overhead.slope, 1e-12)
        if algorithm == "scan":
            ideal = math.sqrt(max(0.0, self.scan.slope) * self.n_queries * self.n_objects / c1)
        else:
            ideal = max(0.0, self.tree.slope) * self.n_queries / (math.log(2) * c1)
        around = {1, self.n_machines, math.floor(ideal), math.ceil(ideal)}
        allowed = sorted(m for m in around if 1 <= m <= self.n_machines)
        return min(allowed, key=lambda m: self.seconds(algorithm, m))

    def as_dict(self) -> dict[str, Any]:
        """Return the advice as plain values.

        Examples
        --------
        >>> from fastmks.dask.advice import Advice, fit_line
        >>> line = fit_line([(1, 1.0), (2, 2.0)])
        >>> advice = Advice(line, line, line, 0.1, n_objects=8, n_queries=1, k=1, n_machines=4)
        >>> advice.as_dict()["n_objects"]
        8
        """
        return asdict(self)

    def __str__(self) -> str:
        shown = sorted({2**i for i in range(64) if 2**i <= self.n_machines} | {self.n_machines})
        best = {name: self.best(name) for name in ("scan", "tree")}
        asked, among = counted(self.n_queries, "query"), counted(self.n_objects, "object")
        lines = [
            f"{asked}, k = {self.k}, {among}",
            f"overhead {_ms(self.overhead.at_zero)} + {_ms(self.overhead.slope)} per machine (c1)",
            f"scan     {self.scan.slope * 1e9:.3g} ns per object and query (c2)",
            f"tree     {self.tree.slope * 1e6:.3g} us per doubling and query (c2')",
            f"         measured growth n^{self.tree_exponent:.2f}",
            "",
            f"{'machines':>8}  {'scan':>10}  {'tree':>10}",
        ]
        for m in sorted({*shown, *best.values()}):
            marks = " ".join(f"best for {name}" for name, at in best.items() if at == m)
            times = (_ms(self.seconds(name, m)) for name in ("scan", "tree"))
            lines.append(f"{m:>8}  " + "  ".join(f"{t:>10}" for t in times) + f"  {marks}".rstrip())
        return "\n".join(lines)


def advise(
    cluster: Cluster,
    shards: Sequence[Shard],
    *,
    n_machines: int,
    queries: Any,
    k: int,
    n_objects: int,
) -> Advice:
    """Time the parts of a search on the cluster, one at a time, and return the fitted model."""
    shard = max(shards, key=len)
    least = max(_LEAST_TIMED, 2**_N_SIZES * k)
    if len(shard) < least:
        raise InvalidArgument(
            f"the largest shard must hold at least {least} objects for times by size to be "
            f"measured (k={k}); {shard.name} holds {len(shard)}."
        )
    packed = pack((queries, k))
    timed = cluster.result(cluster.submit(_time_engines, shard.index, packed, name="time"))
    n_queries, scan, tree = timed
    overhead = fit_line(_time_overhead(cluster, n_queries, k))
    return Advice(
        overhead=overhead,
        scan=fit_line(scan),
        tree=fit_line([(math.log2(size), seconds) for size, seconds in tree]),
        tree_exponent=fit_power(tree),
        n_objects=n_objects,
        n_queries=n_queries,
        k=k,
        n_machines=n_machines,
    )


@own_arithmetic()
def fit_line(points: _Pairs) -> Law:
    """Return the line through points with relative errors."""
    x, y = np.array(points, dtype=np.float64).T
    weights = 1.0 / np.maximum(y, 1e-12)
    slope, at_zero = _line(x, y, weights**2)
    misfit = float(np.sqrt(np.mean(((at_zero + slope * x) / np.maximum(y, 1e-12) - 1.0) ** 2)))
    return Law(float(at_zero), float(slope), misfit, tuple((float(a), float(b)) for a, b in points))


@own_arithmetic()
def fit_power(points: _Pairs) -> float:
    """Return the power of x that y follows."""
    x, y = np.log(np.array(points, dtype=np.float64)).T
    return _line(x, y, np.ones_like(x))[0]


def _line(x: Floats, y: Floats, weights: Floats) -> tuple[float, float]:
    """Return slope and start of the line with the least sum of weighted squared errors."""
    total = weights.sum()
    x_mean, y_mean = (weights * x).sum() / total, (weights * y).sum() / total
    slope = (weights * (x - x_mean) * (y - y_mean)).sum() / (weights * (x - x_mean) ** 2).sum()
    return float(slope), float(y_mean - slope * x_mean)


def _time_engines(index: Index, packed: Packed) -> tuple[int, Any, Any]:
    """Return the number of queries, and seconds per query of scan and tree by size."""
    queries, k = unpack(packed)
    n_objects = len(index)
    if queries is None:
        at = np.linspace(0, n_objects - 1, min(n_objects, _N_QUERIES)).astype(np.int64)
        queries = index.get(index.ids[np.unique(at)])
    largest = min(n_objects, _LARGEST_TIMED)
    sizes = sorted({max(k, 2, largest >> i) for i in range(_N_SIZES)})
    n_queries = 0
    scan: list[tuple[int, float]] = []
    tree: list[tuple[int, float]] = []
    for size in sizes:
        at = np.linspace(0, n_objects - 1, size).astype(np.int64)
        some = Index(index.get(index.ids[np.unique(at)]), index.kernel, threads=1)
        for algorithm, times in (("scan", scan), ("tree", tree)):
            hits = some.search(queries, k=k, algorithm=algorithm)  # builds what is needed
            n_queries = len(hits.values)
            seconds = []
            for _ in range(_ROUNDS):
                started = time.perf_counter()
                some.search(queries, k=k, algorithm=algorithm)
                seconds.append(time.perf_counter() - started)
            times.append((len(some), median(seconds) / n_queries))
    return n_queries, scan, tree


def _time_overhead(cluster: Cluster, n_queries: int, k: int) -> list[tuple[int, float]]:
    """Return the seconds from the search of this many empty shards to the merged answer."""
    points = []
    for width in _WIDTHS:
        seconds = []
        for _ in range(_ROUNDS + 1):
            started = time.perf_counter()
            answers = cluster.map(_answer, [n_queries] * width, [k] * width, name="nothing")
            few = cluster.reduce(answers, merge_answers, k, name="merge", to=FAN_IN)
            merge_answers(cluster.results(few), k)
            seconds.append(time.perf_counter() - started)
        points.append((width, median(seconds[1:])))
    return points


def _answer(n_queries: int, k: int) -> Answer:
    """Return an answer in the form of a shard's, without a search."""
    shape = (n_queries, k)
    ids = np.arange(n_queries * k, dtype=np.int64).reshape(shape)
    found = TopKFound(np.zeros(shape), ids, np.zeros(n_queries), Cost(evaluations=0), ids)
    return Answer(found, {})


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
