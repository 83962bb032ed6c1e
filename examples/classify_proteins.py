"""Sort proteins into families by the runs of letters they share, with scikit-learn.

    python examples/classify_proteins.py

Families of random sequences are made up, each by mutating an ancestor. A grid search finds how
long the runs should be; then the proteins that it never saw are classified.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split

from fastmks.kernels import Normalized, Spectrum
from fastmks.sklearn import KernelNeighborsClassifier

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


def make_families(n_families: int = 12, n_members: int = 20) -> tuple[list[str], list[str]]:
    """Make sequences that differ from their ancestor in half of their letters, and their names."""
    rng = np.random.default_rng(0)
    letters = np.array(list(AMINO_ACIDS))
    sequences, families = [], []
    for family in range(n_families):
        ancestor = rng.choice(letters, rng.integers(150, 300))
        for _ in range(n_members):
            others = rng.choice(letters, len(ancestor))
            changed = np.where(rng.random(len(ancestor)) < 0.5, others, ancestor)
            sequences.append("".join(changed))
            families.append(f"family {family:02d}")
    return sequences, families


def main() -> None:
    """Choose a kernel, classify, print."""
    sequences, families = make_families()
    known, new, labels, truth = train_test_split(
        sequences, families, test_size=0.25, stratify=families, random_state=0
    )
    model = KernelNeighborsClassifier(n_neighbors=5, kernel=Normalized(Spectrum(1)))
    grid = {"kernel__kernel__p": [1, 2, 3, 4], "weights": ["uniform", "values"]}
    search = GridSearchCV(model, grid, cv=3).fit(known, labels)
    print(f"{len(known)} proteins of {len(set(labels))} families, {len(new)} to classify\n")
    results = search.cv_results_
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        runs = f"runs of {params['kernel__kernel__p']} letters, {params['weights']} votes"
        print(f"{runs:<34} {score:6.1%} right in cross-validation")
    print(f"\nbest: {search.best_estimator_}")
    print(f"right on new proteins: {search.score(new, truth):.1%}")
    values, indices = search.best_estimator_.kneighbors(new[:1])
    print(f"\nneighbours of the first, which is of {truth[0]}:")
    for value, index in zip(values[0], indices[0], strict=True):
        print(f"  {value:.4f}  {labels[index]}")


if __name__ == "__main__":
    main()
