"""Write indexes to files and load them again, in fresh processes; and remove most of an index."""

import json
import os
import subprocess
import sys
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import seconds_of
from benchmarks.living.cell import Trial
from benchmarks.living.changes import Cases, Ground
from benchmarks.living.memory import page_share, synchronize
from benchmarks.living.sides import Contestant
from benchmarks.race.judge import Exactness

FRESH_PROCESSES = 4
_SHARED = ("pss_mb", "pss_before_mb")  # of several processes


def files(ground: Ground) -> Cases:
    """Save and load indexes, and remove nine tenths of them."""
    yield "saving", partial(_saving, ground)
    for case in ("cold", "warm", "four processes"):
        yield case, partial(_loading, ground, case)
    yield "90 % removed", partial(_shrinking, ground)


def _saving(ground: Ground, one: Contestant) -> list[Trial]:
    file = ground.folder / f"{one.name}.saved"
    build = lru_cache(partial(one.build, ground.stage.first, None, ground.threads))

    def run() -> dict[str, float]:
        file.unlink(missing_ok=True)
        side = build()
        saving = seconds_of(lambda: side.save(file))
        synchronizing = seconds_of(lambda: synchronize(file))
        size = file.stat().st_size
        return {
            "save_ms": saving * 1e3,
            "save_and_sync_ms": (saving + synchronizing) * 1e3,
            "file_mb": size / 1e6,
            "times_data": size / ground.stage.first.nbytes,
        }

    return [Trial(one.name, run)]


def _loading(ground: Ground, case: str, one: Contestant) -> list[Trial]:
    return [_loading_by(ground, case, one, how) for how in one.loads]


def _loading_by(ground: Ground, case: str, one: Contestant, how: str) -> Trial:
    is_shared = case == "four processes"
    last: list[dict[str, Any]] = []

    def run() -> dict[str, float]:
        file = ground.folder / f"{one.name}.index"
        if not file.exists():
            one.build(ground.stage.first, None, ground.threads).save(file)
            synchronize(file)
        file.read_bytes()  # so that it is cached
        synchronize(file, drops_pages=case == "cold")
        cached = page_share(file)
        n_processes = FRESH_PROCESSES if is_shared else 1
        last[:] = _visit(ground, one, n_processes, do="load", how=how, file=str(file))
        if is_shared:
            pss, bare = (sum(answer[name] for answer in last) for name in _SHARED)
            return {"pss_mb": pss, "pss_more_mb": pss - bare}
        return _measures(last[0]) | {"cached_before": -1.0 if cached is None else cached}

    return Trial(f"{one.name}: {how}", run, lambda: _judge(ground, last[0]))


def _shrinking(ground: Ground, one: Contestant) -> list[Trial]:
    stage, last = ground.stage, list[dict[str, Any]]()
    leaving = np.random.default_rng(3).permutation(stage.n_first)[: 9 * stage.n_first // 10]

    def run() -> dict[str, float]:
        arrays = {"rows": stage.first, "leaving": leaving}
        files = {name: _array(ground, name, array) for name, array in arrays.items()}
        last[:] = _visit(ground, one, 1, do="shrink", **files)
        return _measures(last[0])

    return [Trial(one.name, run, lambda: _judge(ground, last[0], removed=leaving))]


def _measures(answer: dict[str, Any]) -> dict[str, float]:
    return {name: value for name, value in answer.items() if name not in ("found", *_SHARED)}


def _judge(ground: Ground, answer: dict[str, Any], removed: Any = ()) -> Exactness:
    return ground.stage.judge(np.array(answer["found"], dtype=np.int64), removed=removed)


def _array(ground: Ground, name: str, array: np.ndarray[Any, Any]) -> str:
    file = ground.folder / f"{name}.npy"
    if not file.exists():
        np.save(file, array)
    return str(file)


def _visit(ground: Ground, one: Contestant, processes: int, **task: str) -> list[dict[str, Any]]:
    """Return the answers of fresh processes; all are ready when they measure their memory."""
    queries = _array(ground, "queries", ground.stage.queries)
    told = {"contestant": one.name, "threads": ground.threads, "queries": queries, **task}
    pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.living.visitor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env=os.environ | dict.fromkeys(pools, str(ground.threads)),
        )
        for _ in range(processes)
    ]
    try:
        answers: list[dict[str, Any]] = []
        for line in (json.dumps(told), "measure"):
            for child in children:
                print(line, file=child.stdin, flush=True)
            answers = list(map(_read, children))
        return answers
    finally:
        for child in children:
            child.communicate()


def _read(child: Any) -> dict[str, Any]:
    line = child.stdout.readline()
    if not line:
        complaint = child.stderr.read().strip().rpartition("\n")[2]
        raise RuntimeError(complaint or "the process ended without an answer")
    answer: dict[str, Any] = json.loads(line)
    return answer
