"""The bars: limits on the time, memory and work of fastmks beside peers, and their values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from benchmarks.kernels import COSINE, LINEAR
from benchmarks.peers.fingerprints import FPSIM2
from benchmarks.peers.sets import LOW, STRUCTURED
from benchmarks.race.cell import Cell, Figure, exactness_checks
from benchmarks.race.names import AUTO, MLPACK
from benchmarks.report import Check

MAIN_K = 10
_BETTER_FORMS = ("faiss flat, tuned", "faiss panorama, rotated")  # not as they come
_BATCH, _BATCH_TILES = 3.0, 8.0  # times less, with AVX-512 and with AMX
_SINGLE = 5.0
_BRUTE = {"lcdm": 100.0, "covertype": 30.0, "aloi": 10.0}
_TREE_TIME, _TREE_EVALUATIONS = 20.0, 10.0
_SPARSE, _FINGERPRINTS = 5.0, 2.0
_MEMORY = 1.6  # of the data, data included
_PLANNER = 1.1  # times the best single engine

_Value = Callable[[Cell, Figure], float | None]


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar over all cells that it is about; `values` are by the title of the cell."""

    claim: str
    limit: float
    values: dict[str, float]
    is_most: bool = False  # at most the limit, instead of at least
    is_mean: bool = False  # the geometric mean counts, instead of the worst

    @property
    def worst(self) -> tuple[str, float]:
        """The worst cell and its value."""
        pick = max if self.is_most else min
        return pick(self.values.items(), key=lambda item: item[1])

    @property
    def decisive(self) -> float:
        """The value compared with the limit."""
        values = [max(value, 1e-300) for value in self.values.values()]
        return geometric_mean(values) if self.is_mean else self.worst[1]

    def meets(self, value: float) -> bool:
        """Whether a value is within the limit."""
        return value <= self.limit if self.is_most else value >= self.limit


def _over(is_peer: Callable[[Figure], bool]) -> _Value:
    """Return the time of the fastest such peer over ours."""

    def value(cell: Cell, ours: Figure) -> float | None:
        peer = best_of(filter(is_peer, cell.figures))
        if peer is None or peer.median_us is None or not ours.median_us:
            return None
        return peer.median_us / ours.median_us

    return value


_AS_THEY_COME = _over(lambda one: one.in_bar and not one.is_ours and one.name not in _BETTER_FORMS)
_BEST_BRUTE = _over(lambda one: one.is_brute and one.in_bar)
_MLPACKS_TIME = _over(lambda one: one.name.startswith(MLPACK))
_FPSIM2S_TIME = _over(lambda one: one.name == FPSIM2)
_BEST_ENGINES = _over(lambda one: one.is_ours and one.name != AUTO)


def _times_less(cell: Cell, ours: Figure) -> float | None:
    return ours.times_less


def _mlpacks_work(cell: Cell, ours: Figure) -> float | None:
    trees = [one for one in cell.figures if one.name.startswith(MLPACK)]
    counts = [one.evaluations for one in trees if one.evaluations is not None]
    return min(counts) / ours.evaluations if counts and ours.evaluations else None


def _memory(cell: Cell, ours: Figure) -> float | None:
    return None if ours.n_bytes is None else 1.0 + ours.n_bytes / data_bytes(cell)


def _over_best_engine(cell: Cell, ours: Figure) -> float | None:
    ratio = _BEST_ENGINES(cell, ours)
    return None if ratio is None else 1.0 / ratio


