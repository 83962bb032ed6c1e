"""The paper's evaluation as tables, and what must hold in it."""

import math
from collections.abc import Callable, Iterable, Sequence

from benchmarks.kept import Kept
from benchmarks.paper.approximate import DELTA, ApproximateCell, Outcome
from benchmarks.race.cell import Cell, Figure
from benchmarks.race.names import (
    AUTO,
    DUAL,
    FILTER,
    MLPACK,
    MLPACK_DUAL,
    NUMPY,
    SCAN,
    TREE,
    TREE_OF_ONE,
)
from benchmarks.report import Check, markdown

__all__ = [
    "all_tables",
    "checks",
    "evaluation_speedup",
    "line_about",
    "line_of",
    "protein_table",
    "time_speedup",
]

_EVALUATED = (TREE_OF_ONE, DUAL, FILTER, AUTO, MLPACK, MLPACK_DUAL)
_TIMED = (SCAN, NUMPY, TREE, DUAL, FILTER, AUTO, MLPACK, MLPACK_DUAL)
_FEWER = 10.0  # times fewer evaluations than mlpack's single tree, in the geometric mean
_MANY = 5000  # objects; where a scan of fewer is soon done, `auto` saves time and not evaluations


def evaluation_speedup(cell: Cell, name: str) -> float | None:
    """Return the scan's evaluations over those of an entrant."""
    one = cell.figure(name)
    if one is None or not one.evaluations:
        return None
    return cell.n_objects / one.evaluations


def time_speedup(cell: Cell, name: str) -> float | None:
    """Return the time of our scan over that of an entrant."""
    scan, one = cell.figure(SCAN), cell.figure(name)
    if scan is None or one is None or not scan.median_us or not one.median_us:
        return None
    return scan.median_us / one.median_us


def all_tables(kept: Kept[Cell], promises: Kept[ApproximateCell]) -> str:
    """Return everything as Markdown."""
    cells = [cell for cell in kept.cells if cell.facts.get("section") == "vectors"]
    grown = [cell for cell in kept.cells if cell.facts.get("section") == "proteins"]
    parts = [kept.describe() if kept.cells else promises.describe()]
    if cells:
        parts += [
            "### The data sets",
            "Sizes are |Q| / |S| / columns. Searched: a sample of the queries, in so many objects.",
            _sets_table(cells),
            "### Kernel evaluations: the scan's over theirs",
            _ABOUT_EVALUATIONS,
            *_by_kernel(cells, _speedup_table),
            "### Time of a query",
            _ABOUT_TIMES,
            *_by_kernel(cells, _time_table),
            "### Building, and how hard the sets are",
            _ABOUT_BUILDING,
            _build_table(cells),
            "### Whose answers are the true ones",
            "Queries with another value than the true one at some rank, of those asked.",
            _wrong_table(cells),
        ]
    if grown:
        parts += ["### Proteins, spectrum kernels", _ABOUT_PROTEINS, protein_table(grown)]
    if promises.cells:
        parts += ["### Approximate searches", _ABOUT_PROMISES, _promise_table(promises.cells)]
    return "\n\n".join(parts)


_ABOUT_EVALUATIONS = (
    "For each k, the smallest first. As in the paper, evaluations of building a tree are left out; "
    "those of a dual-tree search's query tree are in where they are counted (ours). Our tree with "
    "blocks of one object, which evaluates least. In brackets: the greatest number of queries with "
    "a wrong answer, over the k."
)
_ABOUT_TIMES = (
    "Microseconds for the greatest k, all queries in one batch, one thread; ~: asked once, since "
    "it takes long. What auto chose stands behind its time. In brackets: queries with a wrong "
    "answer."
)
_ABOUT_BUILDING = (
    "Evaluations for each object; seconds. c is the expansion constant and γ the directional "
    "concentration that `fastmks.hardness` saw in a sample; forecast is the share of the objects "
    "that it expects a tree to evaluate for k = 1."
)
_ABOUT_PROTEINS = (
    "The scan's evaluations over those of the tree with blocks of one object, and of others, for "
    "each k; microseconds for the greatest k."
)
_ABOUT_PROMISES = (
    "*Greatest*: of what the promise is about, over all queries (error at any rank, relative "
    "error, true rank of the worst object returned; for a budget, by how much the k-th value was "
    "missed, as a share of its median size). *Kept*: queries for which the promise came true. *Gap "
    "holds*: queries whose certified gap is no less than what they missed."
)


