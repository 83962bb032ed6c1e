"""The paper's evaluation, and what has become of it: `python -m benchmarks.paper --data DIR`.

Kernel evaluations and time of the linear scan, of our engines and of mlpack's trees, on the
paper's data sets as far as they can be had, under its kernels, for its k; the growth of its
protein experiment; and what approximate searches miss and save beside what they promise. One
thread. Finished cells are kept in the folder of `--out`, and a run that was stopped goes on where
it was. Tables and pictures go there too.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.command import Collector, add_kept_options, read_options
from benchmarks.kept import Kept
from benchmarks.paper import approximate, proteins, vectors
from benchmarks.paper.approximate import ApproximateCell
from benchmarks.paper.figures import draw_all
from benchmarks.paper.sets import PaperSet, all_sets
from benchmarks.paper.tables import all_tables, checks, line_about, line_of
from benchmarks.race.cell import Cell, Pace, read_cell
from benchmarks.race.contest import hold, keys_of
from benchmarks.report import Check
from benchmarks.running import INTERRUPTED, Run, carry_out
from benchmarks.sequences import read_sequences

__all__ = ["NAME", "SECTIONS", "main"]

NAME = "paper"
NAME_OF_APPROXIMATE = "paper_approximate"
SECTIONS = ("vectors", "proteins", "approximate")
_APPROXIMATED = (
    "Opt-digits", "Physics", "Corel", "Netflix", "Covertype", "LCDM",
    "uniform 3-d", "normal 10-d",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    """How much of everything, unless the command line says otherwise."""

    n_objects: int
    n_queries: int
    ks: tuple[int, ...]
    protein_sizes: tuple[int, ...]
    n_protein_queries: int
    n_approximate_queries: int
    approximate_ks: tuple[int, ...]
    n_sampled: int  # of which hardness is found
    most_patience: float  # seconds, for a build or a search of mlpack, and for a tree of proteins
    pace: Pace


_FULL = _Sizes(
    n_objects=10**9,
    n_queries=1000,
    ks=(1, 2, 5, 10),
    protein_sizes=proteins.SIZES,
    n_protein_queries=100,
    n_approximate_queries=100,
    approximate_ks=(1, 10),
    n_sampled=1000,
    most_patience=1e9,
    pace=Pace(rounds=5, lap_seconds=0.2, far_behind=1e9, check_seconds=1e9),
)
_QUICK = _Sizes(
    n_objects=2_000,
    n_queries=100,
    ks=(1, 10),
    protein_sizes=(500, 1_000, 2_000),
    n_protein_queries=20,
    n_approximate_queries=50,
    approximate_ks=(10,),
    n_sampled=200,
    most_patience=5.0,
    pace=Pace(
        rounds=2,
        lap_seconds=0.02,
        look_seconds=0.005,
        rounds_seconds=0.1,
        far_behind=1e9,
        check_seconds=1e9,
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every answer of ours is the scan's."""
    options = read_options("paper", __doc__, arguments, _extend)
    sizes = _QUICK if options.quick else _FULL
    kept = Kept(NAME, _file(options, NAME), read=read_cell, most_others=options.quiet)
    promises = Kept(NAME_OF_APPROXIMATE, _file(options, NAME_OF_APPROXIMATE), read=approximate.read)
    collector = Collector(options)

    def claims() -> list[Check]:
        return checks(kept.cells, promises.cells)

    run = carry_out(options, kept, partial(_run_exact, options, sizes), claims, collector)
    if not (run.is_interrupted or run.is_out_of_time or options.show):
        work = partial(_run_approximate, options, sizes)
        run_of_promises = carry_out(options, promises, work, claims, collector)
        kept.write(collector.notes, claims())
        run.is_interrupted = run_of_promises.is_interrupted
    if run.is_interrupted:
        return INTERRUPTED
    return _finish(options, kept, promises)


def _extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--kernels", nargs="+", choices=[case.name for case in vectors.KERNELS])
    add_kept_options(parser)


def _file(options: argparse.Namespace, name: str) -> Path | None:
    return None if options.out is None else options.out / f"{name}.json"


def _run_exact(options: argparse.Namespace, sizes: _Sizes, run: Run[Cell]) -> None:
    pace, patience = sizes.pace, min(options.patience, sizes.most_patience)
    if "vectors" in options.sections:
        for one in _sets(options, sizes, run.collector, sizes.n_queries):
            contests = [
                vectors.contest_of(
                    one, case, ks=sizes.ks, patience=patience, n_sampled=sizes.n_sampled
                )
                for case in vectors.KERNELS
                if options.kernels is None or case.name in options.kernels
            ]
            run.expect(sum(len(keys_of(contest)) for contest in contests))
            for contest in contests:
                hold(contest, run, pace, line_of)
    if "proteins" in options.sections and run.collector.wants("proteins"):
        n_most, n_queries = run.collector.limits(sizes.protein_sizes[-1], sizes.n_protein_queries)
        sequences, origin = read_sequences(options.data, n_most + n_queries)
        n_most = min(n_most, len(sequences) - n_queries)
        smaller = [size for size in sizes.protein_sizes if size < n_most]
        run.expect(len(proteins.LENGTHS) * (len(smaller) + 1) * len(sizes.ks))
        for contest in proteins.contests(
            sequences,
            origin,
            sizes=(*smaller, n_most),
            n_queries=n_queries,
            ks=sizes.ks,
            patience=patience,
            n_sampled=sizes.n_sampled,
            kept=run.kept,
        ):
            hold(contest, run, pace, line_of)


def _run_approximate(options: argparse.Namespace, sizes: _Sizes, run: Run[ApproximateCell]) -> None:
    if "approximate" not in options.sections:
        return
    for one in _sets(options, sizes, run.collector, sizes.n_approximate_queries):
        if one.row not in _APPROXIMATED:
            continue
        for case in approximate.KERNELS:
            problem = case.adapted(one.problem)
            wanted = list(approximate.keys(problem, case, sizes.approximate_ks))
            run.expect(len(wanted))
            wanted = [key for key in wanted if run.wants(key)]
            if not wanted:
                continue
            index = approximate.make_index(problem, case)
            for key in wanted:
                run.announce(key)
                cell = approximate.measure(index, problem, case, key, run.kept.commit)
                run.keep(cell, line_about(cell))


def _sets(
    options: argparse.Namespace, sizes: _Sizes, collector: Collector, n_queries: int
) -> Iterator[PaperSet]:
    return all_sets(collector, options.data, n_objects=sizes.n_objects, n_queries=n_queries)


def _finish(options: argparse.Namespace, kept: Kept[Cell], promises: Kept[ApproximateCell]) -> int:
    text = all_tables(kept, promises)
    print(text)
    if options.out is not None:
        (options.out / "paper.md").write_text(text + "\n", encoding="utf-8")
        draw_all(kept.cells, promises.cells, options.out)
    claims = checks(kept.cells, promises.cells)
    print(*claims, sep="\n")
    return 0 if all(claim.holds for claim in claims if claim.is_required) else 1


if __name__ == "__main__":
    sys.exit(main())
