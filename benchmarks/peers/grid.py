"""Hold fastmks against what people use today: `python -m benchmarks.peers --help`.

Exact searches of float32 vectors by inner product and by cosine, beside FAISS (flat and Panorama),
numpy, usearch, scikit-learn and mlpack, and of fingerprints beside FPSim2. Every set, kernel, k,
batch and number of threads is a cell; finished cells are kept in the file of `--out`, and a run
that was stopped goes on where it was.
"""

import argparse
import gc
import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks import noise
from benchmarks.command import Collector, add_kept_options, read_options
from benchmarks.datasets import Problem
from benchmarks.harness import pinned
from benchmarks.objects import fingerprints
from benchmarks.pages import put_into
from benchmarks.peers.bars import checks
from benchmarks.peers.cell import NOT_INSTALLED, Entry, Key, measure
from benchmarks.peers.entrants import Entrant, Task, entrants
from benchmarks.peers.exactness import Judge
from benchmarks.peers.kept import Kept
from benchmarks.peers.sets import collect, is_low
from benchmarks.peers.tables import all_tables, bar_table, bars_of, line_of

__all__ = ["main"]

_KERNELS = ("linear", "cosine")


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    """How much of everything, unless the command line says otherwise."""

    n_objects: int
    n_queries: int
    ks: tuple[int, ...]
    batches: tuple[int, ...]
    threads: tuple[int, ...]
    rounds: int
    lap_seconds: float
    n_fingerprints: int
    n_fingerprint_queries: int


_FULL = _Sizes(
    n_objects=10**9,
    n_queries=5000,
    ks=(1, 10, 100),
    batches=(1, 100, 5000),
    threads=(1, 2),
    rounds=5,
    lap_seconds=0.2,
    n_fingerprints=200_000,
    n_fingerprint_queries=100,
)
_QUICK = _Sizes(
    n_objects=10_000,
    n_queries=500,
    ks=(1, 10),
    batches=(1, 500),
    threads=(1,),
    rounds=3,
    lap_seconds=0.1,
    n_fingerprints=5_000,
    n_fingerprint_queries=20,
)


class _OutOfTimeError(Exception):
    """The minutes of --minutes are over."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every answer of ours is the true one, bars or no bars."""
    options = read_options("peers", __doc__, arguments, _extend)
    kept = Kept(options.out, most_others=options.quiet)
    if options.show and not kept.cells:
        sys.exit("--show needs the file of an earlier run as --out")
    if not options.show:
        collector = Collector(options)
        _Program(options, collector, kept).run()
        kept.write(collector.notes, checks(kept.cells, bars_of(kept)))
    claims = checks(kept.cells, bars_of(kept))
    print(all_tables(kept) if options.show else bar_table(kept))
    print(*(claim for claim in claims if claim.is_required), sep="\n")
    if options.tables is not None:
        put_into(options.tables, "peers", all_tables(kept))
    return 0 if all(claim.holds for claim in claims if claim.is_required) else 1


def _extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, nargs="+", metavar="T", help="default 1 2")
    parser.add_argument("--k", type=int, nargs="+", metavar="K", help="default 1 10 100")
    parser.add_argument("--batches", type=int, nargs="+", metavar="N", help="default 1 100 5000")
    parser.add_argument("--kernels", nargs="+", choices=_KERNELS, default=list(_KERNELS))
    add_kept_options(parser)
    parser.add_argument(
        "--tables", type=Path, metavar="MD", help="put the tables between the markers of this page"
    )


