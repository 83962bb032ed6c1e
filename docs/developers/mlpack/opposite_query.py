"""Under the cosine, a query opposite to the first reference gets wrong answers."""

import numpy as np
from mlpack import fastmks

n_wrong = {False: 0, True: 0}
for seed in range(300):
    rng = np.random.default_rng(seed)
    reference = rng.normal(size=(200, 5))
    query = np.vstack([-reference[0], rng.normal(size=(1, 5))])  # two: one query has another fault
    true = query @ reference.T / np.linalg.norm(reference, axis=1)
    true /= np.linalg.norm(query, axis=1)[:, None]
    best = -np.sort(-true, axis=1)[:, :1]
    for single in (False, True):
        found = fastmks(
            reference=reference.copy(), query=query.copy(), k=1, kernel="cosine", single=single
        )
        n_wrong[single] += not np.isclose(found["kernels"][0, 0], best[0, 0], rtol=1e-9)
for single, n in n_wrong.items():
    print(f"{'single tree' if single else 'dual tree'}: {n} of 300 opposite queries wrong")
