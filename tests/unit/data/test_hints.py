"""Errors that guess what was meant, and say what to write instead."""

import numpy as np
import pytest

import fastmks
from fastmks import Fasta, Index, InvalidArgument, NotMercerError
from fastmks import kernels as K
from fastmks.kernels.registry import kernel_text
from support.comparing import assert_identical

STRINGS = ["MKVLA", "MLVAA", "GGS"]
FASTA = Fasta(["P1", "P2", "P3"], STRINGS)


def function(x, y):
    return 1.0


def says(make, *words, error=InvalidArgument):
    with pytest.raises(error) as raised:
        make()
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize(
    ("objects", "kernel", "words"),
    [
        (STRINGS, "linear", "For strings pass a kernel that compares them, such as kernels.Spe"),
        ([b"AC", b"GT"], "linear", "For strings pass a kernel"),
        (np.array(["1.0", "2.0"]), "linear", "Convert numbers first, for example with .astype"),
        (STRINGS, K.MinMax(), "For strings pass a kernel"),
        (STRINGS, K.GlobalAlignment(1.0), "objects[0] is the string 'MKVLA'. For strings pass"),
        (FASTA, "linear", "For strings pass a kernel"),
        ([{1, 2}, {2}], "linear", "Jaccard() for sets"),
        ([([(0, 1)], [1, 2])], "linear", "WeisfeilerLehman() for graphs"),
        ([np.ones(3), np.ones(4)], "linear", "GlobalAlignment(1.0) for series"),
        ([[1.0, 2.0], [1.0]], "linear", "GlobalAlignment(1.0) for series"),
        (np.eye(2), K.Spectrum(2), "objects must be strings, since the kernel compares strings"),
        (FASTA[:2], K.Spectrum(2), "read_fasta gives (ids, sequences): pass its .sequences"),
        (FASTA[1:], K.SmithWaterman(), "read_fasta gives (ids, sequences)"),
        ([["A", 1]], K.Spectrum(2), "Turn what prints as its letters into strings first"),
        (np.eye(2), K.SmithWaterman(), "objects must be strings, since the kernel compares"),
    ],
)
def test_objects_of_another_kernel(objects, kernel, words):
    says(lambda: Index(objects, kernel), words)


def test_the_part_of_a_kernel_that_cannot_read_the_objects_is_named():
    both = K.Spectrum(1) + K.Linear()
    says(
        lambda: Index(STRINGS, both), "real numbers", "Read so for Linear()", repr(both), "OnField"
    )
    says(lambda: Index(np.eye(2), both), "must be strings", "Read so for Spectrum(p=1)")
    split = K.OnField(0, K.Spectrum(1)) + K.OnField(1, K.Linear())
    with pytest.raises(InvalidArgument, match=r"field 1 of objects must be .*Spectrum\(3\)\.$"):
        Index([("a", "b")], split)
    with pytest.raises(InvalidArgument, match=r"Spectrum\(3\)\.$"):
        Index(STRINGS, 2.0 * K.Normalized(K.Linear()))


@pytest.mark.parametrize("kernel", [K.Spectrum(2), K.SmithWaterman(), lambda x, y: float(x == y)])
def test_a_fasta_file_is_its_sequences_and_their_names(kernel):
    index = Index(FASTA, kernel)
    named = Index(FASTA.sequences, kernel, ids=FASTA.ids)
    assert index.ids.tolist() == FASTA.ids
    assert_identical(index.search(FASTA, 2), named.search(STRINGS, 2))
    assert Index(FASTA, kernel, ids=[7, 8, 9]).ids.tolist() == [7, 8, 9]
    assert K.Spectrum(2).matrix(FASTA).shape == (3, 3)


def test_classes_functions_and_names_within_kernels():
    for wrap in (K.Normalized, lambda part: K.OnField(0, part), lambda part: K.Scaled(2.0, part)):
        says(lambda wrap=wrap: wrap(K.Linear), "Write Linear(...): a kernel, not its class.")
        says(lambda wrap=wrap: wrap(function), "Wrap a function of two objects: Custom(function).")
        says(lambda wrap=wrap: wrap("linear"), "within one, write Linear() for 'linear'")
        says(lambda wrap=wrap: wrap(3), "For example Linear()")
    says(lambda: K.Sum((K.Linear(), function)), "each of terms must", "Custom(function)")


