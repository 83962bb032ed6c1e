"""The sets that the bars are about: float32 rows, and up to 5000 queries for each set."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.command import Collector
from benchmarks.datasets import Problem

__all__ = ["LOW", "STRUCTURED", "collect", "is_low"]

STRUCTURED = ("mnist", "glove100_50k", "cifar10_gist384", "gowalla", "movielens")
LOW = ("covertype", "lcdm", "aloi")  # trees and mlpack run on these too
_GENERATED_LOW = "points 3-d"
_N_QUERIES = 5000


@dataclass(frozen=True, kw_only=True)
class _Source:
    """A file of arrays: which hold the objects, and which the queries if any do."""

    file: str
    objects: str = "X"
    queries: str | None = None  # none: some rows are held out
    n_held_out: int = _N_QUERIES
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


def collect(
    collector: Collector, folder: Path | None, n_objects: int, n_queries: int
) -> Iterator[Problem]:
    """Return the sets asked for, one after the other; what cannot be had is noted."""
    n_queries = min(n_queries, _N_QUERIES)
    if folder is None:
        yield from _generated(collector, n_objects, n_queries)
    else:
        for name, source in _SOURCES.items():
            if not collector.wants(name):
                continue
            if (folder / source.file).exists():
                yield collector.cut(_read(folder, name, source), n_objects, n_queries)
            else:
                collector.note(f"not in the folder: {source.file}")
    if collector.wants("normal"):
        few, asked = collector.limits(min(n_objects, 100_000), n_queries)
        yield _float32("normal", datasets.normal(few, 128, n_queries=asked))


def _generated(collector: Collector, n_objects: int, n_queries: int) -> Iterator[Problem]:
    """Stand-ins where there is no folder: decaying axes for images and words, points for 3-d."""
    few, asked = collector.limits(min(n_objects, 50_000), n_queries)
    if collector.wants("decaying"):
        found = datasets.normal(few, 128, n_queries=asked)
        weights = 1.0 / np.arange(1.0, 129.0)
        axes = np.linalg.qr(np.random.default_rng(1).standard_normal((128, 128)))[0]
        yield _float32(
            "decaying",
            replace(
                found,
                origin=f"{found.origin}; axis i scaled by 1 / i, then rotated",
                objects=(found.objects * weights) @ axes,
                queries=(found.queries * weights) @ axes,
            ),
        )
    if collector.wants(_GENERATED_LOW):
        yield _float32(_GENERATED_LOW, datasets.uniform(few, 3, n_queries=asked))


def _read(folder: Path, name: str, source: _Source) -> Problem:
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


def _float32(name: str, problem: Problem) -> Problem:
    return replace(problem.cast("float32"), name=name)
