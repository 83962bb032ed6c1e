"""What docs/performance.md quotes, its generated blocks apart."""

from benchmarks.peers.dense_sets import LOW, STRUCTURED
from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Row, SelectionError, Stored
from benchmarks.race.names import AUTO, FILTER, MLPACK

__all__ = ["QUOTES"]

_LARGEST = 5000  # queries in a batch
_FLAT, _TUNED = "faiss flat", "faiss flat, tuned"
_PEAK = 3.6e3 * 16  # float32 products of a core in a microsecond: its clock, and lanes
_GLOVE = ("glove100_50k", "linear", 10, _LARGEST)
_MOVIES = ("movielens", "linear", 10)
_BAR = "a bar"


def _cell(stored: Stored, problem: str, kernel: str, k: int, batch: int) -> Row:
    """Return a cell of one thread."""
    return stored.cell("peers_bars", problem=problem, kernel=kernel, k=k, batch=batch, threads=1)


def _of(cell: Row, name: str, field: str = "median_us") -> float:
    return cell.one("figures", name=name).number(field)


def _best(cell: Row, start: str = "fastmks") -> float:
    """Return the microseconds of the fastest whose name starts so."""
    figures = [one for one in cell.all("figures") if one.text("name").startswith(start)]
    found = [one.number("median_us") for one in figures if one.has("median_us")]
    if not found:
        raise SelectionError(f"{cell} has no time of {start}.")
    return min(found)


def _rows_us(cell: Row) -> float:
    """Return what products of a query with all rows take at the peak of a core."""
    return cell.number("n_objects") * cell.number("n_columns") / _PEAK


def _untuned(stored: Stored) -> float:
    """Return how many times slower FAISS is at most in batches of 100 without another limit."""
    cells = [
        _cell(stored, problem, kernel, 10, 100)
        for problem in (*STRUCTURED, *LOW)
        for kernel in ("linear", "cosine")
    ]
    return max(_of(cell, _FLAT) / _of(cell, _TUNED) for cell in cells)


def _smaller(stored: Stored, problem: str) -> float:
    """Return how many times the index goes into the rows."""
    cell = _cell(stored, problem, "linear", 10, 1)
    return _row_bytes(cell) / _of(cell, AUTO, "n_bytes")


def _memory(stored: Stored, kernel: str) -> float:
    """Return rows and index of the galaxies over the rows."""
    cell = _cell(stored, "lcdm", kernel, 10, _LARGEST)
    return 1 + _of(cell, AUTO, "n_bytes") / _row_bytes(cell)


def _row_bytes(cell: Row) -> float:
    return 4 * cell.number("n_objects") * cell.number("n_columns")


def _low(stored: Stored) -> list[float]:
    return [_best(_cell(stored, problem, "cosine", 100, _LARGEST)) for problem in LOW]


def _gist(stored: Stored) -> Row:
    return _cell(stored, "cifar10_gist384", "cosine", 100, _LARGEST)


def _more_on_glove(stored: Stored) -> list[float]:
    """Return how many times the evaluations of lower bounds evaluated thresholds take."""
    experiment = stored.row("experiments", experiment="thresholds")
    rows = experiment.all("rows", set="GloVe, inner product")
    return [row.number("by_evaluation") / row.number("by_lower_bounds") for row in rows]


