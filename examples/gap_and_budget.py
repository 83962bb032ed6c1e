"""The use of a budget of kernel evaluations: the certified gap beside the true miss.

python examples/gap_and_budget.py [--figure PATH]

`hits.gap` says how far the true k-th value may be above the returned one, without knowing it; here
the exact answer is computed too, to compare. With --figure both are drawn (needs matplotlib).
"""

import argparse
from typing import NamedTuple

import numpy as np

import fastmks

N_OBJECTS, N_COLUMNS, N_QUERIES, K = 10_000, 6, 200, 10
BUDGETS = (10, 20, 30, 50, 70, 100, 150, 200, 300, 500)


class Bought(NamedTuple):
    """The results of a budget, in the mean over the queries."""

    budget: int
    gap: float
    missed: float
    found: float  # share of the exact k
    proven: float  # share of the queries whose answer is certified exact


def measure() -> list[Bought]:
    """Search with each budget, and compare with the exact answers."""
    rng = np.random.default_rng(0)
    objects = rng.normal(size=(N_OBJECTS, N_COLUMNS))
    queries = rng.normal(size=(N_QUERIES, N_COLUMNS))
    index = fastmks.Index(objects, algorithm="tree")
    exact = index.search(queries, K)
    rows = []
    for budget in BUDGETS:
        hits = index.search(queries, K, budget=budget)
        missed = exact.values[:, -1] - hits.values[:, -1]
        if (missed > hits.gap).any():
            raise SystemExit("A gap was not kept: please report this.")
        found = [np.isin(a, b).mean() for a, b in zip(exact.indices, hits.indices, strict=True)]
        proven = float((hits.gap == 0.0).mean())
        rows.append(Bought(budget, hits.gap.mean(), missed.mean(), float(np.mean(found)), proven))
    return rows


def draw(path: str, rows: list[Bought]) -> None:
    """Draw the gap and the miss on the left, the shares found and proven on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), dpi=100, layout="constrained")
    left, right = figure.subplots(1, 2)
    budgets = [row.budget for row in rows]
    left.plot(budgets, [row.gap for row in rows], "o-", ms=3, label="certified gap")
    left.plot(budgets, [row.missed for row in rows], "s-", ms=3, label="really missed")
    left.set_ylabel(f"value, mean of {N_QUERIES} queries")
    right.plot(budgets, [row.found for row in rows], "s-", ms=3, color="C1", label="found of the k")
    right.plot(budgets, [row.proven for row in rows], "o-", ms=3, label="certified exact")
    right.set_ylabel("share")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel(f"budget: evaluations a query, of {N_OBJECTS}")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(path)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--figure", help="a PNG file to draw the table into")
    options = parser.parse_args()
    rows = measure()
    print(f"{N_OBJECTS} vectors of {N_COLUMNS} columns, inner product, k = {K}: means\n")
    print(f"{'budget':>8}{'gap':>10}{'missed':>10}{'found':>8}{'proven':>8}")
    for row in rows:
        print(
            f"{row.budget:>8}{row.gap:>10.3f}{row.missed:>10.3f}{row.found:>8.0%}{row.proven:>8.0%}"
        )
    if options.figure:
        draw(options.figure, rows)


if __name__ == "__main__":
    main()
