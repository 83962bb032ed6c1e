"""Measure shards on a cluster of processes of this machine: `python -m benchmarks.scale --help`.

Builds and searches beside one index and beside distributed scans; what distribution itself costs,
by batch and by the number of shards; two rounds; and the paper's model of it all against real runs.
Finished cells are kept in the file of `--out`, and a run that was stopped goes on where it was.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.command import add_kept_options, read_options
from benchmarks.kept import Kept
from benchmarks.report import Check
from benchmarks.running import INTERRUPTED, Run, carry_out
from benchmarks.scale.cell import Cell, Key, read_cell
from benchmarks.scale.sections import (
    Pace,
    key_of,
    measure_merging,
    measure_model,
    measure_rounds,
    measure_search,
)
from benchmarks.scale.tables import all_tables
from benchmarks.scale.work import Work, decaying, mnist, product, proteins
from fastmks import kernels

__all__ = ["NAME", "main"]

NAME = "scale"
_K = 10
_ALIGNED = kernels.Normalized(kernels.LocalAlignment())


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    n_vectors: int
    n_proteins: int
    n_aligned: int
    n_queries: int
    batches: tuple[int, ...]
    workers: tuple[int, ...]
    shards: tuple[int, ...]
    model_workers: tuple[int, ...]
    rounds: int


_FULL = _Sizes(
    n_vectors=400_000,
    n_proteins=50_000,
    n_aligned=1_500,
    n_queries=5000,
    batches=(1, 100, 5000),
    workers=(1, 2, 4),
    shards=(1, 2, 4, 8, 16, 32, 64),
    model_workers=(1, 2, 3, 4, 6, 8),
    rounds=7,
)
_QUICK = _Sizes(
    n_vectors=4_000,
    n_proteins=400,
    n_aligned=60,
    n_queries=20,
    batches=(1, 20),
    workers=(2,),
    shards=(2,),
    model_workers=(1, 2),
    rounds=1,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, keep; 0 when every answer is that of one index."""
    options = read_options(NAME, __doc__, arguments, add_kept_options)
    kept = Kept(NAME, options.out, read=read_cell)
    run = carry_out(options, kept, lambda run: _Program(run).run(), lambda: _checks(kept.cells))
    if run.is_interrupted:
        return INTERRUPTED
    print(all_tables(kept))
    claims = _checks(kept.cells)
    print(*claims, sep="\n")
    return 0 if all(claim.holds for claim in claims) else 1


def _checks(cells: Sequence[Cell]) -> list[Check]:
    return [
        Check(
            claim="queries with other answers than those of one index",
            value=float(sum(cell.differ for cell in cells)),
            limit=0,
            is_required=True,
        )
    ]


class _Program:
    """Measures what is not kept yet."""

    def __init__(self, run: Run[Cell]) -> None:
        options: argparse.Namespace = run.options
        self._run, self._data = run, options.data
        self._sizes = _QUICK if options.quick else _FULL
        self._pace = Pace(options.rounds or self._sizes.rounds, run.kept.commit)

    def run(self) -> None:
        """Go through all sections."""
        sizes = self._sizes
        for work in self._works():
            batches = [batch for batch in sizes.batches if batch <= len(work.queries)]
            for n_workers in sizes.workers:
                keys = [
                    key_of("build", work, 0, _K, n_workers, n_workers),
                    *(key_of("search", work, batch, _K, n_workers, n_workers) for batch in batches),
                ]
                self._section(
                    keys,
                    partial(measure_search, work, batches, _K, n_workers, self._pace),
                )
        for n_shards in sizes.shards:
            small = decaying(64 * n_shards, sizes.n_queries)
            batches = [batch for batch in (1, 1000) if batch <= len(small.queries)]
            keys = [key_of("merging", small, batch, _K, 2, n_shards) for batch in batches]
            self._section(
                keys,
                partial(measure_merging, small, batches, _K, n_shards, 2, self._pace),
            )
        self._rounds()
        model = decaying(sizes.n_vectors // 4, 64)
        numbers = list(sizes.model_workers)
        keys = [key_of("model", model, len(model.queries), _K, n, n) for n in numbers]
        self._section(keys, lambda: measure_model(model, _K, numbers, self._pace))

    def _works(self) -> Iterable[Work]:
        sizes = self._sizes
        yield decaying(sizes.n_vectors, sizes.n_queries)
        if self._data is not None:
            pixels = mnist(Path(self._data), sizes.n_queries)
            if pixels is not None:
                yield pixels
        yield proteins(
            self._data, sizes.n_proteins, min(1000, sizes.n_queries), kernels.Spectrum(p=3)
        )

    def _rounds(self) -> None:
        sizes = self._sizes
        n_few = min(20, sizes.n_queries)
        works = [
            decaying(sizes.n_vectors // 4, min(200, sizes.n_queries)),
            decaying(sizes.n_vectors // 20, n_few, kernel=kernels.Custom(product)),
            proteins(self._data, sizes.n_aligned, n_few, _ALIGNED),
        ]
        for work in works:
            for is_sorted in (False, True):
                section = "rounds, sorted" if is_sorted else "rounds, mixed"
                keys = [key_of(section, work, len(work.queries), _K, 2, 8)]
                self._section(
                    keys,
                    partial(measure_rounds, work, _K, 8, 2, self._pace, is_sorted=is_sorted),
                )

    def _section(self, keys: Sequence[Key], cells: Callable[[], Iterable[Cell]]) -> None:
        self._run.expect(len(keys))
        wanted = [key for key in keys if self._run.wants(key)]
        if not wanted:
            return
        self._run.announce(wanted[0])
        for cell in cells():
            if cell.key in wanted:
                self._run.keep(cell, str(cell.key))
