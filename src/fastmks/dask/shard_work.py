"""The tasks on one shard: plain functions, so that another worker can run them again."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fastmks._util.arrays import Array, Bools, Floats, Int64s
from fastmks._util.progress import Progress
from fastmks.dask.cluster import Packed, unpack
from fastmks.engines.approximation import EXACT, Approximation
from fastmks.engines.base import AboveFound, Cost, SearchRequest, TopKFound
from fastmks.engines.traversal import Traversal
from fastmks.errors import FastmksError, InvalidArgument, ShardError
from fastmks.index.index import Index, index_of
from fastmks.index.merge import NOWHERE, merge_above, merge_top_k
from fastmks.index.snapshot import Snapshot
from fastmks.index.view import IndexView, merged_view_of, self_evaluations, view_of


@dataclass(frozen=True)
class ShardFacts:
    """Facts of a shard that the client keeps."""

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
class ShardSearch:
    """A search of one shard, as it is sent to a worker; the queries are sent apart."""

    algorithm: str
    traversal: Traversal
    threads: int | None
    shard: str = ""  # its name in errors
    number: int = 0  # of the shard among all
    start: int = 0  # the position of its first object among all
    k: int = 1
    approximation: Approximation = EXACT
    only: Array | None = None  # ids that it has, or a mask of its objects
    rows: Int64s | None = None  # of the queries that are meant; all when None
    floors: Floats | None = None  # one for each of these rows
    thresholds: Floats | None = None


@dataclass(frozen=True)
class Answer:
    """The hits of one shard or several, and the number of objects that each engine searched."""

    found: TopKFound | AboveFound
    engines: Mapping[str, int] = field(default_factory=dict)


@contextmanager
def shard_named(shard: str, *, is_search: bool = False) -> Iterator[None]:
    """Add the name of the shard to an error; one of fastmks keeps its type.

    The objects of a searched shard were accepted before, so a wrong argument of a search is not
    about the shard.
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
    """Return the facts of a shard for the client."""
    view = view_of(index)
    return ShardFacts(
        n_objects=len(index),
        n_bytes=index.nbytes,
        next_id=view.next_id,
        threads=view.settings.threads,
        id_dtype=index.ids.dtype.str if view.settings.has_text_ids else "<i8",
        kind=view.kind,
        form=view.like.form,
    )


def empty_copy(index: Index) -> Index:
    """Return an index like this one, without its objects, to check queries."""
    view = view_of(index)
    return index_of(Snapshot(view.settings, [], view.like, view.next_id))


def find_in_shard(index: Index, ids: Packed) -> Bools:
    """Return which of some ids are those of objects of the shard."""
    return view_of(index).has(unpack(ids))


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
    search: ShardSearch = unpack(packed)
    with shard_named(search.shard, is_search=True):
        return _search(index, queries, search)


def search_routed(
    index: Index, queries: Any, packed: Packed, routes: Int64s, floors: Floats | None
) -> Answer:
    """Return the k best of a shard for some of the queries, in the rows of all of them.

    In the first round, without floors, for those that are sent to this shard; then for all others.
    """
    search: ShardSearch = unpack(packed)
    is_mine = routes == search.number
    rows = np.flatnonzero(is_mine if floors is None else ~is_mine).astype(np.int64)
    mine = None if floors is None else np.ascontiguousarray(floors[rows])
    with shard_named(search.shard, is_search=True):
        answer = _search(index, queries, replace(search, rows=rows, floors=mine))
    return _put_in_rows(answer, rows, len(routes))


def _search(index: Index, queries: Any, search: ShardSearch) -> Answer:
    view = view_of(index)
    if not view.can_afford(search.approximation, search.k):
        view = merged_view_of(index)
    requests = _requests(view, queries, search)
    found, engine = view.top_k(requests, search.k)
    is_real = found.positions < NOWHERE
    ids = view.ids_at(np.where(is_real, found.positions, 0))
    positions = np.where(is_real, found.positions + search.start, NOWHERE)
    return _answer(view, requests, replace(found, ids=ids, positions=positions), engine)


