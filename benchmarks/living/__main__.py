"""Compare growing, shrinking and saved indexes with peers: `python -m benchmarks.living --help`.

fastmks beside FAISS (IndexIDMap2 over IndexFlatIP) and usearch (exact searches): adding, removing,
searching while another thread writes, files. Finished cells are kept in the file of `--out`, and
a run that was stopped goes on where it was.
"""

import gc
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.living.cell import Cell, Trial, key_of, run_cell, trials_of
from benchmarks.living.changes import Ground, adding, mixing, removing
from benchmarks.living.files import files
from benchmarks.living.moving import move_stages, move_trials
from benchmarks.living.sides import contestants
from benchmarks.living.stage import Stage, collect
from benchmarks.living.tables import all_tables, checks
from benchmarks.suite import Run, Suite

_CHANGES = {one.__name__: one for one in (adding, removing, mixing, files)}
SECTIONS = ("moving", *_CHANGES)
_MEMORY_CASES = ("four processes", "90 % removed")  # bytes hardly vary: one round


def _measure(run: Run[Cell]) -> None:
    options, sizes = run.options, run.sizes
    for one in contestants():
        if one.missing:
            run.collector.note(f"{one.name}: {one.missing}")
    for stage in collect(run.collector, sizes.n_objects, sizes.n_queries, sizes.dtypes):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            ground = Ground(
                stage=stage,
                threads=options.threads,
                lap_seconds=sizes.lap_seconds,
                mix_seconds=options.seconds or sizes.mix_seconds,
                folder=Path(folder),
            )
            for section, cases_of in _CHANGES.items():
                if section in options.sections:
                    for case, make in cases_of(ground):
                        trials = partial(trials_of, contestants(section), stage, make)
                        _measure_cell(run, section, case, stage, trials)
    if "moving" in options.sections and run.collector.wants("moving"):
        n_objects, n_queries = run.collector.limits(sizes.n_objects, sizes.n_queries)
        n_tree = min(sizes.n_tree, n_objects)
        for case, algorithm, stage in move_stages(n_objects, n_tree, n_queries):
            trials = partial(move_trials, stage, algorithm, options.threads)
            _measure_cell(run, "moving", case, stage, trials)


def _measure_cell(
    run: Run[Cell], section: str, case: str, stage: Stage, trials: Callable[[], list[Trial]]
) -> None:
    run.expect(1)
    for key in run.missing([key_of(stage, section, case, run.options.threads)]):
        run.announce(key)
        rounds = 1 if case in _MEMORY_CASES else run.sizes.rounds
        cell = run_cell(key, stage, trials(), rounds=rounds)
        gc.collect()
        run.keep(cell)


SUITE = Suite(
    name="living",
    about=__doc__,
    cell=Cell,
    full={
        "n_objects": 1_000_000,
        "n_tree": 50_000,  # objects in a tree of 50 columns
        "n_queries": 50,
        "rounds": 3,
        "lap_seconds": 8.0,  # that adding or removing may take, before it is extrapolated
        "mix_seconds": 3.0,
        "dtypes": ("float32", "float64"),  # of the generated set
    },
    quick={
        "n_objects": 20_000, "n_tree": 5_000, "n_queries": 20, "rounds": 1,
        "lap_seconds": 0.5, "mix_seconds": 0.3, "dtypes": ("float32",),
    },
    work=_measure,
    checks=checks,
    show=lambda options, kept: all_tables(kept),
    options={
        "--threads": {"type": int, "default": 1, "metavar": "T", "help": "default 1"},
        "--sections": {"nargs": "+", "choices": SECTIONS, "default": list(SECTIONS)},
        "--seconds": {"type": float, "metavar": "S", "help": "of each search while writing"},
        "--folder": {
            "type": Path, "metavar": "DIR", "help": "where files are written, and removed again"
        },
    },
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(SUITE.main())
