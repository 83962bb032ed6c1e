"""All parts of an index at one moment: which there are, and a search of all of them as one.

Objects that are added make a part of their own, and small parts are merged with their neighbours,
so that each is at least twice as large as the next: the logarithmic method (docs/guides/living.md
has what it costs). Objects that are removed are marked, and a part is made anew when a quarter of
it has left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from fastmks._util.fork_safe import cached_property
from fastmks._util.progress import Progress
from fastmks.engines.approximation import EXACT, Approximation, split_approximation
from fastmks.engines.base import AboveFound, Cost, Search, TopKFound, Tracer
from fastmks.engines.space import Namer, Space
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.index.ids import Ids, check_kind, read_ids, read_mask, shown
from fastmks.index.merge import NOWHERE, floors_of, merge_above, merge_top_k
from fastmks.index.planner import Plan, merge_plans
from fastmks.index.segment import Choice, Content, Part, Settings
from fastmks.kernels.objects import Objects, join_objects, listed, read_queries

__all__ = ["Asked", "Forest", "find_ids", "plant"]

_Array: TypeAlias = np.ndarray[Any, Any]
_Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_GROWTH = 2  # each part has at least so many times the objects of the next


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A search of all parts: the queries, and the positions to search among, as each has them."""

    choice: Choice
    queries: Sequence[Space]
    among: Sequence[_Positions] | None
    threads: int
    progress: Progress
    approximation: Approximation = EXACT
    floors: np.ndarray[Any, np.dtype[np.float64]] | None = None  # as in `Search`
    skip_self: bool = False
    tracers: Sequence[Tracer] | None = None  # one per part
    name_query: Namer = "queries[{}]".format


