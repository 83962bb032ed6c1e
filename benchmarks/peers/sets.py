"""All sets of the bars, by name, and the entrants on each; a set is read when first used."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from benchmarks import datasets
from benchmarks.datasets import COUNTS_FILES, Problem, Table
from benchmarks.harness import is_installed
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, SPECTRUM, TANIMOTO, KernelCase
from benchmarks.peers.entrants import entrants
from benchmarks.peers.fingerprints import fingerprint_entrants, make_fingerprints
from benchmarks.peers.sparse import sparse_entrants
from benchmarks.race.entrant import Entrant
from benchmarks.sequences import SEQUENCES_FILE, count_substrings, read_sequences
from benchmarks.suite import Collector

STRUCTURED = ("mnist", "glove100_50k", "cifar10_gist384", "gowalla", "movielens")
LOW = ("covertype", "lcdm", "aloi")  # trees and mlpack run on these too
POINTS = "points 3-d"
_DENSE = (LINEAR, COSINE, POLYNOMIAL)
_N_DENSE_QUERIES, _N_SPARSE_QUERIES = 5000, 1000
_N_FINGERPRINTS, _N_FINGERPRINT_QUERIES = 200_000, 100
_LENGTH = 3  # of the substrings of proteins
_TABLES = {
    table.name: table
    for table in (
        Table(name="mnist", file="mnist.npz", scale=1.0 / 255.0),
        Table(name="glove100_50k", file="glove100_50k.npz", n_held_out=_N_DENSE_QUERIES),
        Table(name="cifar10_gist384", file="cifar10_gist384.npz", scale="scale"),
        Table(name="gowalla", file="gowalla_mf50.npz"),
        Table(name="movielens", file="movielens1m_mf50.npz"),
        Table(name="covertype", file="covertype.npz", n_held_out=150_000),  # the paper's split
        Table(name="lcdm", file="lcdm_mock_galaxies_mr19.npz", n_held_out=_N_DENSE_QUERIES),
        Table(name="aloi", file="aloi_hist27.npz", n_held_out=_N_DENSE_QUERIES),
    )
}
_GENERATED: dict[str, Callable[[int, int], Problem]] = {
    "decaying": lambda n, n_queries: datasets.decaying(
        min(n, 50_000), 128, n_queries=n_queries, is_turned=True
    ),
    POINTS: lambda n, n_queries: datasets.uniform(min(n, 50_000), 3, n_queries=n_queries),
    "normal": lambda n, n_queries: datasets.normal(min(n, 100_000), 128, n_queries=n_queries),
}
_ORDER = (  # those that take the least time first: a run that was stopped has many sets
    "fingerprints", "20 newsgroups", "blog posts", "proteins", "movielens", "aloi", "normal",
    "gowalla", "glove100_50k", "cifar10_gist384", "covertype", "mnist", "lcdm",
)  # fmt: skip


_Entrants: TypeAlias = Callable[[], Sequence[Entrant]]  # new ones with each call


@dataclass(frozen=True, eq=False)
class Given:
    """A set that was read, and its entrants."""

    problem: Problem
    entrants: _Entrants


@dataclass(frozen=True, eq=False)
class Source:
    """A set that is not read yet."""

    name: str
    cases: tuple[KernelCase, ...]
    n_queries: int  # at most; the largest batch
    read: Callable[[int, int], Given]  # with at most this many objects and queries


def find_sources(collector: Collector) -> list[Source]:
    """Return the sets asked for, shortest first; missing ones are noted."""
    found = {source.name: source for source in _sources(collector)}
    first = [found.pop(name) for name in _ORDER if name in found]
    return [*found.values(), *first]


def _sources(collector: Collector) -> Iterator[Source]:
    folder = collector.folder
    generated = _GENERATED if folder is None else ["normal"]
    dense = partial(Source, cases=_DENSE, n_queries=_N_DENSE_QUERIES)
    for name, table in _TABLES.items():
        if collector.wants(name) and (folder := collector.folder_with(table.file)):
            rows = partial(table.read, folder, "float32")
            yield dense(name, read=partial(_cut, collector, entrants, rows))
    for name in filter(collector.wants, generated):
        yield dense(name, read=partial(_generate, name))
    if is_installed("scipy"):
        yield from _sparse_sources(collector)
    else:
        collector.note("scipy is not installed: no sparse sets")
    if collector.wants("fingerprints"):
        read = partial(_read_fingerprints, collector)
        yield Source("fingerprints", (TANIMOTO,), _N_FINGERPRINT_QUERIES, read)


def _sparse_sources(collector: Collector) -> Iterator[Source]:
    sparse = partial(Source, n_queries=_N_SPARSE_QUERIES)
    if collector.folder is None and collector.wants("zipf text"):
        yield sparse("zipf text", (LINEAR, COSINE), read=_generate_text)
    for name, file in COUNTS_FILES.items():
        if collector.wants(name) and (folder := collector.folder_with(file)):
            rows = partial(datasets.read_counts, folder, name)
            read = partial(_cut, collector, sparse_entrants, rows)
            yield sparse(name, (LINEAR, COSINE), read=read)
    if collector.wants("proteins") and collector.folder_with(SEQUENCES_FILE):
        yield sparse("proteins", (SPECTRUM,), read=partial(_read_proteins, collector))


def _cut(
    collector: Collector, entrants: _Entrants, read: Callable[[], Problem], *most: int
) -> Given:
    return Given(collector.cut(read(), *most), entrants)


def _generate(name: str, n_objects: int, n_queries: int) -> Given:
    made = _GENERATED[name](n_objects, n_queries).cast("float32")
    return Given(replace(made, name=name), entrants)


def _generate_text(n_objects: int, n_queries: int) -> Given:
    made = datasets.zipf_counts(min(n_objects, 20_000), 20_000, n_queries=n_queries)
    return Given(made, sparse_entrants)


def _read_proteins(collector: Collector, n_objects: int, n_queries: int) -> Given:
    sequences, origin = read_sequences(collector.folder, n_queries + n_objects)
    made = make_proteins(sequences[n_queries:], sequences[:n_queries], origin)
    return Given(made, sparse_entrants)


def make_proteins(objects: list[str], queries: list[str], origin: str) -> Problem:
    """Return a problem of sequences; peers that take vectors only get counts of substrings."""
    letters = "".join(sorted(set().union(*objects, *queries)))
    counts = [count_substrings(some, _LENGTH, letters) for some in (objects, queries)]
    return Problem(
        name="proteins",
        origin=f"{origin}: {len(queries)} held out as queries; peers get counts",
        objects=objects,
        queries=queries,
        width=len(letters) ** _LENGTH,
        vectors=(counts[0], counts[1]),
    )


def _read_fingerprints(collector: Collector, n_objects: int, n_queries: int) -> Given:
    most = min(n_objects, _N_FINGERPRINTS)
    problem, peer = make_fingerprints(collector.folder, most, n_queries, collector.note)
    return Given(replace(problem, name="fingerprints"), partial(fingerprint_entrants, peer))
