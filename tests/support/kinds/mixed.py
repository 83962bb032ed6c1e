"""Objects of several kinds at once: tuples, and expressions that read the same objects twice."""

import numpy as np

from fastmks import kernels as K
from support.functions import overlap
from support.kinds.base import Kind

_RNG = np.random.default_rng(1)
_WORDS = ["".join(_RNG.choice(list("ab"), size=n)) for n in _RNG.integers(0, 9, size=40)]
_QUERY_WORDS = ["", "ab", "abba", "bbbbbbbb", "ccc"]


def _tuples(words):
    """A vector, a string, a set and a series from each word."""
    return [
        ([float(len(word)), 1.0], word, set(word), np.cumsum([ord(c) - 96 for c in "a" + word]))
        for word in words
    ]


_LETTERS = K.Substitution.uniform("abc", match=2, mismatch=-1)
_OBJECTS, _QUERIES = _tuples(_WORDS), _tuples(_QUERY_WORDS)

KINDS = [
    Kind("two spectra", 0.5 * K.Spectrum(3) + 0.5 * K.Spectrum(4), _WORDS, _QUERY_WORDS),
    Kind(
        "a vector and a string",
        K.OnField(0, K.Gaussian(1.0)) * K.OnField(1, K.Spectrum(2)),
        _OBJECTS,
        _QUERIES,
        bad=[([([1.0], 7)], "field 1 of objects must be strings")],
    ),
    Kind(
        "a number and a string",
        K.OnField(0, K.Gaussian(2.0)) + K.OnField(1, K.Normalized(K.Spectrum(1))),
        [(len(word), word) for word in _WORDS],
        [(np.float32(len(word)), word) for word in _QUERY_WORDS],
        bad=[([(2.0, "a"), ([2.0], "a")], "field 0 of objects")],
    ),
    Kind(
        "a string, a set and a series",
        K.OnField(1, K.Normalized(K.LocalAlignment(substitution=_LETTERS)))
        + 2.0 * K.OnField(2, K.Jaccard())
        + K.OnField(3, K.Normalized(K.GlobalAlignment(2.0))),
        _OBJECTS,
        _QUERIES,
    ),
    Kind(
        "a function and a kernel of strings",
        K.Custom(overlap) + K.Spectrum(2),
        _WORDS,
        _QUERY_WORDS,
    ),
]
