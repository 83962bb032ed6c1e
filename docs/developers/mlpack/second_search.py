"""A second search of one model, with a greater k, gives wrong answers."""

import numpy as np
from mlpack import fastmks

rng = np.random.default_rng(0)
reference = rng.normal(size=(2000, 5))
true = reference @ reference.T
np.fill_diagonal(true, -np.inf)  # a search among the references skips the object itself
best = -np.sort(-true, axis=1)[:, :10]
for single in (False, True):
    for first_k in (None, 1):
        kept = reference.copy()  # the model does not copy it
        model = fastmks(reference=kept, kernel="linear", single=single)["output_model"]
        if first_k:
            fastmks(input_model=model, k=first_k, single=single)
        found = fastmks(input_model=model, k=10, single=single)
        is_wrong = ~np.isclose(found["kernels"], best, rtol=1e-9).all(axis=1)
        mode = "single tree" if single else "dual tree"
        before = f"after a search with k={first_k}" if first_k else "alone"
        print(f"k=10 {before}, {mode}: {is_wrong.sum()} of 2000 objects wrong")
