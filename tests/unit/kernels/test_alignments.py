"""Alignment kernels and scores, against slow implementations that share no code with them."""

import itertools
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument, KernelValueError, NotMercerError
from fastmks import kernels as K
from support.inside import data_of

mpmath.mp.dps = 40
LETTERS = K.BLOSUM62.letters
PROTEINS = st.text(alphabet="ARNDCWX*", max_size=14)
COSTS = st.sampled_from([0.0, 0.5, 1.0, 3.25, 11.0])
SPECIAL = K.Substitution("ab", [[1.5, -0.25], [-0.25, 0.75]])
PAIRED = K.Substitution("abc", [[2, 1, -3], [1, 1, 0], [-3, 0, -1]])


def score(substitution, a, b):
    return substitution.scores[substitution.letters.index(a)][substitution.letters.index(b)]


def exact_kernel(x, y, kernel, substitution):
    """All local alignments, summed over where they end: 1 + sum of M(i, j)."""

    def exp(exponent):
        return mpmath.exp(mpmath.mpf(kernel.beta) * mpmath.mpf(exponent))

    def gap(length):
        cost = mpmath.mpf(kernel.gap_open) + mpmath.mpf(kernel.gap_extend) * (length - 1)
        return exp(-cost) if length else mpmath.mpf(1)

    @cache
    def ending(i, j):
        """Alignments whose last pair is x[i], y[j]: fresh ones, and those after another pair."""
        before = sum(
            (ending(a, b) * gap(i - a - 1) * gap(j - b - 1) for a in range(i) for b in range(j)),
            start=mpmath.mpf(1),
        )
        return exp(score(substitution, x[i], y[j])) * before

    return sum((ending(i, j) for i in range(len(x)) for j in range(len(y))), start=mpmath.mpf(1))


def best_score(x, y, substitution, gap_open, gap_extend):
    """The best local alignment, over the pair it ends with."""

    def gap(length):
        return gap_open + gap_extend * (length - 1) if length else 0.0

    @cache
    def ending(i, j):
        before = [
            ending(a, b) - gap(i - a - 1) - gap(j - b - 1) for a in range(i) for b in range(j)
        ]
        return score(substitution, x[i], y[j]) + max([0.0, *before])

    return max([0.0, *(ending(i, j) for i in range(len(x)) for j in range(len(y)))])


def best_segment(x, y, substitution):
    return max(
        [0.0]
        + [
            sum(score(substitution, x[i + t], y[j + t]) for t in range(length))
            for i, j in itertools.product(range(len(x)), range(len(y)))
            for length in range(1, min(len(x) - i, len(y) - j) + 1)
        ]
    )


@settings(max_examples=60)
@given(x=PROTEINS, y=PROTEINS, beta=st.sampled_from([0.05, 0.5, 2.0]), opened=COSTS, extended=COSTS)
def test_local_alignment_counts_every_alignment(x, y, beta, opened, extended):
    kernel = K.LocalAlignment(beta, gap_open=opened, gap_extend=extended)
    exact = exact_kernel(x, y, kernel, K.BLOSUM62)
    rounding = data_of(Index([x, y], K.LocalAlignment(0.5))).space.rounding.relative
    assert abs(kernel(x, y) - exact) <= 4 * rounding * exact
    assert kernel(x, y) == kernel(y, x)
    roots = [mpmath.sqrt(exact_kernel(s, s, kernel, K.BLOSUM62)) for s in (x, y)]
    assert abs(K.Normalized(kernel)(x, y) - exact / roots[0] / roots[1]) <= 8 * rounding


@settings(max_examples=60)
@given(x=PROTEINS, y=PROTEINS, opened=COSTS, extended=COSTS)
def test_smith_waterman_is_the_best_alignment(x, y, opened, extended):
    opened, extended = max(opened, extended), min(opened, extended)
    kernel = K.SmithWaterman(gap_open=opened, gap_extend=extended)
    assert kernel(x, y) == best_score(x, y, K.BLOSUM62, opened, extended)  # quarters are exact


@settings(max_examples=60)
@given(x=PROTEINS, y=PROTEINS)
def test_segment_match_is_the_best_segment(x, y):
    assert K.SegmentMatch()(x, y) == best_segment(x, y, K.BLOSUM62)


@settings(max_examples=100)
@given(
    strings=st.lists(st.text(alphabet="abc", max_size=12), min_size=1, max_size=8),
    query=st.text(alphabet="abc", max_size=12),
)
def test_filters_lose_nothing(strings, query):
    """Also where a letter scores less with itself than with another."""
    for kernel in (K.SmithWaterman(PAIRED, gap_open=0.3, gap_extend=0.0), K.SegmentMatch(PAIRED)):
        scan, filtered = (
            Index(strings, kernel, algorithm=name).search(query, len(strings))
            for name in ("scan", "filter")
        )
        np.testing.assert_array_equal(scan.values, filtered.values)
        np.testing.assert_array_equal(scan.indices, filtered.indices)


