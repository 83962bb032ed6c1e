"""The paper's protein experiment: `python -m benchmarks.objects.proteins --data DIR`.

Spectrum kernels of p = 1, 2 and 3 on growing sets of proteins: kernel evaluations of the tree
against the linear scan's, with blocks of one object, and the time of a query of both, in one
thread. A tree over nearly equidistant objects takes about n^2 / 2 evaluations to build, so a
series ends once the next tree would take longer than --patience seconds.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fastmks
from benchmarks.command import Collector, read_options
from benchmarks.pictures import make_panels, save_picture
from benchmarks.report import commit, keep_ledger, markdown, write_ledger
from fastmks.kernels import Spectrum

__all__ = ["main"]

_FILE = "swissprot_100k.fasta.gz"
_KS = (1, 2, 5, 10)
_SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_LENGTHS = (1, 2, 3)
_BASE = 1.3  # the paper's


@dataclass(frozen=True, kw_only=True)
class Row:
    """One length, size and k."""

    p: int
    n_objects: int
    n_columns: int
    n_queries: int
    k: int
    evaluations: int  # with blocks of one object
    speedup: float  # of these against the scan's
    seconds: float  # of all queries, as planned
    scan_seconds: float
    build_evaluations: int
    build_seconds: float
    read_seconds: float  # until the counts are there
    differs_from_scan: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where an answer is not the scan's."""
    options = read_options("objects.proteins", __doc__, arguments)
    collector = Collector(options)
    started_at = commit()
    sizes: tuple[int, ...] = _SIZES[:2] if options.quick else _SIZES
    n_most, n_queries = collector.limits(sizes[-1], 20 if options.quick else 100)
    sizes = tuple(n for n in sizes if n < n_most) + ((n_most,) if n_most <= sizes[-1] else ())
    sequences = _read(options.data, sizes[-1] + n_queries)
    rows: list[Row] = []
    for p in _LENGTHS:
        for row in _series(p, sequences, sizes, n_queries, options.patience, collector):
            print("  ".join(_cells(row)), flush=True)
            rows.append(row)
    print("", _table(rows), sep="\n")
    if options.out is not None:
        ledger = keep_ledger("objects_proteins", started_at, notes=collector.notes, rows=rows)
        write_ledger(ledger, options.out)
    if options.figure is not None:
        _plot(rows, options.figure)
    return 1 if any(row.differs_from_scan for row in rows) else 0


def _read(folder: Path | None, n: int) -> list[str]:
    """Return proteins in an order of chance, or sequences like them where there is no folder."""
    rng = np.random.default_rng(0)
    if folder is None or not (folder / _FILE).exists():
        letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
        return ["".join(rng.choice(letters, rng.integers(50, 400))) for _ in range(n)]
    sequences = fastmks.read_fasta(folder / _FILE).sequences
    return [sequences[i] for i in rng.permutation(len(sequences))[:n]]


def _series(
    p: int,
    sequences: list[str],
    sizes: Sequence[int],
    n_queries: int,
    patience: float,
    collector: Collector,
) -> Iterator[Row]:
    queries, rest = sequences[:n_queries], sequences[n_queries:]
    before: tuple[int, float] | None = None  # objects and seconds of the last tree
    for wanted in sizes:
        n = min(wanted, len(rest))
        if before is not None:
            forecast = before[1] * (n / before[0]) ** 2
            if forecast > patience:
                collector.note(
                    f"p={p}: stopped before n={n}; its tree might take {forecast:.0f} s "
                    f"({before[1]:.0f} s at n={before[0]}, growing as n^2)"
                )
                return
        clock = time.perf_counter()
        scan = fastmks.Index(rest[:n], Spectrum(p), algorithm="scan", threads=1)
        read_seconds = time.perf_counter() - clock
        clock = time.perf_counter()
        tree = fastmks.Index(rest[:n], Spectrum(p), algorithm="tree", base=_BASE, threads=1)
        build_seconds = time.perf_counter() - clock
        before = n, build_seconds
        for k in _KS:
            yield _measure(scan, tree, queries, k, p, read_seconds, build_seconds)


def _measure(
    scan: fastmks.Index,
    tree: fastmks.Index,
    queries: list[str],
    k: int,
    p: int,
    read_seconds: float,
    build_seconds: float,
) -> Row:
    truth = scan.search(queries, k)
    counted = tree.search(queries, k, traversal=fastmks.Traversal(block=1))
    planned = tree.search(queries, k)
    same = all(
        np.array_equal(hits.values, truth.values) and np.array_equal(hits.indices, truth.indices)
        for hits in (counted, planned)
    )
    evaluations = counted.stats.kernel_evaluations
    return Row(
        p=p,
        n_objects=len(scan),
        n_columns=20**p,
        n_queries=len(queries),
        k=k,
        evaluations=evaluations,
        speedup=truth.stats.kernel_evaluations / evaluations,
        seconds=planned.stats.seconds,
        scan_seconds=truth.stats.seconds,
        build_evaluations=tree.tree.build_evaluations,
        build_seconds=build_seconds,
        read_seconds=read_seconds,
        differs_from_scan=not same,
    )


def _table(rows: Sequence[Row]) -> str:
    head = ["p", "n", "k", "speed-up in evaluations", "us / query: tree", "scan"]
    head += ["build s", "build evaluations / object", "same as scan"]
    return markdown(head, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    each = 1e6 / row.n_queries
    return [
        str(row.p),
        str(row.n_objects),
        str(row.k),
        f"{row.speedup:.2f}",
        f"{row.seconds * each:.0f}",
        f"{row.scan_seconds * each:.0f}",
        f"{row.build_seconds:.1f}",
        f"{row.build_evaluations / row.n_objects:.0f}",
        "NO" if row.differs_from_scan else "yes",
    ]


def _plot(rows: Sequence[Row], file: Path) -> None:
    """Draw evaluations against the scan's by n, a panel for each p and a line for each k."""
    lengths = sorted({row.p for row in rows})
    made = make_panels(len(lengths), 7.0, 3.0 * len(lengths))
    if made is None:
        return
    figure, panels = made
    for axes, p in zip(panels, lengths, strict=True):
        for k in _KS:
            line = [row for row in rows if row.p == p and row.k == k]
            ns, speedups = [row.n_objects for row in line], [row.speedup for row in line]
            axes.plot(ns, speedups, marker="o", label=f"k={k}")
        axes.set(xscale="log", yscale="log", title=f"proteins, spectrum kernel, p = {p}")
        axes.set(xlabel="objects", ylabel="speed-up over the scan (evaluations)")
        axes.legend(fontsize="x-small")
        axes.grid(visible=True, alpha=0.3)
    save_picture(figure, file)


if __name__ == "__main__":
    sys.exit(main())
