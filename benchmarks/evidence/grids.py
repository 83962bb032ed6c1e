"""Pictures that are grids of numbers: wrong answers, and what a search gains over a scan."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence.overview import BLUE, medians_in, wrong_of
from benchmarks.pictures import make_panels, mark_plainly
from benchmarks.quotes.tables import rows, show
from benchmarks.race.names import AUTO, SCAN

SETS = {  # those of the peers
    "lcdm": "galaxies",
    "covertype": "Covertype",
    "aloi": "ALOI",
    "mnist": "MNIST",
    "cifar10_gist384": "GIST",
    "gowalla": "Gowalla",
    "glove100_50k": "GloVe",
    "normal": "noise",
    "movielens": "MovieLens",
    "blog posts": "blog posts",
    "20 newsgroups": "news posts",
    "proteins": "proteins",
    "fingerprints": "molecules",
}
_LIBRARIES = {
    AUTO: "fastmks",
    "mlpack single-tree, base 1.3": "mlpack's single tree",
    "FPSim2": "FPSim2",
    "sparse_dot_topn": "sparse_dot_topn",
    "scipy": "scipy",
    "sklearn brute": "scikit-learn, brute force",
    "sklearn BallTree": "scikit-learn, ball tree",
    "usearch exact": "usearch, exact",
    "numpy": "numpy in float32",
    "faiss panorama, rotated": "FAISS Panorama",
    "faiss flat, tuned": "FAISS flat, tuned",
    "hnswlib": "hnswlib (approximate)",
}
_KERNELS = {"linear": "inner\nproduct", "cosine": "cosine", "polynomial 10": "10th power"}
_WEISFEILER, _PATHS = "WeisfeilerLehman(iterations=2)", "ShortestPath()"
_SERIES = "GlobalAlignment(bandwidth=3.0, triangular=None)"
_ALIGNED = "substitution='BLOSUM62', gap_open=11.0, gap_extend=1.0)"
_OTHERS = {  # by kernel or case: what is shown
    _WEISFEILER: "graphs: WeisfeilerLehman",
    f"Normalized(kernel={_WEISFEILER})": "WeisfeilerLehman, normalised",
    _PATHS: "graphs: ShortestPath",
    f"Normalized(kernel={_PATHS})": "ShortestPath, normalised",
    f"Normalized(kernel={_SERIES})": "time series: GlobalAlignment",
    f"Normalized(kernel=LocalAlignment(beta=0.5, {_ALIGNED})": "proteins: LocalAlignment",
    f"SmithWaterman({_ALIGNED}": "proteins: SmithWaterman",
    "tree, small sets in Python, k = 1, beside the scan": "small sets: a Python function",
    "tree, sentences in Python, k = 1, beside the scan": "sentences: a Python function",
}


def draw_wrong_answers(results: Path, file: Path) -> None:
    """Draw the share of queries with a wrong answer, by library and set."""
    made = make_panels(1, 8.4, 4.8)
    if made is None:
        return
    figure, (axes,) = made
    found = rows(results, "peers_bars")
    by_set = [[row for row in found if row["problem"] == problem] for problem in SETS]
    shares = [[_share(*wrong_of(mine, name)) for mine in by_set] for name in _LIBRARIES]
    texts = [[_percent(share) for share in line] for line in shares]
    _draw_grid(axes, shares, texts, list(_LIBRARIES.values()), list(SETS.values()), "Oranges")
    axes.get_yticklabels()[0].set(weight="bold", color=BLUE)
    axes.set_xticks(range(len(SETS)), SETS.values(), rotation=40, ha="left", rotation_mode="anchor")
    figure.savefig(file, dpi=150)


def _share(wrong: int, checked: int) -> float | None:
    return wrong / checked if checked else None


def _percent(share: float | None) -> str:
    if not share:
        return "" if share is None else "0"
    return "<0.1 %" if share < 0.001 else show(share, ".0%" if share >= 0.1 else ".1%")


def draw_gains(results: Path, file: Path) -> None:
    """Draw how many times faster than a linear scan `auto` is, by set, kernel and kind."""
    made = make_panels(2, 8.8, 4.8, n_columns=2)
    if made is None:
        return
    figure, (grid, bars) = made
    found = rows(results, "paper", section="vectors", k=10, name=(AUTO, SCAN))
    times = {(row["problem"], row["kernel"], row["name"]): row["median_us"] for row in found}
    sets = {row["problem"]: f"{row['problem']}, {row['n_columns']}" for row in found}
    gains = {
        one: [times[one, kernel, SCAN] / times[one, kernel, AUTO] for kernel in _KERNELS]
        for one in sets
    }
    sets = {one: sets[one] for one in sorted(sets, key=lambda one: -gains[one][0])}
    values = [gains[one] for one in sets]
    texts = [[f"{show(one, 'brief')}×" for one in line] for line in values]
    _draw_grid(grid, values, texts, list(sets.values()), list(_KERNELS.values()), "Blues")
    grid.set_title("vectors: data set, columns", fontsize="medium")
    others = sorted(_other_gains(results), key=lambda one: one[1])
    widths = [gain - 1.0 for _, gain in others]
    bars.barh([name for name, _ in others], widths, left=1.0, color=BLUE)
    for at, (_, gain) in enumerate(others):
        bars.text(max(gain, 1.0) * 1.08, at, f"{show(gain, 'brief')}×", va="center")
    bars.axvline(1.0, color="black", linewidth=0.8)
    bars.set(xscale="log", xlim=(0.5, 150.0))
    mark_plainly(bars.xaxis)
    bars.set_title("other objects", fontsize="medium")
    bars.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)


def _other_gains(results: Path) -> Iterator[tuple[str, float]]:
    """Yield what a search of objects that are not vectors gains over a scan."""
    for length in (1, 2, 3):
        place = {"kernel": f"spectrum {length}", "k": 10, "n_objects": 99_900}
        times = medians_in(rows(results, "paper", **place))
        yield f"proteins: Spectrum({length})", times[SCAN] / times[AUTO]
    times = medians_in(
        rows(results, "peers_bars", problem="fingerprints", k=10, batch=1, threads=1)
    )
    yield "molecules: Tanimoto", times[SCAN] / times[AUTO]
    for row in rows(results, "objects_graphs", problem="nci1", k=10):
        if row["kernel"] in _OTHERS:
            yield _OTHERS[row["kernel"]], row["scan_seconds"] / row["lists_seconds"]
    for file in ("objects_series", "objects_alignments"):
        scan = {row["kernel"]: row["seconds"] for row in rows(results, file, algorithm="scan")}
        for row in rows(results, file, algorithm=("tree", "filter")):
            if row["kernel"] in _OTHERS:
                yield _OTHERS[row["kernel"]], scan[row["kernel"]] / row["seconds"]
    for row in rows(results, "objects_own", case=tuple(_OTHERS)):
        yield _OTHERS[row["case"]], 1.0 / row["ratio"]


def _draw_grid(
    axes: Any,
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    lines: Sequence[str],
    columns: Sequence[str],
    colours: str,
) -> None:
    """Write numbers into a grid of cells, the greater the darker (by their logarithms)."""
    table = np.array([[np.nan if one is None else one for one in line] for line in values])
    shades = np.log10(np.maximum(table, np.nanmin(table[table > 0.0])))
    low, high = np.nanmin(shades), np.nanmax(shades)
    darkest = high + (high - low) / 2.0  # numbers are black: no cell may be too dark for them
    axes.imshow(shades, cmap=colours, aspect="auto", vmin=low, vmax=darkest)
    for (at, column), text in np.ndenumerate(np.array(texts)):
        axes.text(column, at, text, ha="center", va="center", fontsize="small")
    axes.set_yticks(range(len(lines)), lines)
    axes.set_xticks(range(len(columns)), columns, fontsize="small")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
