"""The bars: how many times less time, memory or work than others fastmks must need, and does."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.kernels import COSINE, LINEAR
from benchmarks.peers.cells import MAIN_K
from benchmarks.peers.dense_sets import LOW, STRUCTURED
from benchmarks.peers.fingerprints import FPSIM2
from benchmarks.race.cell import Cell, Figure
from benchmarks.race.names import AUTO, MLPACK
from benchmarks.report import Check

__all__ = [
    "Bar",
    "best_of",
    "checks",
    "data_bytes",
    "find_bars",
    "kind_of",
    "scan_share",
    "work_share",
]

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
        """The cell that is furthest from the right side, and its value."""
        pick = max if self.is_most else min
        return pick(self.values.items(), key=lambda item: item[1])

    @property
    def mean(self) -> float:
        """The geometric mean of all cells."""
        logarithms = [math.log(max(value, 1e-300)) for value in self.values.values()]
        return math.exp(sum(logarithms) / len(logarithms))

    @property
    def n_met(self) -> int:
        """How many cells are on the right side."""
        return sum(
            value <= self.limit if self.is_most else value >= self.limit
            for value in self.values.values()
        )

    @property
    def decisive(self) -> float:
        """The value that the bar is about."""
        return self.mean if self.is_mean else self.worst[1]

    @property
    def is_met(self) -> bool:
        """Whether the bar is met."""
        return self.decisive <= self.limit if self.is_most else self.decisive >= self.limit


def find_bars(
    cells: Sequence[Cell],
    *,
    engine: str | None,
    has_tiles: bool,
) -> list[Bar]:
    """Return every bar that the cells say something about; no engine: the fastest of each cell."""
    batch = _BATCH_TILES if has_tiles else _BATCH
    bar = partial(_bar, engine)
    usual = [cell for cell in cells if cell.kernel in (LINEAR.name, COSINE.name)]
    dense = [cell for cell in usual if kind_of(cell) == "dense"]
    structured = [cell for cell in dense if cell.problem in STRUCTURED]
    normal = [cell for cell in dense if cell.problem == "normal"]
    sparse = [cell for cell in cells if kind_of(cell) == "sparse" and cell.k == MAIN_K]
    bits = [cell for cell in cells if kind_of(cell) == "bits"]
    found = [
        bar("structured sets, batches", batch, _batches(structured), _times_less),
        bar("structured sets, batches, peers as they come", batch, _batches(structured), _plainly),
        bar("structured sets, single queries", _SINGLE, _singles(structured), _times_less),
        bar("isotropic normal, batches", 1.0, _batches(normal), _times_less),
        *_low_bars(dense, engine),
        bar(f"sparse rows, k = {MAIN_K}", _SPARSE, sparse, _times_less),
        bar("fingerprints, FPSim2's time", _FINGERPRINTS, bits, _times_less_than_fpsim2),
        bar("evaluations, share of the scan's", 1.0, cells, scan_share, is_most=True),
        bar("memory with the data, times the data", _MEMORY, dense, _memory, is_most=True),
    ]
    if engine == AUTO:
        found.append(
            bar("auto, times the best engine", _PLANNER, cells, _behind_best, is_most=True)
        )
    return [one for one in found if one.values]


def _low_bars(cells: Sequence[Cell], engine: str | None) -> Iterator[Bar]:
    bar = partial(_bar, engine)
    for name, least in _BRUTE.items():
        mine = _batches(cell for cell in cells if cell.problem == name)
        yield bar(f"{name}, batches, best brute force", least, mine, _times_less_than_brute)
    low = [cell for cell in cells if cell.problem in LOW]
    yield bar("low dimension, mlpack's time", _TREE_TIME, low, _times_less_than_mlpack)
    yield bar(
        "low dimension, mlpack's evaluations",
        _TREE_EVALUATIONS,
        low,
        _fewer_than_mlpack,
        is_mean=True,
    )


def _bar(
    engine: str | None,
    claim: str,
    limit: float,
    cells: Iterable[Cell],
    value: _Value,
    **more: bool,
) -> Bar:
    values = {str(cell.key): _of(cell, engine, value) for cell in cells}
    known = {title: found for title, found in values.items() if found is not None}
    return Bar(claim=claim, limit=limit, values=known, **more)


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
        for claim in [f"{bar.claim}" if bar.is_most else f"{bar.claim}, ours / theirs"]
    ]
    ours = [one for cell in cells for one in cell.figures if one.is_ours]
    for claim, count in (
        ("queries with other ids than the truth, ours", sum(one.differ or 0 for one in ours)),
        ("searches of ours that failed", sum(one.failure is not None for one in ours)),
    ):
        found.append(Check(claim=claim, value=float(count), limit=0.0, is_required=True))
    return found


def best_of(figures: Iterable[Figure]) -> Figure | None:
    """Return the fastest of some figures."""
    timed = [one for one in figures if one.median_us is not None]
    return min(timed, key=lambda one: one.median_us or 0.0, default=None)


def kind_of(cell: Cell) -> str:
    """What is searched: "dense", "sparse" or "bits"."""
    return str(cell.facts.get("kind", "dense"))


def data_bytes(cell: Cell) -> int:
    """Memory of the objects themselves."""
    return int(cell.facts.get("data_bytes", 4 * cell.n_objects * cell.n_columns))


def scan_share(cell: Cell, ours: Figure) -> float | None:
    """Kernel evaluations as a share of the scan's."""
    return None if ours.evaluations is None else ours.evaluations / cell.n_objects


