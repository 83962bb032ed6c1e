"""What docs/scale.md quotes."""

from statistics import median

from benchmarks.kept import Kept
from benchmarks.quotes.quote import Quote, Stated
from benchmarks.quotes.stored import Stored
from benchmarks.scale.cell import Cell, read_cell
from benchmarks.scale.tables import forecast

__all__ = ["QUOTES"]


def _cells(stored: Stored, section: str, **wanted: object) -> list[Cell]:
    kept = Kept("scale", stored.path("scale"), read=read_cell)
    return [
        cell
        for cell in kept.cells
        if cell.section == section
        and all(getattr(cell, name) == value for name, value in wanted.items())
    ]


def _ms(stored: Stored, section: str, name: str, **wanted: object) -> float:
    (cell,) = _cells(stored, section, **wanted)
    return 1e3 * median(cell.rounds[name])


def _batch(stored: Stored, name: str) -> float:
    """Milliseconds of 5000 queries among the generated vectors, on two workers."""
    return _ms(stored, "search", name, problem="decaying", batch=5000, n_workers=2)


def _merging(stored: Stored, name: str, n_shards: int) -> float:
    return _ms(stored, "merging", name, batch=1, n_shards=n_shards)


def _evaluations(stored: Stored, order: str, name: str) -> float:
    (cell,) = _cells(stored, f"rounds, {order}", problem="decaying", kernel="linear")
    return cell.facts[f"{name}, evaluations"]


def _ratios(stored: Stored) -> list[float]:
    """Times of real runs over those of the model."""
    cores = int(stored.file("scale").number("machine", "cores"))
    return [
        cell.median(name) / forecast(cell, name, cores)
        for cell in _cells(stored, "model")
        for name in ("scan", "tree")
    ]


def _fact(stored: Stored, name: str) -> float:
    return _cells(stored, "model")[0].facts[name]


QUOTES = (
    Stated("5000 queries among 400 000 vectors", "the size of the benchmark"),
    Quote(
        "in {} ms, two workers in {} ms",
        lambda stored: _batch(stored, "one index, 2 threads"),
        lambda stored: _batch(stored, "sharded"),
    ),
    Quote(
        "A query of one small shard takes {} ms, of 64 shards {} ms",
        lambda stored: _merging(stored, "sharded", 1),
        lambda stored: _merging(stored, "sharded", 64),
    ),
    Quote(
        "tasks that do nothing take {} ms and {} ms",
        lambda stored: _merging(stored, "empty tasks", 1),
        lambda stored: _merging(stored, "empty tasks", 64),
    ),
    Quote(
        "those 5000 queries take {} s instead of {} s",
        lambda stored: _batch(stored, "sharded scan") / 1e3,
        lambda stored: _batch(stored, "one scan, 1 thread") / 1e3,
    ),
    Quote(
        "and is {} times faster than the distributed scan",
        lambda stored: _batch(stored, "sharded scan") / _batch(stored, "sharded"),
    ),
    Quote(
        "{} evaluations a query instead of {}",
        lambda stored: _evaluations(stored, "sorted", "two rounds"),
        lambda stored: _evaluations(stored, "sorted", "one round"),
    ),
    Quote(
        "Where objects are mixed it is {} instead of {}",
        lambda stored: _evaluations(stored, "mixed", "two rounds"),
        lambda stored: _evaluations(stored, "mixed", "one round"),
    ),
    Quote(
        "{} evaluations a query where one tree over all objects needs {}",
        lambda stored: _evaluations(stored, "mixed", "one round"),
        lambda stored: _evaluations(stored, "mixed", "one index"),
    ),
    Stated("on 1 to 32 tasks", "a limit of the code"),
    Quote("{} ms a machine", lambda stored: 1e3 * _fact(stored, "c1")),
    Quote(
        "Real runs with 1 to 8 workers took {} to {} times what the model says",
        lambda stored: min(_ratios(stored)),
        lambda stored: max(_ratios(stored)),
    ),
    Quote("to the power of {}", lambda stored: _fact(stored, "tree exponent")),
)
