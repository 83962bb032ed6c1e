"""Exact search of sparse rows through inverted lists: `python -m benchmarks.peers.postings --help`.

Word counts under the linear kernel and the cosine, and proteins under the spectrum kernel of
p = 3, against scipy's CSR product with a selection and against sparse_dot_topn, each with rows in
float64 and float32, all in turn in every round. A batch of 1 stands for 50 queries asked one after
the other. Times of fastmks include reading the queries.
Peers get rows of length 1 for cosines. "wrong" counts the queries whose k best are not those of
float64; "ties" those that differ among equal values and near-ties only.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import fastmks
from benchmarks import datasets
from benchmarks.command import Collector, read_options
from benchmarks.datasets import Problem
from benchmarks.harness import Answer, Contestant, Race, Search, find_truths, is_installed, race
from benchmarks.peers import sparse
from benchmarks.report import Check, Report, commit, describe_machine, table, today, versions, write
from fastmks import engine
from fastmks.kernels import Cosine, Kernel, Linear, Spectrum
from fastmks.objects import read_objects
from fastmks.postings import Postings, build_postings
from fastmks.progress import Progress
from fastmks.spaces import Space

__all__ = ["main"]

_OURS = "fastmks postings"
_LEAST_SPEEDUP = 5.0
_PROTEINS = "swissprot_100k.fasta.gz"
_LETTERS = "ACDEFGHIKLMNPQRSTVWY"
_QUIET = Progress(shown=False)
_KS = (1, 10, 100)
_BIG_BATCH = 1000  # asked only with k = 10
_N_SINGLE = 50  # queries that are asked one at a time


@dataclass(frozen=True, eq=False)
class _Case:
    """What is searched: counts for the peers, and what fastmks is given instead."""

    problem: Problem
    kernel: Kernel
    objects: Any
    queries: Any
    batches: tuple[int, ...]

    def head(self, n_queries: int) -> "_Case":
        """Ask only the first queries."""
        problem = replace(self.problem, queries=self.problem.queries[:n_queries])
        return replace(self, problem=problem, queries=self.queries[:n_queries])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where an answer is wrong or k = 10 is not fast enough."""
    options = read_options("peers.postings", __doc__, arguments)
    if not is_installed("scipy"):
        print("scipy is not installed", file=sys.stderr)
        return 1
    collector = Collector(options)
    started_at = commit()
    races: list[Race] = []
    for case in _cases(options.data, collector, is_quick=options.quick):
        for found in _races(case, collector, options.rounds or (2 if options.quick else 3)):
            print(table(found), end="\n\n", flush=True)
            races.append(found)
    checks = tuple(_checks(races))
    print("\n".join(map(str, checks)))
    if options.out is not None:
        report = Report(
            name=options.out.stem,
            date=today(),
            commit=started_at,
            machine=describe_machine(),
            versions=versions(),
            notes=tuple(collector.notes),
            races=tuple(races),
            checks=checks,
        )
        write(report, options.out.parent)
    return 0 if all(check.holds for check in checks if check.is_required) else 1


def _cases(folder: Path | None, collector: Collector, *, is_quick: bool) -> Iterator[_Case]:
    if folder is None or is_quick:
        generated = datasets.zipf_counts(5_000, 20_000, n_queries=200)
        yield from _text_cases(collector.cut(generated), (1, 100))
    if folder is None:
        return
    for name in ("20 newsgroups", "blog posts"):
        counts = datasets.read_counts(folder, name) if collector.wants(name) else None
        if counts is not None:
            yield from _text_cases(collector.cut(counts), (1, 100, _BIG_BATCH))
    if collector.wants("proteins") and (folder / _PROTEINS).exists():
        yield _protein_case(folder / _PROTEINS, collector)


def _text_cases(counts: Problem, batches: tuple[int, ...]) -> Iterator[_Case]:
    unit = replace(
        counts,
        name=f"{counts.name}, cosine",
        origin=f"{counts.origin}; rows of length 1 for the peers",
        objects=_unit_rows(counts.objects),
        queries=_unit_rows(counts.queries),
    )
    linear = replace(counts, name=f"{counts.name}, linear")
    for problem, kernel in ((linear, Linear()), (unit, Cosine())):
        yield _Case(problem, kernel, counts.objects, counts.queries, batches)


def _unit_rows(counts: Any) -> Any:
    rows = counts.astype(np.float64)
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    lengths = np.sqrt(np.where(squares > 0.0, squares, 1.0))
    rows.data = rows.data / np.repeat(lengths, np.diff(rows.indptr))
    return rows


