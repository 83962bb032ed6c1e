"""Answers to write: hits of some queries, with the ids of the queries."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastmks._util.arrays import Array
from fastmks.errors import InvalidArgument
from fastmks.index.hits import Hits, HitsAbove
from fastmks.index.ids import as_array

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Answers:
    """Hits of some queries: those of query i are ``offsets[i]:offsets[i + 1]``.

    Examples
    --------
    >>> import fastmks
    >>> from fastmks.outputs import answers_of
    >>> index = fastmks.Index([[1.0], [2.0]], ids=["a", "b"])
    >>> list(answers_of(index.search([[1.0]], k=2), ["q"]).rows())
    [('q', 1, 'b', 2.0), ('q', 2, 'a', 1.0)]
    """

    queries: Array  # (n_queries,) the ids of the queries
    offsets: Array
    ids: Array
    values: Array
    gap: Array | None = None  # (n_queries,) of an approximate search
    proven: Array | None = None  # of each hit, likewise
    k: int | None = None  # hits of each query, where all have the same number

    @property
    def counts(self) -> Array:
        """The number of hits of each query."""
        counts: Array = np.diff(self.offsets)
        return counts

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of `rows`.

        Examples
        --------
        >>> import fastmks
        >>> from fastmks.outputs import answers_of
        >>> answers_of(fastmks.Index([[1.0]]).search([[1.0]]), [0]).fields
        ('query', 'rank', 'id', 'value')
        """
        return ("query", "rank", "id", "value", *(() if self.gap is None else ("gap", "proven")))

    def columns(self) -> dict[str, Array]:
        """Return the hits by field, one entry for each.

        Examples
        --------
        >>> import fastmks
        >>> from fastmks.outputs import answers_of
        >>> answers_of(fastmks.Index([[2.0]]).search([[1.0], [3.0]]), [0, 1]).columns()["value"]
        array([2., 6.])
        """
        counts = self.counts
        begins = np.repeat(self.offsets[:-1], counts)
        columns = {
            "query": np.repeat(self.queries, counts),
            "rank": np.arange(len(self.values), dtype=np.int64) - begins + 1,
            "id": self.ids,
            "value": self.values,
        }
        if self.gap is not None and self.proven is not None:
            columns["gap"] = np.repeat(self.gap, counts)
            columns["proven"] = self.proven
        return columns

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the hits as plain values.

        Examples
        --------
        >>> import fastmks
        >>> from fastmks.outputs import answers_of
        >>> list(answers_of(fastmks.Index([[2.0]]).search([[1.0]]), ["q"]).rows())
        [('q', 1, 0, 2.0)]
        """
        return zip(*(column.tolist() for column in self.columns().values()), strict=True)


def answers_of(hits: Hits | HitsAbove, queries: Any, *, with_gap: bool = False) -> Answers:
    """Return the answers of a search, given the ids of its queries.

    Examples
    --------
    >>> import fastmks
    >>> from fastmks.outputs import answers_of
    >>> index = fastmks.Index([[1.0], [2.0]])
    >>> answers_of(index.search_above([[1.0], [3.0]], threshold=2.0), [0, 1]).counts.tolist()
    [1, 2]
    """
    is_list = isinstance(queries, list) and all(isinstance(name, str) for name in queries)
    names = as_array(queries) if is_list else np.asarray(queries)
    if isinstance(hits, HitsAbove):
        return Answers(names, hits.offsets, hits.ids, hits.values)
    n_queries, k = hits.values.shape
    offsets = np.arange(n_queries + 1, dtype=np.int64) * k
    answers = Answers(names, offsets, hits.ids.reshape(-1), hits.values.reshape(-1), k=k)
    if not with_gap:
        return answers
    return replace(answers, gap=hits.gap, proven=hits.proven.reshape(-1))


def no_utf8(answers: Answers, form: str) -> InvalidArgument:
    """Return the error about an id among answers that a format in UTF-8 cannot hold.

    Examples
    --------
    >>> import fastmks
    >>> hits = fastmks.Index([[1.0]]).search([[1.0]])
    >>> print(no_utf8(answers_of(hits, ["\\ud800"]), "CSV"))
    CSV is written in UTF-8, which has no half of a surrogate pair; got the query '\\ud800'...
    """
    names = [("query", str(name)) for name in answers.queries.tolist()]
    names += [("id", str(name)) for name in answers.ids.tolist()]
    what, bad = next((what, name) for what, name in names if _SURROGATE.search(name))
    return InvalidArgument(
        f"{form} is written in UTF-8, which has no half of a surrogate pair; got the {what} "
        f"{bad!r}. Files of JSON lines (.jsonl) and of arrays (.npz) hold it."
    )
