"""Cells about shards, their tables, and the model's forecasts beside real runs."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks.report import markdown, three_digits
from benchmarks.suite import Kept, Measured

_NODES = (1, 4, 16, 64, 250, 1000)
_SIZES = (10**6, 10**7, 10**8, 10**9)
_ABOUT_BUILD = "**Build**, seconds; as many shards as workers, read from files by the workers."
_ABOUT_SEARCH = (
    "**Search**, milliseconds for the whole batch, k = 10; workers have one thread each."
)
_ABOUT_MODEL = "**The model** against real runs, milliseconds for the batch: m shards on m workers."
_ABOUT_MERGING = (
    "**Shards of 64 objects**: what is left is distribution itself, on 2 workers, milliseconds "
    "for the batch; and what Dask takes for as many tasks that do nothing."
)
_ABOUT_ROUNDS = (
    "**Two rounds**: 8 shards on 2 workers, trees, k = 10; evaluations per query, and "
    "milliseconds for the batch. `product` is the inner product as a function in Python."
)
_ABOUT_SIMULATION = (
    "**Simulated** (nothing here was measured): milliseconds for the same batch of queries; the "
    "model's, and in brackets with nodes that differ in speed. The tree twice: by the paper's "
    "logarithm, and by the power of n that was measured."
)


@dataclass(frozen=True, kw_only=True)
class Key:
    """The key of a cell."""

    section: str
    problem: str
    kernel: str
    n_objects: int
    batch: int  # queries at once
    k: int
    n_workers: int
    n_shards: int

    def __str__(self) -> str:
        return (
            f"{self.section}: {self.problem} {self.kernel}, {self.n_objects} objects, "
            f"batch {self.batch}, k = {self.k}, {self.n_workers} workers, {self.n_shards} shards"
        )


@dataclass(frozen=True, kw_only=True)
class Cell(Key, Measured):
    """One cell, with the seconds of each contestant in each round."""

    origin: str
    rounds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    differ: int = 0  # queries whose answers were not those of one index

    def ms(self, name: str) -> str:
        """Return the median milliseconds of a contestant."""
        return _ms(median(self.rounds[name]))


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    model = _of(kept, "model")
    cores = kept.circumstances["machine"]["cores"]
    one, two = "one index, 1 thread", "one index, 2 threads"
    searched = (one, two, "sharded", "one scan, 1 thread", "sharded scan")
    parts = [
        kept.describe(),
        _ABOUT_BUILD,
        _table(
            f"set|objects|workers|{one}|{two}|sharded",
            (
                [cell.problem, cell.n_objects, cell.n_workers]
                + [f"{median(cell.rounds[name]):.3g}" for name in searched[:3]]
                for cell in _of(kept, "build")
            ),
        ),
        _ABOUT_SEARCH,
        _table(
            f"set|batch|workers|{'|'.join(searched)}",
            (
                [cell.problem, cell.batch, cell.n_workers, *map(cell.ms, searched)]
                for cell in _of(kept, "search")
            ),
        ),
        _ABOUT_MERGING,
        _merging(_of(kept, "merging")),
        _ABOUT_ROUNDS,
        _rounds(_of(kept, "rounds, mixed", "rounds, sorted")),
        _ABOUT_MODEL,
        _table(
            "workers|scan|model|tree|model",
            (
                [cell.n_workers, cell.ms("scan"), scan, cell.ms("tree"), tree]
                for cell in model
                for scan, tree in [[_ms(forecast(cell, name, cores)) for name in ("scan", "tree")]]
            ),
        ),
        _ABOUT_SIMULATION,
        _simulated(model[0]) if model else "",
    ]
    return "\n\n".join(part for part in parts if part)


def forecast(cell: Cell, algorithm: str, cores: int) -> float:
    """Return the model's seconds for a cell: workers beyond the cores wait for each other."""
    m = cell.n_workers
    work = work_of_node(cell.facts, algorithm, cell.n_objects / m)
    turns = math.ceil(m / cores)
    return cell.facts["c0"] + cell.facts["c1"] * m + turns * cell.batch * work


def _of(kept: Kept[Cell], *sections: str) -> list[Cell]:
    return [cell for cell in kept.cells if cell.section in sections]


