"""Kernels of the user's own: functions, blocks, compiled functions, matrices, similarities."""

import ctypes
from collections import Counter

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy import LowLevelCallable

from fastmks import kernels as K
from support.kinds.base import Kind

_RNG = np.random.default_rng(5)
_ROWS = np.repeat(_RNG.integers(-4, 5, size=(30, 4)).astype(float), 2, axis=0)
_ROWS[5] = 0.0
_QUERIES = np.vstack([_RNG.integers(-4, 5, size=(5, 4)) * 1.0, np.zeros((1, 4)), _ROWS[:1]])
_TEXT = "a tree of kernels and kernels of trees and a tree search for the best best tree"
_WORDS = ["", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", *_TEXT.split(" ")]
_WORD_QUERIES = ["searches", "", "tree", "aaa"]
_PAIR = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.POINTER(ctypes.c_double),
    ctypes.POINTER(ctypes.c_double),
    ctypes.c_ssize_t,
)


def common_letters(x, y):
    """The product of letter counts."""
    x, y = Counter(x), Counter(y)
    return float(sum(n * y[letter] for letter, n in x.items()))


def dot(x, y):
    return float((x * y).sum())


def dots(x, ys):
    return (ys * x).sum(axis=1)


def squares(xs):
    return (xs * xs).sum(axis=1)


@_PAIR
def compiled_dot(x, y, n):
    return sum(x[i] * y[i] for i in range(n))


def is_near(x, y):
    return float(abs(x - y) <= 1)


def nearness(x, y):
    """At least is_near, not always by much."""
    return 1.0 if (x - y) ** 2 <= 4 else 0.25


COMPILED = LowLevelCallable(compiled_dot)
_NUMBERS = [3, 3, 1, 9, 2, -4, 8, 0, 0, 7, 11, 5]
_GRAM = pd.DataFrame(_ROWS @ _ROWS.T)
_VALUES = np.hstack([_QUERIES @ _ROWS.T, squares(_QUERIES)[:, None]])
_ASYMMETRIC = np.array([[1.0, 0.5], [0.25, 1.0]])
_NO_SEQUENCES = [
    (5, "objects must be a sequence of objects"),
    ("abc", "got one str"),
    ({"a", "b"}, "got one set"),
    ({"a": 1}, "got one dict"),
    ([], "at least one object"),
]

KINDS = [
    Kind("function of words", K.Custom(common_letters), _WORDS, _WORD_QUERIES, bad=_NO_SEQUENCES),
    Kind("normalised function", K.Normalized(K.Custom(common_letters)), _WORDS, _WORD_QUERIES),
    Kind("block of rows", K.Custom(block=dots, self_values=squares), _ROWS, _QUERIES),
    Kind("block of fractions", K.Custom(block=dots), _ROWS / 7.0, _QUERIES / 3.0),
    Kind(
        "compiled",
        K.Custom(COMPILED),
        _ROWS,
        _QUERIES,
        bad=[(sp.csr_array(_ROWS), "must be dense rows"), ([[np.nan]], "must be finite")],
    ),
    Kind("with built-in kernels", 0.5 * K.Custom(dot) + K.Gaussian(3.0), _ROWS, _QUERIES),
    Kind(
        "on a field",
        K.OnField(0, K.Gaussian(2.0)) * K.OnField(1, K.Custom(common_letters)),
        [(row, word) for row, word in zip(_ROWS, _WORDS, strict=False)],
        [(row, word) for row, word in zip(_QUERIES, _WORD_QUERIES, strict=False)],
    ),
    Kind(
        "precomputed",
        K.Precomputed(),
        _GRAM,
        _VALUES,
        bad=[
            (_VALUES, "objects must be the n x n matrix"),
            (_ASYMMETRIC, "K(0, 1) is 0.5 and K(1, 0) is 0.25"),
            ([[np.nan]], "objects must be finite"),
            (sp.csr_array(np.eye(3)), "must be a dense matrix"),
        ],
    ),
    Kind("similarity", K.Similarity(is_near), _NUMBERS, [4, 0, -9, 3], counterexample=[0, 1, 2]),
    Kind(
        "bounded similarity",
        K.Similarity(is_near, nearness),
        _NUMBERS,
        [4, 0, -9, 3],
        counterexample=[0, 1, 2],
    ),
]
