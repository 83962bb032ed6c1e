"""The default search ignores the parameters of the kernel in its query tree."""

import numpy as np
from mlpack import fastmks

rng = np.random.default_rng(0)
cases = [  # kernel, columns, parameters
    ("polynomial", 8, {"degree": 2.0, "offset": 0.0}),  # the defaults
    ("polynomial", 8, {"degree": 3.0, "offset": 1.0}),
    ("polynomial", 8, {"degree": 10.0, "offset": 0.0}),
    ("gaussian", 3, {"bandwidth": 1.0}),  # the default
    ("gaussian", 3, {"bandwidth": 0.2}),
]
for kernel, n_columns, parameters in cases:
    reference, query = rng.random((2000, n_columns)), rng.random((300, n_columns))
    if kernel == "polynomial":
        true = (query @ reference.T + parameters["offset"]) ** parameters["degree"]
    else:
        squares = ((query[:, None, :] - reference[None, :, :]) ** 2).sum(axis=2)
        true = np.exp(squares / (-2 * parameters["bandwidth"] ** 2))
    best = -np.sort(-true, axis=1)[:, :5]
    for single in (False, True):
        found = fastmks(
            reference=reference.copy(),
            query=query.copy(),
            k=5,
            kernel=kernel,
            single=single,
            **parameters,
        )
        is_wrong = ~np.isclose(found["kernels"], best, rtol=1e-9, atol=0).all(axis=1)
        mode = "single tree" if single else "dual tree"
        print(f"{kernel} {parameters}, {mode}: {is_wrong.sum()} of 300 queries wrong")
