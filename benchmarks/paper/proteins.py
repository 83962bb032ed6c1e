"""The paper's protein experiment: spectrum kernels on growing sets of sequences.

A tree over nearly equidistant objects takes about n^2 / 2 evaluations to build, so the trees of a
series end once the next one would take longer than our patience; other engines go on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.datasets import Problem
from benchmarks.kept import Kept
from benchmarks.kernels import KernelCase
from benchmarks.paper.entrants import entrants
from benchmarks.paper.vectors import hardness_of
from benchmarks.race.cell import Cell
from benchmarks.race.contest import Contest
from benchmarks.race.entrant import Entrant, RefusedError, Task
from benchmarks.race.names import DUAL, TREE, TREE_OF_ONE
from benchmarks.sequences import LETTERS, count_substrings
from fastmks.kernels import Spectrum

__all__ = ["LENGTHS", "SIZES", "contests"]

LENGTHS = (1, 2, 3)
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_MOST_NUMBERS = 40_000_000  # of counts in dense rows, as mlpack and numpy take them


def contests(
    sequences: Sequence[str],
    origin: str,
    *,
    sizes: Sequence[int],
    n_queries: int,
    ks: tuple[int, ...],
    patience: float,
    n_sampled: int,
    kept: Kept[Cell],
) -> Iterator[Contest]:
    """Yield a contest for each length and size, smallest first.

    `kept` grows while they are held: from the last tree of a series it is known how long the next
    one would take.
    """
    queries, rest = list(sequences[:n_queries]), list(sequences[n_queries:])
    for p in LENGTHS:
        case = _case(p)
        for n in sizes:
            problem = Problem(
                name="proteins",
                origin=origin,
                objects=rest[:n],
                queries=queries,
                width=len(LETTERS) ** p,
            )
            yield Contest(
                problem=problem,
                case=case,
                entrants=partial(_entrants, p, n, patience, kept),
                ks=ks,
                batches=(n_queries,),
                patience=patience,
                facts=partial(_facts, problem, case, p, n_sampled),
            )


def _case(p: int) -> KernelCase:
    """The kernel over sequences, and as what peers know it: the linear kernel of counts."""
    return KernelCase(name=f"spectrum {p}", kernel=Spectrum(p), mlpack={"kernel": "linear"})


def _facts(problem: Problem, case: KernelCase, p: int, n_sampled: int) -> dict[str, object]:
    known = {"section": "proteins", "row": "proteins", "p": p}
    return {**known, **hardness_of(problem, case, n_sampled)}


def _entrants(p: int, n: int, patience: float, kept: Kept[Cell]) -> list[Entrant]:
    everyone = entrants(partial(_as_counts, p))
    forecast = _forecast(p, n, kept)
    if forecast is None or forecast <= patience:
        return everyone
    why = f"its tree might take {forecast:.0f} s"
    return [one.refusing(why) if one.name in (TREE, TREE_OF_ONE, DUAL) else one for one in everyone]


def _forecast(p: int, n: int, kept: Kept[Cell]) -> float | None:
    """Seconds that the tree of n objects takes, growing as n^2 from the largest smaller one."""
    built = [
        (cell.n_objects, figure.build_seconds)
        for cell in kept.cells
        if cell.facts.get("p") == p and cell.n_objects <= n
        for figure in cell.figures
        if figure.name == TREE and figure.build_seconds is not None
    ]
    if not built:
        return None
    size, seconds = max(built)
    return seconds * (n / size) ** 2


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
