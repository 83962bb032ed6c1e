"""The data of all sections: the first rows, the rows to add, the population, and the judge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem, Table
from benchmarks.kernels import LINEAR
from benchmarks.race.judge import Exactness, Judge
from benchmarks.suite import Collector

_DECAY = 0.9  # each axis is this many times as long as the one before
_COLUMNS = 50
_REAL = Table(name="GloVe 100", file="glove100_50k.npz")
_SHARE = 11  # one row in 11 is added later, which is a tenth of the others


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """A set whose first rows are indexed at the start; the others are added later."""

    name: str
    origin: str
    rows: NDArray[Any]
    n_first: int
    queries: NDArray[Any]

    @property
    def n_later(self) -> int:
        """The number of rows to add."""
        return len(self.rows) - self.n_first

    @property
    def first(self) -> NDArray[Any]:
        """The rows indexed at the start."""
        return self.rows[: self.n_first]

    @property
    def dtype(self) -> str:
        """The type of the numbers."""
        return str(self.rows.dtype)

    def population(self, *, without: Any = ()) -> "Population":
        """Return the population at the start, numbered, without some ids."""
        there = Population(self.first, np.arange(self.n_first, dtype=np.int64))
        there.leave(np.asarray(without, dtype=np.int64))
        return there

    def cut(self, n_first: int) -> "Stage":
        """Return the stage with fewer rows at the start, and fewer to add."""
        if n_first >= self.n_first:
            return self
        n_later = max(1, n_first // (_SHARE - 1))
        return replace(self, rows=self.rows[: n_first + n_later], n_first=n_first)


class Population:
    """The present objects: rows and ids. A float64 scan of them is the truth.

    >>> import numpy as np
    >>> there = Population(np.array([[1.0], [2.0], [3.0]]), np.array([7, 8, 9]))
    >>> there.leave(np.array([9]))
    >>> there.judge(np.array([[1.0]]), np.array([[8, 7]])).differ
    0
    """

    def __init__(self, rows: NDArray[Any], ids: NDArray[np.int64]) -> None:
        self._rows = rows
        self._ids = ids
        self._judge: Judge | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def leave(self, ids: NDArray[np.int64]) -> None:
        """Remove objects."""
        is_kept = ~np.isin(self._ids, ids)
        self._rows, self._ids, self._judge = self._rows[is_kept], self._ids[is_kept], None

    def judge(self, queries: NDArray[Any], found: NDArray[np.int64]) -> Exactness:
        """Compare ids that a search found with the truth; always for the same queries."""
        ids = self._ids
        if self._judge is None:
            problem = Problem(name="", origin="", objects=self._rows, queries=queries)
            self._judge = Judge(problem, LINEAR, found.shape[1], threads=1)
        order = np.argsort(ids)
        places = order[np.minimum(np.searchsorted(ids, found, sorter=order), len(ids) - 1)]
        nobody = len(ids)  # no position: an object that was removed, or never added, is wrong
        return self._judge.compare(np.where(ids[places] == found, places, nobody))


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
    collector: Collector, n_first: int, n_queries: int, dtypes: Sequence[str]
) -> Iterator[Stage]:
    """Return the sets asked for: a generated one in some types, and a real one from a folder."""
    n_first, n_queries = collector.limits(n_first, n_queries)
    if collector.wants("decaying"):
        # Rounded to float32 for all, so that all are asked for the same answers.
        made = decaying(n_first, max(1, n_first // (_SHARE - 1)), n_queries)
        for dtype in dtypes:
            yield _cast(_cast(made, "float32"), dtype)
    if collector.wants(_REAL.name) and (folder := collector.folder_with(_REAL.file)):
        found = _REAL.read(folder, "float32")
        stage = Stage(
            name=_REAL.name,
            origin=found.origin,
            rows=found.objects[np.random.default_rng(0).permutation(found.n_objects)],
            n_first=found.n_objects - found.n_objects // _SHARE,
            queries=found.queries[:n_queries],
        )
        yield _cast(stage.cut(n_first), "float32")


def _cast(stage: Stage, dtype: str) -> Stage:
    rows = np.ascontiguousarray(stage.rows, dtype=dtype)
    return replace(stage, rows=rows, queries=np.ascontiguousarray(stage.queries, dtype=dtype))
