"""The tables about shards, made from stored cells, and the model's forecasts beside real runs."""

import math
import re
from collections.abc import Sequence

from benchmarks.kept import Kept
from benchmarks.report import markdown
from benchmarks.scale.cell import Cell
from benchmarks.scale.simulation import simulate, work_of_node

__all__ = ["all_tables", "forecast"]

_NODES = (1, 4, 16, 64, 250, 1000)
_SIZES = (10**6, 10**7, 10**8, 10**9)
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


def all_tables(kept: Kept[Cell]) -> str:
    """Return everything that the documentation shows, as Markdown."""
    cells = kept.cells
    parts = [
        kept.describe(),
        "**Build**, seconds; as many shards as workers, read from files by the workers.",
        _builds(_of(cells, "build")),
        "**Search**, milliseconds for the whole batch, k = 10; workers have one thread each.",
        _searches(_of(cells, "search")),
        _ABOUT_MERGING,
        _merging(_of(cells, "merging")),
        _ABOUT_ROUNDS,
        _rounds([*_of(cells, "rounds, mixed"), *_of(cells, "rounds, sorted")]),
        "**The model** against real runs, milliseconds for the batch: m shards on m workers.",
        _model(_of(cells, "model"), kept.circumstances["machine"]["cores"]),
        _ABOUT_SIMULATION,
        _simulated(_of(cells, "model")),
    ]
    return "\n\n".join(part for part in parts if part)


def forecast(cell: Cell, algorithm: str, cores: int) -> float:
    """Return the model's seconds for a cell: workers beyond the cores wait for each other."""
    m = cell.n_workers
    work = work_of_node(cell.facts, algorithm, cell.n_objects / m)
    turns = math.ceil(m / cores)
    return cell.facts["c0"] + cell.facts["c1"] * m + turns * cell.batch * work


def _of(cells: Sequence[Cell], section: str) -> list[Cell]:
    return [cell for cell in cells if cell.section == section]


def _builds(cells: Sequence[Cell]) -> str:
    names = ("one index, 1 thread", "one index, 2 threads", "sharded")
    rows = [
        [cell.problem, str(cell.n_objects), str(cell.n_workers)]
        + [f"{cell.median(name):.3g}" for name in names]
        for cell in cells
    ]
    return markdown(["set", "objects", "workers", *names], rows) if rows else ""


def _searches(cells: Sequence[Cell]) -> str:
    names = (
        "one index, 1 thread",
        "one index, 2 threads",
        "sharded",
        "one scan, 1 thread",
        "sharded scan",
    )
    rows = [
        [cell.problem, str(cell.batch), str(cell.n_workers)]
        + [_ms(cell.median(name)) for name in names]
        for cell in cells
    ]
    return markdown(["set", "batch", "workers", *names], rows) if rows else ""


def _merging(cells: Sequence[Cell]) -> str:
    shards = sorted({cell.n_shards for cell in cells})
    rows = []
    for batch in sorted({cell.batch for cell in cells}):
        of = {cell.n_shards: cell for cell in cells if cell.batch == batch}
        for name, what in (("sharded", f"batch of {batch}"), ("empty tasks", "empty tasks")):
            rows.append([what, *(_ms(of[m].median(name)) if m in of else "" for m in shards)])
    return markdown(["shards", *map(str, shards)], rows) if rows else ""


def _rounds(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in sorted(cells, key=lambda cell: (cell.problem, cell.kernel, cell.section)):
        facts = [cell.facts[f"{name}, evaluations"] for name in ("one index", "one round")]
        two = cell.facts["two rounds, evaluations"]
        times = [_ms(cell.median(name)) for name in ("one round", "two rounds")]
        order = cell.section.partition(", ")[2]
        rows.append(
            [f"{cell.problem}, {_short(cell.kernel)}, {order}", str(cell.n_objects)]
            + [f"{value:.0f}" for value in (*facts, two)]
            + times
        )
    head = ["set", "objects", "one index", "one round", "two rounds", "one round, ms", "two, ms"]
    return markdown(head, rows) if rows else ""


def _model(cells: Sequence[Cell], cores: int) -> str:
    rows = [
        [str(cell.n_workers)]
        + [
            text
            for name in ("scan", "tree")
            for text in (_ms(cell.median(name)), _ms(forecast(cell, name, cores)))
        ]
        for cell in cells
    ]
    head = ["workers", "scan", "model", "tree", "model"]
    return markdown(head, rows) if rows else ""


def _simulated(cells: Sequence[Cell]) -> str:
    if not cells:
        return ""
    cell, rows = cells[0], []
    for n_objects in _SIZES:
        for algorithm in ("scan", "tree", "tree, power"):
            row = [f"{n_objects:.0e}".replace("e+0", "e"), algorithm]
            for n_nodes in _NODES:
                found = simulate(
                    cell.facts,
                    algorithm=algorithm,
                    n_objects=n_objects,
                    n_nodes=n_nodes,
                    batch=cell.batch,
                )
                row.append(f"{_ms(found.model)} ({_ms(found.simulated)})")
            rows.append(row)
    return markdown(["objects", "nodes", *map(str, _NODES)], rows)


def _short(kernel: str) -> str:
    """Return a kernel without its parameters; of the user's own, the function."""
    kernel = re.sub(r"^Custom\((?:[\w.]+\.)?(\w+).*\)$", r"\1", kernel)
    return re.sub(r"\([^()]*\)", "", kernel).replace("kernel=", "")


def _ms(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
