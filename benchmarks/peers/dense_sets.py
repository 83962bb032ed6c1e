"""The dense sets that the bars are about: float32 rows, and up to 5000 queries for each set."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.datasets import Problem

__all__ = ["FILES", "GENERATED", "LOW", "N_QUERIES", "STRUCTURED", "generate", "is_low", "read"]

STRUCTURED = ("mnist", "glove100_50k", "cifar10_gist384", "gowalla", "movielens")
LOW = ("covertype", "lcdm", "aloi")  # trees and mlpack run on these too
N_QUERIES = 5000
_GENERATED_LOW = "points 3-d"


@dataclass(frozen=True, kw_only=True)
class _Source:
    """A file of arrays: which hold the objects, and which the queries if any do."""

    file: str
    objects: str = "X"
    queries: str | None = None  # none: some rows are held out
    n_held_out: int = N_QUERIES
    scale: float | str = 1.0  # or the array that holds it


_SOURCES = {
    "mnist": _Source(file="mnist.npz", objects="train", queries="test", scale=1.0 / 255.0),
    "glove100_50k": _Source(file="glove100_50k.npz"),
    "cifar10_gist384": _Source(
        file="cifar10_gist384.npz", objects="train", queries="test", scale="scale"
    ),
    "gowalla": _Source(file="gowalla_mf50.npz", objects="items", queries="users"),
    "movielens": _Source(file="movielens1m_mf50.npz", objects="items", queries="users"),
    "covertype": _Source(file="covertype.npz", n_held_out=150_000),  # the paper's split
    "lcdm": _Source(file="lcdm_mock_galaxies_mr19.npz"),
    "aloi": _Source(file="aloi_hist27.npz"),
}


def is_low(name: str) -> bool:
    """Whether a set is of low dimension, in itself if not by its columns."""
    return name in LOW or name == _GENERATED_LOW


def generate(name: str, n_objects: int, n_queries: int) -> Problem:
    """Return a set that needs no file, of at most so many rows."""
    return replace(_GENERATORS[name](n_objects, n_queries).cast("float32"), name=name)


def read(folder: Path, name: str) -> Problem:
    """Return a set of the folder."""
    source = _SOURCES[name]
    with np.load(folder / source.file) as arrays:
        objects = arrays[source.objects]
        queries = arrays[source.queries] if source.queries else None
        is_stored = isinstance(source.scale, str)
        scale = float(arrays[source.scale] if is_stored else source.scale)
    origin = f"{source.objects}, and {source.queries} as queries"
    if queries is None:
        mixed = np.random.default_rng(0).permutation(len(objects))
        held_out = np.sort(mixed[: source.n_held_out])
        kept = np.sort(mixed[source.n_held_out :])
        objects, queries = objects[kept], objects[held_out]
        origin = f"{source.objects}, {source.n_held_out} rows held out as queries (seed 0)"
    if scale != 1.0:
        origin += f"; times {scale:.6g}"
    return Problem(
        name=name,
        origin=f"{source.file}: {origin}",
        objects=_scaled(objects, scale),
        queries=_scaled(queries, scale),
    )


def _scaled(rows: NDArray[Any], scale: float) -> NDArray[np.float32]:
    return np.ascontiguousarray(rows * scale if scale != 1.0 else rows, dtype=np.float32)


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


FILES = {name: source.file for name, source in _SOURCES.items()}
_GENERATORS: dict[str, Callable[[int, int], Problem]] = {
    "decaying": _decaying,
    _GENERATED_LOW: _points,
    "normal": _normal,
}
GENERATED = tuple(_GENERATORS)
