"""The paper's grid: data sets, kernels and k, and how hard each set is under each kernel."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import fastmks
from benchmarks.datasets import Problem
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, TANH, KernelCase
from benchmarks.paper.entrants import entrants
from benchmarks.paper.sets import PaperSet
from benchmarks.race.contest import Contest

__all__ = ["KERNELS", "contest_of", "hardness_of"]

KERNELS = (COSINE, TANH, LINEAR, POLYNOMIAL)


def contest_of(
    one: PaperSet, case: KernelCase, *, ks: tuple[int, ...], patience: float, n_sampled: int
) -> Contest:
    """Return the contest of a set under a kernel: all queries in one batch, one thread."""
    problem = case.adapted(one.problem)
    return Contest(
        problem=problem,
        case=case,
        entrants=entrants,
        ks=ks,
        batches=(problem.n_queries,),
        patience=patience,
        facts=partial(_facts, one, problem, case, n_sampled),
    )


def _facts(one: PaperSet, problem: Problem, case: KernelCase, n_sampled: int) -> Mapping[str, Any]:
    return {
        "section": "vectors",
        "row": one.row,
        "paper": None if one.paper is None else str(one.paper),
        "here": str(one.pool),
        "kind": one.kind,
        "note": one.note,
        **hardness_of(problem, case, n_sampled),
    }


def hardness_of(problem: Problem, case: KernelCase, n_sampled: int) -> dict[str, Any]:
    """Return c, gamma and the forecast of `fastmks.hardness`; why not, where there are none."""
    try:
        found = fastmks.hardness(problem.objects, case.kernel, sample=n_sampled)
    except fastmks.FastmksError as error:
        return {"hardness_failure": f"{type(error).__name__}: {error}"}
    return {
        "expansion_constant": found.expansion_constant,
        "directional_concentration": found.directional_concentration,
        "forecast": found.forecast,
    }