class _Program:
    """Measures what is not kept yet."""

    def __init__(self, options: argparse.Namespace, collector: Collector, kept: Kept) -> None:
        self._options, self._collector, self._kept = options, collector, kept
        self._sizes = _QUICK if options.quick else _FULL
        self._rounds = options.rounds or self._sizes.rounds
        self._ks = tuple(options.k or self._sizes.ks)
        self._batches = tuple(options.batches or self._sizes.batches)
        self._threads = tuple(options.threads or self._sizes.threads)
        self._end = time.perf_counter() + 60.0 * (options.minutes or 1e9)

    def run(self) -> None:
        """Go through all sets; with a limit in minutes, as far as it allows."""
        n_queries = min(self._sizes.n_queries, max(self._batches))
        for entrant in entrants():
            if not all(map(_is_there, entrant.needs)):
                self._collector.note(f"{NOT_INSTALLED}: {entrant.name}")
        with tqdm(unit=" cells", disable=None) as bar:
            try:
                for problem in collect(
                    self._collector, self._options.data, self._sizes.n_objects, n_queries
                ):
                    for kernel in self._options.kernels:
                        self._run_kernel(problem, kernel, bar)
                if self._collector.wants("fingerprints"):
                    self._run_fingerprints(bar)
            except _OutOfTimeError:
                self._collector.note("stopped by --minutes: not all cells are measured")

    def _run_kernel(self, problem: Problem, kernel: str, bar: Any) -> None:
        keys = [key for key in self._keys(problem, kernel) if key not in self._kept]
        if not keys:
            return
        judge = Judge(problem, kernel, max(key.k for key in keys), threads=max(self._threads))
        for threads in self._threads:
            mine = [key for key in keys if key.threads == threads]
            if not mine:
                continue
            task = Task.of(problem, kernel, threads=threads, patience=self._options.patience)
            with _entered(task, mine) as entries:
                for key in mine:
                    bar.set_description(str(key))
                    self._run_cell(key, entries, judge, problem)
                    bar.update()

    def _run_cell(self, key: Key, entries: Sequence[Entry], judge: Judge, problem: Problem) -> None:
        cell = measure(
            key,
            [entry for entry in entries if _serves(entry.entrant, key)],
            judge,
            rounds=self._rounds,
            lap_seconds=self._sizes.lap_seconds,
            facts={
                "n_columns": problem.n_columns,
                "origin": problem.origin,
                "commit": self._kept.commit,
            },
        )
        self._kept.add(cell)
        self._kept.write(self._collector.notes, ())
        tqdm.write(line_of(cell), file=sys.stderr)
        self._stop_in_time()

    def _keys(self, problem: Problem, kernel: str) -> Iterator[Key]:
        for threads in self._threads:
            for k in self._ks:
                if k > problem.n_objects:
                    continue
                for batch in sorted({min(batch, problem.n_queries) for batch in self._batches}):
                    yield Key(
                        problem=problem.name,
                        n_objects=problem.n_objects,
                        n_queries=problem.n_queries,
                        kernel=kernel,
                        k=k,
                        batch=batch,
                        threads=threads,
                    )

    def _run_fingerprints(self, bar: Any) -> None:
        n_objects, n_queries = self._collector.limits(
            self._sizes.n_fingerprints, self._sizes.n_fingerprint_queries
        )
        titles = {
            f"fingerprints {n_objects}, {threads} thread{'s' * (threads > 1)}": threads
            for threads in self._threads
        }
        missing = {title: n for title, n in titles.items() if title not in self._kept.rows}
        if not missing:
            return
        notes: list[str] = []
        problem = fingerprints.make_problem(self._options.data, n_objects, n_queries, notes)
        for note in notes:
            self._collector.note(note)
        for title, threads in missing.items():
            bar.set_description(title)
            before = noise.now()
            rows = fingerprints.compare(problem, threads, rounds=self._rounds)
            others = noise.others_share(before, noise.now())
            self._kept.rows[title] = [{**asdict(row), "others": others} for row in rows]
            self._kept.write(self._collector.notes, ())
            bar.update()
            self._stop_in_time()

    def _stop_in_time(self) -> None:
        if time.perf_counter() > self._end:
            raise _OutOfTimeError


@contextmanager
def _entered(task: Task, keys: Sequence[Key]) -> Iterator[list[Entry]]:
    """Make everyone ready who serves one of the cells, and let go of all afterwards."""
    entries: list[Entry] = []
    try:
        for entrant in entrants():
            if any(_serves(entrant, key) for key in keys):
                entries.append(_enter(entrant, task))
        yield entries
    finally:
        for entry in entries:
            if entry.ready is not None:
                entry.ready.close()
        entries.clear()
        gc.collect()


def _serves(entrant: Entrant, key: Key) -> bool:
    is_whole = key.batch == key.n_queries and key.threads == 1
    return (is_whole or not entrant.whole_batch_only) and (
        is_low(key.problem) or not entrant.only_low
    )


def _enter(entrant: Entrant, task: Task) -> Entry:
    missing = [name for name in entrant.needs if not _is_there(name)]
    if missing:
        return Entry(entrant, failure=f"{NOT_INSTALLED}: {', '.join(missing)}")
    try:
        with pinned(task.threads, task.threads):
            return Entry(entrant, entrant.prepare(task))
    except Exception as error:
        return Entry(entrant, failure=f"{type(error).__name__}: {error}")


def _is_there(name: str) -> bool:
    """Whether a module, or a name in a module, can be had."""
    module, _, inside = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ImportError:
        if not module:
            return False
        try:
            return hasattr(importlib.import_module(module), inside)
        except ImportError:
            return False
    return True
