"""Compare growing, shrinking and saved indexes with peers: `python -m benchmarks.living --help`.

fastmks beside FAISS (IndexIDMap2 over IndexFlatIP) and usearch (exact searches): adding, removing,
searching while another thread writes, files. Finished cells are kept in the file of `--out`, and
a run that was stopped goes on where it was.
"""

import gc
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.living.cell import Cell, Key, Trial, key_of, run_cell, trials_of
from benchmarks.living.changes import Cases, Ground, adding, mixing, removing
from benchmarks.living.files import files
from benchmarks.living.moving import move_cases, move_trial
from benchmarks.living.sides import contestants
from benchmarks.living.stage import Stage, collect
from benchmarks.living.tables import all_tables, checks
from benchmarks.suite import Run, Suite

SECTIONS = ("adding", "moving", "removing", "mixing", "files")
_CHANGES: dict[str, Callable[[Ground], Cases]] = {
    "adding": adding,
    "removing": removing,
    "mixing": mixing,
    "files": files,
}
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
                    _measure_section(run, section, cases_of, ground)
    if "moving" in options.sections and run.collector.wants("moving"):
        _measure_moving(run)


def _measure_section(
    run: Run[Cell], section: str, cases_of: Callable[[Ground], Cases], ground: Ground
) -> None:
    stage, threads = ground.stage, ground.threads
    cases = {key_of(stage, section, case, threads): make for case, make in cases_of(ground)}
    run.expect(len(cases))
    for key in run.missing(list(cases)):
        _measure_cell(run, key, stage, trials_of(contestants(section), stage, cases[key]))


def _measure_moving(run: Run[Cell]) -> None:
    threads = run.options.threads
    n_objects, n_queries = run.collector.limits(run.sizes.n_objects, run.sizes.n_queries)
    n_tree = min(run.sizes.n_tree, n_objects)
    cases = dict(move_cases(n_objects, n_tree, threads))
    run.expect(len(cases))
    for key in run.missing(list(cases)):
        stage = cases[key].stage(n_queries)
        _measure_cell(run, key, stage, [move_trial(stage, cases[key].algorithm, threads=threads)])


def _measure_cell(run: Run[Cell], key: Key, stage: Stage, trials: list[Trial]) -> None:
    run.announce(key)
    rounds = 1 if key.case in _MEMORY_CASES else run.sizes.rounds
    cell = run_cell(key, stage, trials, rounds=rounds, commit=run.kept.commit)
    trials.clear()
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
