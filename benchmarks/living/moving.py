"""The work of growing: how often objects are merged again, and kernel evaluations.

Counted from the segments of an index after every add and every search.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fastmks
from benchmarks.harness import seconds_of, timed
from benchmarks.living.cell import Trial
from benchmarks.living.sides import K
from benchmarks.living.stage import Stage, decaying
from benchmarks.race.judge import Exactness
from fastmks.index.view import current_of

_EVERY = 100  # objects between two searches


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


def uniform(n_first: int, n_later: int, n_queries: int) -> Stage:
    """Return uniform points of three columns, float64."""
    random = np.random.default_rng(0)
    return Stage(
        name="uniform 3-d",
        origin="generated, seed 0: uniform between 0 and 1",
        rows=random.random((n_first + n_later, 3)),
        n_first=n_first,
        queries=random.random((n_queries, 3)),
    )


def move_stages(n_objects: int, n_tree: int, n_queries: int) -> Iterator[tuple[str, str, Stage]]:
    """Yield the cases of this section: a title, and the rows that an engine's index grows by."""
    tenth = max(1, n_objects // 10)
    cases: tuple[tuple[str, int, int, Callable[[int, int, int], Stage]], ...] = (
        ("filter", n_objects, tenth, decaying),
        ("filter", 1, tenth, decaying),
        ("tree", n_tree, max(1, n_tree // 10), decaying),
        ("tree", 1, n_tree, decaying),
        ("tree", n_objects, tenth, uniform),
    )
    for algorithm, n_first, n_later, draw in cases:
        title = f"{algorithm}, {n_first} and {n_later} more"
        yield title, algorithm, draw(n_first, n_later, n_queries)


def move_trials(stage: Stage, algorithm: str, threads: int) -> list[Trial]:
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
        whole, rebuild = timed(lambda: build(len(stage.rows)))
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
        return stage.judge(np.asarray(grown[0].search(stage.queries, K).ids), stage.rows)

    return [Trial(f"fastmks {algorithm}", run, check)]


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
    moved = alone.n_moved / stage.n_later
    found = {"moved_per_object": moved, "log2_n": math.log2(len(stage.rows))}
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
