"""Tables of searches of objects that are not vectors."""

from collections.abc import Sequence

from benchmarks.quotes.stored import Row, Stored
from benchmarks.quotes.tables.written import brief, kernel, share
from benchmarks.report import markdown

__all__ = ["alignments", "fingerprints", "graphs", "own", "pivots", "series"]

_FINGERPRINTS = {
    "fastmks, single queries": "fastmks, single queries",
    "fastmks, one batch": "fastmks, a batch of 100",
    "fastmks scan, single queries": 'fastmks, `algorithm="scan"`, single queries',
    "fastmks scan, one batch": 'fastmks, `algorithm="scan"`, a batch of 100',
    "FPSim2, single queries": "FPSim2 top_k, single queries (it takes no batches)",
    "numpy, single queries": "numpy, single queries",
}
_OWN = (  # what is searched, beside what, and the stored cases
    (
        "scan, Python function of about 20 µs",
        "as many bare calls",
        ("scan, Python function, beside its bare calls",),
    ),
    (
        "tree, Python function of about 20 µs",
        "as many bare calls",
        ("tree, Python function, beside its bare calls",),
    ),
    (
        "scan, block function `(ys * x).sum(axis=1)`, 64 columns",
        "`Linear()`",
        ("scan, Python block function, 64 columns, beside Linear()",),
    ),
    (
        "scan, C function (`-O3 -march=native -ffast-math`), 16 / 64 / 256 columns",
        "`Linear()`",
        tuple(
            f"scan, C through LowLevelCallable, {columns} columns, beside Linear()"
            for columns in (16, 64, 256)
        ),
    ),
    (
        "scan, numba `cfunc` (`fastmath=True`), 16 / 64 / 256 columns",
        "`Linear()`",
        tuple(
            f"scan, numba cfunc, {columns} columns, beside Linear()" for columns in (16, 64, 256)
        ),
    ),
)


def alignments(stored: Stored) -> str:
    """Return what searches of strings under alignment kernels cost."""
    head = ["kernel", "engine", "evaluations of the scan's", "ms a query", "build, s"]
    return markdown(head, _laps(stored.rows("objects_alignments")))


def series(stored: Stored) -> str:
    """Return what searches of time series cost."""
    found = stored.rows("objects_series")
    rows = [[*cells, _right(stored, row)] for row, cells in zip(found, _laps(found), strict=True)]
    head = ["kernel", "engine", "evaluations of the scan's", "ms a query", "build, s"]
    return markdown([*head, "nearest neighbour right"], rows)


def fingerprints(stored: Stored) -> str:
    """Return milliseconds of a query for fastmks, FPSim2 and numpy."""
    rows = []
    for contestant, title in _FINGERPRINTS.items():
        found = stored.rows("objects_fingerprints", contestant=contestant)
        by_threads = {row.number("threads"): brief(row.number("milliseconds")) for row in found}
        rows.append([title, by_threads.get(1, ""), by_threads.get(2, "")])
    return markdown(["milliseconds a query", "1 thread", "2 threads"], rows)


def graphs(stored: Stored) -> str:
    """Return what the tree saves on the molecules of NCI1."""
    head = ["kernel", "k", "tree's evaluations", "fewer by", "tree, µs a query"]
    head += ["lists, µs a query", "scan, µs a query", "of which reading", "same class"]
    rows = [_graph_cells(row) for row in stored.rows("objects_graphs", problem="nci1")]
    return markdown(head, rows)


def pivots(stored: Stored) -> str:
    """Return evaluations of a query with pivots, and how many fewer than the scan's they are."""
    head = ["set", "kernel", "objects", "pivots", "forecast"]
    head += [f"k = {k}: evaluations, fewer (tree)" for k in (1, 10)]
    rows = []
    for first in stored.rows("objects_pivots", k=1):
        problem, text = first.text("problem"), first.text("kernel")
        last = stored.row("objects_pivots", problem=problem, kernel=text, k=10)
        counts = [f"{first.number(name):.0f}" for name in ("n_objects", "n_pivots", "forecast")]
        rows.append([problem, kernel(text), *counts, *map(_fewer, (first, last))])
    return markdown(head, rows)


def own(stored: Stored) -> str:
    """Return the time of searches with functions of one's own over that of something beside."""
    rows = []
    for what, beside, cases in _OWN:
        ratios = [stored.row("objects_own", case=case).number("ratio") for case in cases]
        rows.append([what, beside, " / ".join(f"{ratio:.2f}" for ratio in ratios)])
    return markdown(["search", "beside", "ratio of times"], rows)


def _laps(rows: Sequence[Row]) -> list[list[str]]:
    return [
        [
            kernel(row.text("kernel")),
            row.text("algorithm"),
            share(row.number("share")),
            brief(1e3 * row.number("seconds") / row.number("n_queries")),
            brief(row.number("build_seconds")),
        ]
        for row in rows
    ]


def _right(stored: Stored, row: Row) -> str:
    note = stored.note("objects_series", f"1-NN with {row.text('kernel')}: ")
    return share(float(note.removesuffix("% right")) / 100)


def _graph_cells(row: Row) -> list[str]:
    microseconds = 1e6 / row.number("n_queries")
    fewer = row.number("scan_evaluations") / row.number("evaluations")
    return [
        kernel(row.text("kernel")),
        f"{row.number('k'):.0f}",
        share(1 / fewer, 1),
        f"{fewer:.1f}",
        f"{row.number('seconds') * microseconds:.0f}",
        f"{row.number('lists_seconds') * microseconds:.0f}",
        f"{row.number('scan_seconds') * microseconds:.0f}",
        f"{row.number('read_queries_seconds') * microseconds:.0f}",
        share(row.number("same_class")),
    ]


def _fewer(row: Row) -> str:
    n_objects, evaluations = row.number("n_objects"), row.number("evaluations")
    tree = n_objects / row.number("tree_evaluations")
    return f"{evaluations:.0f}, {n_objects / evaluations:.1f}× ({tree:.1f}×)"
