"""The paper's evaluation as tables, and what must hold in it."""

from collections.abc import Callable, Iterable, Sequence
from statistics import geometric_mean

from benchmarks.paper.approximate import DELTA, ApproximateCell, Outcome
from benchmarks.race import names
from benchmarks.race.cell import Cell, Figure, count_wrong
from benchmarks.race.names import AUTO, FILTER, MLPACK, NUMPY, SCAN, TREE, TREE_OF_ONE
from benchmarks.report import Check, markdown, three_digits
from benchmarks.suite import Kept

_EVALUATED = (TREE_OF_ONE, names.DUAL, FILTER, AUTO, MLPACK, names.MLPACK_DUAL)
_TIMED = (SCAN, NUMPY, TREE, names.DUAL, FILTER, AUTO, MLPACK, names.MLPACK_DUAL)
_FEWER = 10.0  # times fewer evaluations than mlpack's single tree, in the geometric mean
_MANY = 5000  # objects; where a scan of fewer is soon done, `auto` saves time and not evaluations


def evaluation_speedup(cell: Cell, name: str) -> float | None:
    """Return the scan's evaluations over those of an entrant."""
    evaluations = cell.get(name, "evaluations")
    return cell.n_objects / evaluations if evaluations else None


def time_speedup(cell: Cell, name: str) -> float | None:
    """Return the time of our scan over that of an entrant."""
    scan, mine = cell.get(SCAN, "median_us"), cell.get(name, "median_us")
    return scan / mine if scan and mine else None


def all_tables(kept: Kept[Cell], promises: Kept[ApproximateCell]) -> str:
    """Return everything as Markdown."""
    cells = [cell for cell in kept.cells if cell.facts.get("section") == "vectors"]
    grown = [cell for cell in kept.cells if cell.facts.get("section") == "proteins"]
    parts = [kept.describe() if kept.cells else promises.describe()]
    if cells:
        parts += [
            "### The data sets",
            _ABOUT_SETS,
            _sets_table(cells),
            "### Kernel evaluations: the scan's over theirs",
            _ABOUT_EVALUATIONS,
            *_by_kernel(cells, _EVALUATED, _speedups),
            "### Time of a query",
            _ABOUT_TIMES,
            *_by_kernel(cells, _TIMED, lambda group, name: _time(group[-1].figure(name))),
            "### Building, and how hard the sets are",
            _ABOUT_BUILDING,
            _build_table(cells),
            "### Exactness of the answers",
            "Queries with another value than the true one at some rank, of those asked.",
            _wrong_table(cells),
        ]
    if grown:
        parts += ["### Proteins, spectrum kernels", _ABOUT_PROTEINS, _protein_table(grown)]
    if promises.cells:
        parts += ["### Approximate searches", _ABOUT_PROMISES, _promise_table(promises.cells)]
    return "\n\n".join(parts)


