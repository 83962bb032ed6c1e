"""Compare engines on the same objects and queries: times in turns, answers bit by bit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import typer

from fastmks._util.arrays import Array
from fastmks._util.validation import check_k
from fastmks._util.wording import counted
from fastmks.cli.messages import say
from fastmks.cli.object_files import read_objects
from fastmks.cli.options import FileOptions, hits_wanted
from fastmks.errors import FastmksError, InvalidArgument
from fastmks.index.algorithms import ALGORITHMS
from fastmks.index.index import Index
from fastmks.kernels import Kernel, Linear

_ENGINES = (*ALGORITHMS, "numpy")


class _Answer(NamedTuple):
    """The answer of a search."""

    values: Array
    indices: Array
    evaluations: int


_NONE = _Answer(np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int64), 0)


@dataclass
class _Entrant:
    """An engine, and the cost of its runs."""

    name: str
    search: Callable[[], _Answer] | None  # None where the engine cannot search
    build_seconds: float = 0.0
    reason: str = ""
    error: FastmksError | None = None  # the error that ended its runs
    answer: _Answer = _NONE  # the last one
    _runs: list[tuple[float, int]] = field(default_factory=list)  # seconds, evaluations

    def run(self) -> None:
        """Search once, and record the time."""
        if self.search is None:
            return
        started = time.perf_counter()
        try:
            self.answer = self.search()
        except FastmksError as error:
            self.search, self.reason, self.error = None, str(error), error
            return
        self._runs.append((time.perf_counter() - started, self.answer.evaluations))

    def median(self) -> tuple[float, int]:
        """Return seconds and evaluations of the run of median time: the runs of auto differ."""
        return sorted(self._runs)[(len(self._runs) - 1) // 2]


def compare(
    refs: str,
    queries: str | None,
    options: FileOptions,
    *,
    kernel: Kernel | None,
    k: int | None,
    engines: Sequence[str],
    rounds: int,
    most_queries: int,
    seed: int,
    threads: int | None,
) -> None:
    """Let engines search in turns, and show the cost of each."""
    for name in engines:
        if name not in _ENGINES:
            raise typer.BadParameter(f"--engines are {', '.join(_ENGINES)}; got {name!r}.")
    chunk, used = read_objects(refs, options, kernel)
    objects, asked = chunk.objects, None
    if queries is not None:
        asked = read_objects(queries, options, used)[0].objects
    objects, asked = _drawn(objects, asked, most_queries, seed)
    n_objects, n_queries = _count(objects), _count(asked)
    n_hits = check_k(hits_wanted(k, n_objects), n_objects)
    entrants = [_enter(name, objects, asked, used, n_hits, threads) for name in engines]
    for _ in range(rounds):
        for entrant in entrants:
            entrant.run()
    own = [entrant for entrant in entrants if entrant.name != "numpy"]
    if own and own[0].error is not None and all(entrant.search is None for entrant in own):
        raise own[0].error  # then no engine is to blame
    say(
        f"{counted(n_objects, 'object')}, {counted(n_queries, 'query')}, k = {n_hits}, {used!r}, "
        f"rounds: {rounds}"
    )
    _show(entrants, n_queries, n_objects)


def _count(objects: Any) -> int:
    shape = getattr(objects, "shape", None)  # sparse matrices have no length
    return int(shape[0]) if shape else len(objects)


def _take(objects: Any, places: Array) -> Any:
    if hasattr(objects, "shape"):
        return objects[places]
    return [objects[i] for i in places.tolist()]


def _drawn(objects: Any, queries: Any, most: int, seed: int) -> tuple[Any, Any]:
    """Return objects and queries; without queries, up to a tenth of the objects stand in."""
    rng = np.random.default_rng(seed)
    n = _count(objects)
    if queries is not None:
        places = np.sort(rng.permutation(_count(queries))[:most])
        return objects, _take(queries, places)
    if n < 2:
        raise InvalidArgument(f"at least two objects are needed to search one of them; got {n}.")
    order = rng.permutation(n)
    n_queries = min(most, max(1, n // 10))
    return _take(objects, np.sort(order[n_queries:])), _take(objects, np.sort(order[:n_queries]))


def _enter(
    name: str, objects: Any, queries: Any, kernel: Kernel, k: int, threads: int | None
) -> _Entrant:
    if name == "numpy":
        return _enter_numpy(objects, queries, kernel, k)
    started = time.perf_counter()
    try:
        index = Index(objects, kernel, algorithm=name, threads=threads)
    except FastmksError as error:
        return _Entrant(name, None, reason=str(error), error=error)

    def search() -> _Answer:
        hits = index.search(queries, k)
        return _Answer(hits.values, hits.indices, hits.stats.kernel_evaluations)

    return _Entrant(name, search, time.perf_counter() - started)


def _enter_numpy(objects: Any, queries: Any, kernel: Kernel, k: int) -> _Entrant:
    are_dense = isinstance(objects, np.ndarray) and isinstance(queries, np.ndarray)
    if not isinstance(kernel, Linear) or not are_dense or objects.shape[1:] != queries.shape[1:]:
        return _Entrant("numpy", None, reason="it is for a linear kernel of dense vectors only")

    def search() -> _Answer:
        with np.errstate(over="ignore", invalid="ignore"):  # which engines of ours report
            values = queries @ objects.T
        best = np.argpartition(-values, k - 1, axis=1)[:, :k]
        order = np.lexsort((best, -np.take_along_axis(values, best, axis=1)), axis=1)
        best = np.take_along_axis(best, order, axis=1)
        return _Answer(np.take_along_axis(values, best, axis=1), best, values.size)

    return _Entrant("numpy", search)


def _show(entrants: Sequence[_Entrant], n_queries: int, n_objects: int) -> None:
    """Show a row for each engine; engines of ours that disagree are an error."""
    from fastmks.cli.terminal import show_table

    ran = [entrant for entrant in entrants if entrant.search is not None]
    truth = next((entrant for entrant in ran if entrant.name != "numpy"), None)
    rows, wrong = [], []
    for entrant in ran:
        n_other = 0 if truth is None else _n_other(entrant, truth)
        if n_other and entrant.name != "numpy":
            wrong.append(entrant.name)
        seconds, evaluations = entrant.median()
        rows.append(
            [
                entrant.name,
                f"{entrant.build_seconds:.3g}",
                f"{1e3 * seconds / n_queries:.4g}",
                f"{evaluations / n_queries:.6g}",
                f"{evaluations / (n_queries * n_objects):.2%}",
                "all the same" if n_other == 0 else f"{n_other} differ",
            ]
        )
    titles = ("engine", "build s", "ms a query", "evaluations", "of scan", "answers")
    show_table(titles, rows)
    for entrant in entrants:
        if entrant.search is None:
            say(f"{entrant.name} cannot search: {' '.join(entrant.reason.split())}")
    if wrong:
        raise FastmksError(f"{' and '.join(wrong)} gave other answers: please report this.")


def _n_other(entrant: _Entrant, truth: _Entrant) -> int:
    """Return the number of queries with other bits; for numpy, which rounds, with other objects."""
    other = (entrant.answer.indices != truth.answer.indices).any(axis=1)
    if entrant.name != "numpy":
        other |= (entrant.answer.values != truth.answer.values).any(axis=1)
    return int(other.sum())
