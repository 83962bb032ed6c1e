"""A service in a process of its own, and the index that it serves."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.service.clients import Job, Outcome
from fastmks import Index

__all__ = ["Stage", "send", "staged"]

_DECAY = 0.9
_SERVE = """
import sys
from fastmks.service import serve
serve(sys.argv[1], port=0, writable=True, announce=lambda address: print(address, flush=True))
"""


@dataclass(frozen=True, eq=False)
class Stage:
    """What is measured: an index, queries, and the port where its service listens."""

    index: Index
    queries: NDArray[np.float64]
    port: int


@contextmanager
def staged(n_objects: int, n_columns: int, n_queries: int) -> Iterator[Stage]:
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
                yield Stage(index, queries, int(address.rpartition(":")[2]))
            finally:
                process.terminate()


def send(
    stage: Stage,
    route: str,
    bodies: Sequence[Any],
    *,
    n_clients: int,
    seconds: float,
    keeps_answers: bool,
) -> Outcome:
    """Let clients ask for a while."""
    job = Job(
        port=stage.port,
        route=route,
        bodies=[json.dumps(body) for body in bodies],
        n_clients=n_clients,
        seconds=seconds,
        keeps_answers=keeps_answers,
    )
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.service.clients"],
        input=json.dumps(asdict(job)),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return Outcome(**json.loads(found.stdout))
