"""Write indexes to files and load them again, in fresh processes; and remove most of an index."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.living.cell import Key, Trial, key_of
from benchmarks.living.memory import drop_pages, page_share, read_pages
from benchmarks.living.sides import Contestant
from benchmarks.living.stage import Population, Stage
from benchmarks.living.visits import visit
from benchmarks.truth import Verdict

__all__ = ["CASES", "MEMORY_CASES", "Shelf", "file_cases"]

CASES = ("saving", "cold", "warm", "four processes", "90 % removed")
MEMORY_CASES = CASES[3:]
_PROCESSES = 4
_TOLD = ("load_ms", "first_ms", "second_ms", "to_first_answer_ms", "rss_mb", "rss_more_mb")


def file_cases(stage: Stage, threads: int) -> Iterator[tuple[Key, str]]:
    """Return the cells of this section."""
    for case in CASES:
        yield key_of(stage, "files", case, threads), case


class Shelf:
    """The files of one set, in a folder: one for each contestant, written when it is needed."""

    def __init__(self, stage: Stage, folder: Path, threads: int) -> None:
        self._stage, self._folder, self._threads = stage, folder, threads
        self._files: dict[str, Path] = {}
        self._there = Population(stage.first, np.arange(stage.n_first, dtype=np.int64))
        self._few: Population | None = None
        self._leaving = np.random.default_rng(3).permutation(stage.n_first)
        self._leaving = self._leaving[: 9 * stage.n_first // 10]

    def trials(self, case: str, contestants: Sequence[Contestant]) -> list[Trial]:
        """Make everyone ready for a case."""
        found: list[Trial] = []
        for one in contestants:
            if one.missing or self._stage.dtype not in one.dtypes:
                found.append(Trial.of(one, self._stage, lambda one: Trial(one.name)))
            elif case == "saving":
                found.append(self._saving(one))
            elif case == "90 % removed":
                found.append(self._shrinking(one))
            else:
                found += [self._loading(one, how, case) for how in one.loads]
        return found

    def _saving(self, one: Contestant) -> Trial:
        sides: list[Any] = []
        file = self._folder / f"{one.name}.saved"

        def run() -> dict[str, float]:
            if not sides:
                sides.append(one.build(self._stage.first, None, self._threads))
            file.unlink(missing_ok=True)
            started = time.perf_counter()
            sides[0].save(file)
            saved = time.perf_counter()
            _synchronize(file)
            synced = time.perf_counter()
            size = file.stat().st_size
            return {
                "save_ms": (saved - started) * 1e3,
                "save_and_sync_ms": (synced - started) * 1e3,
                "file_mb": size / 1e6,
                "times_data": size / self._stage.first.nbytes,
            }

        return Trial(one.name, run)

    def _loading(self, one: Contestant, how: str, case: str) -> Trial:
        answers: list[dict[str, Any]] = []
        task = {"do": "load", "how": how, **self._told(one)}

        def run() -> dict[str, float]:
            file = self._file(one)
            if case == "cold":
                drop_pages(file)
            else:
                read_pages(file)
            cached = page_share(file)
            answers[:] = visit(
                task | {"file": str(file)},
                processes=_PROCESSES if case == "four processes" else 1,
            )
            if case == "four processes":
                pss = sum(answer["pss_mb"] for answer in answers)
                bare = sum(answer["pss_before_mb"] for answer in answers)
                return {"pss_mb": pss, "pss_more_mb": pss - bare}
            told = {name: answers[0][name] for name in (*_TOLD, "anonymous_more_mb")}
            return told | {"cached_before": -1.0 if cached is None else cached}

        return Trial(f"{one.name}: {how}", run, lambda: self._judge(self._there, answers[0]))

    def _shrinking(self, one: Contestant) -> Trial:
        answers: list[dict[str, Any]] = []
        task = {"do": "shrink", **self._told(one)}

        def run() -> dict[str, float]:
            answers[:] = visit(
                task
                | {
                    "rows": self._array("rows", self._stage.first),
                    "leaving": self._array("leaving", self._leaving),
                }
            )
            return {name: value for name, value in answers[0].items() if name != "found"}

        def check() -> tuple[int, Verdict]:
            if self._few is None:
                numbers = np.arange(self._stage.n_first, dtype=np.int64)
                self._few = Population(self._stage.first, numbers)
                self._few.leave(self._leaving)
            return self._judge(self._few, answers[0])

        return Trial(one.name, run, check)

    def _told(self, one: Contestant) -> dict[str, Any]:
        queries = self._array("queries", self._stage.queries)
        return {"contestant": one.name, "threads": self._threads, "queries": queries}

    def _judge(self, there: Population, answer: dict[str, Any]) -> tuple[int, Verdict]:
        found = np.array(answer["found"], dtype=np.int64)
        return len(found), there.judge(self._stage.queries, found)

    def _file(self, one: Contestant) -> Path:
        if one.name not in self._files:
            file = self._folder / f"{one.name}.index"
            one.build(self._stage.first, None, self._threads).save(file)
            _synchronize(file)
            self._files[one.name] = file
        return self._files[one.name]

    def _array(self, name: str, array: np.ndarray[Any, Any]) -> str:
        file = self._folder / f"{name}.npy"
        if not file.exists():
            np.save(file, array)
        return str(file)


def _synchronize(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
