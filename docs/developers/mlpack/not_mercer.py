"""Kernels that are not positive definite are accepted, and some answers are wrong."""

import numpy as np
from mlpack import fastmks

n_wrong = n_queries = 0
for seed in range(20):
    rng = np.random.default_rng(seed)
    reference, query = rng.normal(size=(500, 3)), rng.normal(size=(100, 3))
    squares = ((query[:, None, :] - reference[None, :, :]) ** 2).sum(axis=2)
    best = -np.sort(-np.maximum(0, 1 - squares / 4), axis=1)[:, :5]
    found = fastmks(
        reference=reference.copy(),
        query=query.copy(),
        k=5,
        kernel="epanechnikov",
        bandwidth=2.0,
        single=True,
    )
    n_wrong += (~np.isclose(found["kernels"], best, rtol=1e-9, atol=1e-12).all(axis=1)).sum()
    n_queries += len(query)
print(f"epanechnikov, bandwidth 2, single tree: {n_wrong} of {n_queries} queries wrong")
gram = np.maximum(0, 1 - (np.arange(-4, 5)[:, None] - np.arange(-4, 5)[None, :]) ** 2 / 4.0)
print("least eigenvalue of its Gram matrix on -4, -3, ..., 4:", np.linalg.eigvalsh(gram)[0])