def checks(cells: Sequence[Cell], promises: Sequence[ApproximateCell]) -> list[Check]:
    """Return what must hold of our answers, and the bar in evaluations."""
    ours = [one for cell in cells for one in cell.figures if one.is_ours]
    outcomes = [one for cell in promises for one in cell.outcomes]
    sure = [one for one in outcomes if one.mode in ("epsilon", "relative")]
    found = [
        _none("queries of ours with other ids than the scan", sum(one.differ or 0 for one in ours)),
        _none(
            "failures of ours, but of trees for kernels that are not Mercer, or that take too long",
            sum(one.failure is not None and not _is_expected(one) for one in ours),
        ),
        _none("proven promises broken", sum(one.kept_share < 1.0 for one in sure)),
        _none("gaps smaller than what was missed", sum(one.gap_share < 1.0 for one in outcomes)),
    ]
    shares = [
        one.evaluations / cell.n_objects
        for cell in cells
        for one in cell.figures
        if one.name == AUTO and one.evaluations is not None
    ]
    if shares:
        claim = "auto's evaluations as a share of the scan's, at most"
        found.append(Check(claim=claim, value=max(shares), limit=1.0, is_required=True))
    ratios = [
        one.evaluations / peer.evaluations
        for cell in cells
        for one, peer in [(cell.figure(AUTO), cell.figure(MLPACK))]
        if cell.n_objects >= _MANY
        if one is not None and peer is not None and one.evaluations and peer.evaluations
    ]
    if ratios:
        claim = (
            f"auto's evaluations as a share of mlpack's, geometric mean of {len(ratios)} cells "
            f"with {_MANY} objects or more"
        )
        value = _geometric_mean(ratios)
        found.append(Check(claim=claim, value=value, limit=1.0 / _FEWER, is_required=False))
    return found


def line_of(cell: Cell) -> str:
    """Return one line about a cell that was just measured."""
    parts = []
    for name in (TREE_OF_ONE, FILTER, MLPACK):
        less, faster = evaluation_speedup(cell, name), time_speedup(cell, name)
        if less is not None and faster is not None:
            parts.append(f"{name} {less:.3g} times fewer, {faster:.3g} times faster")
    return f"{cell.key}: {'; '.join(parts)} ({cell.seconds:.0f} s)"


def line_about(cell: ApproximateCell) -> str:
    """Return one line about a cell of promises."""
    return f"{cell.key}: {len(cell.outcomes)} promises"


def _none(claim: str, count: int) -> Check:
    return Check(claim=claim, value=float(count), limit=0.0, is_required=True)


def _is_expected(one: Figure) -> bool:
    reasons = ("NotMercerError", "its tree might take")
    return "tree" in one.name and (one.failure or "").startswith(reasons)


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _sets_table(cells: Sequence[Cell]) -> str:
    head = ["paper's set", "its sizes", "here", "sizes", "searched", "kind", "what it is"]
    rows = {}
    for cell in cells:
        facts = cell.facts
        rows[facts["row"]] = [
            facts["row"] if facts.get("paper") else "-",
            facts.get("paper") or "-",
            cell.problem,
            facts["here"],
            f"{cell.n_queries} / {cell.n_objects}",
            facts["kind"],
            facts.get("note", ""),
        ]
    return markdown(head, list(rows.values()))


def _by_kernel(cells: Sequence[Cell], make: Callable[[Sequence[Cell]], str]) -> list[str]:
    parts = []
    for kernel in dict.fromkeys(cell.kernel for cell in cells):
        mine = [cell for cell in cells if cell.kernel == kernel]
        parts += [f"**{kernel}**", make(mine)]
    return parts


