"""The rows of the paper's table of data sets, and the data that stand for them here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.command import Collector
from benchmarks.datasets import Problem, Table
from benchmarks.harness import is_installed

__all__ = ["ROWS", "PaperRow", "PaperSet", "Sizes", "all_sets"]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """|Q|, |S| and the number of columns."""

    n_queries: int
    n_objects: int
    n_columns: int

    def __str__(self) -> str:
        return f"{self.n_queries} / {self.n_objects} / {self.n_columns}"


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """A row of the paper's table, and how near to it we are."""

    row: str
    sizes: Sizes  # the paper's
    kind: str  # "exact", "exact rows", "part", "own factors" or "substitute"
    read: Callable[[Path], Problem]
    file: str
    note: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperSet:
    """A problem that stands for a row of the table, or for nothing where it is generated."""

    problem: Problem
    pool: Sizes  # all that is there; the problem asks a sample of the queries
    row: str
    paper: Sizes | None
    kind: str
    note: str


def _row(
    row: str,
    n_queries: int,
    n_objects: int,
    n_columns: int,
    kind: str,
    table: Table,
    note: str = "",
) -> PaperRow:
    return PaperRow(
        row=row,
        sizes=Sizes(n_queries=n_queries, n_objects=n_objects, n_columns=n_columns),
        kind=kind,
        read=table.read,
        file=table.file,
        note=note,
    )


def _blog_posts(folder: Path) -> Problem:
    name, n = "blog posts", 10_000
    found = datasets.weigh_texts(folder, _BLOG_FILE, name, n_held_out=n)
    return found.sample(n, n)


def _hsv(folder: Path) -> Problem:
    table = Table(
        name="cifar hsv",
        file="cifar10_hsv_hist32.npz",
        objects="train",
        queries="test",
        scale=1.0 / 1024.0,
    )
    return table.read(folder).sample(27_749, 10_000)


_BLOG_FILE = "blogposts_counts.npz"
_FACTORS = partial(Table, objects="items", queries="users")
_SMALL = "a share of the rows held out as in the paper"

# In the order of measuring, what takes long at the end.
ROWS = (
    _row(
        "Y! Music", 100_000, 600_000, 50, "substitute",
        _FACTORS(name="yahoo", file="yahoo_r3_mf50.npz"), "Yahoo! R3, a much smaller set",
    ),
    _row(
        "MovieLens", 6040, 3706, 50, "own factors",
        _FACTORS(name="movielens", file="movielens1m_mf50.npz"), "the same ratings",
    ),
    _row(
        "Physics", 37_500, 112_500, 78, "substitute",
        Table(name="magic", file="magic_gamma.npz", n_held_out=4755),
        "gamma-ray events in 10 columns: weak",
    ),
    _row(
        "Corel", 10_000, 27_749, 32, "part",
        Table(name="corel", file="corel_10k_hist32.npz", n_held_out=2649), _SMALL,
    ),
    PaperRow(
        row="Corel (size)",
        sizes=Sizes(n_queries=10_000, n_objects=27_749, n_columns=32),
        kind="substitute",
        read=_hsv,
        file="cifar10_hsv_hist32.npz",
        note="colour histograms of CIFAR-10 images",
    ),
    _row(
        "Netflix", 480_189, 17_770, 50, "substitute",
        _FACTORS(name="gowalla", file="gowalla_mf50.npz"), "check-ins, implicit factors",
    ),
    PaperRow(
        row="LiveJournal",
        sizes=Sizes(n_queries=10_000, n_objects=10_000, n_columns=25_327),
        kind="substitute",
        read=_blog_posts,
        file=_BLOG_FILE,
        note="blog posts, tf-idf",
    ),
    _row(
        "Covertype", 150_000, 431_012, 55, "exact rows",
        Table(name="covertype", file="covertype.npz", n_held_out=150_000, last_column="y"),
        "another split; the label is the 55th column",
    ),
    _row(
        "LCDM", 6_000_000, 10_777_216, 3, "substitute",
        Table(name="galaxies", file="lcdm_mock_galaxies_mr19.npz", n_held_out=10_000),
        "a mock catalogue of galaxies",
    ),
    _row(
        "Bio", 75_000, 210_409, 74, "part",
        Table(name="bio", file="bio_kdd04_train.npz", n_held_out=38_301), _SMALL,
    ),
    _row(
        "TinyImages", 5000, 1_000_000, 384, "substitute",
        Table(
            name="cifar gist", file="cifar10_gist384.npz", objects="train", queries="test",
            scale="scale",
        ),
        "GIST of CIFAR-10, a subset of Tiny Images",
    ),
    _row(
        "MNIST", 10_000, 60_000, 784, "exact",
        Table(name="mnist", file="mnist.npz", objects="train", queries="test"),
    ),
)  # fmt: skip


def all_sets(
    collector: Collector, folder: Path | None, *, n_objects: int, n_queries: int
) -> Iterator[PaperSet]:
    """Yield the sets that can be had, at most so large; generated ones where there is no folder."""
    cut = partial(_cut, collector, n_objects, n_queries)
    if collector.wants("digits"):
        if is_installed("sklearn"):
            sizes = Sizes(n_queries=450, n_objects=1347, n_columns=64)
            yield cut(datasets.digits(), row="Opt-digits", paper=sizes, kind="exact", note="")
        else:
            collector.note("scikit-learn is not installed: digits are left out")
    if folder is None:
        yield from _generated(collector, cut, n_objects, n_queries)
        return
    for one in ROWS:
        if not (folder / one.file).exists():
            collector.note(f"not in the folder: {one.file}")
            continue
        problem = one.read(folder) if _wants(collector, one) else None
        if problem is not None:
            yield cut(problem, row=one.row, paper=one.sizes, kind=one.kind, note=one.note)


def _wants(collector: Collector, one: PaperRow) -> bool:
    return any(collector.wants(name) for name in (one.row, one.file.partition(".")[0]))


def _generated(
    collector: Collector, cut: Callable[..., PaperSet], n_objects: int, n_queries: int
) -> Iterator[PaperSet]:
    """Sets of low, middle and high dimension, for whoever has no data."""
    few = min(n_objects, 20_000)
    made: dict[str, Callable[[], Problem]] = {
        "uniform 3-d": lambda: datasets.uniform(few, 3, n_queries=n_queries),
        "normal 10-d": lambda: datasets.normal(few, 10, n_queries=n_queries),
        "decaying 64-d": lambda: _decaying(few, 64, n_queries),
    }
    for name, make in made.items():
        if collector.wants(name):
            problem = replace(make(), name=name)
            yield cut(problem, row=name, paper=None, kind="generated", note="")


def _decaying(n_objects: int, n_columns: int, n_queries: int) -> Problem:
    found = datasets.normal(n_objects, n_columns, n_queries=n_queries)
    weights = 1.0 / np.arange(1.0, n_columns + 1.0)
    return replace(
        found,
        origin=f"{found.origin}; axis i scaled by 1 / i",
        objects=found.objects * weights,
        queries=found.queries * weights,
    )


def _cut(
    collector: Collector, n_objects: int, n_queries: int, problem: Problem, **known: Any
) -> PaperSet:
    pool = Sizes(
        n_queries=problem.n_queries, n_objects=problem.n_objects, n_columns=problem.n_columns
    )
    return PaperSet(problem=collector.cut(problem, n_objects, n_queries), pool=pool, **known)
