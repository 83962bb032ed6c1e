"""What all sections share: the rows to begin with and to add, who is there, and the judgement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.command import Collector
from benchmarks.datasets import Problem
from benchmarks.truth import Truth, Verdict, find_truth, judge

__all__ = ["K", "Population", "Stage", "collect", "decaying"]

K = 10
_DECAY = 0.9  # each axis is so many times as long as the one before
_COLUMNS = 50
_REAL = "GloVe 100"
_SHARE = 11  # one row in so many is added later, which is a tenth of the others


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """A set, of which the first rows are there to begin with and the others are added."""

    name: str
    origin: str
    rows: NDArray[Any]
    n_first: int
    queries: NDArray[Any]

    @property
    def n_later(self) -> int:
        """How many rows there are to add."""
        return len(self.rows) - self.n_first

    @property
    def first(self) -> NDArray[Any]:
        """The rows to begin with."""
        return self.rows[: self.n_first]

    @property
    def dtype(self) -> str:
        """The type of the numbers."""
        return str(self.rows.dtype)

    def cut(self, n_first: int) -> "Stage":
        """The same with fewer rows to begin with, and fewer to add."""
        if n_first >= self.n_first:
            return self
        n_later = max(1, n_first // (_SHARE - 1))
        return replace(self, rows=self.rows[: n_first + n_later], n_first=n_first)


class Population:
    """Who is there: which rows, under which ids. The float64 scan of it is the truth.

    >>> import numpy as np
    >>> there = Population(np.array([[1.0], [2.0], [3.0]]), np.array([7, 8, 9]))
    >>> there.leave(np.array([9]))
    >>> there.judge(np.array([[1.0]]), np.array([[8, 7]])).wrong
    0
    """

    def __init__(self, rows: NDArray[Any], ids: NDArray[np.int64]) -> None:
        self._rows = rows
        self._ids = ids
        self._is_there = np.ones(len(ids), dtype=bool)
        self._truth: Truth | None = None

    def __len__(self) -> int:
        return int(self._is_there.sum())

    def leave(self, ids: NDArray[np.int64]) -> None:
        """Take objects out."""
        self._is_there &= ~np.isin(self._ids, ids)
        self._truth = None

    def judge(self, queries: NDArray[Any], found: NDArray[np.int64]) -> Verdict:
        """Compare ids that a search found with the truth; always for the same queries."""
        ids = self._ids[self._is_there]
        if self._truth is None:
            objects = self._rows[self._is_there]
            problem = Problem(name="", origin="", objects=objects, queries=queries)
            self._truth = find_truth(problem, found.shape[1])
        order = np.argsort(ids)
        places = order[np.minimum(np.searchsorted(ids, found, sorter=order), len(ids) - 1)]
        nobody = len(ids)  # no position: whoever has left or never was is a wrong answer
        return judge(self._truth, np.where(ids[places] == found, places, nobody))


def decaying(n_first: int, n_later: int, n_queries: int, *, seed: int = 0) -> Stage:
    """Return normal rows of which each axis is shorter than the one before, float64."""
    random = np.random.default_rng(seed)
    lengths = _DECAY ** np.arange(_COLUMNS)
    return Stage(
        name="decaying",
        origin=f"generated, seed {seed}: normal, axis i times {_DECAY:g}^i",
        rows=random.standard_normal((n_first + n_later, _COLUMNS)) * lengths,
        n_first=n_first,
        queries=random.standard_normal((n_queries, _COLUMNS)) * lengths,
    )


def collect(
    collector: Collector, folder: Any, n_first: int, n_queries: int, dtypes: Sequence[str]
) -> Iterator[Stage]:
    """Return the sets asked for: a generated one in some types, and a real one from a folder."""
    n_first, n_queries = collector.limits(n_first, n_queries)
    if collector.wants("decaying"):
        # Rounded to float32 for all, so that all are asked for the same answers.
        made = decaying(n_first, max(1, n_first // (_SHARE - 1)), n_queries)
        for dtype in dtypes:
            yield _cast(_cast(made, "float32"), dtype)
    if folder is None or not collector.wants(_REAL):
        return
    found = next((one for one in datasets.read_dense(folder) if one.name == _REAL), None)
    if found is None:
        collector.note("not in the folder: glove100_50k.npz")
        return
    n_later = found.n_objects // _SHARE
    stage = Stage(
        name=_REAL,
        origin=found.origin,
        rows=found.objects[np.random.default_rng(0).permutation(found.n_objects)],
        n_first=found.n_objects - n_later,
        queries=found.queries[:n_queries],
    )
    yield _cast(stage.cut(n_first), "float32")


def _cast(stage: Stage, dtype: str) -> Stage:
    rows = np.ascontiguousarray(stage.rows, dtype=dtype)
    return replace(stage, rows=rows, queries=np.ascontiguousarray(stage.queries, dtype=dtype))
