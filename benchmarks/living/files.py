"""Write indexes to files and load them again, in fresh processes; and remove most of an index."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.living.cell import Trial
from benchmarks.living.changes import Cases, Ground
from benchmarks.living.memory import drop_pages, page_share, read_pages, rollup, synchronize
from benchmarks.living.sides import Contestant, Side
from benchmarks.living.stage import Population
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
    sides: list[Side] = []
    file = ground.folder / f"{one.name}.saved"

    def run() -> dict[str, float]:
        if not sides:
            sides.append(one.build(ground.stage.first, None, ground.threads))
        file.unlink(missing_ok=True)
        started = time.perf_counter()
        sides[0].save(file)
        saved = time.perf_counter()
        synchronize(file)
        synced = time.perf_counter()
        size = file.stat().st_size
        return {
            "save_ms": (saved - started) * 1e3,
            "save_and_sync_ms": (synced - started) * 1e3,
            "file_mb": size / 1e6,
            "times_data": size / ground.stage.first.nbytes,
        }

    return [Trial(one.name, run)]


def _loading(ground: Ground, case: str, one: Contestant) -> list[Trial]:
    return [_loading_by(ground, case, one, how) for how in one.loads]


def _loading_by(ground: Ground, case: str, one: Contestant, how: str) -> Trial:
    answers: list[dict[str, Any]] = []
    is_shared = case == "four processes"

    def run() -> dict[str, float]:
        file = ground.folder / f"{one.name}.index"
        if not file.exists():
            one.build(ground.stage.first, None, ground.threads).save(file)
            synchronize(file)
        (drop_pages if case == "cold" else read_pages)(file)
        cached = page_share(file)
        task = _task(ground, one, do="load", how=how, file=str(file))
        answers[:] = visit(task, processes=FRESH_PROCESSES if is_shared else 1)
        if is_shared:
            pss, bare = (sum(one[name] for one in answers) for name in _SHARED)
            return {"pss_mb": pss, "pss_more_mb": pss - bare}
        return _measures(answers[0]) | {"cached_before": -1.0 if cached is None else cached}

    def check() -> Exactness:
        return _judge(ground, ground.stage.population(), answers[0])

    return Trial(f"{one.name}: {how}", run, check)


def _shrinking(ground: Ground, one: Contestant) -> list[Trial]:
    answers: list[dict[str, Any]] = []
    stage = ground.stage
    leaving = np.random.default_rng(3).permutation(stage.n_first)[: 9 * stage.n_first // 10]

    def run() -> dict[str, float]:
        rows, gone = _array(ground, "rows", stage.first), _array(ground, "leaving", leaving)
        answers[:] = visit(_task(ground, one, do="shrink", rows=rows, leaving=gone))
        return _measures(answers[0])

    def check() -> Exactness:
        return _judge(ground, stage.population(without=leaving), answers[0])

    return [Trial(one.name, run, check)]


def _measures(answer: dict[str, Any]) -> dict[str, float]:
    return {name: value for name, value in answer.items() if name not in ("found", *_SHARED)}


def _task(ground: Ground, one: Contestant, **more: str) -> dict[str, Any]:
    queries = _array(ground, "queries", ground.stage.queries)
    return {"contestant": one.name, "threads": ground.threads, "queries": queries, **more}


def _judge(ground: Ground, there: Population, answer: dict[str, Any]) -> Exactness:
    return there.judge(ground.stage.queries, np.array(answer["found"], dtype=np.int64))


def _array(ground: Ground, name: str, array: np.ndarray[Any, Any]) -> str:
    file = ground.folder / f"{name}.npy"
    if not file.exists():
        np.save(file, array)
    return str(file)


def visit(task: dict[str, Any], *, processes: int = 1) -> list[dict[str, Any]]:
    """Return the answers of fresh processes; all have loaded when their memory is measured."""
    pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.living.visitor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env=os.environ | dict.fromkeys(pools, str(task["threads"])),
        )
        for _ in range(processes)
    ]
    try:
        for child in children:
            _write(child, json.dumps(task))
        if task["do"] != "load":
            return [_read(child) for child in children]
        for child in children:
            _read(child)  # has loaded
        shares = [rollup(child.pid)["pss_mb"] for child in children]  # while all are present
        for child in children:
            _write(child, "go on")
        return [_read(child) | {"pss_mb": pss} for child, pss in zip(children, shares, strict=True)]
    finally:
        for child in children:
            child.communicate()


def _write(child: "subprocess.Popen[str]", line: str) -> None:
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


def _read(child: "subprocess.Popen[str]") -> dict[str, Any]:
    assert child.stdout is not None
    assert child.stderr is not None
    line = child.stdout.readline()
    if not line:
        complaint = child.stderr.read().strip().rpartition("\n")[2]
        raise RuntimeError(complaint or "the process ended without an answer")
    answer: dict[str, Any] = json.loads(line)
    return answer