def test_filters_evaluate_few_objects_where_lengths_tell():
    strings = ["W" * n for n in range(1, 200)]
    hits = Index(strings, K.SmithWaterman(), algorithm="filter").search("W" * 300, k=3)
    assert hits.values.tolist() == [[199 * 11.0, 198 * 11.0, 197 * 11.0]]
    assert hits.stats.kernel_evaluations < 30


def test_long_strings_stay_exact():
    """Far beyond float64: against the recurrences in 40 digits."""
    rng = np.random.default_rng(0)
    x = "".join(rng.choice(list(LETTERS[:20]), size=120))
    y = x[:50] + "".join(rng.choice(list(LETTERS[:20]), size=30)) + x[60:]
    kernel = K.LocalAlignment(beta=3.0)
    exact = recurrences(x, y, kernel)
    assert exact > 1e308
    roots = [mpmath.sqrt(recurrences(s, s, kernel)) for s in (x, y)]
    share = exact / roots[0] / roots[1]
    assert abs(K.Normalized(kernel)(x, y) - share) <= 1e-11 * share


def test_a_small_start_is_not_lost_beside_a_great_one():
    """The best alignment begins where another one has already reached 2^1500."""
    a, b = "W" * 60, "C" * 120
    kernel = K.LocalAlignment(beta=2.0, gap_open=30.0, gap_extend=10.0)
    x, y = a + b, b + a
    exact = recurrences(x, y, kernel)
    roots = [mpmath.sqrt(recurrences(s, s, kernel)) for s in (x, y)]
    log_share = mpmath.log(exact / roots[0] / roots[1])
    found = K.Normalized(kernel)(x, y)
    assert found == 0.0 or abs(mpmath.log(found) - log_share) < 1e-10
    # Against a prefix the share is not tiny.
    share = recurrences(b, y, kernel) / mpmath.sqrt(recurrences(b, b, kernel)) / roots[1]
    assert abs(K.Normalized(kernel)(b, y) - share) <= 1e-11 * share


def recurrences(x, y, kernel):
    opened = mpmath.exp(-mpmath.mpf(kernel.beta) * kernel.gap_open)
    extended = mpmath.exp(-mpmath.mpf(kernel.beta) * kernel.gap_extend)
    powers = {s: mpmath.exp(mpmath.mpf(kernel.beta) * s) for row in K.BLOSUM62.scores for s in row}
    zero = mpmath.mpf(0)
    before = [(zero, zero, zero)] * (len(y) + 1)
    total = mpmath.mpf(1)
    for a in x:
        row = [(zero, zero, zero)]
        for j, b in enumerate(y, start=1):
            match = powers[score(K.BLOSUM62, a, b)] * (1 + sum(before[j - 1]))
            over_x = opened * before[j][0] + extended * before[j][1]
            over_y = opened * (row[-1][0] + row[-1][1]) + extended * row[-1][2]
            row.append((match, over_x, over_y))
            total += match
        before = row
    return total


def test_values_are_the_same_on_every_cpu(isa):
    rng = np.random.default_rng(1)
    strings = ["".join(rng.choice(list(LETTERS), size=n)) for n in (1, 9, 40, 200, 200)]
    for kernel in (K.Normalized(K.LocalAlignment(0.3)), K.SmithWaterman(), K.SegmentMatch()):
        matrix = kernel.matrix(strings)
        np.testing.assert_array_equal(matrix, matrix.T)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FASTMKS_ISA", "baseline")
            np.testing.assert_array_equal(matrix, kernel.matrix(strings))


def test_mercer_depends_on_letters_and_beta():
    """X, which likes nothing, not even itself, spoils small betas; the twenty letters do not."""
    assert [K.LocalAlignment(beta).is_mercer for beta in (0.1, 0.2, 0.5, 1.0)] == [
        False,
        True,
        True,
        True,
    ]
    twenty = K.BLOSUM62.only("ARNDCQEGHILKMFPSTWYV")
    assert all(K.LocalAlignment(beta, twenty).is_mercer for beta in (0.05, 0.1, 0.5, 1.0))
    with pytest.raises(NotMercerError, match="not Mercer"):
        Index(["A", "R"], K.LocalAlignment(0.1), algorithm="tree")


