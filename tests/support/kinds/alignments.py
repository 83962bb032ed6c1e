"""Proteins and other strings that are aligned."""

import numpy as np

from fastmks import kernels as K
from support.kinds.base import Kind

_RNG = np.random.default_rng(4)
_LETTERS = list("ARNDCQEGHILKMFPSTWYV")


def _protein(length):
    return "".join(_RNG.choice(_LETTERS, size=length))


def _relative(protein):
    """One letter in four changed, a piece left out."""
    letters = [_RNG.choice(_LETTERS) if _RNG.random() < 0.25 else c for c in protein]
    return "".join(letters[: len(letters) // 2] + letters[len(letters) // 2 + 3 :])


_FOUNDERS = [_protein(n) for n in (12, 30, 30, 47, 60)]
_PROTEINS = [relative for p in _FOUNDERS for relative in (p, p, _relative(p), _relative(p))]
_PROTEINS += ["", "A", "W", "X*", "BZ", _protein(300), _FOUNDERS[3] + _FOUNDERS[4]]
_QUERIES = [_relative(_FOUNDERS[1]), _FOUNDERS[4], "", "WW", _protein(25)]
_BAD = [
    (["ARN", "AR-"], "objects[1] has '-' at position 2"),
    (["ARN", "arn"], "objects[1] has 'a' at position 0. Convert the strings with .upper()."),
    (["ARN", 3], "objects[1] is 3"),
    ("ARN", "got one string"),
    ([], "at least one object"),
]
_AB = K.Substitution.uniform("ab", match=1, mismatch=-100)
_UNLIKE = K.Substitution.uniform("ab", match=0, mismatch=2)  # letters like others, not themselves
_NOT_MERCER = [
    "a",
    "b",
    "ab",
    "ba",
]  # least eigenvalue 2 - sqrt(5): see docs/how-it-works/proofs/mercer.md
_FRACTIONS = K.Substitution("abc", [[1.1, -0.3, 0.1], [-0.3, 2.3, -1.9], [0.1, -1.9, 0.2]])
_WORDS = ["".join(_RNG.choice(list("abc"), size=n)) for n in _RNG.integers(0, 40, size=30)]

KINDS = [
    Kind("local alignment", K.LocalAlignment(beta=0.2), _PROTEINS, _QUERIES, bad=_BAD),
    Kind("normalised local alignment", K.Normalized(K.LocalAlignment()), _PROTEINS, _QUERIES),
    Kind(
        "local alignment beyond float64",
        K.Normalized(K.LocalAlignment(beta=4.0, gap_open=2.0, gap_extend=0.5)),
        _PROTEINS,
        _QUERIES,
    ),
    Kind(
        "local alignment, other letters",
        K.LocalAlignment(0.7, _FRACTIONS, gap_open=0.0, gap_extend=0.25),
        _WORDS,
        [*_WORDS[:3], "cab", ""],
    ),
    Kind(
        "local alignment, not Mercer",
        K.LocalAlignment(0.7, _UNLIKE, gap_open=2.0, gap_extend=1.0),
        ["a", "ab", "", "abba", "abba", "bbbb"],
        ["ba", "aaaa"],
        counterexample=["a", "b"],
    ),
    Kind(
        "Smith-Waterman",
        K.SmithWaterman(),
        _PROTEINS,
        _QUERIES,
        counterexample=["W", "C", "WC", "CW"],
        bad=_BAD,
    ),
    Kind(
        "Smith-Waterman, cheap gaps",
        K.SmithWaterman(_FRACTIONS, gap_open=0.3, gap_extend=0.1),
        _WORDS,
        ["cab", "", "abcabcabc"],
        counterexample=["b", "a", "ab", "ba", "abab", "baba"],
    ),
    Kind(
        "segment match",
        K.SegmentMatch(_AB),
        ["a", "bb", "", "ab", "ba", "abab", "ab"],
        ["ba", "b"],
        counterexample=_NOT_MERCER,
    ),
    Kind(
        "segment match of proteins",
        K.SegmentMatch(),
        _PROTEINS,
        _QUERIES,
        counterexample=["A", "R", "AR", "RA"],
    ),
]