def search_shard_above(index: Index, queries: Any, packed: Packed) -> Answer:
    """Return all of a shard at or above thresholds, their positions counted among all objects."""
    search: ShardSearch = unpack(packed)
    assert search.thresholds is not None
    with shard_named(search.shard, is_search=True):
        view = view_of(index)
        requests = _requests(view, queries, search)
        thresholds = search.thresholds
        if len(thresholds) == 1:  # one for all, since the number of queries was unknown
            thresholds = np.full(len(requests[0].queries), thresholds[0])
        found, engine = view.above(requests, thresholds)
        ids, positions = view.ids_at(found.positions), found.positions + search.start
        return _answer(view, requests, replace(found, ids=ids, positions=positions), engine)


def _answer(
    view: IndexView,
    requests: Sequence[SearchRequest],
    found: TopKFound | AboveFound,
    engine: str,
) -> Answer:
    """Return the answer with the evaluations that preparing the queries took."""
    self_values = found.cost.self_evaluations + self_evaluations(requests)
    cost = replace(found.cost, self_evaluations=self_values)
    n_objects = view.n_among([request.among for request in requests])
    return Answer(replace(found, cost=cost), {engine: n_objects})


def find_nothing(none: Packed, queries: Any) -> Answer:
    """Return the answer of a search without objects."""
    with queries_named(queries):
        hits = unpack(none).search_above(given_queries(queries), 0.0)
    nothing = AboveFound(hits.offsets, hits.values, hits.indices, Cost(evaluations=0), hits.ids)
    return Answer(nothing, {})


def _requests(view: IndexView, queries: Any, search: ShardSearch) -> list[SearchRequest]:
    with queries_named(queries):
        spaces = view.queries(given_queries(queries))
    if search.rows is not None:
        parts = {space: space.part(search.rows) for space in dict.fromkeys(spaces)}
        spaces = [parts[space] for space in spaces]
    return [
        SearchRequest(
            queries=space,
            among=slots,
            algorithm=search.algorithm,
            traversal=search.traversal,
            threads=view.threads(search.threads),
            progress=Progress(False),
            approximation=search.approximation,
            floors=search.floors,
        )
        for space, slots in zip(spaces, view.chosen(search.only), strict=True)
    ]


def given_queries(queries: Any) -> Any:
    """Return queries sent by the client, or those of a distributed partition."""
    return unpack(queries) if isinstance(queries, Packed) else queries.objects


@contextmanager
def queries_named(queries: Any) -> Iterator[None]:
    """Add the name of the partition of distributed queries to an error."""
    try:
        yield
    except InvalidArgument as error:
        if isinstance(queries, Packed):
            raise
        raise InvalidArgument(f"{queries.name}: {error}") from error


def merge_answers(answers: Sequence[Answer], k: int | None) -> Answer:
    """Return the answer of several shards together; k is None for all above a threshold."""
    found: list[Any] = [answer.found for answer in answers]
    merged = merge_above(found) if k is None else merge_top_k(found, k)
    return Answer(merged, all_engines(answers))


def all_engines(answers: Sequence[Answer]) -> dict[str, int]:
    """Return the number of objects that each engine searched, of several answers."""
    engines: dict[str, int] = {}
    for answer in answers:
        for engine, n_objects in answer.engines.items():
            engines[engine] = engines.get(engine, 0) + n_objects
    return engines


def _put_in_rows(answer: Answer, rows: Int64s, n_queries: int) -> Answer:
    """Return the answer for some queries in the rows of all; the others have no hits."""
    found = answer.found
    assert isinstance(found, TopKFound)
    assert found.ids is not None
    shape = (n_queries, found.values.shape[1])
    values, positions = np.full(shape, -np.inf), np.full(shape, NOWHERE)
    ids, gap = np.zeros(shape, dtype=found.ids.dtype), np.zeros(n_queries)
    values[rows], positions[rows], ids[rows] = found.values, found.positions, found.ids
    gap[rows] = found.gap
    return Answer(TopKFound(values, positions, gap, found.cost, ids), answer.engines)
