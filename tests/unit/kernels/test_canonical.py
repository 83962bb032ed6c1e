"""Kernels that are the same kernel are equal, however they were written, and print the same."""

import copy
import pickle

import numpy as np
import pytest

from fastmks import Index
from fastmks import kernels as K
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.own import _PythonKernel
from support.inside import data_of
from support.kinds import KINDS

DNA = K.Substitution.uniform("ACGT", match=5, mismatch=-4)
ROUGH = K.Substitution("AB", [[2.0, -1.0], [-1.0, 3.0]])


@pytest.mark.parametrize(
    ("written", "same", "shown"),
    [
        (K.Spectrum((3, 3)), K.Spectrum(3), "Spectrum(p=3)"),
        (K.Spectrum(3, weights=(1,)), K.Spectrum(np.int64(3)), "Spectrum(p=3)"),
        (K.Spectrum([2, 4], weights=[1, 1.0, 1]), K.Spectrum((2, 4)), "Spectrum(p=(2, 4))"),
        (
            K.Spectrum([2, 3], weights=np.array([2, 1])),
            K.Spectrum((2, 3), weights=(2.0, 1.0)),
            "Spectrum(p=(2, 3), weights=(2.0, 1.0))",
        ),
        (
            K.Mismatch(4, 1, alphabet=b"TGCA"),
            K.Mismatch(4, 1, alphabet="ACGT"),
            "Mismatch(p=4, m=1, alphabet='ACGT')",
        ),
        (K.Mismatch(4, 0, alphabet="ACGT"), K.Mismatch(4, 0), repr(K.Mismatch(4, 0))),
        (
            K.SmithWaterman(K.BLOSUM62),
            K.SmithWaterman("blosum62", gap_open=11),
            "SmithWaterman(substitution='BLOSUM62', gap_open=11.0, gap_extend=1.0)",
        ),
        (
            K.SegmentMatch(K.Substitution(K.BLOSUM62.letters, K.BLOSUM62.array)),
            K.SegmentMatch(),
            "SegmentMatch(substitution='BLOSUM62')",
        ),
        (
            K.LocalAlignment(np.float64(0.5), K.BLOSUM62),
            K.LocalAlignment(),
            repr(K.LocalAlignment()),
        ),
        (K.BLOSUM62.only(K.BLOSUM62.letters), K.BLOSUM62, "BLOSUM62"),
        (K.BLOSUM62.only("WAX"), K.BLOSUM62.only("WAX"), "BLOSUM62.only('WAX')"),
        (DNA, DNA, "Substitution.uniform('ACGT', match=5.0, mismatch=-4.0)"),
        (ROUGH, ROUGH, "Substitution('AB', ((2.0, -1.0), (-1.0, 3.0)))"),
        (K.GlobalAlignment(2), K.GlobalAlignment(2.0), "GlobalAlignment(bandwidth=2.0)"),
        (
            K.GlobalAlignment(2, triangular=np.int8(5)),
            K.GlobalAlignment(2.0, 5),
            "GlobalAlignment(bandwidth=2.0, triangular=5)",
        ),
        (K.WeisfeilerLehman(np.int64(3)), K.WeisfeilerLehman(), "WeisfeilerLehman(iterations=3)"),
        (K.Gaussian(1), K.Gaussian(), "Gaussian(bandwidth=1.0)"),
        (
            K.Polynomial(2, -0.0, 1),
            K.Polynomial(),
            "Polynomial(degree=2, offset=0.0, scale=1.0)",
        ),
        (K.Precomputed(rtol=0), K.Precomputed(rtol=0.0), repr(K.Precomputed(rtol=0.0))),
        (
            K.OnField(np.int64(1), K.Spectrum((2, 2))),
            K.OnField(1, K.Spectrum(2)),
            "OnField(field=1, kernel=Spectrum(p=2))",
        ),
        (2 * K.Spectrum((2, 2)), 2.0 * K.Spectrum(2), "2.0 * Spectrum(p=2)"),
    ],
    ids=lambda value: "" if isinstance(value, str) else repr(value),
)
def test_one_kernel_has_one_form(written, same, shown):
    assert written == same
    assert hash(written) == hash(same)
    assert repr(written) == shown
    assert eval(shown, vars(K).copy()) == written


def test_what_differs_stays_different():
    assert K.Mismatch(3, 0) != K.Spectrum(3)
    assert K.Spectrum(3, weights=(2,)) != K.Spectrum(3)
    assert K.SmithWaterman(DNA) != K.SmithWaterman()
    assert K.BLOSUM62.only("AR") != K.BLOSUM62.only("RA")
    assert K.Tanimoto() != K.Jaccard()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_repr_evaluates_back_unless_it_names_functions(kind):
    if not any(isinstance(leaf, _PythonKernel) for _, leaf in leaves(kind.kernel)):
        for twin in (
            eval(repr(kind.kernel), vars(K).copy()),
            pickle.loads(pickle.dumps(kind.kernel)),
            copy.deepcopy(kind.kernel),
        ):
            assert twin == kind.kernel
            assert hash(twin) == hash(kind.kernel)


def test_equal_kernels_share_what_they_read():
    """Stores are kept by what the kernels count, so that equal parts read the objects once."""
    index = Index(["ACGT", "AACC"], K.Spectrum((2, 2)) + K.Normalized(K.Spectrum(2)))
    assert len(data_of(index).space.objects.stores) == 1
