"""A fresh process that loads an index, or builds one and removes most of it, and reports costs.

Told what to do by a line of JSON; answers with lines of JSON. Started by `visits`.
"""

import gc
import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.harness import pinned
from benchmarks.living.memory import rollup
from benchmarks.living.sides import Contestant, K, find_contestant


def main() -> None:
    """Read a line, do what it says, and answer."""
    task = json.loads(sys.stdin.readline())
    contestant = find_contestant(task["contestant"])
    assert contestant.missing is None  # its modules are imported now
    with pinned(task["threads"], task["threads"]):
        _tell(_load(contestant, task) if task["do"] == "load" else _shrink(contestant, task))


def _load(contestant: Contestant, task: dict[str, Any]) -> dict[str, Any]:
    queries = np.load(task["queries"])
    before = rollup()
    started = time.perf_counter()
    side = contestant.loads[task["how"]](task["file"], task["threads"])
    loaded = time.perf_counter()
    side.search(queries[:1], K)
    first = time.perf_counter()
    side.search(queries[1:2], K)
    second = time.perf_counter()
    found = side.search(queries, K)
    after = rollup()
    _tell({"ready": True})
    sys.stdin.readline()  # meanwhile the parent measures the memory of all processes
    return {
        "load_ms": (loaded - started) * 1e3,
        "first_ms": (first - loaded) * 1e3,
        "second_ms": (second - first) * 1e3,
        "to_first_answer_ms": (first - started) * 1e3,
        "rss_mb": after["rss_mb"],
        "rss_more_mb": after["rss_mb"] - before["rss_mb"],
        "anonymous_more_mb": after["anonymous_mb"] - before["anonymous_mb"],
        "pss_before_mb": before["pss_mb"],
        "found": found.tolist(),
    }


def _shrink(contestant: Contestant, task: dict[str, Any]) -> dict[str, Any]:
    rows = np.load(task["rows"], mmap_mode="r")
    queries = np.load(task["queries"])
    leaving = np.load(task["leaving"])
    bare = rollup()["anonymous_mb"]
    side = contestant.build(np.array(rows), None, task["threads"])
    side.search(queries[:1], K)
    full = rollup()["anonymous_mb"] - bare
    started = time.perf_counter()
    side.remove(leaving)
    seconds = time.perf_counter() - started
    left = rollup()["anonymous_mb"] - bare
    found = side.search(queries, K)
    gc.collect()
    return {
        "full_mb": full,
        "left_mb": left,
        "left_when_collected_mb": rollup()["anonymous_mb"] - bare,
        "seconds": seconds,
        "found": found.tolist(),
    }


def _tell(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
