"""Search one set of objects with several engines, and say what each cost."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import fastmks
from benchmarks.objects.ledger import Program
from fastmks.kernels import Kernel


@dataclass(frozen=True, kw_only=True)
class Lap:
    """What one engine did with one kernel on one set."""

    problem: str
    kernel: str
    algorithm: str
    n_objects: int
    n_queries: int
    k: int
    build_seconds: float
    seconds: float
    evaluations: int
    share: float  # of the evaluations of a scan
    differs_from_scan: bool


def run_laps(
    problem: str, objects: Any, queries: Any, kernel: Kernel, algorithms: Sequence[str], k: int
) -> tuple[list[Lap], fastmks.Hits]:
    """Scan first, then let each engine answer the same queries."""
    laps: list[Lap] = []
    found: list[fastmks.Hits] = []
    for algorithm in ("scan", *algorithms):
        started = time.perf_counter()
        index = fastmks.Index(objects, kernel, algorithm=algorithm)
        built = time.perf_counter()
        hits = index.search(queries, k)
        done = time.perf_counter()
        found.append(hits)
        same = hits.values.tobytes() == found[0].values.tobytes()
        laps.append(
            Lap(
                problem=problem,
                kernel=repr(kernel),
                algorithm=algorithm,
                n_objects=len(index),
                n_queries=len(hits.values),
                k=k,
                build_seconds=built - started,
                seconds=done - built,
                evaluations=hits.stats.kernel_evaluations,
                share=hits.stats.scan_share,
                differs_from_scan=not (same and (hits.indices == found[0].indices).all()),
            )
        )
    return laps, found[0]


LapProgram = partial(
    Program[Lap],
    head="kernel|engine|n|k|build s|ms a query|evaluations of scan|as scan",
    cells=lambda lap: [
        lap.kernel,
        lap.algorithm,
        lap.n_objects,
        lap.k,
        f"{lap.build_seconds:.2f}",
        f"{lap.seconds / lap.n_queries * 1e3:.1f}",
        f"{lap.share:.1%}",
        "no" if lap.differs_from_scan else "yes",
    ],
)
