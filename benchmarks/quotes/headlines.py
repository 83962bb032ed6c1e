"""The headline figures: how they follow from the stored results, and the sentences with them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import geometric_mean

from benchmarks.quotes.tables import Row, rows
from benchmarks.race.names import AUTO, MLPACK, MLPACK_DUAL, NUMPY

_README, _COMPARISON, _RESULTS = "README.md", "docs/comparison.md", "docs/evidence/index.md"
_ALL = (_README, _COMPARISON, _RESULTS)
SENTENCES: Mapping[str, tuple[str, ...]] = {  # each with its pages
    "takes {mnist} times as long on MNIST, {cifar10_gist384} on GIST, {gowalla} on Gowalla, "
    "{glove100_50k} on GloVe, {movielens} on MovieLens and {covertype} on Covertype": _ALL,
    "FPSim2 takes {fpsim2} times as long": _ALL,
    "wrong answer to {faiss_wrong} of {faiss_checked} such": (_README, _COMPARISON),
    "one to {faiss_wrong} of {faiss_checked} by inner product": (_RESULTS,),
    "wrong answer to {dual_wrong} of {dual_checked} queries": (_COMPARISON, _RESULTS),
    "evaluates {mlpack} times fewer pairs than mlpack's": _ALL,
    "takes {numpy} times less time than numpy": _ALL,
    "of the grid, from {numpy_least} to {numpy_most} times": (_RESULTS,),
    "Yahoo! Music numpy takes {yahoo} times as long": (_COMPARISON, _RESULTS),
    "takes {faiss} µs for MovieLens' 3706 items, and fastmks {fastmks}.": (_README, _COMPARISON),
    "MovieLens' 3706 items in {faiss} µs, we need {fastmks}.": (_RESULTS,),
    "held {answers} million answers of ours": (_RESULTS,),
}
_SETS = ("mnist", "cifar10_gist384", "gowalla", "glove100_50k", "movielens", "covertype")


def figures(folder: Path) -> dict[str, float]:
    """Return all headline figures: at most 20."""
    peers = partial(rows, folder, "peers_bars", k=10)
    batches = peers(kernel="linear", batch=5000, threads=1, problem=_SETS, is_best=True)
    single = partial(peers, kernel="linear", batch=1, threads=1, problem="movielens")
    (flat,), (ours,) = single(name="faiss flat"), single(is_best=True)
    (fpsim2,) = peers(problem="fingerprints", batch=1, threads=1, is_best=True)
    faiss = peers(name="faiss flat, tuned", kernel="linear")
    dual = rows(folder, "paper", name=MLPACK_DUAL, kernel="polynomial 10", section="vectors")
    numpy = _ratios(folder, "median_us", NUMPY, AUTO, section="vectors", k=10)
    (yahoo,) = _ratios(folder, "median_us", NUMPY, AUTO, problem="yahoo", kernel="linear", k=10)
    programs = ("paper", "growth", "peers_bars")
    answers = sum(_sum(rows(folder, name, is_ours=True), "checked") for name in programs)
    return {row["problem"]: row["times_less"] for row in batches} | {
        "fpsim2": fpsim2["times_less"],
        "faiss": flat["median_us"],
        "fastmks": ours["median_us"],
        "faiss_wrong": _sum(faiss, "differ") - _sum(faiss, "ties"),
        "faiss_checked": _sum(faiss, "checked"),
        "dual_wrong": _sum(dual, "differ") - _sum(dual, "ties"),
        "dual_checked": _sum(dual, "checked"),
        "mlpack": geometric_mean(_ratios(folder, "evaluations", MLPACK, AUTO)),
        "numpy": geometric_mean(numpy),
        "numpy_least": min(numpy),
        "numpy_most": max(numpy),
        "yahoo": yahoo,
        "answers": answers / 1e6,
    }


def _sum(found: Sequence[Row], field: str) -> int:
    return sum(row.get(field) or 0 for row in found)


def _ratios(folder: Path, field: str, upper: str, lower: str, **wanted: object) -> list[float]:
    """Return a field of one entrant over that of another, in each cell that has both."""
    below = {row["cell"]: row.get(field) for row in rows(folder, "paper", name=lower, **wanted)}
    above = (row for row in rows(folder, "paper", name=upper, **wanted) if below.get(row["cell"]))
    return [row[field] / below[row["cell"]] for row in above if field in row]
