"""Spectrum and mismatch kernels against a few lines of Python, and their errors."""

import itertools
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument
from fastmks.kernels import Mismatch, Normalized, Spectrum
from fastmks.kernels.sequences import AMINO_ACIDS
from support.comparing import assert_identical
from support.inside import data_of
from support.paths import ROOT


def grams(x, p):
    return Counter(x[i : i + p] for i in range(len(x) - p + 1))


def dot(a, b):
    return float(sum(n * b[gram] for gram, n in a.items()))


def spectrum(x, y, p):
    return dot(grams(x, p), grams(y, p))


def near_grams(x, p, m, alphabet):
    """Every gram with each choice of m places filled with every choice of letters, once each."""
    counts = Counter()
    for gram, n in grams(x, p).items():
        near = {gram}
        for places in itertools.combinations(range(p), m):
            for letters in itertools.product(alphabet, repeat=m):
                changed = list(gram)
                for place, letter in zip(places, letters, strict=True):
                    changed[place] = letter
                near |= {"".join(changed)}
        near |= set(near_grams(gram, p, m - 1, alphabet)) if m > 1 else set()
        for other in near:
            counts[other] += n
    return counts


def mismatch(x, y, p, m, alphabet):
    return dot(near_grams(x, p, m, alphabet), near_grams(y, p, m, alphabet))


texts = st.lists(st.text(alphabet="ab日😀\x00\xff", max_size=40), min_size=1, max_size=6)
any_texts = st.lists(st.text(st.characters(), max_size=12), min_size=1, max_size=5)


class TestSpectrum:
    @given(objects=texts | any_texts, queries=texts | any_texts, p=st.integers(1, 50))
    def test_it_counts_what_strings_have_in_common(self, objects, queries, p):
        got = Spectrum(p).matrix(queries, objects)
        want = [[spectrum(x, y, p) for y in objects] for x in queries]
        np.testing.assert_array_equal(got, want)

    @given(objects=st.lists(st.binary(max_size=30), min_size=1, max_size=5), p=st.integers(1, 4))
    def test_bytes_are_letters_too(self, objects, p):
        want = [[spectrum(x, y, p) for y in objects] for x in objects]
        np.testing.assert_array_equal(Spectrum(p).matrix(objects), want)

    @given(objects=texts, queries=texts, p=st.integers(1, 30))
    def test_grams_that_no_object_has_count_in_the_norm_of_a_query(self, objects, queries, p):
        """Also between queries, which the dual tree compares."""
        space = data_of(Index(objects, Spectrum(p))).space.queries(queries)
        want = [spectrum(x, x, p) for x in queries]
        np.testing.assert_array_equal(space.self_values(), want)
        assert_identical(
            Index(objects, Normalized(Spectrum(p)), algorithm="dual-tree").search(queries),
            Index(objects, Normalized(Spectrum(p)), algorithm="scan").search(queries),
        )

    @pytest.mark.parametrize("p", [12, 13, 14, 26, 27, 28, 60, 1000])
    def test_grams_longer_than_a_number_are_told_apart(self, p):
        """20 letters have 13 places in 63 bits; the strings differ in their last letter only."""
        base = AMINO_ACIDS * 60
        objects = [base[:p], base[: p - 1] + "Z", "Z" + base[1:p], base]
        want = [[spectrum(x, y, p) for y in objects] for x in objects]
        np.testing.assert_array_equal(Spectrum(p).matrix(objects), want)
        np.testing.assert_array_equal(Spectrum(p).matrix(objects[1:2], objects), want[1:2])

    def test_a_range_of_lengths_is_a_weighted_sum(self):
        x, y = "ABABCAB", "CABAB"
        weights = (0.25, 3.0, 1.0)
        want = sum(w * spectrum(x, y, p) for w, p in zip(weights, (2, 3, 4), strict=True))
        assert Spectrum((2, 4), weights=weights)(x, y) == want
        assert Spectrum((2, 4))(x, y) == sum(spectrum(x, y, p) for p in (2, 3, 4))
        assert Spectrum([2, 2])(x, y) == spectrum(x, y, 2)

    def test_short_strings_are_zero_objects(self):
        index = Index(["ab", "", "abc"], Normalized(Spectrum(3)))
        np.testing.assert_array_equal(index.search(["ab", "abc"], 3).values, [[0] * 3, [1, 0, 0]])

    def test_values_of_one_length_do_not_round(self):
        rounding = data_of(Index(["abcabc"] * 3, Spectrum(2))).space.rounding
        assert rounding == (0.0, 0.0)
        assert (
            data_of(Index(["abcabc"], Spectrum((1, 2), weights=(0.1, 0.3)))).space.rounding.relative
            > 0
        )

    def test_kernels_are_values(self):
        kernel = Spectrum((3, 6), weights=[1, 2, 3, 4])
        assert kernel == Spectrum((3, 6), weights=(1.0, 2.0, 3.0, 4.0))
        assert eval(repr(kernel)) == kernel
        assert len({kernel, Spectrum(3), Spectrum(np.int64(3)), Mismatch(3, 1)}) == 3
        assert kernel.is_mercer
        assert not kernel.is_normalized
        assert kernel.value_range[0] == 0.0

    @pytest.mark.parametrize(
        "p", [0, -1, 1.5, "3", None, True, (1, 2, 3), (3, 2), (0, 2), (1, 100)]
    )
    def test_bad_lengths_are_refused(self, p):
        with pytest.raises(InvalidArgument, match="p must be"):
            Spectrum(p)

    @pytest.mark.parametrize("weights", [1.0, "12", (1.0,), (1.0, 0.0), (1.0, -1.0), (1.0, "a")])
    def test_bad_weights_are_refused(self, weights):
        with pytest.raises(InvalidArgument, match="weights"):
            Spectrum((2, 3), weights=weights)

    def test_queries_must_be_like_the_objects(self):
        with pytest.raises(InvalidArgument, match=r"queries must be str.*queries\[0\] is bytes"):
            Index(["abc"], Spectrum(2)).search([b"abc"])
        with pytest.raises(InvalidArgument, match="queries must be bytes"):
            Index([b"abc"], Spectrum(2)).search("abc")


