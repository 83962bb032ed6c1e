"""Measure the HTTP service under load: `python -m benchmarks.service --help`.

Clients on loopback, in a process of their own, each with one connection, search one query at a
time, in batches, and add objects that are on disk before the answer. Every answer is compared with
that of the index. Finished cells are kept in the file of `--out`; a run that was stopped goes on.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.command import add_kept_options, read_options
from benchmarks.kept import Kept
from benchmarks.report import Check
from benchmarks.running import INTERRUPTED, Run, carry_out
from benchmarks.service.cell import Cell, Key, read_cell
from benchmarks.service.clients import Outcome
from benchmarks.service.stage import Stage, send, staged
from benchmarks.service.tables import all_tables

__all__ = ["NAME", "main"]

NAME = "service"
_K = 10
_ROUTES = {"search": "/v1/search", "batch": "/v1/batch", "add": "/v1/objects"}


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    n_objects: int
    n_columns: int
    n_queries: int
    batch: int
    clients: tuple[int, ...]
    seconds: float


_FULL = _Sizes(
    n_objects=200_000,
    n_columns=50,
    n_queries=1000,
    batch=100,
    clients=(1, 16, 256, 512),
    seconds=15.0,
)
_QUICK = _Sizes(n_objects=2000, n_columns=10, n_queries=20, batch=10, clients=(1, 8), seconds=0.3)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every request was answered, as the index answers."""
    options = read_options(NAME, __doc__, arguments, add_kept_options)
    kept = Kept(NAME, options.out, read=read_cell)
    run = carry_out(options, kept, _measure, lambda: _checks(kept.cells))
    if run.is_interrupted:
        return INTERRUPTED
    print(all_tables(kept))
    claims = _checks(kept.cells)
    print(*claims, sep="\n")
    return 0 if all(claim.holds for claim in claims) else 1


def _checks(cells: Sequence[Cell]) -> list[Check]:
    counts = {
        "answers other than those of the index": sum(cell.differ for cell in cells),
        "requests without an answer": sum(cell.refused for cell in cells),
    }
    return [
        Check(claim=claim, value=float(count), limit=0, is_required=True)
        for claim, count in counts.items()
    ]


def _measure(run: Run[Cell]) -> None:
    sizes = _QUICK if run.options.quick else _FULL
    keys = [
        Key(
            section=section,
            n_objects=sizes.n_objects,
            n_columns=sizes.n_columns,
            batch=sizes.batch if section == "batch" else 1,
            k=0 if section == "add" else _K,
            n_clients=n_clients,
        )
        for section in ("search", "batch", "add")  # what adds comes last: it changes the index
        for n_clients in sizes.clients
    ]
    run.expect(len(keys))
    wanted = [key for key in keys if run.wants(key)]
    if not wanted:
        return
    with staged(sizes.n_objects, sizes.n_columns, sizes.n_queries) as stage:
        for key in wanted:
            run.announce(key)
            run.keep(_cell(stage, key, sizes.seconds, run.kept.commit), str(key))


def _cell(stage: Stage, key: Key, seconds: float, commit: str) -> Cell:
    bodies = _bodies(stage, key)
    route, is_search = _ROUTES[key.section], key.section != "add"
    n_few = min(2, key.n_clients)  # to warm up
    send(stage, route, bodies, n_clients=n_few, seconds=seconds / 5, keeps_answers=False)
    outcome = send(
        stage,
        route,
        bodies,
        n_clients=key.n_clients,
        seconds=seconds,
        keeps_answers=is_search,
    )
    facts = {
        "p50": 1e3 * float(np.percentile(outcome.latencies, 50)),
        "p99": 1e3 * float(np.percentile(outcome.latencies, 99)),
        "requests a second": len(outcome.latencies) / outcome.seconds,
    }
    if is_search:
        facts["in the process"] = 1e3 * _search_seconds(stage, key)
    answered = outcome.statuses.get("200", 0)
    return Cell(
        **key.__dict__,
        commit=commit,
        seconds=outcome.seconds,
        n_requests=len(outcome.latencies),
        refused=len(outcome.latencies) - answered,
        differ=_count_wrong(stage, key, outcome) if is_search else 0,
        facts=facts,
    )


def _bodies(stage: Stage, key: Key) -> list[dict[str, Any]]:
    rows = stage.queries.tolist()
    if key.section == "search":
        return [{"query": row, "k": key.k} for row in rows]
    name = "queries" if key.section == "batch" else "objects"
    options = {"k": key.k} if key.section == "batch" else {}
    return [{name: rows[i : i + key.batch], **options} for i in range(0, len(rows), key.batch)]


def _search_seconds(stage: Stage, key: Key) -> float:
    """Return what the same search takes without a service, one thread: the median of some."""
    times = []
    for begin in range(0, min(len(stage.queries), 20 * key.batch), key.batch):
        queries = stage.queries[begin : begin + key.batch]
        started = time.perf_counter()
        stage.index.search(queries, k=key.k, threads=1)
        times.append(time.perf_counter() - started)
    return median(times)


def _count_wrong(stage: Stage, key: Key, outcome: Outcome) -> int:
    """Return how many different answers were not those of the index."""
    wanted = stage.index.search(stage.queries, k=key.k)
    wrong = 0
    for number, answers in outcome.answers.items():
        first = int(number) * key.batch
        right = [
            list(zip(wanted.ids[i].tolist(), wanted.values[i].tolist(), strict=True))
            for i in range(first, min(first + key.batch, len(stage.queries)))
        ]
        for answer in answers:
            rows = answer["answers"] if key.section == "batch" else [answer]
            found = [[(hit["id"], hit["value"]) for hit in row["hits"]] for row in rows]
            wrong += found != right
    return wrong
