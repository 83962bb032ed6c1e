"""Kernels of the user's own: the cost that fastmks adds, and the calls that a tree saves.

Times are of CPU, on one thread, since neighbours on a machine disturb them least; both sides of a
ratio take turns, and the ratio is the median of the rounds. Kernel functions in C are compiled
with the `cc` of the system, and with numba where it is installed.
"""

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import is_installed, now, others_share
from benchmarks.objects.ledger import Program, Row
from benchmarks.report import Check
from benchmarks.suite import Collector
from fastmks import Index, kernels

_C = """
#include <stddef.h>
double product(const double* x, const double* y, ptrdiff_t n) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}
"""
_Floats = np.ndarray[Any, np.dtype[np.float64]]


_COLUMNS = (  # `seconds` are of CPU, of ours; `beside` those of what the case names
    "case", "n_objects", "n_queries", "evaluations", "scan_evaluations", "build_evaluations",
    "seconds", "beside", "ratio",
)  # fmt: skip


def _row(*values: Any) -> Row:
    """Return one comparison."""
    return dict(zip(_COLUMNS, values, strict=True))


def _busy(x: Sequence[float], y: Sequence[float]) -> float:
    """Multiply vectors, in about 20 microseconds."""
    for _ in range(36):
        total = 0.0
        for a, b in zip(x, y, strict=True):
            total += a * b
    return total


def _products(x: _Floats, ys: _Floats) -> _Floats:
    return np.asarray((ys * x).sum(axis=1))


def _shared(x: frozenset[str], y: frozenset[str]) -> float:
    """Return how many elements two sets share: a Mercer kernel."""
    return float(len(x & y))


