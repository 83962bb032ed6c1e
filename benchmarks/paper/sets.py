"""The rows of the paper's table of data sets, and the data that stand for them here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import datasets
from benchmarks.datasets import Problem, Table
from benchmarks.harness import is_installed
from benchmarks.suite import Collector


class Sizes(NamedTuple):
    """|Q|, |S| and the number of columns."""

    n_queries: int
    n_objects: int
    n_columns: int

    def __str__(self) -> str:
        return " / ".join(map(str, self))


@dataclass(frozen=True, eq=False)
class PaperSet:
    """A problem that stands for a row of the table, or for none where it is generated."""

    problem: Problem
    pool: Sizes  # of all data; the problem asks a sample of the queries
    row: str
    paper: Sizes | None
    kind: str
    note: str


class PaperRow(NamedTuple):
    """A row of the paper's table, and how close our data are to it."""

    row: str
    sizes: Sizes  # the paper's
    kind: str  # "exact", "exact rows", "part", "own factors" or "substitute"
    note: str
    file: str
    read: Callable[[Path], Problem]


def _row(
    row: str, sizes: Sizes, kind: str, note: str, name: str, file: str, **more: Any
) -> PaperRow:
    table = Table(name=name, file=file, **more)
    return PaperRow(row, sizes, kind, note, file, table.read)


def _blog_posts(folder: Path) -> Problem:
    counts = datasets.read_counts(folder, "blog posts", n_held_out=10_000)
    return datasets.weigh_texts(counts).sample(10_000, 10_000)


def _hsv(folder: Path) -> Problem:
    file = "cifar10_hsv_hist32.npz"
    table = Table(name="cifar hsv", file=file, scale=1.0 / 1024.0)
    return table.read(folder).sample(27_749, 10_000)


_PART = "a share of the rows held out as in the paper"

# In the order of measuring, what takes long at the end.
ROWS = (
    _row(
        "Y! Music", Sizes(100_000, 600_000, 50), "substitute", "Yahoo! R3, a much smaller set",
        "yahoo", "yahoo_r3_mf50.npz",
    ),
    _row(
        "MovieLens", Sizes(6040, 3706, 50), "own factors", "the same ratings",
        "movielens", "movielens1m_mf50.npz",
    ),
    _row(
        "Physics", Sizes(37_500, 112_500, 78), "substitute", "gamma-ray events in 10 columns: weak",
        "magic", "magic_gamma.npz", n_held_out=4755,
    ),
    _row(
        "Corel", Sizes(10_000, 27_749, 32), "part", _PART,
        "corel", "corel_10k_hist32.npz", n_held_out=2649,
    ),
    PaperRow(
        "Corel (size)", Sizes(10_000, 27_749, 32), "substitute",
        "colour histograms of CIFAR-10 images", "cifar10_hsv_hist32.npz", _hsv,
    ),
    _row(
        "Netflix", Sizes(480_189, 17_770, 50), "substitute", "check-ins, implicit factors",
        "gowalla", "gowalla_mf50.npz",
    ),
    PaperRow(
        "LiveJournal", Sizes(10_000, 10_000, 25_327), "substitute", "blog posts, tf-idf",
        "blogposts_counts.npz", _blog_posts,
    ),
    _row(
        "Covertype", Sizes(150_000, 431_012, 55), "exact rows",
        "another split; the label is the 55th column",
        "covertype", "covertype.npz", n_held_out=150_000, last_column="y",
    ),
    _row(
        "LCDM", Sizes(6_000_000, 10_777_216, 3), "substitute", "a mock catalogue of galaxies",
        "galaxies", "lcdm_mock_galaxies_mr19.npz", n_held_out=10_000,
    ),
    _row(
        "Bio", Sizes(75_000, 210_409, 74), "part", _PART,
        "bio", "bio_kdd04_train.npz", n_held_out=38_301,
    ),
    _row(
        "TinyImages", Sizes(5000, 1_000_000, 384), "substitute",
        "GIST of CIFAR-10, a subset of Tiny Images",
        "cifar gist", "cifar10_gist384.npz", scale="scale",
    ),
    _row("MNIST", Sizes(10_000, 60_000, 784), "exact", "", "mnist", "mnist.npz"),
)  # fmt: skip


def all_sets(collector: Collector, *, n_objects: int, n_queries: int) -> Iterator[PaperSet]:
    """Yield the available sets, at most this large; generated ones without a folder."""

    def cut(problem: Problem, row: str, paper: Sizes | None, kind: str, note: str = "") -> PaperSet:
        pool = Sizes(problem.n_queries, problem.n_objects, problem.n_columns)
        problem = collector.cut(problem, n_objects, n_queries)
        return PaperSet(problem, pool, row, paper, kind, note)

    if collector.wants("digits"):
        if is_installed("sklearn"):
            yield cut(datasets.digits(), "Opt-digits", Sizes(450, 1347, 64), "exact")
        else:
            collector.note("scikit-learn is not installed: digits are skipped")
    if collector.folder is None:
        few = min(n_objects, 20_000)
        turn = partial(datasets.decaying, is_turned=False)
        for name, make, n_columns in (
            ("uniform 3-d", datasets.uniform, 3),
            ("normal 10-d", datasets.normal, 10),
            ("decaying 64-d", turn, 64),
        ):
            if collector.wants(name):
                made = make(few, n_columns, n_queries=n_queries)
                yield cut(replace(made, name=name), name, None, "generated")
        return
    for one in ROWS:
        is_wanted = collector.wants(one.row) or collector.wants(one.file.partition(".")[0])
        if (folder := collector.folder_with(one.file)) and is_wanted:
            yield cut(one.read(folder), one.row, one.sizes, one.kind, one.note)
