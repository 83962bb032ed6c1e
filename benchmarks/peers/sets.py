"""All sets of the bars, by name, and who searches each; nothing is read before it is its turn."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.command import Collector
from benchmarks.datasets import Problem
from benchmarks.harness import is_installed
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, SPECTRUM, TANIMOTO, KernelCase
from benchmarks.molecules import make_molecules
from benchmarks.peers import dense_sets, sparse_sets
from benchmarks.peers.entrants import entrants
from benchmarks.peers.fingerprints import fingerprint_entrants, fingerprint_problem
from benchmarks.peers.sparse import sparse_entrants
from benchmarks.race.entrant import Entrant
from benchmarks.sequences import SEQUENCES_FILE

__all__ = ["FINGERPRINTS", "Given", "Source", "find_sources"]

FINGERPRINTS = "fingerprints"
_N_FINGERPRINTS, _N_FINGERPRINT_QUERIES = 200_000, 100
_ORDER = (  # those that take the least time first: a run that was stopped has many sets
    FINGERPRINTS,
    "20 newsgroups",
    "blog posts",
    "proteins",
    "movielens",
    "aloi",
    "normal",
    "gowalla",
    "glove100_50k",
    "cifar10_gist384",
    "covertype",
    "mnist",
    "lcdm",
)


@dataclass(frozen=True, eq=False)
class Given:
    """A set that was read, and who searches it; everyone anew with each call."""

    problem: Problem
    entrants: Callable[[], Sequence[Entrant]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """A set that is not read yet."""

    name: str
    cases: tuple[KernelCase, ...]
    n_queries: int  # at most; the largest batch
    read: Callable[[int, int], Given]  # with at most so many objects and queries


def find_sources(collector: Collector, folder: Path | None) -> list[Source]:
    """Return the sets asked for, shortest first; what cannot be had is noted."""
    found = {source.name: source for source in _wanted(collector, folder)}
    first = [found.pop(name) for name in _ORDER if name in found]
    return [*found.values(), *first]


def _wanted(collector: Collector, folder: Path | None) -> Iterator[Source]:
    some = _generated(collector) if folder is None else _real(collector, folder)
    yield from (source for source in some if collector.wants(source.name))
    if collector.wants(FINGERPRINTS):
        yield Source(
            name=FINGERPRINTS,
            cases=(TANIMOTO,),
            n_queries=_N_FINGERPRINT_QUERIES,
            read=partial(_read_fingerprints, collector, folder),
        )


def _generated(collector: Collector) -> Iterator[Source]:
    for name in dense_sets.GENERATED:
        yield _dense(name, partial(_generate_dense, name))
    if _has_scipy(collector):
        yield _sparse(sparse_sets.GENERATED_TEXT, _generate_text)


def _real(collector: Collector, folder: Path) -> Iterator[Source]:
    def is_there(name: str, file: str) -> bool:
        if collector.wants(name) and not (folder / file).exists():
            collector.note(f"not in the folder: {file}")
        return (folder / file).exists()

    for name, file in dense_sets.FILES.items():
        if is_there(name, file):
            yield _dense(name, partial(_read_dense, collector, folder, name))
    yield _dense("normal", partial(_generate_dense, "normal"))
    if not _has_scipy(collector):
        return
    for name, file in sparse_sets.TEXT_FILES.items():
        if is_there(name, file):
            yield _sparse(name, partial(_read_words, collector, folder, name))
    if is_there(sparse_sets.PROTEINS, SEQUENCES_FILE):
        yield _sparse(sparse_sets.PROTEINS, partial(_read_proteins, folder), SPECTRUM)


def _has_scipy(collector: Collector) -> bool:
    if not is_installed("scipy"):
        collector.note("scipy is not installed: no sparse sets")
        return False
    return True


def _dense(name: str, read: Callable[[int, int], Given]) -> Source:
    cases = (LINEAR, COSINE, POLYNOMIAL)
    return Source(name=name, cases=cases, n_queries=dense_sets.N_QUERIES, read=read)


def _sparse(name: str, read: Callable[[int, int], Given], *cases: KernelCase) -> Source:
    return Source(
        name=name, cases=cases or (LINEAR, COSINE), n_queries=sparse_sets.N_QUERIES, read=read
    )


def _read_dense(
    collector: Collector, folder: Path, name: str, n_objects: int, n_queries: int
) -> Given:
    return Given(collector.cut(dense_sets.read(folder, name), n_objects, n_queries), entrants)


def _generate_dense(name: str, n_objects: int, n_queries: int) -> Given:
    return Given(dense_sets.generate(name, n_objects, n_queries), entrants)


def _read_words(
    collector: Collector, folder: Path, name: str, n_objects: int, n_queries: int
) -> Given:
    found = collector.cut(sparse_sets.read_words(folder, name), n_objects, n_queries)
    return Given(found, sparse_entrants)


def _generate_text(n_objects: int, n_queries: int) -> Given:
    return Given(sparse_sets.generate_text(n_objects, n_queries), sparse_entrants)


def _read_proteins(folder: Path, n_objects: int, n_queries: int) -> Given:
    return Given(sparse_sets.read_proteins(folder, n_objects, n_queries), sparse_entrants)


def _read_fingerprints(
    collector: Collector, folder: Path | None, n_objects: int, n_queries: int
) -> Given:
    most = min(n_objects, _N_FINGERPRINTS)
    molecules = make_molecules(folder, most, n_queries, collector.note)
    problem = fingerprint_problem(molecules, FINGERPRINTS)
    return Given(problem, partial(fingerprint_entrants, molecules))
