"""What workers do with one shard: plain functions, so that it can be done again elsewhere."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.progress import Progress
from fastmks.dask.cluster import Packed, unpack
from fastmks.engines.approximation import EXACT, Approximation
from fastmks.engines.base import AboveFound, Cost, TopKFound
from fastmks.errors import FastmksError, InvalidArgument, ShardError
from fastmks.index.index import Index
from fastmks.index.merge import NOWHERE, merge_above, merge_top_k
from fastmks.index.segment import Choice
from fastmks.index.snapshot import Asked, Snapshot

__all__ = [
    "Answer",
    "Question",
    "ShardFacts",
    "add_to_shard",
    "describe_shard",
    "empty_copy",
    "find_in_shard",
    "find_nothing",
    "get_from_shard",
    "given_queries",
    "merge_answers",
    "queries_named",
    "remove_from_shard",
    "search_routed",
    "search_shard",
    "search_shard_above",
    "shard_named",
]

_Array: TypeAlias = np.ndarray[Any, Any]
_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class ShardFacts:
    """What the client keeps of a shard."""

    n_objects: int
    n_bytes: int
    next_id: int
    threads: int
    id_dtype: str  # of strings: as wide as the longest, or that of objects
    kind: str
    form: tuple[Hashable, ...]  # the same for shards whose objects can be compared

    @property
    def has_text_ids(self) -> bool:
        """Whether the ids are strings."""
        return np.dtype(self.id_dtype).kind in "UO"


@dataclass(frozen=True, kw_only=True)
class Question:
    """What one shard is asked, beside the queries."""

    shard: str  # how errors call it
    number: int  # of the shard among those that are asked
    start: int  # the position of its first object among all
    choice: Choice
    threads: int | None
    k: int = 1
    approximation: Approximation = EXACT
    only: _Array | None = None  # ids that it has, or a mask of its objects
    rows: _Positions | None = None  # of the queries that are meant; all when None
    floors: _Floats | None = None  # one for each of these
    thresholds: _Floats | None = None


@dataclass(frozen=True)
class Answer:
    """What one shard or several have found, and who searched how many objects for it."""

    found: TopKFound | AboveFound
    engines: Mapping[str, int] = field(default_factory=dict)


@contextmanager
def shard_named(shard: str, *, is_search: bool = False) -> Iterator[None]:
    """Say which shard an error is about; one of fastmks stays what it is.

    The objects of a shard that is searched were accepted before: what is wrong with an argument is
    not about the shard.
    """
    try:
        yield
    except FastmksError as error:
        if is_search and isinstance(error, InvalidArgument):
            raise
        raise type(error)(f"{shard}: {error}") from error
    except Exception as error:
        raise ShardError(f"{shard}: {type(error).__name__}: {error}") from error


def describe_shard(index: Index) -> ShardFacts:
    """Return what the client wants to know of a shard."""
    snapshot = index._snapshot
    return ShardFacts(
        n_objects=len(snapshot),
        n_bytes=index.nbytes,
        next_id=snapshot.next_id,
        threads=snapshot.settings.threads,
        id_dtype=snapshot.ids.dtype.str if snapshot.settings.has_text_ids else "<i8",
        kind=snapshot.like.kind,
        form=snapshot.like.form,
    )


def empty_copy(index: Index) -> Index:
    """Return an index like this one, without its objects: what queries are checked with."""
    snapshot = index._snapshot
    return Index._of(Snapshot(snapshot.settings, [], snapshot.like, snapshot.next_id))


def find_in_shard(index: Index, ids: Packed) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which of some ids are those of objects of the shard."""
    return index._snapshot.has(unpack(ids))


def get_from_shard(index: Index, ids: Packed) -> Any:
    """Return objects of the shard by their ids."""
    return index.get(unpack(ids))


def add_to_shard(index: Index, shard: str, objects: Packed, ids: Packed) -> Index:
    """Return the shard with some objects more."""
    grown = index.copy()
    with shard_named(shard):
        grown.add(unpack(objects), ids=unpack(ids))
    return grown


def remove_from_shard(index: Index, shard: str, ids: Packed) -> Index:
    """Return the shard without some of its objects."""
    shrunk = index.copy()
    with shard_named(shard):
        shrunk.remove(unpack(ids))
    return shrunk


def search_shard(index: Index, queries: Any, packed: Packed) -> Answer:
    """Return the k best of a shard, their positions counted among all objects."""
    question: Question = unpack(packed)
    with shard_named(question.shard, is_search=True):
        return _search(index, queries, question)