_ABOUT_SETS = (
    "Sizes are |Q| / |S| / columns. Searched: a sample of the queries, in this many objects."
)
_ABOUT_EVALUATIONS = (
    "For each k, the smallest first. As in the paper, evaluations of building a tree do not count; "
    "those of a dual-tree search's query tree do where they are known (ours). Our tree with "
    "blocks of one object, which evaluates least. In brackets: the greatest number of queries with "
    "a wrong answer, over the k."
)
_ABOUT_TIMES = (
    "Microseconds for the greatest k, all queries in one batch, one thread; ~: asked once, since "
    "it takes long. After the time of auto: its choice. In brackets: queries with a wrong "
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
    ours = [one for cell in cells for one in cell.ours]
    outcomes = [one for cell in promises for one in cell.outcomes]
    sure = [one for one in outcomes if one.mode in ("epsilon", "relative")]
    counts = {
        "queries of ours with other ids than the scan": sum(one.differ or 0 for one in ours),
        "failures of ours, but of trees for kernels that are not Mercer, or that take too long": (
            sum(one.failure is not None and not _is_expected(one) for one in ours)
        ),
        "proven promises broken": sum(one.kept_share < 1.0 for one in sure),
        "gaps smaller than what was missed": sum(one.gap_share < 1.0 for one in outcomes),
    }
    found = [Check(claim=claim, value=float(count)) for claim, count in counts.items()]
    work = [(cell, one) for cell in cells if (one := cell.get(AUTO, "evaluations")) is not None]
    if work:
        claim = "auto's evaluations as a share of the scan's, at most"
        most = max(one / cell.n_objects for cell, one in work)
        found.append(Check(claim=claim, value=most, limit=1.0))
    ratios = [
        one / peer
        for cell, one in work
        if cell.n_objects >= _MANY and one and (peer := cell.get(MLPACK, "evaluations"))
    ]
    if ratios:
        claim = (
            f"auto's evaluations as a share of mlpack's, geometric mean of {len(ratios)} cells "
            f"with {_MANY} objects or more"
        )
        value = geometric_mean(ratios)
        found.append(Check(claim=claim, value=value, limit=1.0 / _FEWER, is_required=False))
    return found


def _is_expected(one: Figure) -> bool:
    reasons = ("NotMercerError", "its tree might take")
    return "tree" in one.name and (one.failure or "").startswith(reasons)


def _sets_table(cells: Sequence[Cell]) -> str:
    rows = {}
    for cell in cells:
        facts, searched = cell.facts, f"{cell.n_queries} / {cell.n_objects}"
        theirs = [facts["row"], facts["paper"]] if facts.get("paper") else ["-", "-"]
        ours = [cell.problem, facts["here"], searched, facts["kind"], facts.get("note", "")]
        rows[facts["row"]] = [*theirs, *ours]
    head = "paper's set|its sizes|here|sizes|searched|kind|what it is"
    return markdown(head, rows.values())


def _by_kernel(
    cells: Sequence[Cell], columns: Sequence[str], show: Callable[[Sequence[Cell], str], str]
) -> list[str]:
    """For each kernel a table: a row for each set, a column for each entrant."""
    parts = []
    head = "|".join(["set|objects", *(name.removeprefix("fastmks ") for name in columns)])
    head = head.replace("tree, blocks of one", "tree")
    for kernel in dict.fromkeys(cell.kernel for cell in cells):
        groups = _groups(cell for cell in cells if cell.kernel == kernel)
        rows = [
            [group[0].problem, group[0].n_objects, *(show(group, name) for name in columns)]
            for group in groups
        ]
        parts += [f"**{kernel}**", markdown(head, rows)]
    return parts


def _groups(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Put cells that differ in k only together, the smallest k first."""
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.problem, cell.kernel, cell.n_objects), []).append(cell)
    return [sorted(group, key=lambda cell: cell.k) for group in found.values()]


def _speedups(group: Sequence[Cell], name: str) -> str:
    shown = [three_digits(evaluation_speedup(cell, name)) for cell in group]
    if all(one == "-" for one in shown):
        return _why_not(group[-1].figure(name))
    wrong = max(one.wrong for cell in group if (one := cell.figure(name)) is not None)
    return " / ".join(shown) + (f" ({wrong} wrong)" if wrong else "")


def _time(one: Figure | None) -> str:
    if one is None or one.median_us is None:
        return _why_not(one)
    engine = f" {one.engine}" if one.name == AUTO and one.engine else ""
    wrong = f" ({one.wrong} wrong)" if one.wrong else ""
    return f"{'~' * (one.rounds == 1)}{three_digits(one.median_us)}{engine}{wrong}"


def _build_table(cells: Sequence[Cell]) -> str:
    rows = []
    for cell, *_ in _groups(cells):
        names = ("expansion_constant", "directional_concentration")
        hardness = [three_digits(cell.facts.get(name)) for name in names]
        forecast = cell.facts.get("forecast")
        hardness.append("-" if forecast is None else f"{forecast:.3g}")
        built = [*_building(cell, TREE), _building(cell, FILTER)[1], *_building(cell, MLPACK)]
        rows.append([cell.problem, cell.kernel, *hardness, *built])
    head = "set|kernel|c|γ|forecast|tree: evaluations|s|filter: s|mlpack: evaluations|s"
    return markdown(head, rows)


def _building(cell: Cell, name: str) -> list[str]:
    one = cell.figure(name)
    if one is None or one.build_seconds is None:
        return [_why_not(one), "-"]
    evaluations = one.build_evaluations
    each = None if evaluations is None else evaluations / cell.n_objects
    return [three_digits(each), f"{one.build_seconds:.3g}"]


def _wrong_table(cells: Sequence[Cell]) -> str:
    by_kernel: dict[str, list[Cell]] = {}
    for cell in cells:
        by_kernel.setdefault(cell.kernel, []).append(cell)
    rows = []
    for name in dict.fromkeys(one.name for cell in cells for one in cell.figures):
        found = (count_wrong(some, name) for some in by_kernel.values())
        rows.append([name, *(f"{one.wrong} of {one.checked}" if one else "-" for one in found)])
    return markdown("|".join(["", *by_kernel]), rows)


def _protein_table(cells: Sequence[Cell]) -> str:
    counted, timed = (TREE_OF_ONE, FILTER, MLPACK), (SCAN, TREE, FILTER, AUTO, MLPACK)
    rows = []
    for group in _groups(cells):
        last = group[-1]
        row = [last.kernel, last.n_objects, *(_speedups(group, name) for name in counted)]
        rows.append([*row, *(_time(last.figure(name)) for name in timed), _building(last, TREE)[1]])
    head = "kernel|sequences|tree: fewer|filter: fewer|mlpack: fewer"
    times = "scan: us|tree: us|filter: us|auto: us|mlpack: us|tree: build s"
    return markdown(f"{head}|{times}", rows)


def _promise_table(cells: Sequence[ApproximateCell]) -> str:
    head = "set|kernel|k|mode|promise|greatest|mean|kept|exact answers|evaluations"
    rows = []
    for cell in cells:
        for one in cell.outcomes:
            is_miss = one.mode == "budget" and cell.scale > 0.0
            unit = cell.scale if is_miss else 1.0
            sizes = (one.promise, one.greatest / unit, one.mean / unit)
            row = [cell.problem, cell.kernel, cell.k, _mode(one), *(f"{s:.3g}" for s in sizes)]
            row += [f"{one.kept_share:.0%}", f"{one.exact_share:.0%}", f"{one.evaluations:.0f}"]
            share = f"{one.evaluations / cell.exact_evaluations:.0%}"
            rows.append([*row, share, f"{one.gap_share:.0%}"])
    return markdown(f"{head}|of the exact search's|gap holds", rows)


def _mode(one: Outcome) -> str:
    return f"rank, 1 - δ = {1.0 - DELTA:.0%}" if one.mode == "rank" else one.mode


def _why_not(one: Figure | None) -> str:
    if one is None or one.failure is None:
        return "-"
    return one.failure.removeprefix("PeerError: ").partition("\n")[0].partition(":")[0][:40]