def find_bars(cells: Sequence[Cell], *, engine: str | None, has_tiles: bool) -> list[Bar]:
    """Return every bar that has cells; without an engine, for the fastest of each cell."""
    limit = _BATCH_TILES if has_tiles else _BATCH
    dense = [c for c in cells if c.kernel in (LINEAR.name, COSINE.name) and kind_of(c) == "dense"]
    structured = [cell for cell in dense if cell.problem in STRUCTURED]
    batches = [cell for cell in structured if cell.batch > 1]
    singles = [cell for cell in structured if cell.batch == 1]
    sparse = [cell for cell in cells if kind_of(cell) == "sparse" and cell.k == MAIN_K]
    bits = [cell for cell in cells if kind_of(cell) == "bits"]
    low = [cell for cell in dense if cell.problem in LOW]
    most, mean = {"is_most": True}, {"is_mean": True}
    declared: list[tuple[str, float, list[Cell], _Value, dict[str, bool]]] = [
        ("structured sets, batches", limit, batches, _times_less, {}),
        ("structured sets, batches, peers as they come", limit, batches, _AS_THEY_COME, {}),
        ("structured sets, single queries", _SINGLE, singles, _times_less, {}),
        ("isotropic normal, batches", 1.0, _batches(dense, "normal"), _times_less, {}),
        *(
            (f"{name}, batches, best brute force", least, _batches(dense, name), _BEST_BRUTE, {})
            for name, least in _BRUTE.items()
        ),
        ("low dimension, mlpack's time", _TREE_TIME, low, _MLPACKS_TIME, {}),
        ("low dimension, mlpack's evaluations", _TREE_EVALUATIONS, low, _mlpacks_work, mean),
        (f"sparse rows, k = {MAIN_K}", _SPARSE, sparse, _times_less, {}),
        ("fingerprints, FPSim2's time", _FINGERPRINTS, bits, _FPSIM2S_TIME, {}),
        ("evaluations, share of the scan's", 1.0, list(cells), scan_share, most),
        ("memory with the data, times the data", _MEMORY, dense, _memory, most),
        ("auto, times the best engine", _PLANNER, list(cells), _over_best_engine, most),
    ]
    found = []
    for claim, least, some, value, more in declared:
        values = {str(cell.key): _of(cell, engine, value) for cell in some}
        known = {title: one for title, one in values.items() if one is not None}
        if known and (value is not _over_best_engine or engine == AUTO):
            found.append(Bar(claim=claim, limit=least, values=known, **more))
    return found


def checks(cells: Sequence[Cell], bars: Mapping[str, Sequence[Bar]]) -> list[Check]:
    """Return the bars as claims, none required, and the exactness of ours, which is."""
    found = [
        Check(
            claim=f"{claim} ({name})",
            value=bar.decisive if bar.is_most else 1.0 / bar.decisive,
            limit=bar.limit if bar.is_most else 1.0 / bar.limit,
            is_required=False,
        )
        for name, some in bars.items()
        for bar in some
        for claim in [bar.claim if bar.is_most else f"{bar.claim}, ours / theirs"]
    ]
    return [*found, *exactness_checks(cells, "the truth")]


def best_of(figures: Iterable[Figure]) -> Figure | None:
    """Return the fastest of some figures."""
    timed = [one for one in figures if one.median_us is not None]
    return min(timed, key=lambda one: one.median_us or 0.0, default=None)


def kind_of(cell: Cell) -> str:
    """Return the kind of rows: "dense", "sparse" or "bits"."""
    return str(cell.facts.get("kind", "dense"))


def data_bytes(cell: Cell) -> int:
    """Return the memory of the objects in bytes."""
    return int(cell.facts.get("data_bytes", 4 * cell.n_objects * cell.n_columns))


def scan_share(cell: Cell, ours: Figure) -> float | None:
    """Return kernel evaluations as a share of the scan's."""
    return None if ours.evaluations is None else ours.evaluations / cell.n_objects


def work_share(cell: Cell, ours: Figure) -> float | None:
    """Return multiply-adds, bounds included, as a share of the scan's; dense rows only."""
    if kind_of(cell) != "dense" or ours.evaluations is None or ours.operations is None:
        return None
    mine = ours.operations + ours.evaluations * cell.n_columns
    return mine / (cell.n_objects * cell.n_columns)


def _of(cell: Cell, engine: str | None, value: _Value) -> float | None:
    ours = best_of(one for one in cell.ours if engine in (None, one.name))
    return None if ours is None else value(cell, ours)


def _batches(cells: Iterable[Cell], name: str) -> list[Cell]:
    return [cell for cell in cells if cell.problem == name and cell.batch > 1]
