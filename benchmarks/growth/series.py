"""Sets of growing size, each holding the smaller ones' kind of rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from benchmarks import datasets
from benchmarks.command import Collector
from benchmarks.datasets import Problem

__all__ = ["Series", "all_series"]

_SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class Series:
    """Problems of one kind, smallest first."""

    name: str
    sizes: tuple[int, ...]
    make: Callable[[int], Problem]  # given the number of objects

    def problems(self) -> Iterator[Problem]:
        """Yield the problems, all called by the name of the series."""
        for size in self.sizes:
            yield replace(self.make(size), name=self.name)


def all_series(collector: Collector, *, n_queries: int, is_quick: bool) -> Iterator[Series]:
    """Yield generated series, and real ones where the data are there.

    The last size of a real series is all of it.
    """
    most = 30_000 if is_quick else 10**9
    for name, make, most_here in (
        ("uniform 3-d", datasets.uniform, 10**9),
        ("normal 10-d", datasets.normal, 100_000),  # beyond, mlpack takes minutes
    ):
        if collector.wants(name):
            yield _generated(collector, name, make, min(most, most_here), n_queries)
    for name in ("galaxies", "covertype"):
        whole = collector.real(name, n_queries=n_queries)
        if whole is not None:
            sizes = tuple(size for size in _SIZES if size < min(most, whole.n_objects))
            last = min(whole.n_objects, most)
            yield Series(name=name, sizes=(*sizes, last), make=_sampler(whole, n_queries))


def _generated(
    collector: Collector, name: str, make: Callable[..., Problem], most: int, n_queries: int
) -> Series:
    n_columns = int(name.split()[1].removesuffix("-d"))
    most, n_asked = collector.limits(most, n_queries)
    sizes = tuple(size for size in _SIZES if size <= most) or (most,)
    return Series(
        name=name, sizes=sizes, make=lambda size: make(size, n_columns, n_queries=n_asked)
    )


def _sampler(whole: Problem, n_queries: int) -> Callable[[int], Problem]:
    return lambda size: whole.sample(size, n_queries)
