"""Under the cosine, one zero vector among the references makes other answers wrong."""

import numpy as np
from mlpack import fastmks

rng = np.random.default_rng(0)
for has_zero in (False, True):
    reference, query = rng.normal(size=(2000, 5)), rng.normal(size=(500, 5))
    if has_zero:
        reference[0] = 0.0
    lengths = np.linalg.norm(reference, axis=1)
    lengths[lengths == 0] = 1.0  # mlpack, like most, defines the cosine with a zero vector as 0
    true = query @ reference.T / lengths / np.linalg.norm(query, axis=1)[:, None]
    best = -np.sort(-true, axis=1)[:, :5]
    for single in (False, True):
        found = fastmks(
            reference=reference.copy(), query=query.copy(), k=5, kernel="cosine", single=single
        )
        is_wrong = ~np.isclose(found["kernels"], best, rtol=1e-9, atol=1e-12).all(axis=1)
        mode = "single tree" if single else "dual tree"
        first = "a zero vector" if has_zero else "like the others"
        print(f"first reference {first}, {mode}: {is_wrong.sum()} of 500 queries wrong")
