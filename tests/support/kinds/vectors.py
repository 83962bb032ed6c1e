"""Vectors, dense and sparse, and tuples of vectors."""

import numpy as np
import scipy.sparse as sp

from fastmks import kernels as K
from support.kinds.base import Kind

_RNG = np.random.default_rng(0)
_ROWS = np.repeat(_RNG.normal(size=(40, 5)), 2, axis=0)  # each twice
_ROWS[7] = 0.0
_QUERIES = np.vstack([_RNG.normal(size=(6, 5)), np.zeros((1, 5)), _ROWS[:1]])
_PAIRS = [(row[:2], row[2:]) for row in _ROWS]
_PAIR_QUERIES = [(row[:2], row[2:]) for row in _QUERIES]

KINDS = [
    Kind("dense", K.Polynomial(degree=2, offset=1.0), _ROWS, _QUERIES),
    Kind("sparse", K.Cosine(), sp.csr_array(_ROWS), sp.csr_array(_QUERIES)),
    Kind("not Mercer", K.Tanh(), _ROWS, _QUERIES, counterexample=_RNG.normal(size=(200, 3))),
    Kind(
        "pairs of vectors",
        K.OnField(0, K.Gaussian(1.0)) * K.OnField(1, K.Linear()),
        _PAIRS,
        _PAIR_QUERIES,
        bad=[
            ([(_ROWS[0], _ROWS[1]), (_ROWS[0],)], r"objects[1] must be a tuple with a field 1"),
            ([1.0, 2.0], r"objects[0] must be a tuple with a field 0"),
            ([([1.0], [2.0]), ([1.0], [np.nan])], "field 1 of objects must be finite"),
        ],
    ),
    Kind(
        "algebra of fields",
        0.5 * K.Normalized(K.OnField(0, K.Linear() + K.Gaussian(2.0))) + K.OnField(1, K.Cosine()),
        _PAIRS,
        _PAIR_QUERIES,
    ),
]
