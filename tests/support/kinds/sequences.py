"""Strings and bytes under kernels that count their grams."""

import numpy as np
import pandas as pd

from fastmks import kernels as K
from fastmks.kernels.sequences import AMINO_ACIDS
from support.kinds.base import Kind

_RNG = np.random.default_rng(4)


def _strings(n, letters, longest):
    return ["".join(_RNG.choice(list(letters), _RNG.integers(0, longest))) for _ in range(n)]


_PROTEINS = _strings(20, AMINO_ACIDS, 60)
_PROTEINS += _PROTEINS[:10]  # ties
_PROTEINS += ["", "A", "AC", "A" * 3000, "BXZ" * 5, _PROTEINS[0] * 20]
_PROTEIN_QUERIES = [*_strings(5, AMINO_ACIDS + "X", 60), "", _PROTEINS[3], "Ω" * 9]
_DNA = [s.encode() for s in _strings(40, "ACGT", 80)]
_WORDS = [
    "héllo wörld",
    "hello world",
    "",
    "日本語のテキスト",
    "日本のテキスト",
    "😀😃😀😃",
    "日",
] * 4

KINDS = [
    Kind(
        "spectrum",
        K.Spectrum(3),
        _PROTEINS,
        _PROTEIN_QUERIES,
        bad=[
            (["ACD", 3], "objects[1] is 3"),
            (["ACD", b"ACD"], "must all be str or all be bytes; objects[1] is b'ACD'"),
            ("ACDEF", "got one string. Put it in a list"),
            ([], "at least one object"),
            ({"P1": "ACD"}, "got a dict. Pass list(d.values()), with ids=list(d)"),
            ({"ACD", "ACE"}, "got a set. Pass a list"),
            (pd.DataFrame({"seq": ["ACD"]}), "got a table. Pass one of its columns"),
        ],
    ),
    Kind("spectrum, normalised", K.Normalized(K.Spectrum(2)), _PROTEINS, _PROTEIN_QUERIES),
    Kind("long grams", K.Spectrum(30), _PROTEINS, _PROTEIN_QUERIES),
    Kind("a range of lengths", K.Spectrum((1, 4), weights=(0.1, 1, 2.5, 3)), _DNA, _DNA[5:12]),
    Kind("unicode", K.Normalized(K.Spectrum((1, 2))), _WORDS, ["日本", "wörld 😀", ""]),
    Kind("mismatch", K.Mismatch(3, 1), _PROTEINS, _PROTEIN_QUERIES),
    Kind("mismatch in bytes", K.Mismatch(5, 2, alphabet=b"ACGT"), _DNA, [*_DNA[:3], b"ACGNNACG"]),
    Kind("sum of spectra", 0.5 * K.Spectrum(2) + 0.5 * K.Spectrum(3), _PROTEINS, _PROTEIN_QUERIES),
    Kind(
        "vectors and strings",
        K.OnField(0, K.Gaussian(1.0)) * K.OnField(1, K.Spectrum(2)),
        [([float(len(s) % 5)], s) for s in _PROTEINS],
        [([1.0], s) for s in _PROTEIN_QUERIES],
    ),
]
