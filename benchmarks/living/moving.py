"""What growing costs in work: how often objects are put together anew, and kernel evaluations.

Counted by looking at the parts of an index after every add and every search.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastmks
from benchmarks.living.cell import Key, Trial
from benchmarks.living.stage import K, Population, Stage, decaying
from benchmarks.truth import Verdict
from fastmks.index.view import current_of

__all__ = ["MoveCase", "Moved", "count_moves", "make_stage", "move_cases", "move_trial"]

_EVERY = 100  # objects between two searches


@dataclass(frozen=True, kw_only=True)
class MoveCase:
    """An index that grows one object at a time."""

    algorithm: str
    n_first: int
    n_later: int
    n_columns: int | None = None  # uniform points of so many columns instead of decaying rows

    @property
    def title(self) -> str:
        """As tables say it."""
        return f"{self.algorithm}, {self.n_first} and {self.n_later} more"

    @property
    def problem(self) -> str:
        """The name of the set."""
        return "decaying" if self.n_columns is None else f"uniform {self.n_columns}-d"


@dataclass
class Moved:
    """What was counted, over the contents of parts that were not there to begin with."""

    n_moved: int = 0  # objects in parts that were made anew, and are no longer fresh
    evaluations: int = 0  # of the kernel, to build trees
    seen: set[Any] = field(default_factory=set)  # when last looked
    built: set[Any] = field(default_factory=set)  # those of them that have trees

    def look(self, index: fastmks.Index) -> None:
        """Count what is new."""
        there = {segment.data for segment in current_of(index).snapshot.segments}
        self.n_moved += sum(len(one) for one in there - self.seen if not one.is_small)
        with_tree = {content for content in there if content.has_built[0]}
        self.evaluations += sum(map(_evaluations, with_tree - self.built))
        self.seen, self.built = there, with_tree


def move_cases(n_objects: int, n_tree: int, threads: int) -> Iterator[tuple[Key, MoveCase]]:
    """Return the cells of this section."""
    tenth = max(1, n_objects // 10)
    for case in (
        MoveCase(algorithm="filter", n_first=n_objects, n_later=tenth),
        MoveCase(algorithm="filter", n_first=1, n_later=tenth),
        MoveCase(algorithm="tree", n_first=n_tree, n_later=max(1, n_tree // 10)),
        MoveCase(algorithm="tree", n_first=1, n_later=n_tree),
        MoveCase(algorithm="tree", n_first=n_objects, n_later=tenth, n_columns=3),
    ):
        key = Key(
            section="moving",
            case=case.title,
            problem=case.problem,
            dtype="float64",
            n_objects=case.n_first,
            threads=threads,
        )
        yield key, case


def make_stage(case: MoveCase, n_queries: int) -> Stage:
    """Return the rows of a case, float64."""
    if case.n_columns is None:
        return decaying(case.n_first, case.n_later, n_queries)
    random = np.random.default_rng(0)
    return Stage(
        name=case.problem,
        origin="generated, seed 0: uniform between 0 and 1",
        rows=random.random((case.n_first + case.n_later, case.n_columns)),
        n_first=case.n_first,
        queries=random.random((n_queries, case.n_columns)),
    )


def move_trial(stage: Stage, case: MoveCase, *, threads: int) -> Trial:
    """Make the index ready to grow; the counting is done once, and not timed."""
    grown: list[fastmks.Index] = []
    counted: list[Moved] = []

    def build(n_objects: int) -> fastmks.Index:
        return fastmks.Index(stage.rows[:n_objects], algorithm=case.algorithm, threads=threads)

    def run() -> dict[str, float]:
        first = build(stage.n_first)
        if not counted:
            counted.extend(count_moves(first.copy(), stage, searches=s) for s in (False, True))
        index = first.copy()
        seconds = _grow(index, stage, searches=False)
        with_searches = _grow(first.copy(), stage, searches=True)
        started = time.perf_counter()
        whole = build(len(stage.rows))
        rebuild = time.perf_counter() - started
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

    def check() -> tuple[int, Verdict]:
        there = Population(stage.rows, np.arange(len(stage.rows), dtype=np.int64))
        found = np.asarray(grown[0].search(stage.queries, K).ids)
        return len(found), there.judge(stage.queries, found)

    return Trial(f"fastmks {case.algorithm}", run, check)


def count_moves(index: fastmks.Index, stage: Stage, *, searches: bool) -> Moved:
    """Add rows one by one, with a search after every 100 and one at the end, and count."""
    moved = Moved()
    moved.look(index)
    moved.n_moved = moved.evaluations = 0
    for n_added in range(1, stage.n_later + 1):
        at = stage.n_first + n_added - 1
        index.add(stage.rows[at : at + 1])
        moved.look(index)
        if (searches and n_added % _EVERY == 0) or n_added == stage.n_later:
            index.search(_query(stage, n_added), min(K, len(index)))
            moved.look(index)
    return moved


def _grow(index: fastmks.Index, stage: Stage, *, searches: bool) -> float:
    """Return the seconds of adding all rows, with what a search at the end has to build."""
    started = time.perf_counter()
    for n_added in range(1, stage.n_later + 1):
        at = stage.n_first + n_added - 1
        index.add(stage.rows[at : at + 1])
        if (searches and n_added % _EVERY == 0) or n_added == stage.n_later:
            index.search(_query(stage, n_added), min(K, len(index)))
    return time.perf_counter() - started


def _query(stage: Stage, number: int) -> NDArray[Any]:
    row: NDArray[Any] = stage.queries[number // _EVERY % len(stage.queries)]
    return row


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
    """Return what the tree of a part cost, if it has one."""
    tree = content.engines.built_tree if content.has_built[0] else None
    return 0 if tree is None else int(tree.build_evaluations)