@pytest.mark.parametrize(
    "combine",
    [
        lambda kernel, other: kernel + other,
        lambda kernel, other: other + kernel,
        lambda kernel, other: kernel * other,
        lambda kernel, other: other * kernel,
    ],
)
def test_classes_and_functions_in_algebra(combine):
    says(lambda: combine(K.Linear(), K.Cosine), "Write Cosine(...)")
    says(lambda: combine(K.Linear(), function), "Custom(function)")
    says(lambda: combine(K.Linear(), float), "must be a kernel from fastmks.kernels")


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("tanimoto", K.Tanimoto()),
        ("Jaccard", K.Jaccard()),
        ("minmax", K.MinMax()),
        ("weisfeiler_lehman", K.WeisfeilerLehman()),
        ("Smith-Waterman", K.SmithWaterman()),
        ("shortest path", K.ShortestPath()),
        ("precomputed", K.Precomputed()),
    ],
)
def test_names_of_kernels_that_need_no_parameters(name, kernel):
    assert K.as_kernel(name) == kernel


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("polynomial:degree=10", K.Polynomial(degree=10)),
        ("Polynomial: degree = 3 , offset=0.5", K.Polynomial(degree=3, offset=0.5)),
        ("linear:", K.Linear()),
        ("spectrum:p=3", K.Spectrum(3)),
        ("mismatch:p=5,m=1,alphabet=ACGT", K.Mismatch(5, 1, alphabet="ACGT")),
        ("spectrum:p=2+4", K.Spectrum((2, 4))),
        ("spectrum: p = 2 + 3 , weights=1+0.5", K.Spectrum((2, 3), weights=(1.0, 0.5))),
        ("gaussian:bandwidth=1e+2", K.Gaussian(100.0)),
        ("normalized:spectrum:p=2", K.Normalized(K.Spectrum(2))),
        ("normalized:local-alignment:beta=0.2", K.Normalized(K.LocalAlignment(beta=0.2))),
        ("smith-waterman:substitution=BLOSUM62", K.SmithWaterman("BLOSUM62")),
        ("precomputed:is_mercer=false", K.Precomputed(is_mercer=False)),
        ("global-alignment:bandwidth=2,triangular=none", K.GlobalAlignment(bandwidth=2.0)),
    ],
)
def test_kernels_as_text(text, kernel):
    assert K.as_kernel(text) == kernel


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("polynomial:degre=3", "its parameters are degree, offset, scale; got 'degre=3'."),
        ("polynomial:3", "Polynomial takes name=value"),
        ("polynomial:degree=3,degree=4", "each name once"),
        ("linear:scale=2", "it has no parameters; got 'scale=2'."),
        ("spectrum:", "Spectrum needs p: 'spectrum:p=...'."),
        ("mismatch:m=1", "Mismatch needs p: 'mismatch:p=...'."),
        ("polynomial:degree=0", "degree must be"),
        ("gaussian:bandwidth=wide", "bandwidth must be"),
        ("spectrum:p=2,4", "got '4'. Several numbers of one parameter have + between them: p=2+4."),
        ("spectrum:p=(2,4)", "have + between them: p=2+4."),
        ("spectrum:p=2+4+5", "p must be"),
        ("spectrum:p=2+x", "p must be"),
        ("polynomial:degree=2+3", "degree must be"),
        ("normalized:gausian", "Did you mean 'gaussian'?"),
        ("normalized:", "or 'normalized:linear'."),
        ("gausian:bandwidth=2", "Did you mean 'gaussian'?"),
    ],
)
def test_kernels_as_text_that_is_wrong(text, words):
    says(lambda: K.as_kernel(text), words)


@pytest.mark.parametrize(
    "kernel",
    [
        K.Linear(),
        K.Gaussian(0.1 + 0.2),
        K.Polynomial(3, offset=1e-300),
        K.Spectrum(3),
        K.Spectrum((2, 5)),
        K.Spectrum((2, 4), weights=(1.0, 1e22, 0.125)),
        K.Mismatch(5, 1),
        K.Mismatch(4, 2, alphabet="ACGT"),
        K.GlobalAlignment(2.5, triangular=7),
        K.Precomputed(is_mercer=False),
        K.LocalAlignment(0.2, gap_open=7.5),
        K.Normalized(K.Normalized(K.WeisfeilerLehman(5))),
    ],
    ids=repr,
)
def test_kernels_come_back_from_their_text(kernel):
    assert K.as_kernel(kernel_text(kernel)) == kernel


