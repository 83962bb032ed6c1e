"""K(x, x): evaluated only where it is needed, no error where it overflows, and counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fastmks import Index, KernelValueError, load
from fastmks import kernels as K
from support.comparing import assert_identical

ENGINES = ("scan", "filter", "tree", "dual-tree", "auto")


def huge(rng, n, d, share=0.3):
    """Return rows of which some are so long, on axes of their own, that K(x, x) overflows."""
    rows = np.concatenate([rng.standard_normal((n, d)), np.zeros((n, n))], axis=1)
    for i in np.flatnonzero(rng.random(n) < share):
        rows[i] = 0.0
        rows[i, d + i] = 1e200
    return rows


def others(kernel, rows, k):
    """Return the k best others of each row, from values of single pairs."""
    answers = []
    for i, x in enumerate(rows):
        values = [(-kernel(x, y), j) for j, y in enumerate(rows) if j != i]
        answers.append([j for _, j in sorted(values)[:k]])
    return np.array(answers)


@pytest.mark.parametrize("algorithm", ENGINES)
@pytest.mark.parametrize("kernel", [K.Linear(), 0.5 * K.Linear() + K.Gaussian(2.0)], ids=repr)
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_self_search_where_self_values_overflow(algorithm, kernel, share):
    rows = huge(np.random.default_rng(1), 30, 3, share)
    index = Index(rows, kernel, algorithm=algorithm)
    assert_identical(index.search_self(4), Index(rows, kernel, algorithm="scan").search_self(4))
    np.testing.assert_array_equal(index.search_self(4).indices, others(kernel, rows, 4))


@pytest.mark.parametrize("algorithm", ENGINES)
def test_queries_and_objects_whose_self_values_overflow(algorithm):
    rows = huge(np.random.default_rng(2), 300, 4)
    queries = np.concatenate([rows[:9, :4], np.full((1, 4), 1e160)])
    queries = np.concatenate([queries, np.zeros((10, 300))], axis=1)
    queries[3, 4:] = 1e-250
    for objects, asked in ((rows, queries), (sparse.csr_array(rows), sparse.csr_array(queries))):
        scan = Index(objects, algorithm="scan")
        index = Index(objects, algorithm=algorithm)
        for k in (1, 5, len(rows)):
            assert_identical(index.search(asked, k), scan.search(asked, k))
        for threshold in (-1.0, 0.0, 0.5):
            wanted = scan.search_above(asked, threshold)
            assert_identical(index.search_above(asked, threshold), wanted)


@pytest.mark.parametrize("algorithm", ENGINES)
def test_a_value_that_was_asked_for_and_overflows_is_an_error(algorithm):
    rows = huge(np.random.default_rng(3), 40, 3)
    rows[7] = rows[19] = np.eye(1, 43, 20)[0] * 1e200
    index = Index(rows, algorithm=algorithm)
    with pytest.raises(KernelValueError, match="inf"):
        index.search_self(2)
    with pytest.raises(KernelValueError, match="inf"):
        index.search(rows[7], 2)


@pytest.mark.parametrize("algorithm", ENGINES)
def test_a_value_that_nobody_asked_for_may_overflow(algorithm):
    """Trees reach objects through others, which `only` may not name or which were removed."""
    rng = np.random.default_rng(9)
    rows, queries = rng.standard_normal((2000, 3)), rng.standard_normal((30, 3))
    rows[0, 0], queries[0, 0], queries[1, 0] = 20.0, 40.0, -40.0
    for kernel in (K.Exponential(), 2.0 * K.Exponential(1.1) + K.Linear()):
        index = Index(rows, kernel, algorithm=algorithm)
        scan = Index(rows, kernel, algorithm="scan")
        for only in ([3, 5, 8], range(1, 2000)):
            some = list(only)
            assert_identical(
                index.search(queries, 3, only=some), scan.search(queries, 3, only=some)
            )
            wanted = scan.search_above(queries, 20.0, only=some)
            assert_identical(index.search_above(queries, 20.0, only=some), wanted)
        with pytest.raises(KernelValueError, match="inf"):
            index.search(queries, 3)
        index.remove([0])
        scan.remove([0])
        assert_identical(index.search(queries, 3), scan.search(queries, 3))


def test_trees_with_infinite_lengths_are_whole_and_go_to_files(tmp_path):
    for share in (0.2, 1.0):
        rows = huge(np.random.default_rng(4), 50, 3, share)
        index = Index(rows, algorithm="tree")
        index.tree.check()
        index.save(tmp_path / "tree.fmks")
        again = load(tmp_path / "tree.fmks")
        again.tree.check()
        assert_identical(again.search_self(3), index.search_self(3))
        queries = np.where(rows < 1e200, rows, 0.5)
        assert_identical(again.search(queries, 3), index.search(queries, 3))


class Counting:
    """A Mercer function between words that counts its calls, those of one word apart."""

    def __init__(self, *, refuses=False, value=None):
        self.pairs = self.selves = 0
        self.refuses = refuses
        self.value = value

    def __call__(self, x, y):
        if x is y:
            self.selves += 1
            if self.refuses:
                raise ZeroDivisionError
            if self.value is not None:
                return self.value
        else:
            self.pairs += 1
        return float(sum(x.count(letter) * y.count(letter) for letter in "abcd"))


def words(n, seed=5):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abcd"), size=rng.integers(3, 9))) + str(i) for i in range(n)]


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("algorithm", ["scan", "filter", "tree", "dual-tree"])
def test_self_evaluations_are_those_that_were_made(algorithm, normalized):
    function = Counting()
    kernel = K.Custom(function)
    index = Index(words(150), K.Normalized(kernel) if normalized else kernel, algorithm=algorithm)
    index.search(["abc"])  # builds what is built on first use
    for asked in (words(16, seed=6), words(3, seed=7)):
        function.pairs = function.selves = 0
        stats = index.search(asked, 2).stats
        assert stats.self_evaluations == function.selves
        assert stats.kernel_evaluations + stats.query_evaluations == function.pairs
        function.pairs = function.selves = 0
        stats = index.search_above(asked, 20.0).stats
        assert (stats.self_evaluations, stats.kernel_evaluations) == (
            function.selves,
            function.pairs,
        )
    function.pairs = function.selves = 0
    stats = index.search_self(2).stats
    assert stats.kernel_evaluations + stats.self_evaluations == function.pairs + function.selves
    assert stats.scan_share <= 1.0


@pytest.mark.parametrize("kernel", ["cosine", K.Gaussian(1.0), K.Normalized(K.Linear())], ids=repr)
def test_self_values_that_are_known_are_not_counted(kernel):
    rows = np.random.default_rng(8).standard_normal((50, 3))
    prepared = 4 if isinstance(kernel, K.Normalized) else 0
    for algorithm in ("tree", "dual-tree"):
        index = Index(rows, kernel, algorithm=algorithm)
        assert index.search(rows[:4]).stats.self_evaluations == prepared
        assert index.search_self().stats.self_evaluations == 0


def test_the_scan_never_compares_an_object_with_itself():
    function = Counting(refuses=True)
    index = Index(words(200), K.Custom(function), algorithm="scan")
    stats = index.search_self(3, threads=1).stats
    assert function.selves == 0
    assert function.pairs == stats.kernel_evaluations == 200 * 199
    index.remove([5, 100, 199])
    function.pairs = 0
    assert len(index.search_self(3).indices) == 197
    assert function.selves == 0


@pytest.mark.parametrize("algorithm", ENGINES)
def test_functions_whose_self_values_are_infinite(algorithm):
    function = Counting(value=np.inf)
    index = Index(words(120), K.Custom(function), algorithm=algorithm)
    scan = Index(words(120), K.Custom(Counting(refuses=True)), algorithm="scan")
    assert_identical(index.search_self(3), scan.search_self(3))


@given(data=st.data())
def test_any_mixture_of_lengths(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    n, d = data.draw(st.integers(2, 60)), data.draw(st.integers(1, 4))
    rows = huge(rng, n, d, data.draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])))
    scales = 10.0 ** rng.choice([-160.0, -8.0, 0.0, 8.0, 153.0], size=(n, 1))
    rows[:, :d] *= scales
    rows[rng.random(n) < 0.1, :d] = rows[0, :d]
    objects = sparse.csr_array(rows) if data.draw(st.booleans(), label="sparse") else rows
    kernel = data.draw(st.sampled_from([K.Linear(), 1e-300 * K.Linear(), K.Linear() + K.Cosine()]))
    k = data.draw(st.integers(1, n - 1))
    scan = Index(objects, kernel, algorithm="scan")
    try:
        wanted = scan.search_self(k)
    except KernelValueError:
        wanted = None
    for algorithm in ENGINES[1:]:
        index = Index(objects, kernel, algorithm=algorithm)
        if wanted is None:
            with pytest.raises(KernelValueError):
                index.search_self(k)
        else:
            assert_identical(index.search_self(k), wanted)
