"""Measure the HTTP service under load: `python -m benchmarks.service --help`.

Clients on loopback, in a process of their own, each with one connection, search one query at a
time, in batches, and add objects that are on disk before the answer. Every answer is compared with
that of the index. Finished cells are kept in the file of `--out`; a run that was stopped goes on.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import timed
from benchmarks.report import Check, markdown, three_digits
from benchmarks.service.clients import Job, Outcome
from benchmarks.suite import Kept, Measured, Run, Suite
from fastmks import Index

_ABOUT = (
    "**The service under load**: clients on loopback, each waiting for its answer before it "
    "asks again; milliseconds of a request at the client, and of the same search within a "
    "process, one thread."
)
_WHAT = {"search": "search, one query", "batch": "search, {} queries", "add": "add, one object"}


@dataclass(frozen=True, kw_only=True)
class Key:
    """The key of a cell."""

    section: str  # what is asked for: "search", "batch" or "add"
    n_objects: int
    n_columns: int
    batch: int  # queries, or objects to add, of a request
    k: int
    n_clients: int

    def __str__(self) -> str:
        return (
            f"{self.section} of {self.batch}: {self.n_objects} objects of {self.n_columns} "
            f"columns, k = {self.k}, {self.n_clients} clients"
        )


@dataclass(frozen=True, kw_only=True)
class Cell(Key, Measured):
    """One cell, with its figures: milliseconds, and requests a second."""

    n_requests: int = 0
    differ: int = 0  # answers that were not those of the index
    refused: int = 0  # requests that got no answer
    facts: Mapping[str, float] = field(default_factory=dict)


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    rows = [
        [
            _WHAT[cell.section].format(cell.batch),
            cell.n_clients,
            *(three_digits(cell.facts[name]) for name in ("p50", "p99")),
            f"{cell.facts['requests a second']:.0f}",
            three_digits(cell.facts.get("in the process"), none=""),
        ]
        for cell in kept.cells
    ]
    head = "request|clients|p50|p99|requests a second|in the process"
    return "\n\n".join([kept.describe(), _ABOUT, markdown(head, rows)])


_K = 10
_DECAY = 0.9
_ROUTES = {"search": "/v1/search", "batch": "/v1/batch", "add": "/v1/objects"}
_SERVE = """
import sys
from fastmks.service import serve
serve(sys.argv[1], port=0, writable=True, announce=lambda address: print(address, flush=True))
"""


@dataclass(frozen=True, eq=False)
class _Stage:
    """An index, queries, and the port where a process serves the index."""

    index: Index
    queries: NDArray[np.float64]
    port: int

    def send(self, route: str, bodies: Sequence[Any], **how: Any) -> Outcome:
        """Let clients ask for a while."""
        job = Job(port=self.port, route=route, bodies=[json.dumps(one) for one in bodies], **how)
        found = subprocess.run(
            [sys.executable, "-m", "benchmarks.service.clients"],
            input=json.dumps(asdict(job)),
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        )
        return Outcome(**json.loads(found.stdout))


@contextmanager
def _staged(n_objects: int, n_columns: int, n_queries: int) -> Iterator[_Stage]:
    """Give a service of vectors whose axes decay; it ends with the block."""
    rng = np.random.default_rng(0)
    scale = _DECAY ** np.arange(n_columns)
    objects = (rng.normal(size=(n_objects, n_columns)) * scale).astype(np.float32)
    queries = rng.normal(size=(n_queries, n_columns)) * scale
    index = Index(objects, algorithm="filter")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index.fmks")
        index.save(path)
        command = [sys.executable, "-c", _SERVE, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                address = process.stdout.readline().strip()
                yield _Stage(index, queries, int(address.rpartition(":")[2]))
            finally:
                process.terminate()


def _measure(run: Run[Cell]) -> None:
    sizes = run.sizes
    keys = [
        Key(
            section=section,
            n_objects=sizes.n_objects,
            n_columns=sizes.n_columns,
            batch=sizes.batch if section == "batch" else 1,
            k=0 if section == "add" else _K,
            n_clients=n_clients,
        )
        for section in _ROUTES  # what adds comes last: it changes the index
        for n_clients in sizes.clients
    ]
    run.expect(len(keys))
    wanted = run.missing(keys)
    if not wanted:
        return
    with _staged(sizes.n_objects, sizes.n_columns, sizes.n_queries) as stage:
        for key in wanted:
            run.announce(key)
            run.keep(_cell(stage, key, sizes.seconds))


def _cell(stage: _Stage, key: Key, seconds: float) -> Cell:
    is_search = key.section != "add"
    send = partial(stage.send, _ROUTES[key.section], _bodies(stage, key))
    send(n_clients=min(2, key.n_clients), seconds=seconds / 5, keeps_answers=False)  # to warm up
    outcome = send(n_clients=key.n_clients, seconds=seconds, keeps_answers=is_search)
    n_requests = len(outcome.latencies)
    facts = {
        "p50": 1e3 * float(np.percentile(outcome.latencies, 50)),
        "p99": 1e3 * float(np.percentile(outcome.latencies, 99)),
        "requests a second": n_requests / outcome.seconds,
    }
    if is_search:
        facts["in the process"] = 1e3 * _search_seconds(stage, key)
    return Cell(
        **key.__dict__,
        n_requests=n_requests,
        refused=n_requests - outcome.statuses.get("200", 0),
        differ=_count_wrong(stage, key, outcome) if is_search else 0,
        facts=facts,
    )


def _bodies(stage: _Stage, key: Key) -> list[dict[str, Any]]:
    rows = stage.queries.tolist()
    if key.section == "search":
        return [{"query": row, "k": key.k} for row in rows]
    parts = [rows[i : i + key.batch] for i in range(0, len(rows), key.batch)]
    if key.section == "batch":
        return [{"queries": part, "k": key.k} for part in parts]
    return [{"objects": part} for part in parts]


def _search_seconds(stage: _Stage, key: Key) -> float:
    """Return the median seconds of the same search without a service, one thread."""
    search = partial(stage.index.search, k=key.k, threads=1)
    at = range(0, min(len(stage.queries), 20 * key.batch), key.batch)
    return median(timed(search, stage.queries[i : i + key.batch])[1] for i in at)


def _count_wrong(stage: _Stage, key: Key, outcome: Outcome) -> int:
    """Return the number of different answers that were not those of the index."""
    wanted = stage.index.search(stage.queries, k=key.k)
    wrong = 0
    for number, answers in outcome.answers.items():
        first = int(number) * key.batch
        some = slice(first, first + key.batch)
        ids, values = wanted.ids[some].tolist(), wanted.values[some].tolist()
        right = [list(zip(*row, strict=True)) for row in zip(ids, values, strict=True)]
        for answer in answers:
            rows = answer["answers"] if key.section == "batch" else [answer]
            found = [[(hit["id"], hit["value"]) for hit in row["hits"]] for row in rows]
            wrong += found != right
    return wrong


def _checks(kept: Kept[Cell]) -> list[Check]:
    counts = {
        "answers other than those of the index": sum(cell.differ for cell in kept.cells),
        "requests without an answer": sum(cell.refused for cell in kept.cells),
    }
    return [Check(claim=claim, value=float(count)) for claim, count in counts.items()]


SUITE = Suite(
    name="service",
    about=__doc__,
    cell=Cell,
    full={
        "n_objects": 200_000, "n_columns": 50, "n_queries": 1000, "batch": 100,
        "clients": (1, 16, 256, 512), "seconds": 15.0,
    },
    quick={
        "n_objects": 2000, "n_columns": 10, "n_queries": 20, "batch": 10,
        "clients": (1, 8), "seconds": 0.3,
    },
    work=_measure,
    checks=_checks,
    show=lambda options, kept: all_tables(kept),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(SUITE.main())