_MEASURED = (
    Stated("queries × columns in 1.15) makes", "a version"),
    Quote("makes batches of 100 up to {} times slower", _untuned),
    Stated("float32 products over tiles of about 16 MB of scores", "a setting of the program"),
    Stated("bases 1.3 and 2, float64", "settings"),
    Quote(
        "lcdm ({} million × 3)",
        lambda stored: _cell(stored, "lcdm", "linear", 10, 1).number("n_objects") / 1e6,
    ),
    Stated("would need more than 0.15 s is asked fewer", "a setting of the program"),
    Stated("more than 4 times slower than the fastest of its side", "a setting of the program"),
)
_AMX = (
    Stated("(300 MB of third-level cache, one thread of 16", "the machine"),
    Quote(
        "gave {} to {} times less (GloVe, inner product, k = 10) and {} to {} (cosine)",
        by_hand("a machine with AMX", "glove_linear_without_least"),
        by_hand("a machine with AMX", "glove_linear_without_greatest"),
        by_hand("a machine with AMX", "glove_cosine_without_least"),
        by_hand("a machine with AMX", "glove_cosine_without_greatest"),
    ),
    Quote(
        "Each of {} random sets and kernels",
        by_hand("a machine with AMX", "compared_by_tiles"),
    ),
    Quote("{} more here through VNNI", by_hand("a machine with AMX", "compared_by_vnni")),
)
_BATCHES = (
    Stated(
        "at 3.6 GHz multiplies and adds 230 billion bytes a second (`vpdpbusd`, 64 in a cycle) or "
        "58 billion float32 numbers (16 in a cycle)",
        "the clock of the CPU, and its lanes",
    ),
    Quote("some {} GB/s from its", by_hand("bandwidth of the third-level cache", "gb_per_second")),
    Stated("at most 4 times less than float32 products", "64 lanes over 16"),
    Quote(
        "reaches {} % of that peak",
        lambda stored: 100 * _rows_us(_cell(stored, *_GLOVE)) / _of(_cell(stored, *_GLOVE), _TUNED),
    ),
    Quote("We take {} µs a query there", lambda stored: _best(_cell(stored, *_GLOVE))),
    Quote(
        "The codes took {} of them when this was looked into, {} at the unit's peak",
        by_hand("shares of a batched query", "glove_codes_us"),
        by_hand("shares of a batched query", "glove_codes_at_peak_us"),
    ),
    Quote(
        "candidates, and {} evaluations",
        lambda stored: _of(_cell(stored, *_GLOVE), FILTER, "evaluations"),
    ),
    Quote(
        "has {} objects: their codes took {} µs, where a query takes {} µs in all",
        lambda stored: _cell(stored, *_MOVIES, _LARGEST).number("n_objects"),
        by_hand("shares of a batched query", "movielens_codes_us"),
        lambda stored: _best(_cell(stored, *_MOVIES, _LARGEST)),
    ),
    Quote(
        "float32 products would take {} µs at their peak",
        lambda stored: _rows_us(_cell(stored, *_MOVIES, _LARGEST)),
    ),
    Quote(
        "The bounds leave {3} of {} objects",
        lambda stored: _of(_gist(stored), FILTER, "evaluations"),
        lambda stored: _gist(stored).number("n_objects"),
    ),
)
_SINGLE = (
    Stated("m + 8 bytes an object", "the layout of codes"),
    Quote(
        "The whole index is {} times smaller than the rows on GloVe, {} times on MNIST",
        lambda stored: _smaller(stored, "glove100_50k"),
        lambda stored: _smaller(stored, "mnist"),
    ),
    Quote("A call from Python cost about {} µs", by_hand("a call of search", "us")),
    Quote(
        "so the {} µs that FAISS takes for a search",
        lambda stored: _of(_cell(stored, *_MOVIES, 1), _FLAT),
    ),
    Stated("cannot be beaten five times", _BAR),
    Quote(
        "100 queries at once take {} µs each there, one alone {} µs",
        lambda stored: _best(_cell(stored, *_MOVIES, 100)),
        lambda stored: _best(_cell(stored, *_MOVIES, 1)),
    ),
)
_OTHERS = (
    Stated("needs 100 evaluations in float64", "one for each of the k"),
    Quote(
        "They took {} to {} ns each",
        by_hand("an evaluation", "least_ns"),
        by_hand("an evaluation", "greatest_ns"),
    ),
    Quote(
        "where a query takes {} to {} µs by cosine",
        lambda stored: min(_low(stored)),
        lambda stored: max(_low(stored)),
    ),
    Quote(
        "ALOI and Covertype by inner product in {} and {} µs (k = 1)",
        lambda stored: _best(_cell(stored, "aloi", "linear", 1, _LARGEST), MLPACK),
        lambda stored: _best(_cell(stored, "covertype", "linear", 1, _LARGEST), MLPACK),
    ),
    Stated("what is left of a factor of 20", _BAR),
    Quote(
        "is {} times the data by inner product, {} by cosine",
        lambda stored: _memory(stored, "linear"),
        lambda stored: _memory(stored, "cosine"),
    ),
    Stated("(bar: 1.6): its rows are 12 bytes long", "a bar, and three columns in float32"),
)
_TRIED = (
    Quote(
        "{} to {} times the evaluations on GloVe",
        lambda stored: min(_more_on_glove(stored)),
        lambda stored: max(_more_on_glove(stored)),
    ),
    Quote("One GloVe word in {} passes 48 axes", by_hand("codes in two stages", "one_in")),
    Quote(
        "(k = 10: {} on 8 axes, {} on 16, {} on 27)",
        by_hand("axes of codes", "axes_8"),
        by_hand("axes of codes", "axes_16"),
        by_hand("axes of codes", "axes_27"),
    ),
    Quote("any rounding {} would be left", by_hand("steps of codes", "without_rounding")),
    Quote(
        "leave more ({} to {}), since",
        by_hand("steps of codes", "own_steps_least"),
        by_hand("steps of codes", "own_steps_greatest"),
    ),
    Quote(
        "already leave {} to {} objects where exact ones on the same axes would leave {}",
        by_hand("bounds without rounding", "bytes_least"),
        by_hand("bounds without rounding", "bytes_greatest"),
        by_hand("bounds without rounding", "exact"),
    ),
)
QUOTES = (*_MEASURED, *_AMX, *_BATCHES, *_SINGLE, *_OTHERS, *_TRIED)
