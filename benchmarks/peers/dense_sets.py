"""The dense sets that the bars are about: float32 rows, and up to 5000 queries for each set."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import datasets
from benchmarks.datasets import Problem, Table

__all__ = ["FILES", "GENERATED", "LOW", "N_QUERIES", "STRUCTURED", "generate", "is_low", "read"]

STRUCTURED = ("mnist", "glove100_50k", "cifar10_gist384", "gowalla", "movielens")
LOW = ("covertype", "lcdm", "aloi")  # trees and mlpack run on these too
N_QUERIES = 5000
_GENERATED_LOW = "points 3-d"


_TABLES = {
    table.name: table
    for table in (
        Table(name="mnist", file="mnist.npz", objects="train", queries="test", scale=1.0 / 255.0),
        Table(name="glove100_50k", file="glove100_50k.npz", n_held_out=N_QUERIES),
        Table(
            name="cifar10_gist384",
            file="cifar10_gist384.npz",
            objects="train",
            queries="test",
            scale="scale",
        ),
        Table(name="gowalla", file="gowalla_mf50.npz", objects="items", queries="users"),
        Table(name="movielens", file="movielens1m_mf50.npz", objects="items", queries="users"),
        Table(name="covertype", file="covertype.npz", n_held_out=150_000),  # the paper's split
        Table(name="lcdm", file="lcdm_mock_galaxies_mr19.npz", n_held_out=N_QUERIES),
        Table(name="aloi", file="aloi_hist27.npz", n_held_out=N_QUERIES),
    )
}


def is_low(name: str) -> bool:
    """Whether a set is of low dimension, in itself if not by its columns."""
    return name in LOW or name == _GENERATED_LOW


def generate(name: str, n_objects: int, n_queries: int) -> Problem:
    """Return a set that needs no file, of at most so many rows."""
    return replace(_GENERATORS[name](n_objects, n_queries).cast("float32"), name=name)


def read(folder: Path, name: str) -> Problem:
    """Return a set of the folder."""
    return _TABLES[name].read(folder, "float32")


def _normal(n_objects: int, n_queries: int) -> Problem:
    return datasets.normal(min(n_objects, 100_000), 128, n_queries=n_queries)


def _points(n_objects: int, n_queries: int) -> Problem:
    return datasets.uniform(min(n_objects, 50_000), 3, n_queries=n_queries)


def _decaying(n_objects: int, n_queries: int) -> Problem:
    """A stand-in for images and words."""
    found = datasets.normal(min(n_objects, 50_000), 128, n_queries=n_queries)
    weights = 1.0 / np.arange(1.0, 129.0)
    axes = np.linalg.qr(np.random.default_rng(1).standard_normal((128, 128)))[0]
    return replace(
        found,
        origin=f"{found.origin}; axis i scaled by 1 / i, then rotated",
        objects=(found.objects * weights) @ axes,
        queries=(found.queries * weights) @ axes,
    )


FILES = {table.name: table.file for table in _TABLES.values()}
_GENERATORS: dict[str, Callable[[int, int], Problem]] = {
    "decaying": _decaying,
    _GENERATED_LOW: _points,
    "normal": _normal,
}
GENERATED = tuple(_GENERATORS)
