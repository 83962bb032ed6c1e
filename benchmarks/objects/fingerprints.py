"""Tanimoto search of molecules, beside FPSim2: `python -m benchmarks.objects.fingerprints --help`.

With `--data`: the molecules of moses_200k.smi.gz; without: generated fingerprints, and no peer
but numpy. The top 10 of each query, single queries and batches, interleaved, on 1 and 2 threads.
"""

import argparse
import sys
from collections.abc import Iterator

from benchmarks.kernels import TANIMOTO
from benchmarks.objects.ledger import Program, Row
from benchmarks.peers.fingerprints import FPSIM2, fingerprint_entrants, make_fingerprints
from benchmarks.race.cell import Cell, Pace, key_of, measure
from benchmarks.race.entrant import Task, enter
from benchmarks.race.judge import Judge
from benchmarks.suite import EVERYTHING, Collector

_K = 10
_NAMES = {  # in rows; numpy is the same on more threads
    "fastmks auto": "fastmks",
    "fastmks scan": "fastmks scan",
    FPSIM2: FPSIM2,
    "numpy popcounts": "numpy",
}


def _measure(options: argparse.Namespace, collector: Collector) -> Iterator[Row]:
    n_objects = options.objects or (5_000 if options.quick else 200_000)
    n_queries = options.queries or (20 if options.quick else 100)
    rounds = options.rounds or (2 if options.quick else 5)
    problem, peer = make_fingerprints(options.data, n_objects, n_queries, collector.note)
    judge = Judge(problem, TANIMOTO, _K, threads=2)
    endless = float(EVERYTHING)
    pace = Pace(rounds=rounds, lap_seconds=endless, rounds_seconds=0.0, far_behind=endless)
    for threads in (1, 2):
        task = Task(problem=problem, case=TANIMOTO, threads=threads, patience=endless)
        everyone = [one for one in fingerprint_entrants(peer) if one.name in _NAMES]
        entries = [enter(one, task) for one in everyone if threads == 1 or not one.own_threads]
        for batch in (1, problem.n_queries):
            key = key_of(problem, TANIMOTO.name, k=_K, batch=batch, threads=threads)
            some = [one for one in entries if batch == 1 or one.entrant.is_ours]
            cell = measure(key, some, judge, pace)
            yield from _rows(cell)
            collector.note(f"others took {cell.others or 0.0:.0%} of the machine: {key}")


def _rows(cell: Cell) -> Iterator[Row]:
    for one in cell.figures:
        if one.median_us is not None and one.best_us is not None:
            how = "single queries" if cell.batch == 1 else "one batch"
            yield {
                "problem": cell.problem,
                "n_objects": cell.n_objects,
                "n_queries": cell.n_queries,
                "threads": cell.threads,
                "contestant": f"{_NAMES[one.name]}, {how}",
                "milliseconds": one.median_us / 1e3,  # a query, median of the rounds
                "fastest": one.best_us / 1e3,
                "wrong": (one.differ or 0) if one.is_ours else one.wrong,
                "evaluations": None if one.name == FPSIM2 else one.evaluations,  # a query
            }


main = Program(
    name="fingerprints",
    about=__doc__,
    measure=_measure,
    head="set|objects|threads||ms a query|fastest|evaluations|wrong",
    cells="{problem}|{n_objects}|{threads}|{contestant}|{milliseconds:.3f}|{fastest:.3f}"
    "|{evaluations:.0f}|{wrong} of {n_queries}",
    is_wrong=lambda row: row["contestant"].startswith("fastmks") and row["wrong"] > 0,
).main

if __name__ == "__main__":
    sys.exit(main())