def test_the_classic_counterexample():
    """Strings a, b, ab, ba with match 1: the Gram matrix has the eigenvalue 2 - sqrt(5)."""
    scores = K.Substitution.uniform("ab", match=1, mismatch=-100)
    for kernel in (K.SegmentMatch(scores), K.SmithWaterman(scores, gap_open=100.0)):
        matrix = kernel.matrix(["a", "b", "ab", "ba"])
        np.testing.assert_array_equal(
            matrix, [[1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 2, 1], [1, 1, 1, 2]]
        )
        assert np.linalg.eigvalsh(matrix)[0] == pytest.approx(2 - 5**0.5)
        assert not kernel.is_mercer


def test_values_beyond_float64_are_an_error_that_says_what_to_do():
    index = Index(["A" * 50, "W" * 300], K.LocalAlignment())
    with pytest.raises(KernelValueError, match=r"Normalized\(LocalAlignment\(...\)\), which never"):
        index.search("W" * 300)
    hits = Index(["A" * 50, "W" * 300], K.Normalized(K.LocalAlignment())).search("W" * 300, k=2)
    assert hits.values[0, 0] == 1.0
    assert hits.indices.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: K.LocalAlignment(beta=0.0), "beta must be a positive finite number"),
        (lambda: K.LocalAlignment(beta=6.0), "at most 64; got 6 * 11"),
        (lambda: K.LocalAlignment(gap_open=-1.0), "gap_open must be at least 0"),
        (lambda: K.SmithWaterman(gap_extend=float("nan")), "gap_extend must be a finite number"),
        (lambda: K.SmithWaterman(gap_open=1.0, gap_extend=2.0), "at most gap_open"),
        (lambda: K.SmithWaterman("PAM250"), "substitution must be 'BLOSUM62' or a fastmks"),
        (lambda: K.SegmentMatch(3), "got 3"),
        (lambda: K.Substitution("AA", [[1, 0], [0, 1]]), "different characters"),
        (lambda: K.Substitution("AB", [[1, 0], [2, 1]]), "'A' with 'B' scores 0.0"),
        (lambda: K.Substitution("AB", [[1]]), "got shape (1, 1)"),
        (lambda: K.Substitution("AB", [[1, "x"], [0, 1]]), "matrix of real numbers"),
        (lambda: K.Substitution("A", [[np.inf]]), "scores must be finite"),
        (lambda: K.BLOSUM62.only("AJ"), "got 'J'"),
        (lambda: K.Substitution.uniform("", match=1, mismatch=0), "letters must be a string"),
    ],
)
def test_bad_parameters_are_named(make, words):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert words in str(error.value)


def test_kernels_are_values():
    kernel = K.LocalAlignment(0.25, SPECIAL, gap_open=2)
    assert kernel == K.LocalAlignment(0.25, K.Substitution("ab", SPECIAL.array), 2.0)
    assert hash(kernel) == hash(K.LocalAlignment(0.25, SPECIAL, gap_open=2.0))
    names = {"LocalAlignment": K.LocalAlignment, "Substitution": K.Substitution}
    assert eval(repr(kernel), names) == kernel


def test_bytes_and_strings_give_the_same():
    kernel = K.SmithWaterman()
    assert kernel(b"MKV", b"MKL") == kernel("MKV", "MKL")
    hits = Index([b"MKV", b"WW"], kernel).search(b"MKV")
    assert hits.indices.tolist() == [[0]]


@pytest.mark.parametrize(
    ("protein", "advice"),
    [
        ("MKUOV", "s.translate(str.maketrans('UO', 'CK'))"),
        ("MKO", "s.translate(str.maketrans('UO', 'CK'))"),
        ("MKuo", "s.upper().translate(str.maketrans('UO', 'CK'))"),
        (b"MKU", "s.translate(bytes.maketrans(b'UO', b'CK'))"),
    ],
)
def test_rare_residues_have_a_way_out_that_works(protein, advice):
    with pytest.raises(InvalidArgument) as error:
        Index([protein[:2], protein], K.SmithWaterman())
    assert "objects[1] has '" in str(error.value)
    assert advice in str(error.value)
    assert len(Index([eval(advice, {"s": protein})], K.SmithWaterman())) == 1


def test_letters_of_other_alphabets_get_other_advice():
    dna = K.Substitution.uniform("ACGT", match=1, mismatch=-1)
    with pytest.raises(InvalidArgument, match="has 'U' at position 1. Replace such letters"):
        Index(["AUG"], K.SmithWaterman(dna))


def test_combinations_with_other_kernels():
    kernel = 0.5 * K.Normalized(K.LocalAlignment()) + K.OnField(0, K.SmithWaterman())
    assert not kernel.is_mercer
    both = K.OnField(0, K.Normalized(K.LocalAlignment())) * K.OnField(1, K.Gaussian())
    objects = [("ARN", [0.0]), ("ARD", [1.0])]
    assert both(objects[0], objects[0]) == 1.0
    assert Index(objects, both, algorithm="tree").search(objects[1]).indices.tolist() == [[1]]