class TestMismatch:
    @given(
        objects=st.lists(st.text(alphabet="abcZ", max_size=12), min_size=1, max_size=4),
        queries=st.lists(st.text(alphabet="abcdY", max_size=12), min_size=1, max_size=3),
        p=st.integers(2, 4),
        m=st.integers(1, 2),
        alphabet=st.sampled_from(["abc", "a", "ba"]),
    )
    def test_it_counts_grams_within_reach(self, objects, queries, p, m, alphabet):
        m = min(m, p - 1)
        kernel = Mismatch(p, m, alphabet=alphabet)
        want = [[mismatch(x, y, p, m, alphabet) for y in objects] for x in queries]
        np.testing.assert_array_equal(kernel.matrix(queries, objects), want)
        selves = [mismatch(x, x, p, m, alphabet) for x in queries]
        space = data_of(Index(objects, kernel)).space.queries(queries)
        np.testing.assert_array_equal(space.self_values(), selves)

    def test_no_mismatches_is_the_spectrum(self):
        assert Mismatch(3, 0).store_key == Spectrum(3).store_key
        assert Mismatch(3, 0)("ACDACD", "ACD") == 2.0

    def test_self_values_beyond_float64_are_refused(self):
        """The square of 4 100 000 counts at each of 559 grams."""
        alphabet = "".join(map(chr, range(1000, 1280)))
        kernel = Mismatch(2, 1, alphabet=alphabet)
        assert kernel(alphabet[0] * 10, alphabet[0] * 10) == 81.0 * 559
        with pytest.raises(InvalidArgument, match=r"K\(x, x\) of objects\[1\] exceeds 2\*\*53"):
            Index(["a", alphabet[0] * 4_100_000], kernel)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((3, 3), "m must be from 0 to less than p=3"),
            ((3, -1), "m must be from 0 to less than p=3"),
            ((3, True), "m must be a whole number"),
            ((0, 0), "p must be"),
            ((3, 1, ""), "alphabet must be"),
            ((3, 1, 20), "alphabet must be"),
            ((3, 1, "ABA"), "each letter once"),
            ((12, 4), "the limit is 100000"),
            ((2**31 - 1, 2**30), "the limit is 100000"),  # told at once
        ],
    )
    def test_bad_arguments_are_refused(self, arguments, words):
        with pytest.raises(InvalidArgument, match=words):
            Mismatch(*arguments)

    def test_too_many_possible_grams_are_refused(self):
        with pytest.raises(InvalidArgument, match=r"too many 40-grams.*more than 2\*\*63"):
            Index(["ACGT" * 20], Mismatch(40, 1, alphabet="ACGT"))


def test_threads_make_no_difference(monkeypatch):
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list(AMINO_ACIDS), 300)) for _ in range(2000)]
    stores = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        for kernel in (Spectrum(3), Spectrum(9), Spectrum(20), Mismatch(3, 1)):
            stores.append(
                kernel.read(strings[: 2000 if kernel != Mismatch(3, 1) else 500], name="x")
            )
    for one, three in zip(stores[:4], stores[4:], strict=True):
        np.testing.assert_array_equal(one.counts[0].columns, three.counts[0].columns)
        np.testing.assert_array_equal(one.counts[0].values, three.counts[0].values)


def test_the_example_finds_relatives(tmp_path):
    script = ROOT / "examples" / "similar_proteins.py"
    file = tmp_path / "three.fasta"
    file.write_text(">a\nMKVLAAG\n>b\nMKVLAAC\n>c\nWWWWWWW\n")
    for arguments, words in (([], "family00_"), ([file], "0.8000  b")):
        run = subprocess.run(
            [sys.executable, script, *arguments], capture_output=True, text=True, check=True
        )
        assert words in run.stdout
