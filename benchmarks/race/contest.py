"""A problem under a kernel and everyone who searches it, cell after cell."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.datasets import Problem
from benchmarks.kernels import KernelCase
from benchmarks.race.cell import Cell, Key, Pace, measure
from benchmarks.race.entrant import Entrant, Entry, Task, enter
from benchmarks.race.judge import Judge
from benchmarks.suite import Run


@dataclass(frozen=True, eq=False, kw_only=True)
class Contest:
    """What is searched, how often, and by whom."""

    problem: Problem
    case: KernelCase
    entrants: Callable[[], Sequence[Entrant]]  # anew for each number of threads
    ks: Sequence[int]
    batches: Sequence[int]
    threads: Sequence[int] = (1,)
    patience: float = 120.0  # seconds, for a build or a search of a peer that may hang
    wants: Callable[[Key], bool] = field(default=lambda key: True)  # not all that can be combined
    serves: Callable[[Entrant, Key], bool] = field(default=lambda entrant, key: True)
    facts: Callable[[], Mapping[str, Any]] = field(default=dict)


def keys_of(contest: Contest) -> list[Key]:
    """Return the keys of all its cells; batches are no larger than the queries."""
    problem = contest.problem
    keys = (
        Key(
            problem=problem.name,
            n_objects=problem.n_objects,
            n_queries=problem.n_queries,
            kernel=contest.case.name,
            k=k,
            batch=batch,
            threads=threads,
        )
        for threads in contest.threads
        for k in contest.ks
        if k <= problem.n_objects
        for batch in sorted({min(batch, problem.n_queries) for batch in contest.batches})
    )
    return [key for key in keys if contest.wants(key)]


def hold(contest: Contest, run: Run[Cell], pace: Pace) -> None:
    """Measure the cells that are not kept yet."""
    keys = run.missing(keys_of(contest))
    if not keys:
        return
    problem = contest.problem
    judge = Judge(problem, contest.case, max(key.k for key in keys), threads=max(contest.threads))
    facts = contest.facts()
    for threads in contest.threads:
        mine = [key for key in keys if key.threads == threads]
        if not mine:
            continue
        task = Task(problem=problem, case=contest.case, threads=threads, patience=contest.patience)
        with _entered(contest, task, mine) as entries:
            for key in mine:
                run.announce(key)
                cell = measure(
                    key,
                    [entry for entry in entries if contest.serves(entry.entrant, key)],
                    judge,
                    pace,
                    n_columns=problem.n_columns,
                    origin=problem.origin,
                    commit=run.kept.commit,
                    facts=facts,
                )
                run.keep(cell)


@contextmanager
def _entered(contest: Contest, task: Task, keys: Sequence[Key]) -> Iterator[list[Entry]]:
    """Make everyone ready who serves one of the cells, and let go of all afterwards."""
    entries: list[Entry] = []
    try:
        for entrant in contest.entrants():
            if any(contest.serves(entrant, key) for key in keys):
                entries.append(enter(entrant, task))
        yield entries
    finally:
        for entry in entries:
            if entry.ready is not None:
                entry.ready.close()
        entries.clear()
        gc.collect()
