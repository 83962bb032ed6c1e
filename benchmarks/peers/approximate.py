"""hnswlib: what approximate search costs, and how many of its answers are wrong."""

import importlib
import time
from typing import Any

import numpy as np

from benchmarks.harness import Answer
from benchmarks.race.entrant import Entrant, Ready, RefusedError, Task, products_only

__all__ = ["hnswlib"]

_MOST_OBJECTS = 100_000  # building takes minutes from there on
_LINKS, _BUILD_WIDTH, _WIDTH = 16, 200, 100  # M, ef_construction and ef: what people start with
_SEED = 100


def hnswlib() -> Entrant:
    """Return a graph that promises no true answer, and is in no bar; always one thread."""
    return Entrant(
        name="hnswlib",
        prepare=products_only(_prepare),
        needs=("hnswlib",),
        is_exact=False,
        in_bar=False,
        one_thread_only=True,
    )


def _prepare(task: Task) -> Ready:
    problem = task.problem
    if problem.n_objects > _MOST_OBJECTS:
        raise RefusedError(f"over {_MOST_OBJECTS} objects: not built")
    library: Any = importlib.import_module("hnswlib")
    space = "cosine" if task.case.kernel.is_normalized else "ip"
    started = time.perf_counter()
    index = library.Index(space=space, dim=problem.n_columns)
    index.set_num_threads(1)
    index.init_index(
        max_elements=problem.n_objects,
        M=_LINKS,
        ef_construction=_BUILD_WIDTH,
        random_seed=_SEED,
    )
    index.add_items(problem.objects, num_threads=1)
    seconds = time.perf_counter() - started
    index.set_ef(_WIDTH)

    def search(queries: Any, k: int) -> Answer:
        labels = index.knn_query(queries, k=k, num_threads=1)[0]
        return Answer(np.asarray(labels).astype(np.int64))

    return Ready(
        search=search,
        queries=problem.queries,
        n_bytes=lambda: int(index.index_file_size()),
        build_seconds=seconds,
    )