def search_routed(
    index: Index, queries: Any, packed: Packed, routes: _Positions, floors: _Floats | None
) -> Answer:
    """Return the same for some of the queries only, in the rows of all of them.

    At first, without floors, for those that are sent to this shard; then for all others.
    """
    question: Question = unpack(packed)
    is_mine = routes == question.number
    rows = np.flatnonzero(is_mine if floors is None else ~is_mine).astype(np.int64)
    mine = None if floors is None else np.ascontiguousarray(floors[rows])
    with shard_named(question.shard, is_search=True):
        answer = _search(index, queries, replace(question, rows=rows, floors=mine))
    return _put_in_rows(answer, rows, len(routes))


def _search(index: Index, queries: Any, question: Question) -> Answer:
    snapshot = index._snapshot
    if not snapshot.can_afford(question.approximation, question.k):
        snapshot = index._merge_segments()
    asked = _ask(index, snapshot, queries, question)
    found, engine = snapshot.top_k(asked, question.k)
    is_real = found.positions < NOWHERE
    named = replace(
        found,
        positions=np.where(is_real, found.positions + question.start, NOWHERE),
        ids=snapshot.ids_at(np.where(is_real, found.positions, 0)),
        cost=_with_prepared(found.cost, asked),
    )
    return Answer(named, {engine: _n_among(snapshot, asked)})


def search_shard_above(index: Index, queries: Any, packed: Packed) -> Answer:
    """Return all of a shard at or above thresholds, their positions counted among all objects."""
    question: Question = unpack(packed)
    assert question.thresholds is not None
    with shard_named(question.shard, is_search=True):
        snapshot = index._snapshot
        asked = _ask(index, snapshot, queries, question)
        n_queries = len(asked.queries[0])
        thresholds = question.thresholds
        if len(thresholds) == 1:  # one for all, where nobody knew how many there are
            thresholds = np.full(n_queries, thresholds[0])
        found, engine = snapshot.above(asked, thresholds)
        named = replace(
            found,
            positions=found.positions + question.start,
            ids=snapshot.ids_at(found.positions),
            cost=_with_prepared(found.cost, asked),
        )
        return Answer(named, {engine: _n_among(snapshot, asked)})


def find_nothing(none: Packed, queries: Any) -> Answer:
    """Return what there is to be found where nothing is searched."""
    with queries_named(queries):
        hits = unpack(none).search_above(given_queries(queries), 0.0)
    nothing = AboveFound(hits.offsets, hits.values, hits.indices, Cost(evaluations=0), hits.ids)
    return Answer(nothing, {})


def _ask(index: Index, snapshot: Snapshot, queries: Any, question: Question) -> Asked:
    with queries_named(queries):
        spaces = snapshot.queries(given_queries(queries))
    if question.rows is not None:
        parts = {space: space.part(question.rows) for space in dict.fromkeys(spaces)}
        spaces = [parts[space] for space in spaces]
    return Asked(
        choice=question.choice,
        queries=spaces,
        among=None if question.only is None else snapshot.chosen(question.only),
        threads=index._allowed_threads(snapshot, question.threads),
        progress=Progress(False),
        approximation=question.approximation,
        floors=question.floors,
    )


def given_queries(queries: Any) -> Any:
    """Return queries as the client has sent them, or as a partition of others holds them."""
    return unpack(queries) if isinstance(queries, Packed) else queries.objects


@contextmanager
def queries_named(queries: Any) -> Iterator[None]:
    """Say which partition of distributed queries an error is about."""
    try:
        yield
    except InvalidArgument as error:
        if isinstance(queries, Packed):
            raise
        raise InvalidArgument(f"{queries.name}: {error}") from error


def _with_prepared(cost: Cost, asked: Asked) -> Cost:
    prepared = sum(space.n_self_evaluations for space in dict.fromkeys(asked.queries))
    return replace(cost, self_evaluations=cost.self_evaluations + prepared)


def _n_among(snapshot: Snapshot, asked: Asked) -> int:
    return len(snapshot) if asked.among is None else sum(map(len, asked.among))


def merge_answers(answers: Sequence[Answer], k: int | None) -> Answer:
    """Return the answer of several shards together; k is None for all above a threshold."""
    engines: dict[str, int] = {}
    for answer in answers:
        for engine, n_objects in answer.engines.items():
            engines[engine] = engines.get(engine, 0) + n_objects
    found: list[Any] = [answer.found for answer in answers]
    return Answer(merge_above(found) if k is None else merge_top_k(found, k), engines)


def _put_in_rows(answer: Answer, rows: _Positions, n_queries: int) -> Answer:
    """Return the answer for some queries as one for all of them, without any for the others."""
    found = answer.found
    assert isinstance(found, TopKFound)
    assert found.ids is not None
    shape = (n_queries, found.values.shape[1])
    values, positions = np.full(shape, -np.inf), np.full(shape, NOWHERE)
    ids, gap = np.zeros(shape, dtype=found.ids.dtype), np.zeros(n_queries)
    values[rows], positions[rows], ids[rows] = found.values, found.positions, found.ids
    gap[rows] = found.gap
    return Answer(TopKFound(values, positions, gap, found.cost, ids), answer.engines)