def _table(head: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a table, or nothing without rows."""
    found = list(rows)
    return markdown(head, found) if found else ""


def _merging(cells: Sequence[Cell]) -> str:
    shards = sorted({cell.n_shards for cell in cells})
    rows = []
    for batch in sorted({cell.batch for cell in cells}):
        of = {cell.n_shards: cell for cell in cells if cell.batch == batch}
        for name, what in (("sharded", f"batch of {batch}"), ("empty tasks", "empty tasks")):
            rows.append([what, *(of[m].ms(name) if m in of else "" for m in shards)])
    return _table(f"shards|{'|'.join(map(str, shards))}", rows)


def _rounds(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in sorted(cells, key=lambda cell: (cell.problem, cell.kernel, cell.section)):
        order = cell.section.partition(", ")[2]
        work = (cell.facts[f"{one}, evaluations"] for one in ("one index", *cell.rounds))
        rows.append(
            [f"{cell.problem}, {_short(cell.kernel)}, {order}", cell.n_objects]
            + [f"{count:.0f}" for count in work]
            + [cell.ms(name) for name in cell.rounds]
        )
    return _table("set|objects|one index|one round|two rounds|one round, ms|two, ms", rows)


def _simulated(cell: Cell) -> str:
    rows = []
    for n_objects in _SIZES:
        for algorithm in ("scan", "tree", "tree, power"):
            row = [f"{n_objects:.0e}".replace("e+0", "e"), algorithm]
            law = partial(simulate, cell.facts, algorithm=algorithm, batch=cell.batch)
            found = (law(n_objects=n_objects, n_nodes=n_nodes) for n_nodes in _NODES)
            rows.append([*row, *(f"{_ms(one.model)} ({_ms(one.simulated)})" for one in found)])
    return markdown(f"objects|nodes|{'|'.join(map(str, _NODES))}", rows)


def _short(kernel: str) -> str:
    """Return a kernel without its parameters; of the user's own, the function."""
    kernel = re.sub(r"^Custom\((?:[\w.]+\.)?(\w+).*\)$", r"\1", kernel)
    return re.sub(r"\([^()]*\)", "", kernel).replace("kernel=", "")


def _ms(seconds: float) -> str:
    return three_digits(seconds * 1e3)


# A simulated cluster: nothing here is measured. A client sends one message a node, one after the
# other (c1 each); a node works as long as the model says, times a factor of chance, as nodes of
# real clusters differ; answers are merged in a tree as they come. The slowest node decides.
_FAN_IN = 8
_SPREAD = 0.1  # standard deviation of the logarithm of a node's time
_TRIALS = 200


class Forecast(NamedTuple):
    """Seconds of one batch: by the model, and simulated with slow nodes (median)."""

    model: float
    simulated: float


def simulate(
    laws: Mapping[str, float], *, algorithm: str, n_objects: int, n_nodes: int, batch: int
) -> Forecast:
    """Return the forecast for one number of nodes."""
    work = work_of_node(laws, algorithm, max(1.0, n_objects / n_nodes)) * batch
    model = laws["c0"] + laws["c1"] * n_nodes + work
    rng = np.random.default_rng([n_nodes, n_objects % 2**32])
    sent = laws["c1"] * np.arange(1, n_nodes + 1)
    ends = []
    for _ in range(_TRIALS):
        done = sent + work * rng.lognormal(0.0, _SPREAD, n_nodes)
        depth = math.ceil(math.log(max(n_nodes, 2), _FAN_IN))
        ends.append(laws["c0"] + float(done.max()) + laws["c1"] * depth)
    return Forecast(model, float(np.median(ends)))


def work_of_node(laws: Mapping[str, float], algorithm: str, n_objects: float) -> float:
    """Return the seconds of one query among the objects of one node, by one of three laws."""
    if algorithm == "scan":
        return max(0.0, laws["scan at zero"] + laws["c2"] * n_objects)
    if algorithm == "tree":
        return max(0.0, laws["tree at zero"] + laws["c2'"] * math.log2(n_objects))
    timed = n_objects / laws["tree timed, objects"]
    return float(laws["tree timed, seconds"] * timed ** laws["tree exponent"])
