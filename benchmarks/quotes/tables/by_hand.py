"""Tables of experiments that were made once, by hand."""

from benchmarks.quotes.stored import Row, Stored
from benchmarks.quotes.tables.written import apart, brief
from benchmarks.report import markdown

__all__ = ["grams", "hardness", "look_ups", "thresholds", "tiles", "units"]

_UNITS = {"AVX2": "avx2", "AVX-512 VNNI": "vnni", "AMX": "amx"}


def hardness(stored: Stored) -> str:
    """Return the constants of real sets, and the forecast beside what was measured."""
    head = ["set, columns", "objects", "kernel", "c: median / greatest", "γ: median / greatest"]
    rows = [
        [
            f"{row.text('set')}, {row.text('columns')}",
            apart(row.number("n_objects")),
            row.text("kernel"),
            _pair(row, "c_median", "c_greatest"),
            _pair(row, "gamma_median", "gamma_greatest"),
            f"{brief(row.number('forecast_percent'))} %",
            f"{brief(row.number('measured_percent'))} %",
        ]
        for row in _rows(stored, "hardness")
    ]
    return markdown([*head, "forecast", "measured"], rows)


def thresholds(stored: Stored) -> str:
    """Return evaluations of a query with thresholds of three kinds."""
    found = _rows(stored, "thresholds")
    names = ("by_evaluation", "by_lower_bounds", "from_the_start")
    rows: dict[str, list[str]] = {}
    for row in found:
        counts = "; ".join(f"{row.number(name):.0f}" for name in names)
        rows.setdefault(row.text("set"), []).append(counts)
    head = ["evaluations of a query", *(f"k = {k}" for k in (1, 10, 100))]
    return markdown(head, [[name, *cells] for name, cells in rows.items()])


def units(stored: Stored) -> str:
    """Return microseconds of a query by the unit of the CPU that multiplies codes."""
    head = ["machine", "columns", "queries at once", "portable", *_UNITS]
    rows = []
    for row in _rows(stored, "units of the CPU"):
        counts = [f"{row.number(name):.0f}" for name in ("columns", "queries", "portable_us")]
        times = [_beside(row, unit) for unit in _UNITS.values()]
        rows.append([row.text("machine"), *counts, *times])
    return markdown(head, rows)


def tiles(stored: Stored) -> str:
    """Return how many times less than others a search takes on a machine with AMX."""
    ks = (1, 10, 100)
    rows = [
        [row.text("set"), *(_range(row, f"least_{k}", f"greatest_{k}") for k in ks)]
        for row in _rows(stored, "a machine with AMX")
    ]
    return markdown(["times less", *(f"k = {k}" for k in ks)], rows)


def grams(stored: Stored) -> str:
    """Return what it costs to turn strings into rows of counts."""
    head = ["", "different p-grams", "processor seconds", "peak MB", "rows MB"]
    rows = [
        [
            f"p = {row.number('p'):.0f}",
            apart(row.number("n_grams")),
            f"{row.number('processor_seconds'):g}",
            f"{row.number('peak_mb'):.0f}",
            f"{row.number('rows_mb'):.0f}",
        ]
        for row in _rows(stored, "rows of counts")
    ]
    return markdown(head, rows)


def look_ups(stored: Stored) -> str:
    """Return nanoseconds of a value of a spectrum kernel, before and after."""
    rows = [
        [
            f"p = {row.number('p'):.0f}",
            apart(row.number("n_columns")),
            f"{row.number('batch_before_ns'):.0f} → {row.number('batch_ns'):.0f}",
            f"{row.number('single_before_ns'):.0f} → {row.number('single_ns'):.0f}",
        ]
        for row in _rows(stored, "look-ups")
    ]
    return markdown(["", "columns", "64 queries at once", "one query at a time"], rows)


def _rows(stored: Stored, experiment: str) -> list[Row]:
    return stored.row("experiments", experiment=experiment).all("rows")


def _pair(row: Row, *names: str) -> str:
    return " / ".join(f"{row.number(name):.0f}" for name in names)


def _range(row: Row, least: str, greatest: str) -> str:
    """Return both ends, or one number where they are equal."""
    ends = dict.fromkeys(f"{row.number(name):g}" for name in (least, greatest))
    return " to ".join(ends)


def _beside(row: Row, unit: str) -> str:
    if not row.has(f"{unit}_us"):
        return "–"
    return f"{row.number(f'{unit}_us'):.0f}, {row.number(f'{unit}_times'):g}×"
