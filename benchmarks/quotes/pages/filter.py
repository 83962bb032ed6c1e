"""What docs/filter.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Row, Stored

__all__ = ["QUOTES"]

_PROOF = "a constant of the proof"
_COSTLY = ("Normalized(kernel=Spectrum(p=2))", "Normalized(kernel=GlobalAlignment(bandwidth=3.0))")


def _pairs(stored: Stored) -> list[tuple[Row, Row]]:
    """Return the rows of k = 1 and of k = 10 for each set and kernel."""
    firsts = stored.rows("objects_pivots", k=1)
    return [(row, _row(stored, row.text("problem"), row.text("kernel"), 10)) for row in firsts]


def _row(stored: Stored, problem: str, kernel: str, k: int) -> Row:
    return stored.row("objects_pivots", problem=problem, kernel=kernel, k=k)


def _worst_forecast(stored: Stored) -> float:
    worst = 1.0
    for first, last in _pairs(stored):
        mean = (first.number("evaluations") + last.number("evaluations")) / 2
        worst = max(worst, mean / first.number("forecast"), first.number("forecast") / mean)
    return worst


def _scans(row: Row) -> float:
    """How many scanned queries building the pivots is worth."""
    return row.number("build_evaluations") / row.number("n_objects")


def _other_scans(stored: Stored) -> list[float]:
    return [_scans(row) for row, _ in _pairs(stored) if row.text("kernel") not in _COSTLY]


def _words(stored: Stored, name: str, kernel: str) -> float:
    """Milliseconds of a query for the best protein."""
    row = _row(stored, "proteins", kernel, 1)
    return 1e3 * row.number(name) / row.number("n_queries")


def _slower(stored: Stored) -> list[float]:
    """How many times as long as the scan pivots take for words of three letters."""
    rows = [pair for pair in _pairs(stored) if "Spectrum(p=3)" in pair[0].text("kernel")]
    return [row.number("seconds") / row.number("scan_seconds") for pair in rows for row in pair]


def _value_ns(row: Row) -> float:
    return 1e9 * row.number("scan_seconds") / row.number("n_queries") / row.number("n_objects")


def _values_ns(stored: Stored) -> list[float]:
    return [
        _value_ns(row)
        for row, _ in _pairs(stored)
        if row.text("problem") in ("proteins", "graphs") and "Normalized" not in row.text("kernel")
    ]


_VECTORS = (
    Stated("some 64 MiB", "a limit of the code"),
    Stated("another object at a cosine of 0.8 or more", "a limit of the code"),
    Quote(
        "One object in {} is evaluated instead of one in {} on ALOI histograms (k = 10), one in {} "
        "instead of {} on galaxies, one in {} instead of {} on Covertype, one in {} instead of {} "
        "on GIST",
        by_hand("cosines as distances", "aloi"),
        by_hand("cosines as distances", "aloi_products"),
        by_hand("cosines as distances", "galaxies"),
        by_hand("cosines as distances", "galaxies_products"),
        by_hand("cosines as distances", "covertype"),
        by_hand("cosines as distances", "covertype_products"),
        by_hand("cosines as distances", "gist"),
        by_hand("cosines as distances", "gist_products"),
    ),
    Stated("on 1.2 million galaxies", "the size of the set"),
    Quote(
        "million galaxies {} bounds of groups, leaves and objects together instead of {} (cosine",
        by_hand("groups of leaves", "bounds"),
        by_hand("groups of leaves", "bounds_without"),
    ),
    Stated("dot products of four bytes", "what the instruction does"),
    Stated("8 bytes (12 for distances)", "the layout of codes"),
)
_PIVOTS = (
    Stated("4m + 21 bytes for each object", "the layout of a projection"),
    Quote(
        "this needs {} to {} % fewer evaluations",
        by_hand("choice of pivots", "least_percent"),
        by_hand("choice of pivots", "greatest_percent"),
    ),
    Stated("γ = 1.01(m+16)u", _PROOF),
    Stated("2.1γ(1+ε)·aaᵀ", _PROOF),
    Stated("(ε + 2.1γ(1+ε))A² + 1.1ηB² + 4mu", _PROOF),
    Stated("K(x,y) = −0.4 have", "an example"),
    Stated("the cover tree (base 1.3,", "the base, a setting"),
    Quote("within a factor of {} of that mean", _worst_forecast),
    Quote(
        "the scans of {} to {} queries (`Normalized(Spectrum(2))`: {}; series: {})",
        lambda stored: min(_other_scans(stored)),
        lambda stored: max(_other_scans(stored)),
        lambda stored: _scans(_row(stored, "proteins", _COSTLY[0], 1)),
        lambda stored: _scans(_row(stored, "series", _COSTLY[1], 1)),
    ),
    Quote(
        "graph kernel that is not normalised takes {} to {} ns when",
        lambda stored: min(_values_ns(stored)),
        lambda stored: max(_values_ns(stored)),
    ),
    Stated("a factor of ten or so", "a rule of thumb, from the figures that follow it"),
    Quote(
        "(`Spectrum(2)`, k = 1: {} ms a query against {} ms; its normalised form, at {} pivots: "
        "{} ms against {} ms;",
        lambda stored: _words(stored, "seconds", "Spectrum(p=2)"),
        lambda stored: _words(stored, "scan_seconds", "Spectrum(p=2)"),
        lambda stored: _row(stored, "proteins", _COSTLY[0], 1).number("n_pivots"),
        lambda stored: _words(stored, "seconds", _COSTLY[0]),
        lambda stored: _words(stored, "scan_seconds", _COSTLY[0]),
    ),
    Quote(
        "blocks took {} to {} times as long as the scan",
        lambda stored: min(_slower(stored)),
        lambda stored: max(_slower(stored)),
    ),
    Quote(
        "a value of the series takes {} µs",
        lambda stored: _value_ns(_row(stored, "series", _COSTLY[1], 1)) / 1e3,
    ),
)
_IN_VAIN = (
    Quote("within {} % at every distance", by_hand("codes ahead of time", "single_percent")),
    Quote(
        "while these are multiplied saves {} to {} %",
        by_hand("codes ahead of time", "batch_least_percent"),
        by_hand("codes ahead of time", "batch_greatest_percent"),
    ),
    Quote(
        "the loop runs at {} to {} billion multiply-adds a second of the {} that a Zen 4 core",
        by_hand("sums by name", "least_billions"),
        by_hand("sums by name", "greatest_billions"),
        by_hand("sums by name", "peak_billions"),
    ),
    Stated("a Zen 4 core at 3.6 GHz has", "the clock of the CPU"),
    Quote("has, instead of {}.", by_hand("sums by name", "in_arrays_billions")),
    Quote(
        "took up to {} times the evaluations of waiting for better thresholds (GloVe, m = 64, "
        "k = 10: one object in {} against one in {})",
        by_hand("evaluating at once", "most_times"),
        by_hand("evaluating at once", "at_once"),
        by_hand("evaluating at once", "waiting"),
    ),
)
QUOTES = (*_VECTORS, *_PIVOTS, *_IN_VAIN)