def _cpu(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _in_turn(ours: Callable[[], Any], other: Callable[[], Any], rounds: int) -> Iterator[float]:
    """Yield the median CPU seconds of both, and of their ratio."""
    pairs = [(_cpu(ours), _cpu(other)) for _ in range(rounds)]
    yield from (median(side) for side in zip(*pairs, strict=True))
    yield median(a / b for a, b in pairs)


def _call(times: range, x: Sequence[float], y: Sequence[float]) -> list[float]:
    return [_busy(x, y) for _ in times]


def _overhead(n: int, n_queries: int, rounds: int) -> Iterator[Row]:
    """Compare searches with as many bare calls of their function."""
    vectors = np.random.default_rng(0).normal(size=(n + n_queries, 6)).tolist()
    objects, queries = vectors[:n], vectors[n:]
    index = Index(objects, _busy, threads=1)
    for algorithm in ("scan", "tree"):
        search = partial(index.search, queries, 10, algorithm=algorithm)
        stats = search().stats
        calls = range(stats.kernel_evaluations + stats.self_evaluations)
        seconds = _in_turn(search, partial(_call, calls, *objects[:2]), rounds)
        case = f"{algorithm}, Python function, beside its bare calls"
        built = index.tree.build_evaluations if algorithm == "tree" else 0
        counts = (stats.kernel_evaluations, n * n_queries, built)
        yield _row(case, n, n_queries, *counts, *seconds)


def _against_built_in(
    case: str, kernel: kernels.Kernel, n: int, columns: int, rounds: int
) -> Iterator[Row]:
    """Compare a scan of vectors with that of the linear kernel, one thread."""
    rng = np.random.default_rng(1)
    rows, queries = rng.normal(size=(n, columns)), rng.normal(size=(64, columns))
    mine, linear = Index(rows, kernel, threads=1), Index(rows, threads=1)
    same = mine.search(queries, 10).indices == linear.search(queries, 10).indices
    if not same.all():
        raise AssertionError(f"{case}: answers differ from the built-in kernel's")
    seconds = _in_turn(
        partial(mine.search, queries, 10), partial(linear.search, queries, 10), rounds
    )
    title, work = f"scan, {case}, {columns} columns, beside Linear()", n * len(queries)
    yield _row(title, n, len(queries), work, work, 0, *seconds)


def _saved(case: str, sets: Sequence[frozenset[str]], n_queries: int) -> Iterator[Row]:
    """Count the calls of a Python kernel that a tree saves."""
    objects, queries = sets[:-n_queries], sets[-n_queries:]
    index = Index(objects, kernels.Normalized(kernels.Custom(_shared)), threads=1)
    for k in (1, 10):
        tree, scan = (
            partial(index.search, queries, k, algorithm=name) for name in ("tree", "scan")
        )
        seconds, n = _in_turn(tree, scan, 1), len(objects)
        work = (tree().stats.kernel_evaluations, n * n_queries, index.tree.build_evaluations)
        yield _row(f"tree, {case}, k = {k}, beside the scan", n, n_queries, *work, *seconds)


def _recipes(n: int) -> list[frozenset[str]]:
    """Return small sets: four or five things, most of them from one of twenty groups of eight."""
    rng = np.random.default_rng(3)
    groups = [[f"{group} {i}" for i in range(8)] for group in range(20)]
    return [
        frozenset([*rng.choice(groups[rng.integers(20)], 4, replace=False), str(rng.integers(3))])
        for _ in range(n)
    ]


def _sentences(n: int) -> list[frozenset[str]]:
    """Return sentences as sets of three-letter parts: three words of one of forty are changed."""
    rng = np.random.default_rng(2)
    words = ["".join(rng.choice(list("abcdefghij"), 6)) for _ in range(300)]
    families = [rng.choice(words, 12) for _ in range(40)]
    found = []
    for _ in range(n):
        sentence = families[rng.integers(len(families))].copy()
        sentence[rng.integers(12, size=3)] = rng.choice(words, 3)
        text = " ".join(sentence)
        found.append(frozenset(text[i : i + 3] for i in range(len(text) - 2)))
    return found


def _compiled(note: Callable[[str], None]) -> Iterator[tuple[str, kernels.Kernel]]:
    """Yield the inner product as each compiler here compiles it."""
    cc = shutil.which("cc")
    if cc and is_installed("scipy"):
        yield "C through LowLevelCallable", kernels.Custom(_from_c(cc), name="product")
    else:
        note("no cc, or no scipy: the C function is skipped")
    if is_installed("numba"):
        from numba import cfunc, types

        pointer = types.CPointer(types.float64)
        signature = types.float64(pointer, pointer, types.intp)
        yield "numba cfunc", kernels.Custom(cfunc(signature, fastmath=True)(_looped), name="numba")
    else:
        note("numba is not installed: its cfunc is skipped")


def _looped(x: Any, y: Any, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


def _from_c(cc: str) -> Any:
    from scipy import LowLevelCallable

    folder = Path(tempfile.mkdtemp())
    source, compiled_to, library = (folder / f"product.{end}" for end in ("c", "o", "so"))
    source.write_text(_C)
    options = ["-O3", "-march=native", "-ffast-math", "-fPIC", "-c"]
    subprocess.run([cc, *options, str(source), "-o", str(compiled_to)], check=True)
    # Linked without -ffast-math: with it, loading the library would make the whole process flush
    # subnormal numbers to zero.
    subprocess.run([cc, "-shared", str(compiled_to), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).product
    pointer = ctypes.POINTER(ctypes.c_double)
    function.restype, function.argtypes = ctypes.c_double, (pointer, pointer, ctypes.c_ssize_t)
    return LowLevelCallable(function)


def _measure(options: argparse.Namespace, collector: Collector) -> Iterator[Row]:
    quick, before = options.quick, now()
    rounds = options.rounds or (3 if quick else 9)
    n = options.objects or (300 if quick else 2000)
    n_queries = options.queries or (5 if quick else 100)
    yield from _overhead(n, min(n_queries, 10), rounds)
    block = kernels.Custom(block=_products)
    vectors = options.objects or (2000 if quick else 20_000)
    yield from _against_built_in("Python block function", block, vectors, 64, rounds)
    for case, kernel in _compiled(collector.note):
        for columns in (16, 64, 256):
            yield from _against_built_in(case, kernel, vectors, columns, rounds)
    yield from _saved("small sets in Python", _recipes(n + n_queries), n_queries)
    yield from _saved("sentences in Python", _sentences(n + n_queries), n_queries)
    share = others_share(before, now())
    if share is not None:
        collector.note(f"others took {share:.0%} of the machine meanwhile")


def _checks(rows: Sequence[Row]) -> list[Check]:
    return [
        Check(claim=row["case"], value=row["ratio"], limit=limit, is_required=False)
        for row in rows
        for words, limit in (("bare calls", 1.1), ("C through", 1.5), ("numba", 1.5))
        if words in row["case"]
    ]


main = Program(
    name="own",
    about=__doc__,
    measure=_measure,
    head="case|n|queries|evaluations|of|to build|CPU s|beside|ratio",
    cells="{case}|{n_objects}|{n_queries}|{evaluations}|{scan_evaluations}|{build_evaluations}"
    "|{seconds:.3g}|{beside:.3g}|{ratio:.3g}",
    is_wrong=lambda row: False,
    checks=_checks,
).main

if __name__ == "__main__":
    sys.exit(main())