def _protein_case(file: Path, collector: Collector) -> _Case:
    sequences = fastmks.read_fasta(file).sequences
    mixed = np.random.default_rng(0).permutation(len(sequences))
    n_objects, n_queries = collector.limits(len(sequences) - 100, 100)
    queries = [sequences[i] for i in mixed[:n_queries]]
    objects = [sequences[i] for i in mixed[n_queries : n_queries + n_objects]]
    problem = Problem(
        name="proteins, spectrum p=3",
        origin=f"{file.name}: counts of substrings, {n_queries} proteins as queries (seed 0)",
        objects=_count_grams(objects),
        queries=_count_grams(queries),
    )
    return _Case(problem, Spectrum(3), objects, queries, (1, 100))


def _count_grams(sequences: Sequence[str]) -> Any:
    """Return how often each of 8000 substrings of 3 amino acids occurs, for the peers."""
    from scipy.sparse import csr_matrix

    code = np.zeros(256, dtype=np.int64)
    code[list(_LETTERS.encode())] = np.arange(len(_LETTERS))
    columns = []
    for sequence in sequences:
        letters = code[np.frombuffer(sequence.encode(), dtype=np.uint8)]
        columns.append(letters[:-2] * 400 + letters[1:-1] * 20 + letters[2:])
    rows = np.repeat(np.arange(len(columns)), [len(row) for row in columns])
    ones = np.ones(len(rows))
    return csr_matrix((ones, (rows, np.concatenate(columns))), shape=(len(columns), 8000))


def _races(case: _Case, collector: Collector, rounds: int) -> Iterator[Race]:
    space = Space(read_objects(case.objects, case.kernel), case.kernel)
    n_bytes = build_postings(space, progress=_QUIET).n_bytes
    entries = case.problem.objects
    given = entries.data.nbytes + entries.indices.nbytes + entries.indptr.nbytes
    collector.note(
        f"{case.problem.name}: {entries.nnz} entries, {given / 1e6:.0f} MB in float64; postings "
        f"take {n_bytes / 1e6:.0f} MB more"
    )
    for batch in case.batches:
        asked = case.head(_N_SINGLE if batch == 1 else batch)
        ks = [k for k in _KS if k <= len(space) and (batch < _BIG_BATCH or k == _KS[1])]
        truths = find_truths(asked.problem, max(ks))
        for k in ks:
            for threads in (1, 2):
                yield race(
                    asked.problem,
                    _contestants(space, asked.queries, one_by_one=batch == 1),
                    truths,
                    k=k,
                    threads=threads,
                    baseline="scipy float64",
                    rounds=rounds,
                    title=f"{asked.problem.name}, batch {batch}, k={k}",
                )


def _contestants(space: Space, queries: Any, *, one_by_one: bool) -> list[Contestant]:
    n = queries.shape[0] if hasattr(queries, "shape") else len(queries)
    batches = [queries[i : i + 1] for i in range(n)] if one_by_one else [queries]

    def prepare(problem: Problem, k: int, threads: int) -> Search:
        return _prepare_postings(build_postings(space, progress=_QUIET), batches, k, threads)

    peers = sparse.contestants(one_by_one=one_by_one)
    peers = [one for one in peers if not one.name.startswith("fastmks")]
    return [Contestant(name=_OURS, dtype="float64", prepare=prepare), *peers]


def _prepare_postings(postings: Postings, batches: Sequence[Any], k: int, threads: int) -> Search:
    def ask(queries: Any) -> engine.TopKFound:
        asked = engine.Search(
            queries=postings.space.queries(queries),
            among=None,
            skip_self=False,
            threads=threads,
            progress=_QUIET,
        )
        return postings.top_k(asked, k)

    def search() -> Answer:
        found = [ask(queries) for queries in batches]
        evaluations = sum(answer.cost.evaluations for answer in found)
        return Answer(np.concatenate([answer.positions for answer in found]), evaluations)

    return search


def _checks(races: Sequence[Race]) -> Iterator[Check]:
    for found in races:
        ours = found.figure(_OURS)
        peers = [figure for figure in found.figures if figure.seconds and figure is not ours]
        best = [min(turn) for turn in zip(*(peer.seconds for peer in peers), strict=True)]
        where = f"{found.title}, {found.threads} thread{'s' * (found.threads > 1)}"
        yield Check(
            claim=f"{where}: time of {_OURS} / that of the fastest peer",
            value=median(mine / other for mine, other in zip(ours.seconds, best, strict=True)),
            limit=1.0 / _LEAST_SPEEDUP,
            is_required=found.k == _KS[1] and not found.origin.startswith("generated"),
        )
        assert ours.wrong is not None
        if ours.wrong > 0:
            yield Check(claim=f"{where}: wrong", value=ours.wrong, limit=0.0, is_required=True)


if __name__ == "__main__":
    sys.exit(main())
