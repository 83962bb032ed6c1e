"""Find the proteins most like some others by the 3-letter runs they share.

    python examples/similar_proteins.py [proteins.fasta.gz] [--figure PATH]

Without a file, families of random sequences are made up, each by mutating an ancestor, and the
search must find the relatives. With --figure, the values of the first query with all proteins are
drawn, for runs of 1, 2 and 3 letters (needs matplotlib).
"""

import argparse
import sys
from collections.abc import Sequence

import numpy as np

import fastmks
from fastmks.kernels import Normalized, Spectrum

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
N_QUERIES, K = 5, 5


def make_families(n_families: int = 40, n_members: int = 6) -> fastmks.Fasta:
    """Make families of sequences that differ from their ancestor in one letter of five."""
    rng = np.random.default_rng(0)
    letters = np.array(list(AMINO_ACIDS))
    ids, sequences = [], []
    for family in range(n_families):
        ancestor = rng.choice(letters, rng.integers(150, 400))
        for member in range(n_members):
            others = rng.choice(letters, len(ancestor))
            changed = np.where(rng.random(len(ancestor)) < 0.2, others, ancestor)
            ids.append(f"family{family:02d}_{member}")
            sequences.append("".join(changed))
    return fastmks.Fasta(ids, sequences)


def draw(path: str, query: str, others: Sequence[str], is_relative: Sequence[bool]) -> None:
    """Draw the values of a query with all others, best first, for three lengths of runs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 2.8), dpi=100, layout="constrained")
    for axes, p in zip(figure.subplots(1, 3, sharey=True), (1, 2, 3), strict=True):
        hits = fastmks.Index(others, Normalized(Spectrum(p))).search([query], k=len(others))
        ranks = np.arange(1, len(others) + 1)
        related = np.asarray(is_relative)[hits.indices[0]]
        for chosen, marker, label in ((~related, ".", "others"), (related, "o", "its family")):
            axes.plot(ranks[chosen], hits.values[0][chosen], marker, label=label)
        axes.set_title(f"Normalized(Spectrum({p}))", fontsize=10)
        axes.set_xlabel("rank")
        axes.set_xscale("log")
        axes.set_ylim(0.0, 1.05)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("kernel value")
    figure.axes[0].legend(fontsize=8)
    figure.savefig(path)


def main() -> None:
    """Search with a few proteins among all others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", nargs="?", help="FASTA, plain or gzip")
    parser.add_argument("--figure", help="a PNG file to draw values into")
    options = parser.parse_args()
    path = options.file
    ids, sequences = make_families() if path is None else fastmks.read_fasta(path)
    queries = range(0, len(sequences), max(2, len(sequences) // N_QUERIES))
    others = [i for i in range(len(sequences)) if i not in queries]
    if not others:
        sys.exit(f"{path} has one protein: there is nothing to compare it with")
    index = fastmks.Index(
        [sequences[i] for i in others], Normalized(Spectrum(3)), ids=[ids[i] for i in others]
    )
    hits = index.search([sequences[i] for i in queries], k=min(K, len(index)))
    print(f"{len(index)} proteins, spectrum kernel of 3-grams, normalised")
    for row, query in enumerate(queries):
        print(f"\n{ids[query]} ({len(sequences[query])} letters)")
        for value, name in zip(hits.values[row], hits.ids[row], strict=True):
            print(f"  {value:.4f}  {name}")
    if options.figure:
        family = ids[0].split("_")[0]
        is_relative = [ids[i].startswith(f"{family}_") for i in others]
        draw(options.figure, sequences[0], [sequences[i] for i in others], is_relative)


if __name__ == "__main__":
    main()
