"""The paper's evaluation, measured again: `python -m benchmarks.paper --data DIR`.

Kernel evaluations and time of the linear scan, of our engines and of mlpack's trees, on the
paper's data sets as far as they can be had, under its kernels, for its k; the growth of its
protein experiment; and what approximate searches miss and save beside what they promise. One
thread. Finished cells are kept in the folder of `--out`, and a run that was stopped goes on where
it was. Tables and pictures go there too.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.paper import approximate
from benchmarks.paper.approximate import ApproximateCell
from benchmarks.paper.contests import KERNELS, contest_of, protein_contests
from benchmarks.paper.figures import draw_all
from benchmarks.paper.sets import PaperSet, all_sets
from benchmarks.paper.tables import all_tables, checks
from benchmarks.race.cell import Cell, Pace
from benchmarks.race.contest import hold, keys_of
from benchmarks.report import Check
from benchmarks.suite import EVERYTHING, INTERRUPTED, Collector, Kept, Run, Suite, conclude

_SECTIONS = ("vectors", "proteins", "approximate")
_APPROXIMATED = (
    "Opt-digits", "Physics", "Corel", "Netflix", "Covertype", "LCDM",
    "uniform 3-d", "normal 10-d",
)  # fmt: skip


def _run_exact(run: Run[Cell]) -> None:
    options, sizes = run.options, run.sizes
    if "vectors" in options.sections:
        for one in _sets(run, sizes.n_queries):
            contests = [
                contest_of(run, one, case)
                for case in KERNELS
                if options.kernels is None or case.name in options.kernels
            ]
            run.expect(sum(len(keys_of(contest)) for contest in contests))
            for contest in contests:
                hold(contest, run, sizes.pace)
    if "proteins" in options.sections and run.collector.wants("proteins"):
        for contest in protein_contests(run):
            hold(contest, run, sizes.pace)


def _run_approximate(run: Run[ApproximateCell]) -> None:
    if "approximate" not in run.options.sections:
        return
    for one in _sets(run, run.sizes.n_approximate_queries):
        if one.row not in _APPROXIMATED:
            continue
        for case in approximate.KERNELS:
            problem = case.adapted(one.problem)
            keys = approximate.keys(problem, case, run.sizes.approximate_ks)
            run.expect(len(keys))
            wanted = run.missing(keys)
            if not wanted:
                continue
            index = approximate.make_index(problem, case)
            for key in wanted:
                run.announce(key)
                run.keep(approximate.measure(index, problem, case, key))


def _sets(run: Run[Any], n_queries: int) -> Iterator[PaperSet]:
    return all_sets(run.collector, n_objects=run.sizes.n_objects, n_queries=n_queries)


EXACT = Suite(
    name="paper",
    about=__doc__,
    cell=Cell,
    full={
        "n_objects": EVERYTHING, "n_queries": 1000, "ks": (1, 2, 5, 10),
        "protein_sizes": (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
        "n_protein_queries": 100, "n_approximate_queries": 100, "approximate_ks": (1, 10),
        "n_sampled": 1000,  # of which hardness is found
        "most_patience": 1e9,  # seconds, for a build or a search of mlpack, and a tree of proteins
        "pace": Pace(rounds=5, lap_seconds=0.2, far_behind=1e9, check_seconds=1e9),
    },
    quick={
        "n_objects": 2_000, "n_queries": 100, "ks": (1, 10),
        "protein_sizes": (500, 1_000, 2_000),
        "n_protein_queries": 20, "n_approximate_queries": 50, "approximate_ks": (10,),
        "n_sampled": 200, "most_patience": 5.0,
        "pace": Pace(
            rounds=2, lap_seconds=0.02, look_seconds=0.005, rounds_seconds=0.1, far_behind=1e9,
            check_seconds=1e9,
        ),
    },
    work=_run_exact,
    checks=lambda kept: checks(kept.cells, []),
    show=lambda options, kept: kept.describe(),
    options={
        "--sections": {"nargs": "+", "choices": _SECTIONS, "default": list(_SECTIONS)},
        "--kernels": {"nargs": "+", "choices": [case.name for case in KERNELS]},
    },
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every answer of ours is the scan's."""
    options = EXACT.read_options(arguments)
    collector, out = Collector(options), options.out
    run = EXACT.start(options, out and out / "paper.json", collector)
    exact = run.kept
    approximated = Kept(
        "paper_approximate", out and out / "paper_approximate.json", ApproximateCell
    )
    promises = Run(options, EXACT.sizes_of(options), approximated, collector)

    def claims() -> list[Check]:
        return checks(exact.cells, approximated.cells)

    if not run.carry_out(_run_exact, claims):
        return INTERRUPTED
    if not (run.is_out_of_time or options.show):
        if not promises.carry_out(_run_approximate, claims):
            return INTERRUPTED
        exact.write(collector.notes, claims())
    text = all_tables(exact, approximated)
    print(text)
    if out is not None:
        (out / "paper.md").write_text(text + "\n", encoding="utf-8")
        draw_all(exact.cells, approximated.cells, out)
    return conclude(claims())


if __name__ == "__main__":
    sys.exit(main())
