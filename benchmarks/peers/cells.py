"""Which cells of a set are measured, and who takes part in each.

Everything together would take hours: one thread has every batch for the k in the middle, and the
other k for single queries and for the largest batch; more threads have that k and those batches.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, KernelCase
from benchmarks.peers.dense_sets import is_low
from benchmarks.peers.sets import Given, Source
from benchmarks.race.cell import Key
from benchmarks.race.contest import Contest
from benchmarks.race.entrant import Entrant

__all__ = ["MAIN_K", "Cells", "serves"]

MAIN_K = 10
_WITHOUT_GRAPHS = ("aloi", "normal")  # an approximate graph is built for the others


@dataclass(frozen=True, kw_only=True)
class Cells:
    """The k, batches and threads that are combined."""

    ks: tuple[int, ...]
    batches: tuple[int, ...]  # no larger than a set has queries
    threads: tuple[int, ...]
    patience: float = 120.0

    def batches_of(self, source: Source) -> tuple[int, ...]:
        """Return the batches of a set."""
        return tuple(sorted({min(batch, source.n_queries) for batch in self.batches}))

    def n_queries(self, source: Source) -> int:
        """Return how many queries of a set are asked: as many as the largest batch has."""
        return max(self.batches_of(source))

    def contests(
        self, source: Source, given: Given, kernels: Sequence[str] | None
    ) -> list[Contest]:
        """Return a contest for each kernel."""
        return [
            self._contest(source, given, case)
            for case in source.cases
            if kernels is None or case.name in kernels
        ]

    def _contest(self, source: Source, given: Given, case: KernelCase) -> Contest:
        problem = given.problem
        return Contest(
            problem=problem,
            case=case,
            entrants=given.entrants,
            ks=self.ks,
            batches=self.batches_of(source),
            threads=self.threads,
            patience=self.patience,
            wants=self._wants,
            serves=serves,
            facts=lambda: {"kind": problem.kind, "data_bytes": problem.n_bytes},
        )

    def _wants(self, key: Key) -> bool:
        is_main = key.k == (MAIN_K if MAIN_K in self.ks else self.ks[0])
        is_end = key.batch in (1, key.n_queries)
        if key.kernel == POLYNOMIAL.name:
            return is_main and is_end and key.threads == 1
        return (is_main and is_end) if key.threads > 1 else (is_main or is_end)


def serves(entrant: Entrant, key: Key) -> bool:
    """Whether an entrant takes part in a cell."""
    is_power = key.kernel == POLYNOMIAL.name
    is_whole = key.batch == key.n_queries and key.threads == 1
    return (
        (is_whole or is_power or not entrant.whole_batch_only)
        and (key.threads == 1 or not entrant.one_thread_only)
        and (key.batch == 1 or not entrant.single_only)
        and (_has_trees(key) or not entrant.only_low)
        and (entrant.is_exact or key.problem not in _WITHOUT_GRAPHS)
    )


def _has_trees(key: Key) -> bool:
    return is_low(key.problem) and key.kernel in (LINEAR.name, COSINE.name)
