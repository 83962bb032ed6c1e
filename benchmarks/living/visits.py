"""Start fresh processes, all at once, and collect what they say."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.living.memory import rollup

__all__ = ["visit"]

_ROOT = Path(__file__).parents[2]


def visit(task: dict[str, Any], *, processes: int = 1) -> list[dict[str, Any]]:
    """Return the answers of so many processes; all have loaded when their memory is looked at."""
    threads = str(task["threads"])
    environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.living.visitor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            env=environment,
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
        shares = [rollup(child.pid)["pss_mb"] for child in children]  # while all are there
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
