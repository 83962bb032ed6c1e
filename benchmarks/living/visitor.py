"""A fresh process that loads an index, or builds one and removes most of it, and reports costs.

Told what to do by a line of JSON. It answers twice: when it is done, and after another line with
its measures; so all such processes are present when each measures its memory.
"""

import gc
import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.harness import pinned, seconds_of
from benchmarks.living.memory import rollup
from benchmarks.living.sides import Contestant, K, Side, find_contestant


def main() -> None:
    """Read a line, do what it says, and answer."""
    task = json.loads(sys.stdin.readline())
    contestant = find_contestant(task["contestant"])
    assert contestant.missing is None  # its modules are imported now
    with pinned(task["threads"], task["threads"]):
        side, answer = (_load if task["do"] == "load" else _shrink)(contestant, task)
    print("{}", flush=True)
    sys.stdin.readline()
    print(json.dumps(answer | {"pss_mb": rollup()["pss_mb"]}), flush=True)
    sys.stdin.read()  # stay until all have measured
    del side


def _load(contestant: Contestant, task: dict[str, Any]) -> tuple[Side, dict[str, Any]]:
    queries = np.load(task["queries"])
    before = rollup()
    started = time.perf_counter()
    side = contestant.loads[task["how"]](task["file"], task["threads"])
    loaded = time.perf_counter() - started
    first = seconds_of(lambda: side.search(queries[:1], K))
    second = seconds_of(lambda: side.search(queries[1:2], K))
    found = side.search(queries, K)
    after = rollup()
    return side, {
        "load_ms": loaded * 1e3,
        "first_ms": first * 1e3,
        "second_ms": second * 1e3,
        "to_first_answer_ms": (loaded + first) * 1e3,
        "rss_mb": after["rss_mb"],
        "rss_more_mb": after["rss_mb"] - before["rss_mb"],
        "anonymous_more_mb": after["anonymous_mb"] - before["anonymous_mb"],
        "pss_before_mb": before["pss_mb"],
        "found": found.tolist(),
    }


def _shrink(contestant: Contestant, task: dict[str, Any]) -> tuple[Side, dict[str, Any]]:
    rows = np.load(task["rows"], mmap_mode="r")
    queries = np.load(task["queries"])
    leaving = np.load(task["leaving"])
    bare = rollup()["anonymous_mb"]
    side = contestant.build(np.array(rows), None, task["threads"])
    side.search(queries[:1], K)
    full = rollup()["anonymous_mb"] - bare
    seconds = seconds_of(lambda: side.remove(leaving))
    left = rollup()["anonymous_mb"] - bare
    found = side.search(queries, K)
    gc.collect()
    return side, {
        "full_mb": full,
        "left_mb": left,
        "left_when_collected_mb": rollup()["anonymous_mb"] - bare,
        "seconds": seconds,
        "found": found.tolist(),
    }


if __name__ == "__main__":
    main()
