"""Find the proteins most like some others by the 3-letter runs they share.

    python examples/similar_proteins.py [proteins.fasta.gz]

Without a file, families of random sequences are made up, each by mutating an ancestor, and the
search must find the relatives.
"""

import sys

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


def main() -> None:
    """Search with a few proteins among all others."""
    path = sys.argv[1] if len(sys.argv) > 1 else None
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


if __name__ == "__main__":
    main()