def _groups(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Put cells that differ in k only together, the smallest k first."""
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.problem, cell.kernel, cell.n_objects), []).append(cell)
    return [sorted(group, key=lambda cell: cell.k) for group in found.values()]


def _speedup_table(cells: Sequence[Cell]) -> str:
    head = ["set", "objects", "tree", "dual-tree", "filter", "auto"]
    head += ["mlpack single-tree", "mlpack dual-tree"]
    rows = []
    for group in _groups(cells):
        row = [group[0].problem, str(group[0].n_objects)]
        rows.append([*row, *(_speedups(group, name) for name in _EVALUATED)])
    return markdown(head, rows)


def _speedups(group: Sequence[Cell], name: str) -> str:
    shown = [_factor(evaluation_speedup(cell, name)) for cell in group]
    if all(one == "-" for one in shown):
        return _why_not(group[-1].figure(name))
    figures = [one for cell in group if (one := cell.figure(name)) is not None]
    wrong = max(one.wrong for one in figures)
    return " / ".join(shown) + (f" ({wrong} wrong)" if wrong else "")


def _time_table(cells: Sequence[Cell]) -> str:
    head = ["set", "objects", *(name.removeprefix("fastmks ") for name in _TIMED)]
    rows = []
    for group in _groups(cells):
        cell = group[-1]
        row = [cell.problem, str(cell.n_objects)]
        rows.append([*row, *(_time(cell.figure(name)) for name in _TIMED)])
    return markdown(head, rows)


def _time(one: Figure | None) -> str:
    if one is None or one.median_us is None:
        return _why_not(one)
    engine = f" {one.engine}" if one.name == AUTO and one.engine else ""
    wrong = f" ({one.wrong} wrong)" if one.wrong else ""
    return f"{'~' * (one.rounds == 1)}{_microseconds(one.median_us)}{engine}{wrong}"


def _build_table(cells: Sequence[Cell]) -> str:
    head = ["set", "kernel", "c", "γ", "forecast", "tree: evaluations", "s", "filter: s"]
    head += ["mlpack: evaluations", "s"]
    rows = []
    for group in _groups(cells):
        cell = group[0]
        facts = cell.facts
        rows.append(
            [
                cell.problem,
                cell.kernel,
                _factor(facts.get("expansion_constant")),
                _factor(facts.get("directional_concentration")),
                _share(facts.get("forecast")),
                *_building(cell, TREE),
                _building(cell, FILTER)[1],
                *_building(cell, MLPACK),
            ]
        )
    return markdown(head, rows)


def _building(cell: Cell, name: str) -> list[str]:
    one = cell.figure(name)
    if one is None or one.build_seconds is None:
        return [_why_not(one), "-"]
    evaluations = one.build_evaluations
    each = "-" if evaluations is None else _factor(evaluations / cell.n_objects)
    return [each, f"{one.build_seconds:.3g}"]


def _wrong_table(cells: Sequence[Cell]) -> str:
    kernels = list(dict.fromkeys(cell.kernel for cell in cells))
    names = list(dict.fromkeys(one.name for cell in cells for one in cell.figures))
    rows = []
    for name in names:
        row = [name]
        for kernel in kernels:
            mine = [
                one
                for cell in cells
                if cell.kernel == kernel and (one := cell.figure(name)) is not None and one.checked
            ]
            asked = sum(one.checked or 0 for one in mine)
            row.append(f"{sum(one.wrong for one in mine)} of {asked}" if mine else "-")
        rows.append(row)
    return markdown(["", *kernels], rows)


def protein_table(cells: Sequence[Cell]) -> str:
    """Return what searches of growing sets of sequences cost."""
    names = (TREE_OF_ONE, FILTER, MLPACK)
    timed = (SCAN, TREE, FILTER, AUTO, MLPACK)
    head = ["kernel", "sequences", *(f"{_brief(name)}: fewer" for name in names)]
    head += [*(f"{_brief(name)}: us" for name in timed), "tree: build s"]
    rows = []
    for group in _groups(cells):
        last = group[-1]
        row = [last.kernel, str(last.n_objects), *(_speedups(group, name) for name in names)]
        rows.append([*row, *(_time(last.figure(name)) for name in timed), _building(last, TREE)[1]])
    return markdown(head, rows)


def _promise_table(cells: Sequence[ApproximateCell]) -> str:
    head = ["set", "kernel", "k", "mode", "promise", "greatest", "mean", "kept", "exact answers"]
    head += ["evaluations", "of the exact search's", "gap holds"]
    rows = []
    for cell in cells:
        for one in cell.outcomes:
            rows.append(
                [
                    cell.problem,
                    cell.kernel,
                    str(cell.k),
                    _mode(one),
                    f"{one.promise:.3g}",
                    f"{_achieved(cell, one, one.greatest):.3g}",
                    f"{_achieved(cell, one, one.mean):.3g}",
                    f"{one.kept_share:.0%}",
                    f"{one.exact_share:.0%}",
                    f"{one.evaluations:.0f}",
                    f"{one.evaluations / cell.exact_evaluations:.0%}",
                    f"{one.gap_share:.0%}",
                ]
            )
    return markdown(head, rows)


def _mode(one: Outcome) -> str:
    return f"rank, 1 - δ = {1.0 - DELTA:.0%}" if one.mode == "rank" else one.mode


def _achieved(cell: ApproximateCell, one: Outcome, value: float) -> float:
    return value / cell.scale if one.mode == "budget" and cell.scale > 0.0 else value


def _brief(name: str) -> str:
    return {TREE_OF_ONE: "tree", MLPACK: "mlpack"}.get(name, name.removeprefix("fastmks "))


def _why_not(one: Figure | None) -> str:
    if one is None or one.failure is None:
        return "-"
    return one.failure.removeprefix("PeerError: ").partition("\n")[0].partition(":")[0][:40]


def _factor(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if value < 1000.0 else f"{value:.0f}"


def _microseconds(value: float) -> str:
    return f"{value:.3g}" if value < 1000.0 else f"{value:.0f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
