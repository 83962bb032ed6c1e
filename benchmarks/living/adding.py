"""Add objects one by one and in batches, and hold what it takes against one build of everything."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.living.cell import Key, Trial, key_of
from benchmarks.living.sides import Bases, Contestant, Side
from benchmarks.living.stage import K, Population, Stage
from benchmarks.truth import Verdict

__all__ = ["CASES", "AddCase", "add_trials", "cases_of"]

_EVERY = 100  # objects between two searches
_UNIT = 7  # the ids that users give are multiples of this, in no order


@dataclass(frozen=True, kw_only=True)
class AddCase:
    """How objects are added."""

    batch: int
    own_ids: bool = False  # numbers of the user's, in no order
    searches: bool = False  # a search after every 100 objects

    @property
    def title(self) -> str:
        """As tables say it."""
        size = "one by one" if self.batch == 1 else f"batches of {self.batch}"
        more = ", own ids" * self.own_ids + f", a search every {_EVERY}" * self.searches
        return f"{size}{more}"


CASES = (
    AddCase(batch=1),
    AddCase(batch=1, searches=True),
    AddCase(batch=100),
    AddCase(batch=10_000),
    AddCase(batch=1, own_ids=True),
    AddCase(batch=100, own_ids=True),
    AddCase(batch=10_000, own_ids=True),
)


def cases_of(stage: Stage, threads: int) -> Iterator[tuple[Key, AddCase]]:
    """Return the cells of this section; batches are no larger than what there is to add."""
    for case in CASES:
        if case.batch <= stage.n_later or case.batch == 1:
            yield key_of(stage, "adding", case.title, threads), case


def add_trials(
    stage: Stage,
    contestants: Sequence[Contestant],
    case: AddCase,
    bases: Bases,
    *,
    threads: int,
    lap_seconds: float,
) -> list[Trial]:
    """Make everyone ready to add, each to an index of its own."""
    truths: dict[tuple[int, int], Population] = {}

    def make(one: Contestant) -> Trial:
        mine = stage.cut(one.most_objects or stage.n_first)
        return _Adding(mine, one, case, bases, threads, lap_seconds, truths).trial

    return [Trial.of(one, stage, make) for one in contestants]


class _Adding:
    """One contestant: adds to a copy of the same index in every round."""

    def __init__(
        self,
        stage: Stage,
        one: Contestant,
        case: AddCase,
        bases: Bases,
        threads: int,
        lap_seconds: float,
        truths: dict[tuple[int, int], Population],
    ) -> None:
        self._stage, self._one, self._case, self._bases = stage, one, case, bases
        self._threads, self._truths = threads, truths
        self._lap_seconds = one.patience(lap_seconds)
        numbers = np.arange(len(stage.rows), dtype=np.int64)
        mixed = _UNIT * np.random.default_rng(0).permutation(numbers)
        self._ids = mixed if case.own_ids else numbers
        self._key = (one.name, stage.n_first, case.own_ids)
        self._side: Side | None = None
        self._n_done = 0
        self.trial = Trial(one.name, self._run, self._check)

    def _run(self) -> dict[str, float]:
        stage, case = self._stage, self._case
        self._side = None
        first = self._bases.get(self._key, lambda: self._build(stage.n_first))
        first.search(stage.queries[:1], K)  # whatever is made once is not timed
        self._side = first.copy()
        seconds, searching, n_searches = self._add(self._side)
        share = stage.n_later / self._n_done
        if share > 1.0:
            self.trial.notes.append(
                f"added {self._n_done} of {stage.n_later} in {self._lap_seconds:g} s: "
                "seconds are extrapolated"
            )
        started = time.perf_counter()
        self._side.search(stage.queries[:1], K)
        after = time.perf_counter() - started
        rebuild = self._rebuild()
        found = {
            "objects_per_second": self._n_done / seconds,
            "seconds": seconds * share,
            "rebuild_seconds": rebuild,
            "rebuilds": seconds * share / rebuild,
            "first_search_ms": after * 1e3,
        }
        if case.searches:
            found |= {
                "search_ms": searching / max(1, n_searches) * 1e3,
                "seconds_with_searches": (seconds + searching) * share,
                "rebuilds_with_searches": (seconds + searching) * share / rebuild,
            }
        return found

    def _rebuild(self) -> float:
        """Return the seconds of one build of everything: for peers, measured once."""
        kept = self._bases.rebuild_seconds
        if self._key not in kept or self._one.is_ours:
            started = time.perf_counter()
            self._build(len(self._stage.rows))
            kept[self._key] = time.perf_counter() - started
        return kept[self._key]

    def _build(self, n_objects: int) -> Side:
        ids = self._ids[:n_objects] if self._case.own_ids else None
        return self._one.build(self._stage.rows[:n_objects], ids, self._threads)

    def _add(self, side: Side) -> tuple[float, float, int]:
        """Return the seconds of adding, those of searching, and how many searches there were."""
        stage, case = self._stage, self._case
        rows, ids, batch = stage.rows, self._ids, case.batch
        add = side.add if case.own_ids else side.append
        searching, n_searches, at = 0.0, 0, stage.n_first
        began = time.perf_counter()
        end = began + self._lap_seconds
        while at < len(rows) and (at == stage.n_first or time.perf_counter() < end):
            add(rows[at : at + batch], ids[at : at + batch])
            at = min(at + batch, len(rows))
            if case.searches and (at - stage.n_first) % _EVERY == 0:
                query = n_searches % len(stage.queries)
                started = time.perf_counter()
                side.search(stage.queries[query : query + 1], K)
                searching += time.perf_counter() - started
                n_searches += 1
        self._n_done = at - stage.n_first
        return time.perf_counter() - began - searching, searching, n_searches

    def _check(self) -> tuple[int, Verdict]:
        assert self._side is not None
        key = (self._stage.n_first, self._n_done)
        if key not in self._truths:
            n_there = sum(key)
            self._truths[key] = Population(self._stage.rows[:n_there], self._ids[:n_there])
        queries = self._stage.queries
        return len(queries), self._truths[key].judge(queries, self._side.search(queries, K))
