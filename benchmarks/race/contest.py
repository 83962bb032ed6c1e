"""A problem under a kernel and its entrants, cell after cell."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.datasets import Problem
from benchmarks.kernels import KernelCase
from benchmarks.race.cell import Cell, Key, Pace, key_of, measure
from benchmarks.race.entrant import Entrant, Entry, Task, enter
from benchmarks.race.judge import Judge
from benchmarks.suite import Run


@dataclass(frozen=True, eq=False, kw_only=True)
class Contest:
    """A problem, a kernel, the entrants, and the k, batches and threads to measure."""

    problem: Problem
    case: KernelCase
    entrants: Callable[[], Sequence[Entrant]]  # new ones for each number of threads
    ks: Sequence[int]
    batches: Sequence[int]
    threads: Sequence[int] = (1,)
    patience: float = 120.0  # seconds, for a build or a search of a peer that may hang
    wants: Callable[[Key], bool] = field(default=lambda key: True)  # not all that can be combined
    serves: Callable[[Entrant, Key], bool] = field(default=lambda entrant, key: True)
    facts: Callable[[], Mapping[str, Any]] = field(default=dict)


def keys_of(contest: Contest) -> list[Key]:
    """Return the keys of all its cells; batches are no larger than the queries."""
    problem, kernel = contest.problem, contest.case.name
    keys = (
        key_of(problem, kernel, k=k, batch=batch, threads=threads)
        for threads in contest.threads
        for k in contest.ks
        if k <= problem.n_objects
        for batch in sorted(contest.batches)
    )
    return list(dict.fromkeys(filter(contest.wants, keys)))


def hold(contest: Contest, run: Run[Cell], pace: Pace) -> None:
    """Measure the cells that are not kept yet."""
    keys = run.missing(keys_of(contest))
    if not keys:
        return
    problem, case = contest.problem, contest.case
    judge = Judge(problem, case, max(key.k for key in keys), threads=max(contest.threads))
    facts = contest.facts()
    for threads in dict.fromkeys(key.threads for key in keys):
        mine = [key for key in keys if key.threads == threads]
        task = Task(problem=problem, case=case, threads=threads, patience=contest.patience)
        with _entered(contest, task, mine) as entries:
            for key in mine:
                run.announce(key)
                some = [entry for entry in entries if contest.serves(entry.entrant, key)]
                run.keep(measure(key, some, judge, pace, facts))


@contextmanager
def _entered(contest: Contest, task: Task, keys: Sequence[Key]) -> Iterator[list[Entry]]:
    """Give the entries that serve one of the cells, ready; all are closed afterwards."""
    entries: list[Entry] = []
    with ExitStack() as stack:
        stack.callback(gc.collect)
        stack.callback(entries.clear)
        for entrant in contest.entrants():
            if any(contest.serves(entrant, key) for key in keys):
                entries.append(enter(entrant, task))
                if (ready := entries[-1].ready) is not None:
                    stack.callback(ready.close)
        yield entries