class Forest:
    """Parts in the order in which their objects came. Never changed: changes give another one.

    `like` is objects of the kind that the index holds, also where it holds none; `next_id` is
    greater than every number that has been an id.
    """

    def __init__(
        self, settings: Settings, parts: Sequence[Part], like: Objects, next_id: int
    ) -> None:
        self.settings = settings
        self.parts = tuple(parts)
        self.like = like
        self.next_id = next_id
        self._size = sum(map(len, self.parts))
        # Whether there is one part, and nobody has left it.
        self.is_whole = len(self.parts) == 1 and len(self.parts[0].dead) == 0

    def __len__(self) -> int:
        return self._size

    @cached_property
    def starts(self) -> _Positions:
        """The position of the first object of each part."""
        ends = np.cumsum([len(part) for part in self.parts], dtype=np.int64)
        return np.concatenate([np.zeros(1, np.int64), ends])[:-1]

    @cached_property
    def ids(self) -> _Array:
        """The ids of all objects, by position."""
        return Ids(*(part.ids for part in self.parts)).array if self.parts else self._no_ids

    def ids_at(self, positions: _Positions) -> _Array:
        """Return the ids of the objects at these positions."""
        if self.is_whole:
            return self.parts[0].content.ids.at(positions)
        found = [
            (here, self.parts[i].ids_at(positions[here] - self.starts[i]))
            for i, here in self._by_part(positions)
        ]
        dtype = np.result_type(self._no_ids, *(ids for _, ids in found))
        ids = np.zeros(positions.shape, dtype=dtype)
        for here, some in found:
            ids[here] = some
        return ids

    @property
    def _no_ids(self) -> _Array:
        return np.zeros(0, dtype="U1" if self.settings.has_text_ids else np.int64)

    def find(self, ids: Any, *, name: str) -> list[_Positions]:
        """Return the positions of ids in each part; an id that is not here is an error."""
        wanted = read_ids(ids, name)
        check_kind(wanted, is_text=self.settings.has_text_ids, name=name)
        found = [part.find(wanted) for part in self.parts] if len(wanted) else []
        times = np.zeros(len(wanted), dtype=np.int64)
        for positions in found:
            times += positions >= 0
        if times.max(initial=0) > 1:  # those that were given were checked
            raise IndexFileError("the ids must differ.")
        is_known = times > 0
        if not is_known.all():
            unknown = wanted[~is_known][:1].tolist()[0]
            raise InvalidArgument(
                f"{name} must hold ids of the index only; {shown(unknown)} is not one."
            )
        return found or [np.zeros(0, np.int64)] * len(self.parts)

    def has(self, ids: _Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which of some ids are those of objects that are here."""
        return find_ids(self.parts, ids)

    def get(self, ids: Any) -> Any:
        """Return objects by their ids, in the form in which they are kept."""
        parts, chunks, order = self.find(ids, name="ids"), [], []
        for part, found in zip(self.parts, parts, strict=True):
            if (found >= 0).any():
                chunks.append(part.content.objects(found[found >= 0]))
                order.append(np.flatnonzero(found >= 0))
        if not chunks:
            return self.like.get(np.zeros(0, np.int64))
        together = chunks[0]
        if len(chunks) > 1:
            together = join_objects(self.settings.kernel, chunks)
        return together.get(np.argsort(np.concatenate(order)))

    def like_all(self) -> Objects:
        """Return what further objects must be like: all objects, where they must fit them all."""
        if self.settings.has_one_part and self.parts:
            return self.parts[0].content.chunks[0]
        return self.like

    def chosen(self, only: Any) -> list[_Positions]:
        """Return the positions in each part that `only`, ids or a mask, names, increasing."""
        mask = read_mask(only, len(self))
        if mask is not None:
            positions = np.flatnonzero(mask).astype(np.int64)
            among = [np.zeros(0, np.int64)] * len(self.parts)
            for i, here in self._by_part(positions):
                among[i] = self.parts[i].position(positions[here] - self.starts[i])
            return among
        return [np.unique(found[found >= 0]) for found in self.find(only, name="only")]

    def _by_part(self, positions: _Positions) -> list[tuple[int, _Array]]:
        """Return the parts that hold some positions, and which of these they hold."""
        at = np.searchsorted(self.starts, positions, side="right") - 1
        return [(i, at == i) for i in np.unique(at).tolist()]

    # Searches.

    def queries(self, queries: Any) -> list[Space]:
        """Return queries as each part wants them: the same for all where that will do."""
        if not self.parts:
            return []
        queries = listed(queries)  # what can be read once only
        spaces = [self.parts[0].space.queries(queries)]
        for part in self.parts[1:]:
            has_own = self.like.numbers_features
            spaces.append(part.space.queries(queries) if has_own else spaces[0])
        return spaces

    def count_queries(self, queries: Any) -> int:
        """Return how many queries there are, also where there is nothing to search."""
        return len(read_queries(queries, self.settings.kernel, self.like))

    def can_afford(self, approximation: Approximation, k: int) -> bool:
        """Whether each part can be given enough of a budget for its k best.

        Those that have left would be evaluated too, and might be all that a budget finds.
        """
        if approximation.budget is None:
            return True
        least = sum(min(k, len(part)) for part in self.parts)
        return least <= approximation.budget and not any(len(part.dead) for part in self.parts)

    def plan(self, asked: Asked, k: int) -> Plan:
        """Return what "auto" would do with the largest part, for as much as all of them cost."""
        plans, sizes = [], self._sizes(asked)
        for i, size in sizes.items():
            search = self._search(asked, i, EXACT, is_main=False)
            plans.append(self.parts[i].content.planner.plan(search, min(k, size)))
        # Those that have left are looked at too, but nobody asked for them.
        return replace(merge_plans(plans, k), n_objects=sum(sizes.values()))

    def top_k(self, asked: Asked, k: int) -> tuple[TopKFound, str]:
        """Return the k best of each query, and who found most of them."""
        if self.is_whole:
            search = self._search(asked, 0, asked.approximation, is_main=True)
            return self.parts[0].top_k(asked.choice, search, k, asked.name_query)
        sizes = self._sizes(asked)
        promises = [asked.approximation]
        if len(sizes) > 1:
            promises = split_approximation(asked.approximation, list(sizes.values()), k)
        best: TopKFound | None = None
        main_engine = "scan"
        for (i, size), promise in zip(sizes.items(), promises, strict=True):
            part = self.parts[i]
            search = self._search(asked, i, promise, is_main=best is None)
            floors = floors_of(best, k)
            if floors is not None:  # of the larger parts, which come first
                search = replace(search, floors=floors)
            answer, engine = part.top_k(asked.choice, search, min(k, size), asked.name_query)
            is_filled = answer.positions >= NOWHERE
            places = np.where(is_filled, NOWHERE, part.rank(answer.positions) + self.starts[i])
            answer = TopKFound(answer.values, places, answer.gap, answer.cost)
            if best is None:
                best, main_engine = answer, engine
            else:
                best = merge_top_k([best, answer], k)
        assert best is not None  # k is at least 1, so there is a part
        return best, main_engine

    def evaluated(self, tracers: Sequence[Tracer]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return whose values were asked for in a traced search, by position."""
        masks = [
            tracer.evaluated(len(part.content))[part.living]
            for part, tracer in zip(self.parts, tracers, strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=bool), *masks])

    def above(
        self, asked: Asked, thresholds: np.ndarray[Any, np.dtype[np.float64]]
    ) -> tuple[AboveFound, str]:
        """Return all at or above each query's threshold, and who found most of them."""
        found: list[tuple[AboveFound, str]] = []
        for i in self._sizes(asked):
            part = self.parts[i]
            search = self._search(asked, i, EXACT, is_main=len(found) == 0)
            answer, engine = part.above(asked.choice, search, thresholds, asked.name_query)
            places = part.rank(answer.positions) + self.starts[i]
            answer = AboveFound(answer.offsets, answer.values, places, answer.cost)
            found.append((answer, engine))
        if not found:
            none = np.zeros(len(thresholds) + 1, np.int64)
            nothing = AboveFound(none, np.zeros(0), np.zeros(0, np.int64), Cost(evaluations=0))
            return nothing, "scan"
        return merge_above([answer for answer, _ in found]), found[0][1]

    def _sizes(self, asked: Asked) -> dict[int, int]:
        """Return how many objects to search among in each part that has any, most first."""
        if asked.among is None:
            sizes = {i: len(part) for i, part in enumerate(self.parts)}
        else:
            sizes = {i: len(among) for i, among in enumerate(asked.among) if len(among)}
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    def _search(self, asked: Asked, i: int, promise: Approximation, *, is_main: bool) -> Search:
        return Search(
            queries=asked.queries[i],
            among=None if asked.among is None else asked.among[i],
            skip_self=asked.skip_self,
            threads=asked.threads,
            progress=asked.progress if is_main else asked.progress.hidden(),
            approximation=promise,
            floors=asked.floors,
            tracer=None if asked.tracers is None else asked.tracers[i],
        )

    # Changes.

    def grown(self, objects: Objects, ids: _Array) -> "Forest":
        """Return the forest with more objects, which must be checked, and nobody else's."""
        next_id = max(self.next_id, Ids(ids).next_number)
        if self._can_wait(len(ids)):
            waiting = Part(self.parts[-1].content.extended(objects, ids))
            return Forest(self.settings, [*self.parts[:-1], waiting], self.like, next_id)
        is_fresh = len(ids) < self.settings.n_fresh
        content = Content(self.settings, [objects], Ids(ids), is_fresh=is_fresh)
        parts, tail = list(self.parts), [Part(content)]
        while parts and self._is_too_small(parts[-1:], tail):
            tail.insert(0, parts.pop())
        is_alone = len(tail) == 1 and not self.settings.has_one_part
        last = tail[0] if is_alone else self._joined(tail)
        return Forest(self.settings, [*parts, last], self.like, next_id)

    def _can_wait(self, n_objects: int) -> bool:
        """Whether objects may join those that came lately, with nothing to merge."""
        if not self.parts or self.settings.has_one_part:
            return False
        tail = self.parts[-1]
        size = len(tail) + n_objects
        is_fresh = tail.content.is_fresh and size < self.settings.n_fresh and len(tail.dead) == 0
        return is_fresh and (len(self.parts) == 1 or len(self.parts[-2]) >= _GROWTH * size)

    def shrunk(self, leaving: Sequence[_Positions]) -> "Forest":
        """Return the forest without some objects, given by their positions in each part."""
        parts = []
        for part, positions in zip(self.parts, leaving, strict=True):
            left = part if len(positions) == 0 else part.without(positions)
            if len(left) == 0:
                continue
            is_worn = left.is_worn or (self.settings.has_one_part and len(left.dead) > 0)
            parts.append(self._joined([left]) if is_worn else left)
        return self._balanced(parts)

    def cleared(self) -> "Forest":
        """Return the forest without the memory of those that have left."""
        parts = [part if len(part.dead) == 0 else self._joined([part]) for part in self.parts]
        return Forest(self.settings, parts, self.like, self.next_id)

    def whole(self) -> "Forest":
        """Return the forest with all objects in one part."""
        if self.is_whole or len(self) == 0:
            return self
        part = self._joined(self.parts, is_fresh=False)
        return Forest(self.settings, [part], self.like, self.next_id)

    def _balanced(self, parts: Sequence[Part]) -> "Forest":
        """Merge neighbours until each part is large enough for those behind it."""
        groups: list[list[Part]] = []
        for part in parts:
            group = [part]
            while groups and self._is_too_small(groups[-1], group):
                group = groups.pop() + group
            groups.append(group)
        merged = [group[0] if len(group) == 1 else self._joined(group) for group in groups]
        return Forest(self.settings, merged, self.like, self.next_id)

    def _is_too_small(self, group: list[Part], following: list[Part]) -> bool:
        if self.settings.has_one_part:
            return True
        size, behind = sum(map(len, group)), sum(map(len, following))
        is_fresh = size + behind < self.settings.n_fresh and group[-1].content.is_fresh
        return is_fresh or size < _GROWTH * behind

    def _joined(self, parts: Sequence[Part], *, is_fresh: bool | None = None) -> Part:
        """Return one part of several; few objects are put together when they are searched."""
        n_objects = sum(map(len, parts))
        chunks = [chunk for part in parts for chunk in part.chunks()]
        ids = Ids(*(chunk for part in parts for chunk in part.id_chunks()))
        if self.settings.has_one_part:
            chunks, ids = [join_objects(self.settings.kernel, chunks)], Ids(ids.array)
        if is_fresh is None:
            is_fresh = n_objects < self.settings.n_fresh
        content = Content(self.settings, chunks, ids, is_fresh=is_fresh)
        if self.settings.has_one_part or not content.is_fresh:
            model = max(self.parts, key=len, default=parts[0]).content
            content.prepare([part.content for part in parts], model)
        return Part(content)


def find_ids(parts: Sequence[Part], ids: _Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which of some ids are those of objects of some parts."""
    if len(ids) == 1:
        (name,) = ids.tolist()
        parts = [part for part in parts if part.content.ids.may_have(name)]
    known = np.zeros(len(ids), dtype=bool)
    for part in parts:
        known |= part.find(ids) >= 0
    return known


def plant(objects: Objects, settings: Settings, ids: Ids) -> Forest:
    """Return the forest of one part that an index begins with."""
    content = Content(settings, [objects], ids)
    content.engines  # noqa: B018, so that objects which the kernel cannot compare are known now
    none = objects.take(np.zeros(0, np.int64))
    # Joined, it forgets what it knew of all objects.
    like = join_objects(settings.kernel, [none])
    return Forest(settings, [Part(content)], like, ids.next_number)