def work_share(cell: Cell, ours: Figure) -> float | None:
    """Multiply-adds, those of bounds included, as a share of the scan's; of dense rows only."""
    if kind_of(cell) != "dense" or ours.evaluations is None or ours.operations is None:
        return None
    mine = ours.operations + ours.evaluations * cell.n_columns
    return mine / (cell.n_objects * cell.n_columns)


def _of(cell: Cell, engine: str | None, value: _Value) -> float | None:
    ours = best_of(
        one for one in cell.figures if one.is_ours and (engine is None or one.name == engine)
    )
    return None if ours is None else value(cell, ours)


def _batches(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.batch > 1]


def _singles(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.batch == 1]


def _times_less(cell: Cell, ours: Figure) -> float | None:
    return ours.times_less


def _plainly(cell: Cell, ours: Figure) -> float | None:
    peers = (one for one in cell.figures if one.in_bar and not one.is_ours)
    return _over(best_of(one for one in peers if one.name not in _BETTER_FORMS), ours)


def _times_less_than_brute(cell: Cell, ours: Figure) -> float | None:
    return _over(best_of(one for one in cell.figures if one.is_brute and one.in_bar), ours)


def _times_less_than_mlpack(cell: Cell, ours: Figure) -> float | None:
    return _over(best_of(one for one in cell.figures if one.name.startswith(MLPACK)), ours)


def _fewer_than_mlpack(cell: Cell, ours: Figure) -> float | None:
    counts = [
        one.evaluations
        for one in cell.figures
        if one.name.startswith(MLPACK) and one.evaluations is not None
    ]
    return min(counts) / ours.evaluations if counts and ours.evaluations else None


def _times_less_than_fpsim2(cell: Cell, ours: Figure) -> float | None:
    return _over(best_of(one for one in cell.figures if one.name == FPSIM2), ours)


def _memory(cell: Cell, ours: Figure) -> float | None:
    return None if ours.n_bytes is None else 1.0 + ours.n_bytes / data_bytes(cell)


def _behind_best(cell: Cell, ours: Figure) -> float | None:
    engines = (one for one in cell.figures if one.is_ours and one.name != AUTO)
    ratio = _over(best_of(engines), ours)
    return None if ratio is None else 1.0 / ratio


def _over(peer: Figure | None, ours: Figure) -> float | None:
    if peer is None or peer.median_us is None or not ours.median_us:
        return None
    return peer.median_us / ours.median_us
