"""The work of growing: how often objects are merged again, and kernel evaluations.

Counted from the segments of an index after every add and every search.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import fastmks
from benchmarks.harness import seconds_of
from benchmarks.living.cell import Key, Trial
from benchmarks.living.sides import K
from benchmarks.living.stage import Population, Stage, decaying
from benchmarks.race.judge import Exactness
from fastmks.index.view import current_of

_EVERY = 100  # objects between two searches


class MoveCase(NamedTuple):
    """An index that grows one object at a time."""

    algorithm: str
    n_first: int
    n_later: int
    n_columns: int | None = None  # uniform points of this many columns instead of decaying rows

    def stage(self, n_queries: int) -> Stage:
        """Return the rows of the case, float64."""
        if self.n_columns is None:
            return decaying(self.n_first, self.n_later, n_queries)
        random = np.random.default_rng(0)
        return Stage(
            name=f"uniform {self.n_columns}-d",
            origin="generated, seed 0: uniform between 0 and 1",
            rows=random.random((self.n_first + self.n_later, self.n_columns)),
            n_first=self.n_first,
            queries=random.random((n_queries, self.n_columns)),
        )


@dataclass
class Moved:
    """Counts over the segments that were built since the first add."""

    n_moved: int = 0  # objects in segments that were built again, and are not small
    evaluations: int = 0  # of the kernel, to build trees
    seen: set[Any] = field(default_factory=set)  # at the last count
    built: set[Any] = field(default_factory=set)  # those of them that have trees

    def look(self, index: fastmks.Index) -> None:
        """Count the new segments."""
        there = {segment.data for segment in current_of(index).snapshot.segments}
        self.n_moved += sum(len(one) for one in there - self.seen if not one.is_small)
        with_tree = {content for content in there if content.has_built[0]}
        self.evaluations += sum(map(_evaluations, with_tree - self.built))
        self.seen, self.built = there, with_tree


def move_cases(n_objects: int, n_tree: int, threads: int) -> Iterator[tuple[Key, MoveCase]]:
    """Return the cells of this section."""
    tenth = max(1, n_objects // 10)
    for case in (
        MoveCase("filter", n_objects, tenth),
        MoveCase("filter", 1, tenth),
        MoveCase("tree", n_tree, max(1, n_tree // 10)),
        MoveCase("tree", 1, n_tree),
        MoveCase("tree", n_objects, tenth, n_columns=3),
    ):
        key = Key(
            section="moving",
            case=f"{case.algorithm}, {case.n_first} and {case.n_later} more",
            problem="decaying" if case.n_columns is None else f"uniform {case.n_columns}-d",
            dtype="float64",
            n_objects=case.n_first,
            threads=threads,
        )
        yield key, case


def move_trial(stage: Stage, algorithm: str, *, threads: int) -> Trial:
    """Make the index ready to grow; the counting is done once, and not timed."""
    grown: list[fastmks.Index] = []
    counted: list[Moved] = []

    def build(n_objects: int) -> fastmks.Index:
        return fastmks.Index(stage.rows[:n_objects], algorithm=algorithm, threads=threads)

    def run() -> dict[str, float]:
        first = build(stage.n_first)
        if not counted:
            counted.extend(count_moves(first.copy(), stage, searches=s) for s in (False, True))
        index, searched = first.copy(), first.copy()
        seconds = seconds_of(lambda: _grow(index, stage, searches=False))
        with_searches = seconds_of(lambda: _grow(searched, stage, searches=True))
        rebuild = seconds_of(lambda: grown.append(build(len(stage.rows))))
        whole = grown[-1]
        grown[:] = [index]
        return {
            "seconds": seconds,
            "seconds_with_searches": with_searches,
            "rebuild_seconds": rebuild,
            "rebuilds": seconds / rebuild,
            "rebuilds_with_searches": with_searches / rebuild,
            **_work(counted, whole, stage),
            "parts": float(len(current_of(index).snapshot.segments)),
        }

    def check() -> Exactness:
        there = Population(stage.rows, np.arange(len(stage.rows), dtype=np.int64))
        return there.judge(stage.queries, np.asarray(grown[0].search(stage.queries, K).ids))

    return Trial(f"fastmks {algorithm}", run, check)


def count_moves(index: fastmks.Index, stage: Stage, *, searches: bool) -> Moved:
    """Add rows one by one, with a search after every 100 and one at the end, and count."""
    moved = Moved()
    moved.look(index)
    moved.n_moved = moved.evaluations = 0
    _grow(index, stage, searches=searches, look=moved.look)
    return moved


def _grow(
    index: fastmks.Index,
    stage: Stage,
    *,
    searches: bool,
    look: Callable[[fastmks.Index], None] = lambda index: None,
) -> None:
    """Add all rows, with what a search at the end has to build."""
    for n_added in range(1, stage.n_later + 1):
        at = stage.n_first + n_added - 1
        index.add(stage.rows[at : at + 1])
        look(index)
        if (searches and n_added % _EVERY == 0) or n_added == stage.n_later:
            query = stage.queries[n_added // _EVERY % len(stage.queries)]
            index.search(query, min(K, len(index)))
            look(index)


def _work(counted: list[Moved], whole: fastmks.Index, stage: Stage) -> dict[str, float]:
    alone, searched = counted
    found = {
        "moved_per_object": alone.n_moved / stage.n_later,
        "log2_n": math.log2(len(stage.rows)),
    }
    rebuild = _evaluations(current_of(whole).snapshot.segments[0].data)
    if rebuild:
        found |= {
            "evaluations": float(alone.evaluations),
            "evaluations_with_searches": float(searched.evaluations),
            "rebuild_evaluations": float(rebuild),
            "evaluation_rebuilds": alone.evaluations / rebuild,
            "evaluation_rebuilds_with_searches": searched.evaluations / rebuild,
        }
    return found


def _evaluations(content: Any) -> int:
    """Return the evaluations that built the tree of a segment, 0 without a tree."""
    tree = content.engines.built_tree if content.has_built[0] else None
    return 0 if tree is None else int(tree.build_evaluations)
