"""Kernel evaluations of a search as the set grows, by tree and by filter, beside a scan.

python examples/growing_cost.py [--figure PATH] [--largest N]

The vectors are drawn from a normal distribution: the more columns, the fewer objects can be pruned.
Counts, not times: they are the same on every machine. With --figure they are drawn (matplotlib).
"""

import argparse

import numpy as np

import fastmks

COLUMNS = (2, 4, 8, 16)
N_QUERIES, K, SMALLEST = 50, 10, 500
FEWEST = fastmks.Traversal(order="best-first", block=1)  # count as few as possible
Curves = dict[tuple[str, int], list[float]]


def count(sizes: list[int]) -> Curves:
    """Return evaluations a query for each engine and number of columns, by size."""
    curves: Curves = {}
    for n_columns in COLUMNS:
        rng = np.random.default_rng(n_columns)
        queries = rng.normal(size=(N_QUERIES, n_columns))
        objects = rng.normal(size=(sizes[-1], n_columns))
        for n in sizes:
            index = fastmks.Index(objects[:n])
            tree = index.search(queries, K, algorithm="tree", traversal=FEWEST)
            filtered = index.search(queries, K, algorithm="filter")
            for name, hits in (("tree", tree), ("filter", filtered)):
                evaluations = hits.stats.kernel_evaluations / N_QUERIES
                curves.setdefault((name, n_columns), []).append(evaluations)
    return curves


def draw(path: str, sizes: list[int], curves: Curves) -> None:
    """Draw evaluations against the number of objects, a panel for each engine."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), dpi=100, layout="constrained")
    for axes, name in zip(figure.subplots(1, 2, sharey=True), ("tree", "filter"), strict=True):
        axes.loglog(sizes, sizes, color="black", linestyle=":", label="scan: all")
        for n_columns, colour in zip(COLUMNS, ("C0", "C2", "C1", "C3"), strict=True):
            label = f"{n_columns} columns"
            axes.loglog(sizes, curves[name, n_columns], "o-", color=colour, ms=3, label=label)
        axes.set_title(f'algorithm="{name}"', fontsize=10)
        axes.set_xticks(sizes, map(str, sizes))
        axes.minorticks_off()
        axes.set_xlabel("objects")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel(f"evaluations a query, k = {K}")
    figure.axes[0].legend(fontsize=8)
    figure.savefig(path)


def main() -> None:
    """Count, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--figure", help="a PNG file to draw the counts into")
    parser.add_argument("--largest", type=int, default=8000, help="objects (default 8000)")
    options = parser.parse_args()
    if options.largest < SMALLEST:
        parser.error(f"--largest must be at least {SMALLEST}; got {options.largest}")
    n_doublings = (options.largest // SMALLEST).bit_length()
    sizes = [SMALLEST << i for i in range(n_doublings)]
    curves = count(sizes)
    print("evaluations a query, inner product, k = 10\n")
    print(f"{'engine':<8}{'columns':>8}" + "".join(f"{n:>9}" for n in sizes))
    for (name, n_columns), evaluations in sorted(curves.items()):
        print(f"{name:<8}{n_columns:>8}" + "".join(f"{value:>9.0f}" for value in evaluations))
    if options.figure:
        draw(options.figure, sizes, curves)


if __name__ == "__main__":
    main()
