"""Measure shards on a cluster of processes of this machine: `python -m benchmarks.scale --help`.

Builds and searches beside one index and beside distributed scans; what distribution itself costs,
by batch and by the number of shards; two rounds; and the paper's model of it all against real runs.
Finished cells are kept in the file of `--out`, and a run that was stopped goes on where it was.
"""

import sys
from collections.abc import Callable, Iterable

from benchmarks.report import Check
from benchmarks.scale.sections import (
    Work,
    decaying,
    key_of,
    measure_merging,
    measure_model,
    measure_rounds,
    measure_search,
    mnist,
    product,
    proteins,
)
from benchmarks.scale.tables import Cell, Key, all_tables
from benchmarks.suite import Run, Suite
from fastmks import kernels


def _measure(run: Run[Cell]) -> None:
    sizes = run.sizes
    for work in _works(run):
        batches = [batch for batch in sizes.batches if batch <= len(work.queries)]
        for n in sizes.workers:
            searches = [key_of("search", work, batch, n, n) for batch in batches]
            _section(run, measure_search, work, key_of("build", work, 0, n, n), *searches)
    for n_shards in sizes.shards:
        small = decaying(64 * n_shards, sizes.n_queries)
        batches = [batch for batch in (1, 1000) if batch <= len(small.queries)]
        keys = [key_of("merging", small, batch, 2, n_shards) for batch in batches]
        _section(run, measure_merging, small, *keys)
    for work in _few(run):
        for section in ("rounds, mixed", "rounds, sorted"):
            _section(run, measure_rounds, work, key_of(section, work, len(work.queries), 2, 8))
    model = decaying(sizes.n_vectors // 4, 64)
    keys = [key_of("model", model, 64, n, n) for n in sizes.model_workers]
    _section(run, measure_model, model, *keys)


def _works(run: Run[Cell]) -> Iterable[Work]:
    sizes, folder = run.sizes, run.options.data
    yield decaying(sizes.n_vectors, sizes.n_queries)
    if folder is not None and (pixels := mnist(folder, sizes.n_queries)) is not None:
        yield pixels
    yield proteins(folder, sizes.n_proteins, min(1000, sizes.n_queries), kernels.Spectrum(p=3))


def _few(run: Run[Cell]) -> Iterable[Work]:
    sizes = run.sizes
    n_few = min(20, sizes.n_queries)
    aligned = kernels.Normalized(kernels.LocalAlignment())
    yield decaying(sizes.n_vectors // 4, min(200, sizes.n_queries))
    yield decaying(sizes.n_vectors // 20, n_few, kernel=kernels.Custom(product))
    yield proteins(run.options.data, sizes.n_aligned, n_few, aligned)


def _section(
    run: Run[Cell], measure: Callable[..., Iterable[Cell]], work: Work, *keys: Key
) -> None:
    run.expect(len(keys))
    wanted = run.missing(keys)
    if wanted:
        run.announce(wanted[0])
        for cell in measure(work, keys, run.sizes.rounds):
            if cell.key in wanted:
                run.keep(cell)


SUITE = Suite(
    name="scale",
    about=__doc__,
    cell=Cell,
    full={
        "n_vectors": 400_000, "n_proteins": 50_000, "n_aligned": 1_500, "n_queries": 5000,
        "batches": (1, 100, 5000), "workers": (1, 2, 4), "shards": (1, 2, 4, 8, 16, 32, 64),
        "model_workers": (1, 2, 3, 4, 6, 8), "rounds": 7,
    },
    quick={
        "n_vectors": 4_000, "n_proteins": 400, "n_aligned": 60, "n_queries": 20,
        "batches": (1, 20), "workers": (2,), "shards": (2,), "model_workers": (1, 2), "rounds": 1,
    },
    work=_measure,
    checks=lambda kept: [
        Check(
            claim="queries with other answers than those of one index",
            value=float(sum(cell.differ for cell in kept.cells)),
        )
    ],
    show=lambda options, kept: all_tables(kept),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(SUITE.main())
