"""Tanimoto, Jaccard and MinMax against Python sets and exact fractions."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fastmks import Index, InvalidArgument, _core
from fastmks.kernels import Jaccard, MinMax, Normalized, Tanimoto
from support.comparing import assert_as_scan, assert_identical
from support.inside import data_of

N_BITS = 137
SETS = st.lists(st.sets(st.integers(0, N_BITS - 1), max_size=40), min_size=1, max_size=12)


class BitVector:
    """What fastmks uses of RDKit's ExplicitBitVect."""

    def __init__(self, members, n_bits=N_BITS):
        self.members, self.n_bits = members, n_bits

    def GetNumBits(self):  # noqa: N802
        return self.n_bits

    def GetOnBits(self):  # noqa: N802
        return tuple(sorted(self.members))


class CountVector:
    """What fastmks uses of RDKit's count fingerprints."""

    def GetNonzeroElements(self):  # noqa: N802
        return {1: 2}


def share(x, y):
    """The correctly rounded |x & y| / |x | y|, from whole numbers."""
    return float(Fraction(len(x & y), len(x | y))) if x | y else 0.0


def shares(A, B):
    return np.array([[share(a, b) for b in B] for a in A])


def booleans(sets, n_bits=N_BITS):
    rows = np.zeros((len(sets), n_bits), dtype=bool)
    for row, members in zip(rows, sets, strict=True):
        row[list(members)] = True
    return rows


