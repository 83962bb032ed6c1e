"""The contests of the paper's evaluation: its grid of sets and kernels, and its proteins.

A tree over nearly equidistant objects takes about n^2 / 2 evaluations to build, so the trees of a
series of proteins end once the next one would take longer than our patience; other engines go on.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import fastmks
from benchmarks.datasets import Problem
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, TANH, KernelCase
from benchmarks.paper.sets import PaperSet
from benchmarks.race.cell import Cell
from benchmarks.race.contest import Contest
from benchmarks.race.entrant import Entrant, RefusedError, Task
from benchmarks.race.mlpack import mlpack_pair
from benchmarks.race.names import DUAL, NUMPY, TREE, TREE_OF_ONE
from benchmarks.race.numpy_search import prepare_numpy, select_by_groups
from benchmarks.race.ours import our_entrants
from benchmarks.sequences import LETTERS, count_substrings, read_sequences
from benchmarks.suite import Kept, Run
from fastmks.kernels import Spectrum

KERNELS = (COSINE, TANH, LINEAR, POLYNOMIAL)
LENGTHS = (1, 2, 3)
_MOST_NUMBERS = 40_000_000  # of counts in dense rows, as mlpack and numpy take them


def contest_of(run: Run[Cell], one: PaperSet, case: KernelCase) -> Contest:
    """Return the contest of a set under a kernel: all queries in one batch, one thread."""
    problem = case.adapted(one.problem)
    known = {
        "section": "vectors",
        "row": one.row,
        "paper": None if one.paper is None else str(one.paper),
        "here": str(one.pool),
        "kind": one.kind,
        "note": one.note,
    }
    return _contest(run, problem, case, _entrants, known)


def protein_contests(run: Run[Cell]) -> Iterator[Contest]:
    """Yield a contest for each length and size of substrings, smallest first.

    Cells are kept while contests are held: the last tree of a series tells how long the next one
    would take.
    """
    sizes = run.sizes.protein_sizes
    n_most, n_queries = run.collector.limits(sizes[-1], run.sizes.n_protein_queries)
    sequences, origin = read_sequences(run.options.data, n_most + n_queries)
    n_most = min(n_most, len(sequences) - n_queries)
    sizes = (*(size for size in sizes if size < n_most), n_most)
    run.expect(len(LENGTHS) * len(sizes) * len(run.sizes.ks))
    for p in LENGTHS:
        # The kernel over sequences, and as what peers know it: the linear kernel of counts.
        case = KernelCase(name=f"spectrum {p}", kernel=Spectrum(p), mlpack={"kernel": "linear"})
        for n in sizes:
            problem = Problem(
                name="proteins",
                origin=origin,
                objects=sequences[n_queries : n_queries + n],
                queries=sequences[:n_queries],
                width=len(LETTERS) ** p,
            )
            known = {"section": "proteins", "row": "proteins", "p": p}
            entrants = partial(protein_entrants, p, n, _patience(run), run.kept)
            yield _contest(run, problem, case, entrants, known)


def _contest(
    run: Run[Cell],
    problem: Problem,
    case: KernelCase,
    entrants: Callable[[], list[Entrant]],
    known: dict[str, Any],
) -> Contest:
    return Contest(
        problem=problem,
        case=case,
        entrants=entrants,
        ks=run.sizes.ks,
        batches=(problem.n_queries,),
        patience=_patience(run),
        facts=lambda: {**known, **_hardness(problem, case, run.sizes.n_sampled)},
    )


def _patience(run: Run[Cell]) -> float:
    return float(min(run.options.patience, run.sizes.most_patience))


def _hardness(problem: Problem, case: KernelCase, n_sampled: int) -> dict[str, Any]:
    """Return c, gamma and the forecast of `fastmks.hardness`, or the reason for none."""
    try:
        found = fastmks.hardness(problem.objects, case.kernel, sample=n_sampled)
    except fastmks.FastmksError as error:
        return {"hardness_failure": f"{type(error).__name__}: {error}"}
    names = ("expansion_constant", "directional_concentration", "forecast")
    return {name: getattr(found, name) for name in names}


def _entrants(task_for_peers: Callable[[Task], Task] = lambda task: task) -> list[Entrant]:
    """Return all entrants: ours share one index, and mlpack's two searches one tree.

    `task_for_peers` gives what peers search instead, such as counts in the place of strings.
    """
    numpy = Entrant(
        name=NUMPY,
        prepare=lambda task: prepare_numpy(select_by_groups, task_for_peers(task)),
        is_brute=True,
        own_threads=True,
    )
    return [*our_entrants(has_dual_tree=True), numpy, *mlpack_pair(task_for_peers)]


def protein_entrants(p: int, n: int, patience: float, kept: Kept[Cell]) -> list[Entrant]:
    """Return all entrants; trees refuse if the next one would take longer than `patience`."""
    everyone = _entrants(partial(_as_counts, p))
    seconds = forecast(p, n, kept)
    if seconds is None or seconds <= patience:
        return everyone
    why = f"its tree might take {seconds:.0f} s"
    return [one.refusing(why) if one.name in (TREE, TREE_OF_ONE, DUAL) else one for one in everyone]


def forecast(p: int, n: int, kept: Kept[Cell]) -> float | None:
    """Return the seconds of a tree of n objects, growing as n^2 from the largest smaller one."""
    built = [
        (cell.n_objects, seconds)
        for cell in kept.cells
        if cell.facts.get("p") == p and cell.n_objects <= n
        if (seconds := cell.get(TREE, "build_seconds")) is not None
    ]
    if not built:
        return None
    size, seconds = max(built)
    return float(seconds * (n / size) ** 2)


def _as_counts(p: int, task: Task) -> Task:
    problem = task.problem
    if (problem.n_objects + problem.n_queries) * problem.n_columns > _MOST_NUMBERS:
        raise RefusedError(f"over {_MOST_NUMBERS} numbers in dense rows")
    counted = replace(
        problem,
        origin=f"{problem.origin}; counts of substrings",
        objects=count_substrings(problem.objects, p).toarray(),
        queries=count_substrings(problem.queries, p).toarray(),
    )
    return replace(task, problem=counted)
