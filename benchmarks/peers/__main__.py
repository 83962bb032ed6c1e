"""Compare fastmks with the libraries in use today: `python -m benchmarks.peers --help`.

Exact searches of vectors by inner product, by cosine and by a power of products, beside FAISS (flat
and Panorama), numpy, usearch, scikit-learn and mlpack, with hnswlib as the approximate one; of
sparse rows and strings beside scipy and sparse_dot_topn; of fingerprints beside FPSim2. Every set,
kernel, k, batch and number of threads is a cell; finished cells are kept in the file of `--out`,
and a run that was stopped goes on where it was.

Everything together would take hours: one thread has every batch for the k in the middle, and the
other k for single queries and for the largest batch; more threads have that k and those batches.
"""

import sys

from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, SPECTRUM, TANIMOTO
from benchmarks.peers.bars import MAIN_K, checks
from benchmarks.peers.sets import LOW, POINTS, Given, Source, find_sources
from benchmarks.peers.tables import all_tables, bar_table, bars_of
from benchmarks.race.cell import Cell, Key, Pace
from benchmarks.race.contest import Contest, hold, keys_of
from benchmarks.race.entrant import NOT_INSTALLED, Entrant
from benchmarks.suite import EVERYTHING, Run, Suite

_KERNELS = tuple(case.name for case in (LINEAR, COSINE, POLYNOMIAL, SPECTRUM, TANIMOTO))
_WITHOUT_GRAPHS = ("aloi", "normal")  # an approximate graph is built for the others


def _measure(run: Run[Cell]) -> None:
    pace = Pace(rounds=run.sizes.rounds, lap_seconds=run.sizes.lap_seconds)
    for source in find_sources(run.collector):
        n_queries = max(_batches(run, source))
        given = source.read(*run.collector.limits(run.sizes.n_objects, n_queries))
        for entrant in given.entrants():
            if entrant.missing:
                run.collector.note(f"{NOT_INSTALLED}: {entrant.name}")
        contests = contests_of(run, source, given)
        run.expect(sum(len(keys_of(contest)) for contest in contests))
        for contest in contests:
            hold(contest, run, pace)


def contests_of(run: Run[Cell], source: Source, given: Given) -> list[Contest]:
    """Return a contest for each kernel of a set."""
    options, problem = run.options, given.problem
    ks = options.k or run.sizes.ks
    return [
        Contest(
            problem=problem,
            case=case,
            entrants=given.entrants,
            ks=ks,
            batches=_batches(run, source),
            threads=options.threads or run.sizes.threads,
            patience=options.patience,
            wants=lambda key: _wants(key, MAIN_K if MAIN_K in ks else ks[0]),
            serves=serves,
            facts=lambda: {"kind": problem.kind, "data_bytes": problem.n_bytes},
        )
        for case in source.cases
        if options.kernels is None or case.name in options.kernels
    ]


def _wants(key: Key, main_k: int) -> bool:
    is_main, is_end = key.k == main_k, key.batch in (1, key.n_queries)
    if key.kernel == POLYNOMIAL.name:
        return is_main and is_end and key.threads == 1
    return (is_main and is_end) if key.threads > 1 else (is_main or is_end)


def serves(entrant: Entrant, key: Key) -> bool:
    """Whether an entrant takes part in a cell."""
    is_power = key.kernel == POLYNOMIAL.name
    is_whole = key.batch == key.n_queries and key.threads == 1
    has_trees = key.problem in (*LOW, POINTS) and key.kernel in (LINEAR.name, COSINE.name)
    return (
        (is_whole or is_power or not entrant.whole_batch_only)
        and (key.threads == 1 or not entrant.one_thread_only)
        and (key.batch == 1 or not entrant.single_only)
        and (has_trees or not entrant.only_low)
        and (entrant.is_exact or key.problem not in _WITHOUT_GRAPHS)
    )


def _batches(run: Run[Cell], source: Source) -> tuple[int, ...]:
    batches = run.options.batches or run.sizes.batches
    return tuple(sorted({min(batch, source.n_queries) for batch in batches}))


SUITE = Suite(
    name="peers_bars",
    about=__doc__,
    cell=Cell,
    full={
        "n_objects": EVERYTHING, "ks": (1, 10, 100), "batches": (1, 100, 5000), "threads": (1, 2),
        "rounds": 5, "lap_seconds": 0.15,
    },
    quick={
        "n_objects": 10_000, "ks": (1, 10), "batches": (1, 500), "threads": (1,),
        "rounds": 3, "lap_seconds": 0.1,
    },
    work=_measure,
    checks=lambda kept: checks(kept.cells, bars_of(kept)),
    show=lambda options, kept: (all_tables if options.show else bar_table)(kept),
    options={
        "--threads": {"type": int, "nargs": "+", "metavar": "T", "help": "default 1 2"},
        "--k": {"type": int, "nargs": "+", "metavar": "K", "help": "default 1 10 100"},
        "--batches": {"type": int, "nargs": "+", "metavar": "N", "help": "default 1 100 5000"},
        "--kernels": {"nargs": "+", "choices": _KERNELS, "help": "default all"},
    },
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(SUITE.main())
