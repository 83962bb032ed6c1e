"""What docs/living.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand
from benchmarks.quotes.stored import Row, Stored
from benchmarks.quotes.tables.living import cell_of

__all__ = ["QUOTES"]

_OURS, _FAISS = "fastmks filter", "faiss flat"
_LOAD, _READ = "fastmks filter: load", "faiss flat: read_index"


def _adding(stored: Stored, case: str, side: str, name: str) -> float:
    return cell_of(stored, "adding", case).measure(side, name)


def _warm(stored: Stored, side: str, name: str) -> float:
    return cell_of(stored, "files", "warm").measure(side, name)


def _moving(stored: Stored, case: str, name: str) -> float:
    """A measure of what growing one by one costs, for the engine that the case begins with."""
    engine = f"fastmks {case.partition(',')[0]}"
    return stored.cell("living", section="moving", case=case).measure(engine, name)


def _load_seconds(stored: Stored, side: str) -> list[float]:
    cells = [cell_of(stored, "files", case) for case in ("cold", "warm")]
    return [cell.measure(side, "load_ms") / 1e3 for cell in cells]


def _glove(stored: Stored) -> Row:
    return cell_of(stored, "mixing", "changes without a pause", "GloVe 100")


def _faster(stored: Stored, case: str, side: str) -> float:
    """How many times as fast as ours, one by one, something else adds."""
    ours = _adding(stored, "one by one", _OURS, "objects_per_second")
    return _adding(stored, case, side, "objects_per_second") / ours


QUOTES = (
    Stated("Files below 64 MiB are verified", "a limit of the code"),
    Stated("axis i times 0.9^i", "how the data are made"),
    Quote(
        "costs {} rebuilds for 100 000 objects with the ids that `add` gives out, {} with ids",
        lambda stored: _adding(stored, "one by one", _OURS, "rebuilds"),
        lambda stored: _adding(stored, "one by one, own ids", _OURS, "rebuilds"),
    ),
    Quote(
        "a call takes about {} µs of Python, a given id {} µs more",
        by_hand("a call of add", "call_us"),
        by_hand("a call of add", "given_id_us"),
    ),
    Quote(
        "{} moves an object (log₂ n is {})",
        lambda stored: _moving(stored, "filter, 1000000 and 100000 more", "moved_per_object"),
        lambda stored: _moving(stored, "filter, 1000000 and 100000 more", "log2_n"),
    ),
    Quote("and is {} times faster at it", lambda stored: _faster(stored, "one by one", _FAISS)),
    Quote(
        "100 at a time are {} times faster",
        lambda stored: _faster(stored, "batches of 100", _OURS),
    ),
    Quote(
        "100 000 more: {} of the evaluations of a rebuild, {} of its time",
        lambda stored: _moving(stored, "tree, 1000000 and 100000 more", "evaluation_rebuilds"),
        lambda stored: _moving(stored, "tree, 1000000 and 100000 more", "rebuilds"),
    ),
    Quote(
        "one by one: {} times the evaluations of building it at once",
        lambda stored: _moving(stored, "tree, 1 and 50000 more", "evaluation_rebuilds"),
    ),
    Quote(
        "takes {} ms, of which some {} are imports",
        lambda stored: _warm(stored, _LOAD, "load_ms"),
        by_hand("imports of the first load", "imports_ms"),
    ),
    Quote("the file: {} ms warm", lambda stored: _warm(stored, _LOAD, "first_ms")),
    Quote(
        "reads and verifies in {} to {} s, where FAISS takes {} to {} s without",
        lambda stored: min(_load_seconds(stored, "fastmks filter: load, mmap=False")),
        lambda stored: max(_load_seconds(stored, "fastmks filter: load, mmap=False")),
        lambda stored: min(_load_seconds(stored, _READ)),
        lambda stored: max(_load_seconds(stored, _READ)),
    ),
    Quote("adds about {} ms to a query", by_hand("a second part", "ms")),
    Quote(
        "On {} GloVe vectors, where FAISS needs {} ms for a query behind its lock, we need {} ms "
        "beside a busy writer that makes {} times as many changes",
        lambda stored: _glove(stored).number("n_objects"),
        lambda stored: _glove(stored).measure(_FAISS, "p50_ms"),
        lambda stored: _glove(stored).measure(_OURS, "p50_ms"),
        lambda stored: (
            _glove(stored).measure(_OURS, "changes_per_second")
            / _glove(stored).measure(_FAISS, "changes_per_second")
        ),
    ),
)
