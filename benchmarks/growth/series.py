"""Sets of growing size and of growing dimension; each size holds the rows of the smaller ones."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem, Table, turned
from benchmarks.suite import EVERYTHING, Collector

SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
DIMENSIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
REAL = {
    "galaxies": Table(name="galaxies", file="lcdm_mock_galaxies_mr19.npz"),
    "covertype": Table(name="covertype", file="covertype.npz"),
}
CUBE = "cube"
_CUBE_COLUMNS = 32  # that cubes are put into, whatever their dimension


# The rows of a generated series: a generator of numbers, how many rows.
_Draw: TypeAlias = Callable[[np.random.Generator, int], NDArray[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Series:
    """Problems of one kind, smallest first."""

    name: str
    sizes: tuple[int, ...]
    make: Callable[[int], Problem]  # given the number of objects
    most_mlpack: int = EVERYTHING  # objects it is given

    def problem(self, size: int) -> Problem:
        """Return one of the problems, called by the name of the series."""
        return replace(self.make(size), name=self.name)


def all_series(
    collector: Collector, sizes: Sequence[int], *, n_queries: int, most: int
) -> Iterator[Series]:
    """Yield generated series, and real ones where the data are in the folder.

    The last size of a real series is all of it, or as much as `most` allows.
    """
    for name, (draw, origin, own_most, most_mlpack) in _GENERATED.items():
        if collector.wants(name):
            limit, n_asked = collector.limits(min(most, own_most), n_queries)
            yield Series(
                name=name,
                sizes=tuple(size for size in sizes if size <= limit) or (limit,),
                make=partial(_generate, name, draw, origin, n_asked),
                most_mlpack=most_mlpack,
            )
    for name, table in REAL.items():
        if collector.wants(name) and (folder := collector.folder_with(table.file)):
            whole = collector.cut(table.read(folder), most, n_queries)
            smaller = tuple(size for size in sizes if size < whole.n_objects)
            yield Series(
                name=name,
                sizes=(*smaller, whole.n_objects),
                make=partial(whole.sample, n_queries=whole.n_queries),
            )


def make_cube(dimension: int, n_objects: int, n_queries: int) -> Problem:
    """Return points of a cube around zero, turned at random into a fixed number of columns.

    Rows are as long to store and to multiply in any dimension; only the dimension differs.
    """

    def draw(random: np.random.Generator, n: int) -> NDArray[Any]:
        return turned(random.random((n, dimension)) - 0.5, _CUBE_COLUMNS)

    origin = f"uniform in a cube, put into {_CUBE_COLUMNS} columns by a random rotation"
    return _generate(f"{CUBE} {dimension}-d", draw, origin, n_queries, n_objects)


def _generate(name: str, draw: _Draw, origin: str, n_queries: int, n_objects: int) -> Problem:
    """Return objects and queries from a random stream each: more objects change no query."""
    objects, queries = (
        np.ascontiguousarray(draw(np.random.default_rng([0, stream]), n_rows))
        for stream, n_rows in enumerate((n_objects, n_queries))
    )
    origin = f"generated, seed 0; {origin}"
    return Problem(name=name, origin=origin, objects=objects, queries=queries)


def _decaying(random: np.random.Generator, n: int) -> NDArray[Any]:
    return turned(random.standard_normal((n, 64)) * (1.0 / np.arange(1.0, 65.0)))


# With the greatest numbers of objects, for all and for mlpack.
_GENERATED: Mapping[str, tuple[_Draw, str, int, int]] = {
    "uniform 3-d": (
        lambda random, n: random.random((n, 3)), "uniform between 0 and 1", EVERYTHING, EVERYTHING
    ),
    "normal 10-d": (
        lambda random, n: random.standard_normal((n, 10)), "standard normal", EVERYTHING, 100_000
    ),
    "decaying 64-d": (
        _decaying, "normal, axis i scaled by 1 / i, then rotated", 300_000, 30_000
    ),
}  # fmt: skip
