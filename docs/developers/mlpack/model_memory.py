"""A model uses the memory of the caller's array after the call that built it."""

import numpy as np
from mlpack import fastmks

rng = np.random.default_rng(0)
query = rng.normal(size=(100, 5))
for copies in (False, True):
    reference = rng.normal(size=(2000, 5))
    best = -np.sort(-(query @ reference.T), axis=1)[:, :5]
    model = fastmks(reference=reference, kernel="linear", single=True, copy_all_inputs=copies)
    reference[:] = 0.0  # or the array is freed, and the memory used for something else
    found = fastmks(input_model=model["output_model"], query=query.copy(), k=5, single=True)
    is_wrong = ~np.isclose(found["kernels"], best, rtol=1e-9).all(axis=1)
    print(f"copy_all_inputs={copies}: {is_wrong.sum()} of 100 queries wrong")
