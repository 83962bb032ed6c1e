"""The data of all sections: the rows indexed at the start, the rows to add, and the truth."""

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

    def cut(self, n_first: int | None) -> "Stage":
        """Return the stage with fewer rows at the start, and fewer to add."""
        if n_first is None or n_first >= self.n_first:
            return self
        n_later = max(1, n_first // (_SHARE - 1))
        return replace(self, rows=self.rows[: n_first + n_later], n_first=n_first)

    def cast(self, dtype: str) -> "Stage":
        """Return the stage with numbers of another type."""
        rows, queries = (np.ascontiguousarray(one, dtype) for one in (self.rows, self.queries))
        return replace(self, rows=rows, queries=queries)

    def judge(
        self, found: NDArray[np.int64], rows: Any = None, ids: Any = None, *, removed: Any = ()
    ) -> Exactness:
        """Compare the ids that a search found with those of a float64 scan of what is present.

        Unless given, these are the rows of the start and their numbers.

        >>> rows, queries = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0]])
        >>> stage = Stage(name="", origin="", rows=rows, n_first=3, queries=queries)
        >>> stage.judge(np.array([[8, 7]]), rows, np.array([7, 8, 9]), removed=[9]).differ
        0
        """
        rows = self.first if rows is None else rows
        ids = np.arange(len(rows)) if ids is None else ids
        is_present = ~np.isin(ids, removed)
        rows, ids = rows[is_present], ids[is_present]
        order = np.argsort(ids)
        places = order[np.minimum(np.searchsorted(ids, found, sorter=order), len(ids) - 1)]
        nobody = len(ids)  # no position: an object that was removed, or never added, is wrong
        problem = Problem(name="", origin="", objects=rows, queries=self.queries)
        judge = Judge(problem, LINEAR, found.shape[1], threads=1)
        return judge.compare(np.where(ids[places] == found, places, nobody))


def decaying(n_first: int, n_later: int, n_queries: int) -> Stage:
    """Return normal rows of which each axis is shorter than the one before, float64."""
    random = np.random.default_rng(0)
    lengths = _DECAY ** np.arange(_COLUMNS)
    return Stage(
        name="decaying",
        origin=f"generated, seed 0: normal, axis i times {_DECAY:g}^i",
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
        made = decaying(n_first, max(1, n_first // (_SHARE - 1)), n_queries).cast("float32")
        yield from map(made.cast, dtypes)
    if collector.wants(_REAL.name) and (folder := collector.folder_with(_REAL.file)):
        found = _REAL.read(folder, "float32")
        stage = Stage(
            name=_REAL.name,
            origin=found.origin,
            rows=found.objects[np.random.default_rng(0).permutation(found.n_objects)],
            n_first=found.n_objects - found.n_objects // _SHARE,
            queries=found.queries[:n_queries],
        )
        yield stage.cut(n_first)
