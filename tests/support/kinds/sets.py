"""Fingerprints in all their forms, sets of anything, and vectors of counts."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from fastmks import kernels as K
from support.kinds.base import Kind

_RNG = np.random.default_rng(4)


def _draw(n, n_bits, share):
    """Rows of which each comes twice, one is empty and one is full."""
    rows = np.repeat(_RNG.random((n // 2, n_bits)) < share, 2, axis=0)
    rows[5] = False
    rows[6] = True
    return rows


def sets_of(rows):
    return [set(np.flatnonzero(row).tolist()) for row in rows]


_BITS = _draw(60, 700, 0.08)
_QUERIES = np.vstack([_draw(8, 700, 0.08), _BITS[:2], ~_BITS[:1]])
_WORDS = sets_of(_draw(60, 30, 0.2))
_COUNTS = _RNG.poisson(0.5, size=(60, 20)).repeat(2, axis=0).astype(float)
_COUNTS[3] = 0.0
_COUNT_QUERIES = np.vstack([_RNG.poisson(0.5, size=(5, 20)), np.zeros((1, 20)), _COUNTS[:1]])


def _named(sets):
    return [frozenset(f"word {member}" for member in one) for one in sets]


KINDS = [
    Kind(
        "packed fingerprints",
        K.Tanimoto(),
        np.packbits(_BITS, axis=1),
        np.packbits(_QUERIES, axis=1),
        bad=[
            (np.ones((3, 4)), "objects must be bits; got an array of dtype float64"),
            (np.ones(4, dtype=np.uint8), "objects must be two-dimensional"),
            (np.ones((3, 0), dtype=np.uint8), "objects must be two-dimensional"),
            ([{1}, [2]], "objects[1] is [2]"),
            ([{1}, {-1}], "objects[1] must be a set of whole numbers from 0; it has -1"),
            ([{1}, {"a"}], "objects[1] must be a set of whole numbers from 0; it has 'a'"),
            ([[True, False], [True]], "objects[0] has 2 entries, objects[1] has 1"),
            ([], "objects must hold at least one object"),
            ([None, {1}], "objects[0] must be a fingerprint; got None"),
            ([[True, False], None], "objects[1] must be a fingerprint; got None"),
            ([b"ab", b"cd"], "np.frombuffer(b''.join(rows), np.uint8)"),
            ([_BITS[0], np.packbits(_BITS[1])], "objects[0] has 700 entries, objects[1] has 88"),
            ([_BITS[0], _BITS[1].astype(np.uint8)], "objects[1] has dtype uint8"),
            (sp.csr_array(2.0 * _BITS[:2]), "objects must be zeros and ones; objects[0, "),
            (pd.DataFrame({"a": [0, 1]}), "dtype int64. Booleans are made by X.astype(bool)"),
            (pd.DataFrame({"a": [{1}, {2}]}), "Pass one of the columns of the table"),
            (pd.DataFrame({"a": [True, None]}, dtype="boolean"), "objects cannot be read as bits"),
        ],
    ),
    Kind("one bit", K.Tanimoto(), _BITS[:, :1], _QUERIES[:, :1]),
    Kind("sets of positions", K.Tanimoto(), sets_of(_BITS), [{10**30}, *sets_of(_QUERIES)]),
    Kind(
        "sets of words",
        K.Jaccard(),
        _named(_WORDS),
        [*_named(_WORDS[3:9]), set(), {"never seen"}, {"never seen", "word 1"}],
        bad=[
            ({1, 2}, "objects must be a sequence of sets; got one set"),
            ("abc", "objects must be a sequence of sets; got 'abc'"),
            ([{1}, "abc"], "objects[1] is 'abc'"),
            (7, "objects must be a sequence of sets; got 7"),
            ([{1}, [2, 3]], "objects[1] is [2, 3]. Make it one: set(...)"),
            ([{1}, {2, float("nan")}], "objects[1] has nan"),
            ([{("a", float("nan"))}], "objects[0] has ('a', nan)"),
            ([{np.datetime64("NaT")}], "members of sets must be equal to themselves"),
        ],
    ),
    Kind("counts", K.MinMax(), _COUNTS, _COUNT_QUERIES),
    Kind(
        "sparse counts",
        K.MinMax(),
        sp.csr_array(_COUNTS),
        sp.csr_array(_COUNT_QUERIES),
        bad=[
            ([[1.0, 2.0], [0.5, -1.0]], "objects[1, 1] is -1.0"),
            (sp.csr_array([[0.0, 2.0], [0.0, -3.0]]), "objects[1, 1] is -3.0"),
            ([[1.0, 2.0], [0.5, np.nan]], "objects[1, 1] is nan"),
            ([[1.0, 2.0], [1e308, 1e308]], "that of objects[1] is inf"),
            (sp.csr_array([[1.0, 2.0], [1e308, 1e307]]), "that of objects[1] is 1.1e+308"),
        ],
    ),
    Kind(
        "fingerprints and counts",
        0.5 * K.OnField(0, K.Tanimoto()) + 0.5 * K.OnField(1, K.MinMax()),
        list(zip(sets_of(_BITS), _COUNTS, strict=False)),
        list(zip(sets_of(_QUERIES), _COUNT_QUERIES, strict=False)),
    ),
    Kind("normalised", K.Normalized(K.Tanimoto()), _BITS, _QUERIES),
    Kind("product", K.Tanimoto() * K.Tanimoto(), _BITS, _QUERIES),
]