def words(sets, n_words=3):
    return np.array(
        [[sum(1 << m % 64 for m in one if m // 64 == w) for w in range(n_words)] for one in sets],
        dtype=np.uint64,
    )


@given(SETS, SETS)
@example([set()], [set()])
@example([set(range(N_BITS))], [set(), {0}, {N_BITS - 1}])
def test_every_form_gives_the_rounded_share(queries, objects):
    """Packed bytes, packed words, booleans, bit vectors and sets: the same bits."""
    truth = shares(queries, objects)
    packed = np.packbits(booleans(objects), axis=1), np.packbits(booleans(queries), axis=1)
    for mine, asked in (
        packed,
        (words(objects), words(queries)),
        (booleans(objects), booleans(queries)),
        (list(map(BitVector, objects)), list(map(BitVector, queries))),
        (objects, queries),
        (list(map(frozenset, objects)), queries),
    ):
        np.testing.assert_array_equal(Tanimoto().matrix(asked, mine), truth)
    np.testing.assert_array_equal(Jaccard().matrix(queries, objects), truth)
    as_numbers = booleans(queries).astype(float), booleans(objects).astype(float)
    np.testing.assert_array_equal(MinMax().matrix(*as_numbers), truth)


@given(SETS, SETS)
def test_queries_may_come_in_another_form(queries, objects):
    truth = shares(queries, objects)
    for mine in (booleans(objects), list(map(BitVector, objects))):
        for asked in (booleans(queries), list(map(BitVector, queries)), queries):
            np.testing.assert_array_equal(Tanimoto().matrix(asked, mine), truth)
    padded = [one | set() for one in objects]
    np.testing.assert_array_equal(
        Tanimoto().matrix(words(queries), np.packbits(booleans(padded, 192), axis=1)), truth
    )


def test_columns_tables_and_sparse_matrices_are_fingerprints_too():
    """Whatever a fingerprint is kept in, its values are the same."""
    sets = [{1, 2, 136}, {2, 3}, set(), set(range(N_BITS))]
    bits, truth = booleans(sets), shares(sets, sets)
    stored_zero = sp.coo_array(([1.0, 0.0], ([0, 0], [1, 2])), shape=(1, N_BITS))
    for given_ in (
        pd.Series(sets, index=[7, 8, 9, 10]),
        pd.Series(list(map(BitVector, sets))),
        pd.Series(list(bits)),
        np.array([*map(BitVector, sets), None], dtype=object)[:-1],
        pd.DataFrame(bits),
        pd.DataFrame(bits).astype("boolean"),
        sp.csr_array(bits),
        sp.csc_matrix(bits.astype(float)),
        sp.coo_array(bits.astype(np.int8)),
        list(bits),
        bits.tolist(),
        np.ma.array(bits, mask=False),
    ):
        np.testing.assert_array_equal(Tanimoto().matrix(given_), truth)
        np.testing.assert_array_equal(Tanimoto().matrix(given_, bits), truth)
    index = Index(bits, Tanimoto())
    assert index.search(sp.csr_array(bits[:0])).values.shape == (0, 1)
    assert index.search(sp.csr_array(bits[1:2])).indices.tolist() == [[1]]
    assert index.search(pd.Series(bits[1])).indices.tolist() == [[1]]
    assert index.search(stored_zero).values.tolist() == [[1 / 3]]
    assert index.search(np.array([])).values.shape == (0, 1)


def test_zeros_and_ones_in_bytes_have_the_values_of_booleans():
    """They are read as packed bits, eight times as many: the same bits are common."""
    bits = draw_bits(20, 50, seed=0)
    np.testing.assert_array_equal(Tanimoto().matrix(bits.astype(np.uint8)), Tanimoto().matrix(bits))


def test_long_bit_vectors_take_no_more_memory_than_their_bits():
    """Their store has 20 MB; a byte for each bit of all of them would be 160 MB more."""
    rows = [BitVector({i, 2**22 - 1}, 2**22) for i in range(40)]
    tracemalloc.start()
    index = Index(rows, Tanimoto())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 2**20
    assert index.search(rows[:1], 2).values.tolist() == [[1.0, 1 / 3]]


@given(
    st.lists(st.sets(st.text(max_size=2), max_size=6), min_size=1, max_size=8),
    st.lists(st.sets(st.text(max_size=2), max_size=6), min_size=1, max_size=8),
)
def test_jaccard_of_anything_hashable(queries, objects):
    """Members that no object has count in the size of a query."""
    np.testing.assert_array_equal(Jaccard().matrix(queries, objects), shares(queries, objects))


def draw_bits(n, n_bits, seed, share_set=0.06):
    rng = np.random.default_rng(seed)
    rows = rng.random((n, n_bits)) < share_set
    rows[n // 2] = rows[0]
    rows[n // 3] = False
    rows[n // 4] = True
    near = rows[: n // 8].copy()
    near[np.arange(len(near)), rng.integers(0, n_bits, len(near))] ^= True
    rows[-len(near) :] = near
    return rows


@pytest.mark.parametrize("n_bits", [1, 8, 63, 64, 65, 512, 513, 1024, 2048])
def test_engines_and_instruction_sets_agree(isa, n_bits):
    bits = draw_bits(300, n_bits, seed=n_bits)
    queries = np.vstack([bits[:20], draw_bits(20, n_bits, seed=n_bits + 1)])
    truth = shares(
        [set(np.flatnonzero(row)) for row in queries], [set(np.flatnonzero(row)) for row in bits]
    )
    index = Index(bits, Tanimoto())
    assert data_of(index).space.isa == isa
    for k in (1, 10, 300):
        order = np.lexsort((np.broadcast_to(np.arange(300), truth.shape), -truth))[:, :k]
        for algorithm in ("scan", "filter", "tree"):
            hits = index.search(queries, k, algorithm=algorithm)
            np.testing.assert_array_equal(hits.indices, order)
            np.testing.assert_array_equal(hits.values, np.take_along_axis(truth, order, axis=1))
    as_sets = [set(np.flatnonzero(row).tolist()) for row in bits]
    asked = [set(np.flatnonzero(row).tolist()) for row in queries]
    assert_identical(Index(as_sets, Jaccard()).search(asked, 10), index.search(queries, 10))


def test_signatures_leave_few_objects():
    """Counted, not timed: near neighbours among many are found with few evaluations."""
    rng = np.random.default_rng(0)
    bits = rng.random((4000, 2048)) < 0.02
    queries = bits[:10] ^ (rng.random((10, 2048)) < 0.001)
    for objects, asked in (
        (bits, queries),
        ([set(np.flatnonzero(r)) for r in bits], [set(np.flatnonzero(r)) for r in queries]),
    ):
        hits = Index(objects, Tanimoto()).search(asked, 1)
        assert hits.stats.algorithm == "filter"
        assert hits.stats.kernel_evaluations <= 20 * len(queries)
        np.testing.assert_array_equal(hits.indices[:, 0], np.arange(10))


@pytest.mark.parametrize("size", [5, 10, 20, 40])
def test_members_of_one_set_are_in_classes_of_their_own(size):
    """New members are numbered set by set; neighbours must not cancel in short signatures."""
    rng = np.random.default_rng(0)
    sets = [set(rng.integers(100_000, size=size).tolist()) for _ in range(5000)]
    query = set(sorted(sets[7])[: size * 4 // 5])
    hits = Index(sets, Jaccard(), algorithm="filter").search(query)
    assert hits.indices[0, 0] == 7
    assert hits.stats.kernel_evaluations <= 100


def test_bounds_hold_where_all_sets_are_alike():
    """Every bound equals every value: all tie, and the smaller position wins."""
    bits = np.tile(draw_bits(30, 2048, seed=5)[:1], (500, 1))
    hits = Index(bits, Tanimoto()).search(bits[:2], 7)
    np.testing.assert_array_equal(hits.indices, [range(7)] * 2)
    np.testing.assert_array_equal(hits.values, 1.0)


def test_one_object_alone_is_one_query():
    bits = booleans([{1, 2, 3}, {3, 4}])
    index = Index(bits, Tanimoto())
    for query in (bits[1], BitVector({3, 4}), {3, 4}, np.packbits(bits[1:], axis=1)[0]):
        if isinstance(query, np.ndarray) and query.dtype == np.uint8:
            continue  # 144 bits, not 137
        assert index.search(query).indices.tolist() == [[1]]
    assert Index([{1}, {2}], Jaccard()).search({2}).indices.tolist() == [[1]]
    assert Index([{1}, {2}], Tanimoto()).search({2}).indices.tolist() == [[1]]
    assert Tanimoto()(BitVector({1, 2}), BitVector({2, 3})) == 1 / 3
    assert Tanimoto()({1, 2}, {2, 3}) == 1 / 3


def test_no_queries_are_fine():
    bits = booleans([{1, 2, 3}, {3, 4}])
    for queries in ([], bits[:0]):
        assert Index(bits, Tanimoto()).search(queries).values.shape == (0, 1)
    assert Index([{1}], Jaccard()).search([]).values.shape == (0, 1)
    assert Index([{1}], Tanimoto()).search([]).values.shape == (0, 1)


def test_an_array_that_changes_later_changes_nothing():
    packed = np.packbits(booleans([{1, 2, 3}, {3, 4}]), axis=1)
    index = Index(packed, Tanimoto())
    before = index.search({1, 2})
    packed[:] = 0
    assert_identical(index.search({1, 2}), before)


@pytest.mark.parametrize("n_queries", [1, 8, 9, 70])
def test_batches_of_sets_make_no_difference(n_queries):
    rng = np.random.default_rng(n_queries)
    sets = [set(rng.integers(0, 900, rng.integers(0, 500)).tolist()) for _ in range(90)]
    queries = [set(rng.integers(0, 1000, 400).tolist()) for _ in range(n_queries)]
    np.testing.assert_array_equal(Jaccard().matrix(queries, sets), shares(queries, sets))


@pytest.mark.parametrize(
    ("objects", "queries", "words"),
    [
        (booleans([{1}]), booleans([{1}], 138), "queries must have 137 bits, as the finger"),
        (booleans([{1}]), [{1}, {200}], "queries[1] has 200"),
        (booleans([{1}]), [{1}, {-1}], "queries[1] must be a set of whole numbers"),
        (booleans([{1}]), [BitVector({1}, 64)], "queries must have 137 bits"),
        (booleans([{1}]), [BitVector({1}), {1}], "queries[1] is {1}"),
        (booleans([{1}]), [BitVector({1}), BitVector({1}, 9)], "queries[1] has 9"),
        (booleans([{1}]), 5, "queries must be bits; got 5"),
        (booleans([{1}]), "CCO", "queries must be bits"),
        (booleans([{1}]), [BitVector({1}, 2**40)], "between 1 and 2**30 - 1 bits"),
        ([{1}], booleans([{1}]), "queries must all be sets; queries[0] is array"),
        ([{1}], [BitVector({1})], "set(v.GetOnBits())"),
        ([{1}], [{1}, {"a"}], "queries[1] must be a set of whole numbers"),
        ([{1}], [{1.5}], "use Jaccard()"),
        (booleans([{1}]), [BitVector({1}), BitVector({1, 137})], "it has 137"),
        (booleans([{1}]), BitVector({-1}), "queries[0] must have whole numbers from 0 to 136"),
        (booleans([{1}]), [BitVector({"a"})], "it has 'a'"),
        (booleans([{1}]), [None], "queries[0] must be a fingerprint; got None"),
        (booleans([{1}]), [CountVector()], "Counts are for MinMax()"),
        (booleans([{1}]), booleans([{1}]).astype(np.uint8), "pass queries as bool"),
        (booleans([{1}]).astype(np.uint8), booleans([{1}]), "index them as bool"),
        (booleans([{1}]), sp.csr_array(booleans([{1}], 9)), "queries must have 137 bits"),
        (booleans([{1}]), {"a": {1}}, "queries must be bits; got a dict"),
    ],
)
def test_queries_of_another_kind_are_refused(objects, queries, words):
    with pytest.raises(InvalidArgument) as error:
        Index(objects, Tanimoto()).search(queries)
    assert words in str(error.value)


def test_numbers_are_told_from_booleans():
    with pytest.raises(InvalidArgument, match=r"dtype int64. Booleans are made by X.astype"):
        Index([[0, 1], [1, 1]], Tanimoto())


NUMBERS = st.one_of(
    st.floats(0.0, 1e3), st.integers(0, 5).map(float), st.sampled_from([0.0, 5e-324, 1e-300, 1e300])
)


@st.composite
def vector_pairs(draw):
    n_columns = draw(st.integers(1, 40))
    shape = st.tuples(st.integers(1, 5), st.just(n_columns))
    return draw(hnp.arrays(float, shape, elements=NUMBERS)), draw(
        hnp.arrays(float, shape, elements=NUMBERS)
    )


def lanes(terms):
    s = [0.0] * 8
    for c, term in enumerate(terms):
        s[c % 8] += float(term)
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))


def canonical(x, y):
    """The formula of docs/how-it-works/rounding.md, in plain Python."""
    a, b, m = lanes(x), lanes(y), lanes(map(min, x, y))
    return m / ((a + b) - m) if a + b > 0.0 else 0.0


def exact(x, y):
    greater = sum((Fraction(max(a, b)) for a, b in zip(x, y, strict=True)), Fraction())
    smaller = sum((Fraction(min(a, b)) for a, b in zip(x, y, strict=True)), Fraction())
    return smaller / greater if greater else Fraction()


@given(vector_pairs())
def test_minmax_is_canonical_dense_and_sparse(pair):
    queries, objects = pair
    truth = np.array([[canonical(x, y) for y in objects] for x in queries])
    np.testing.assert_array_equal(MinMax().matrix(queries, objects), truth)
    np.testing.assert_array_equal(
        MinMax().matrix(sp.csr_array(queries), sp.csr_array(objects)), truth
    )
    np.testing.assert_array_equal(MinMax().matrix(objects, queries), truth.T)
    assert truth.max() <= 1.0


@given(vector_pairs())
def test_minmax_keeps_its_stated_rounding(pair):
    queries, objects = pair
    rounding = data_of(Index(objects, MinMax())).space.rounding
    values = MinMax().matrix(queries, objects)
    for i, x in enumerate(queries):
        for j, y in enumerate(objects):
            assert abs(Fraction(float(values[i, j])) - exact(x, y)) <= rounding.relative
    assert rounding.absolute == 0.0


def test_minmax_reaches_a_fair_share_of_its_rounding():
    rng = np.random.default_rng(1)
    rows = 1.0 + rng.random((40, 2000))
    relative = data_of(Index(rows, MinMax())).space.rounding.relative
    values = MinMax().matrix(rows[:5], rows)
    off = max(
        abs(Fraction(values[i, j]) - exact(rows[i], rows[j])) for i in range(5) for j in range(9)
    )
    assert relative / 3000 < off <= relative


def test_minmax_in_every_instruction_set(isa):
    rng = np.random.default_rng(2)
    counts = rng.poisson(0.3, (70, 333)).astype(np.float32) * rng.random((70, 333)).astype(
        np.float32
    )
    truth = np.array([[canonical(x, y) for y in counts] for x in counts[:9]])
    for rows in (counts, counts.astype(float), sp.csr_array(counts)):
        index = Index(rows, MinMax())
        assert data_of(index).space.isa == isa
        np.testing.assert_array_equal(MinMax().matrix(rows[:9], rows), truth)
        assert_as_scan(index.search, rows[:9], 7)


def test_facts():
    for kernel in (Tanimoto(), Jaccard(), MinMax()):
        assert kernel.is_mercer
        assert kernel.is_normalized
        assert kernel.value_range == (0.0, 1.0)
        assert eval(repr(kernel)) == kernel
    bits = draw_bits(40, 100, seed=3)
    index = Index(bits, Tanimoto())
    assert data_of(index).space.rounding == (2.0**-53, 0.0)
    assert_identical(
        Index(bits, Normalized(Tanimoto())).search(bits[:3], 5), index.search(bits[:3], 5)
    )
    assert repr(index) == "<Index: 40 sets of 100 bits, Tanimoto(), auto>"


def test_the_core_refuses_what_it_cannot_hold():
    with pytest.raises(ValueError, match="whole groups of eight words"):
        _core.bit_store(np.zeros((2, 3), dtype=np.uint64))
    with pytest.raises(ValueError, match="do not belong together"):
        _core.member_store(np.zeros(3, np.int64), np.zeros(0, np.int32), np.zeros(1, np.int32), 1)
    store = _core.bit_store(np.zeros((2, 8), dtype=np.uint64))
    other = _core.bit_store(np.zeros((2, 16), dtype=np.uint64))
    with pytest.raises(ValueError, match="queries must have"):
        _core.scan_matrix(
            _core.tanimoto_space(store, "baseline"), _core.tanimoto_space(other, "baseline"), 1
        )
    with pytest.raises(ValueError, match="no such instruction set"):
        _core.tanimoto_space(store, "abacus")


def test_one_empty_set_is_one_query():
    index = Index(np.array([[True, False, True]]), Tanimoto())
    assert index.search(set()).values.tolist() == [[0.0]]
    assert index.search([]).values.shape == (0, 1)
    assert index.search(iter([{0, 2}, {1}])).values.tolist() == [[1.0], [0.0]]
