"""Sets of growing size and of growing dimension; each size holds the rows of the smaller ones."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.command import Collector
from benchmarks.datasets import Problem

__all__ = ["CUBE", "DIMENSIONS", "REAL", "SIZES", "Series", "all_series", "make_cube"]

SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
DIMENSIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
REAL = ("galaxies", "covertype")
CUBE = "cube"
_CUBE_COLUMNS = 32  # that cubes are put into, whatever their dimension

_Draw = Callable[[np.random.Generator, int], NDArray[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Series:
    """Problems of one kind, smallest first."""

    name: str
    sizes: tuple[int, ...]
    n_queries: int
    make: Callable[[int], Problem]  # given the number of objects
    most_mlpack: int = 10**9  # objects it is given

    def problem(self, size: int) -> Problem:
        """Return one of the problems, called by the name of the series."""
        return replace(self.make(size), name=self.name)


@dataclass(frozen=True, kw_only=True)
class _Generated:
    """A series that needs no data."""

    name: str
    draw: _Draw  # rows
    origin: str
    most: int = 10**9
    most_mlpack: int = 10**9


def all_series(
    collector: Collector, sizes: Sequence[int], *, n_queries: int, most: int
) -> Iterator[Series]:
    """Yield generated series, and real ones where the data are there.

    The last size of a real series is all of it, or as much as `most` allows.
    """
    for one in _GENERATED:
        if collector.wants(one.name):
            limit, n_asked = collector.limits(min(most, one.most), n_queries)
            yield Series(
                name=one.name,
                sizes=tuple(size for size in sizes if size <= limit) or (limit,),
                n_queries=n_asked,
                make=partial(_generate, one, n_asked),
                most_mlpack=one.most_mlpack,
            )
    for name in REAL:
        whole = collector.real(name, most, n_queries)
        if whole is not None:
            smaller = tuple(size for size in sizes if size < whole.n_objects)
            yield Series(
                name=name,
                sizes=(*smaller, whole.n_objects),
                n_queries=whole.n_queries,
                make=partial(whole.sample, n_queries=whole.n_queries),
            )


def make_cube(dimension: int, n_objects: int, n_queries: int) -> Problem:
    """Return points of a cube around zero, turned at random into columns that are always as many.

    Rows are as long to store and to multiply in any dimension; only the dimension differs.
    """
    axes = _axes(_CUBE_COLUMNS)[:dimension]
    return _generate(
        _Generated(
            name=f"{CUBE} {dimension}-d",
            draw=lambda random, n_rows: (random.random((n_rows, dimension)) - 0.5) @ axes,
            origin=f"uniform in a cube, put into {_CUBE_COLUMNS} columns by a random rotation",
        ),
        n_queries,
        n_objects,
    )


def _generate(one: _Generated, n_queries: int, n_objects: int) -> Problem:
    """Objects and queries come from streams of their own: more objects leave the others alone."""
    objects, queries = (
        np.ascontiguousarray(one.draw(np.random.default_rng([0, stream]), n_rows))
        for stream, n_rows in enumerate((n_objects, n_queries))
    )
    return Problem(
        name=one.name, origin=f"generated, seed 0; {one.origin}", objects=objects, queries=queries
    )


def _uniform(random: np.random.Generator, n_rows: int) -> NDArray[Any]:
    return random.random((n_rows, 3))


def _normal(random: np.random.Generator, n_rows: int) -> NDArray[Any]:
    return random.standard_normal((n_rows, 10))


def _decaying(random: np.random.Generator, n_rows: int) -> NDArray[Any]:
    weights = 1.0 / np.arange(1.0, 65.0)
    return np.asarray((random.standard_normal((n_rows, 64)) * weights) @ _axes(64))


def _axes(n_columns: int) -> NDArray[Any]:
    """Return axes of a space turned at random, always the same."""
    return np.linalg.qr(np.random.default_rng(1).standard_normal((n_columns, n_columns)))[0]


_GENERATED = (
    _Generated(name="uniform 3-d", draw=_uniform, origin="uniform between 0 and 1"),
    _Generated(name="normal 10-d", draw=_normal, origin="standard normal", most_mlpack=100_000),
    _Generated(
        name="decaying 64-d",
        draw=_decaying,
        origin="normal, axis i scaled by 1 / i, then rotated",
        most=300_000,
        most_mlpack=30_000,
    ),
)
