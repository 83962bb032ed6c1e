"""One cell: a case of a section on one set, with figures by contestant and round."""

import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.harness import Moment, now, others_share, pinned, run_rounds
from benchmarks.living.sides import Contestant
from benchmarks.living.stage import Stage
from benchmarks.race.judge import Exactness
from benchmarks.report import three_digits
from benchmarks.suite import Measured

_TELLING = {
    "adding": "seconds",
    "moving": "rebuilds",
    "removing": "seconds",
    "mixing": "p99_ms",
    "files": "to_first_answer_ms",
}
_LONG = 60.0  # seconds: a contestant that takes longer runs once


@dataclass(frozen=True, kw_only=True)
class Key:
    """The key of a cell."""

    section: str
    case: str
    problem: str
    dtype: str
    n_objects: int  # to begin with
    threads: int

    def __str__(self) -> str:
        return f"{self.section}, {self.case}: {self.problem} {self.n_objects} {self.dtype}"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure over all rounds."""

    median: float
    low: float
    high: float
    rounds: tuple[float, ...]

    @classmethod
    def of(cls, *rounds: float) -> "Measure":
        """Return the measure of these rounds."""
        return cls(median=float(median(rounds)), low=min(rounds), high=max(rounds), rounds=rounds)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The figures of one contestant."""

    contestant: str
    failure: str | None = None  # why figures are missing
    notes: tuple[str, ...] = ()
    measures: Mapping[str, Measure] = field(default_factory=dict)
    checked: int | None = None  # queries, after all changes
    wrong: int | None = None
    ties: int | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is fastmks."""
        return self.contestant.startswith("fastmks")

    def get(self, name: str) -> float | None:
        """Return the median of a measure, or None if it was not taken."""
        return self.measures[name].median if name in self.measures else None


@dataclass(frozen=True, kw_only=True)
class Cell(Key, Measured):
    """One cell: its data set, and the figures of all contestants."""

    n_columns: int
    origin: str
    figures: tuple[Figure, ...]

    @property
    def line(self) -> str:
        """One line with the main measure of each contestant."""
        name = _TELLING[self.section]
        shown = [f"{one.contestant} {three_digits(one.get(name))}" for one in self.figures]
        others = "" if self.others is None else f" (others {self.others:.0%})"
        return f"{self.key}{others}: {name}: {'; '.join(shown)}"


@dataclass(eq=False)
class Trial:
    """A contestant in a cell: `run` measures one round, `check` judges its answers."""

    contestant: str
    run: Callable[[], Mapping[str, float]] = dict
    check: Callable[[], Exactness] | None = None
    failure: str | None = None
    notes: list[str] = field(default_factory=list)
    laps: list[Mapping[str, float]] = field(default_factory=list)
    seconds: float = 0.0  # of the last round

    def lap(self) -> None:
        """Run one round; after one that fails or takes long, no other is run."""
        if self.failure is not None or self.seconds > _LONG:
            return
        started = time.perf_counter()
        try:
            self.laps.append(self.run())
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
        self.seconds = time.perf_counter() - started

    def figure(self) -> Figure:
        """Return the measures of all rounds, and the verdict on the last answers."""
        if self.failure is not None:
            return Figure(contestant=self.contestant, failure=self.failure)
        found = self.check() if self.check else None
        return Figure(
            contestant=self.contestant,
            notes=tuple(dict.fromkeys(self.notes)),
            measures={name: Measure.of(*(lap[name] for lap in self.laps)) for name in self.laps[0]},
            checked=found.checked if found else None,
            wrong=found.wrong if found else None,
            ties=found.ties if found else None,
        )


def trials_of(
    contestants: Sequence[Contestant], stage: Stage, make: Callable[[Contestant], list[Trial]]
) -> list[Trial]:
    """Return the trials of all contestants; those that cannot run say why."""
    trials = []
    for one in contestants:
        failure = one.missing
        if failure is None and stage.dtype not in one.dtypes:
            failure = f"{' and '.join(one.dtypes)} only"
        mine = [Trial(one.name, failure=failure)] if failure else make(one)
        for trial in mine:
            trial.notes += [one.note] if one.note else []
        trials += mine
    return trials


def key_of(stage: Stage, section: str, case: str, threads: int) -> Key:
    """Return the key of a cell."""
    return Key(
        section=section,
        case=case,
        problem=stage.name,
        dtype=stage.dtype,
        n_objects=stage.n_first,
        threads=threads,
    )


def run_cell(key: Key, stage: Stage, trials: Sequence[Trial], *, rounds: int) -> Cell:
    """Run all trials round after round, each in turn, and check their last answers."""
    before = _moment()
    with pinned(key.threads, key.threads):
        run_rounds([trial.lap for trial in trials], rounds=rounds, warmups=0)
    return Cell(
        **key.__dict__,
        n_columns=stage.rows.shape[1],
        origin=stage.origin,
        others=others_share(before, _moment()),
        figures=tuple(trial.figure() for trial in trials),
    )


def _moment() -> Moment:
    """Return the counters now; processes that were started here count as ours."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now(ended.ru_utime + ended.ru_stime)