@pytest.mark.parametrize(
    "kernel",
    [
        K.Linear() + K.Cosine(),
        K.Normalized(2.0 * K.Linear()),
        K.Custom(function),
        K.OnField(0, K.Linear()),
        K.SmithWaterman(K.Substitution.uniform("AB", match=1, mismatch=-1)),
        K.Mismatch(3, 1, alphabet="A,B"),
        K.Mismatch(3, 1, alphabet="012"),
    ],
    ids=repr,
)
def test_kernels_that_no_text_makes(kernel):
    says(lambda: kernel_text(kernel), "kernel must be one that text can make", "in Python")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("spectrum", "Write fastmks.kernels.Spectrum(3), or 'spectrum:p=3'."),
        ("global_alignment", "Write fastmks.kernels.GlobalAlignment(bandwidth=1.0), or"),
        ("normalized", "Write fastmks.kernels.Normalized(Linear()), or 'normalized:linear'."),
        ("rbf", "Write 'gaussian'."),
        ("Spectrum(3)", "Pass the kernel itself, without quotes."),
        ("tanimot", "Did you mean 'tanimoto'?"),
        ("spectra", "Did you mean 'spectrum'?"),
    ],
)
def test_names_that_are_not_enough(name, words):
    says(lambda: Index([[1.0]], name), "one of the names cosine", words)


def test_every_listed_name_makes_a_kernel():
    for name in K.KERNEL_NAMES:
        assert type(K.as_kernel(name)).__name__.lower() == name


def test_a_matrix_goes_to_the_index():
    says(lambda: K.Precomputed(np.eye(3)), "takes no matrix", "Index(matrix, Precomputed())")


@pytest.mark.parametrize("kernel", [K.SmithWaterman(), K.SegmentMatch()])
def test_kernels_with_bounds_are_sent_to_the_filter(kernel):
    says(
        lambda: Index(STRINGS, kernel, algorithm="tree"),
        "Pass algorithm='filter' or 'auto'",
        error=NotMercerError,
    )
    assert Index(STRINGS, kernel).search(["MKV"]).stats.algorithm == "filter"
    with_more = kernel + K.Custom(function, is_mercer=False)  # which has no bounds
    says(
        lambda: Index(STRINGS, with_more, algorithm="tree"),
        "Pass algorithm='scan'",
        error=NotMercerError,
    )


def test_a_small_beta_names_the_letters_that_spoil_it():
    kernel = K.LocalAlignment(0.1)
    ways = ("BLOSUM62.only('ARNDCQEGHILKMFPSTWYVBZ*'), without X", "beta=0.2", "algorithm='scan'")
    says(lambda: Index(STRINGS, kernel, algorithm="tree"), *ways, error=NotMercerError)
    few = K.BLOSUM62.only("ARNDCQEGHILKMFPSTWYVBZ*")
    assert K.LocalAlignment(0.1, few).is_mercer
    assert K.LocalAlignment(0.2).is_mercer
    Index(STRINGS, K.Normalized(K.LocalAlignment(0.1, few)), algorithm="tree").tree.check()
    odd = K.Substitution.uniform("AB", match=-1, mismatch=1)  # of which no beta makes a Mercer one
    with pytest.raises(NotMercerError, match=r"eigenvalue. Pass algorithm='scan'\.$"):
        Index(["AB"], K.LocalAlignment(0.1, odd), algorithm="tree")


@pytest.mark.parametrize(
    ("objects", "kernel", "words"),
    [
        (STRINGS, K.SmithWaterman(), "is not on strings. Spectrum(3) and Normalized(LocalAlignm"),
        (STRINGS, K.Similarity(function), "If the function is, use Custom(function)."),
        (np.eye(3), K.Tanh(), "Gaussian() or Polynomial(degree=3) are."),
        (np.eye(3), K.Precomputed(is_mercer=False), "Take one that is."),
    ],
)
def test_hardness_speaks_of_the_objects_at_hand(objects, kernel, words):
    says(lambda: fastmks.hardness(objects, kernel), words, error=NotMercerError)


def test_hardness_advises_what_the_kernel_advises():
    with pytest.raises(fastmks.KernelValueError, match=r"Use Normalized\(LocalAlignment"):
        fastmks.hardness(["MKV" * 2000, "MLV"], K.LocalAlignment())
