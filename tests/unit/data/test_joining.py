"""Objects given back, added and joined: none of it changes a bit of any value."""

import numpy as np
import pytest
import scipy.sparse as sp

from fastmks import InvalidArgument, _core
from fastmks import kernels as K
from fastmks.engines.space import Space
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.objects import (
    join_objects,
    joins_at_once,
    read_more,
    read_objects,
    read_queries,
)
from support.functions import overlap
from support.kinds import KINDS

CASES = pytest.mark.parametrize("kind", KINDS, ids=str)
# Those whose objects are read one by one: added ones need no values with those before.
APART = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if not joins_at_once(kind.kernel)], ids=str
)


def positions(n):
    """Some positions in an order of their own, one twice where there are two."""
    return np.array([n - 1, 0, n // 2, *range(1, n, 3), n - 1], dtype=np.int64)


def split(n):
    """Three parts of all positions, of unlike sizes."""
    return np.split(np.arange(n), [1, n // 3 + 1])


def values(objects, kernel, queries=None):
    """Every value among objects, and with queries, as bits."""
    space = Space(objects, kernel)
    others = space if queries is None else space.queries(queries)
    return _core.scan_matrix(space.core, others.core, 1).view(np.int64)


def assert_same(got, wanted, kind):
    """The same objects: the same bits with each other, with themselves, and with queries."""
    assert len(got) == len(wanted)
    assert got.kind == wanted.kind
    np.testing.assert_array_equal(values(got, kind.kernel), values(wanted, kind.kernel))
    ours, theirs = (Space(objects, kind.kernel).self_values() for objects in (got, wanted))
    np.testing.assert_array_equal(ours.view(np.int64), theirs.view(np.int64))
    if not joins_at_once(kind.kernel) or len(got) == len(kind.objects):
        np.testing.assert_array_equal(
            values(got, kind.kernel, kind.queries), values(wanted, kind.kernel, kind.queries)
        )


def part(objects, start, stop):
    """A slice of whatever holds objects."""
    return objects.iloc[start:stop] if hasattr(objects, "iloc") else objects[start:stop]


@CASES
def test_objects_that_are_got_can_be_read_again(kind):
    read = read_objects(kind.objects, kind.kernel)
    everything = np.arange(len(read))
    assert_same(read_objects(read.get(everything), kind.kernel), read, kind)
    if not joins_at_once(kind.kernel):
        some = positions(len(read))
        assert_same(read_objects(read.get(some), kind.kernel), read.take(some), kind)


@CASES
def test_parts_that_are_joined_are_the_whole(kind):
    read = read_objects(kind.objects, kind.kernel)
    parts = [read.take(part) for part in split(len(read))]
    joined = join_objects(kind.kernel, parts)
    assert_same(joined, read, kind)
    some = positions(len(read))
    assert_same(joined.take(some), read.take(some), kind)
    assert_same(read_objects(joined.get(np.arange(len(read))), kind.kernel), read, kind)
    assert_same(join_objects(kind.kernel, [joined]), read, kind)


@CASES
def test_joining_with_nothing_changes_nothing(kind):
    read = read_objects(kind.objects, kind.kernel)
    none = read_more([], kind.kernel, read)
    assert len(none) == 0
    joined = join_objects(kind.kernel, [none, read, none])
    assert_same(joined, read, kind)


@APART
def test_objects_that_are_added_have_the_values_of_those_read_at_once(kind):
    """As a part of their own, compared with queries read for it, and joined with the others."""
    whole = read_objects(kind.objects, kind.kernel)
    n = len(whole) // 2
    first = read_objects(part(kind.objects, 0, n), kind.kernel)
    more = read_more(part(kind.objects, n, len(whole)), kind.kernel, first)
    assert len(more) == len(whole) - n
    with_all = values(whole, kind.kernel, kind.queries)
    np.testing.assert_array_equal(values(first, kind.kernel, kind.queries), with_all[:, :n])
    np.testing.assert_array_equal(values(more, kind.kernel, kind.queries), with_all[:, n:])
    assert_same(join_objects(kind.kernel, [first, more]), whole, kind)


@APART
def test_queries_read_for_one_part_are_those_of_all_unless_features_are_numbered(kind):
    whole = read_objects(kind.objects, kind.kernel)
    n = len(whole) // 2
    first = read_objects(part(kind.objects, 0, n), kind.kernel)
    more = read_more(part(kind.objects, n, len(whole)), kind.kernel, first)
    if first.numbers_features:
        return
    queries = Space(read_queries(kind.queries, kind.kernel, first), kind.kernel)
    got = _core.scan_matrix(Space(more, kind.kernel).core, queries.core, 1).view(np.int64)
    np.testing.assert_array_equal(got, values(more, kind.kernel, kind.queries))


@APART
def test_one_object_alone_is_one(kind):
    read = read_objects(kind.objects, kind.kernel)
    if not isinstance(kind.objects, (list, np.ndarray)):
        return
    is_python = any(leaf.store_key == "Python objects" for _, leaf in leaves(kind.kernel))
    if is_python and not isinstance(kind.objects, np.ndarray):
        return  # whatever it is, it may be a sequence of objects
    one = kind.objects[1]
    if isinstance(one, np.ndarray) and one.ndim == 2:
        return  # a series of several channels, or several series of one
    if isinstance(one, (list, set, str, bytes, tuple, np.ndarray)):
        assert_same(read_more(one, kind.kernel, read), read_more([one], kind.kernel, read), kind)


@CASES
def test_memory_is_counted(kind):
    read = read_objects(kind.objects, kind.kernel)
    assert 0 < read.take(np.arange(1)).n_bytes <= read.n_bytes


def test_rows_of_two_dtypes_become_float64():
    narrow = read_objects(np.eye(3, dtype=np.float32), K.Linear())
    wide = read_more(np.full((2, 3), 1 / 3), K.Linear(), narrow)
    (joined,) = join_objects(K.Linear(), [narrow, wide]).stores.values()
    assert joined.array.dtype == np.float64
    (same,) = join_objects(K.Linear(), [narrow, narrow]).stores.values()
    assert same.array.dtype == np.float32


def test_joined_rows_begin_at_cache_lines_and_may_go_into_a_file():
    rows = np.ones((5, 15))
    read = read_objects(rows, K.Linear())
    joined = join_objects(K.Linear(), [read, read])
    (store,) = joined.stores.values()
    assert store.array.ctypes.data % 64 == store.array.strides[0] % 64 == 0
    recorded = store.record().arrays["rows"]
    assert recorded.shape == (10, 16)
    assert (recorded[:, 15] == 0.0).all()
    assert np.shares_memory(recorded, store.array)
    assert joined.n_bytes == 10 * 16 * 8


def test_getting_copies():
    rows = np.ones((3, 2))
    read = read_objects(rows, K.Linear())
    got = read.get(np.arange(3))
    got[:] = 7.0
    assert rows.sum() == 6.0


def test_sparse_vectors_come_back_sparse():
    matrix = sp.csr_array(np.eye(4)[[0, 2, 2, 3]])
    got = read_objects(matrix, K.Linear()).get(np.array([3, 1]))
    assert isinstance(got, sp.csr_array)
    np.testing.assert_array_equal(got.toarray(), matrix.toarray()[[3, 1]])


def test_fields_that_nobody_reads_are_none():
    kernel = K.OnField(2, K.Linear()) + K.OnField(0, K.OnField(1, K.Spectrum(2)))
    read = read_objects([(("x", "ab"), "y", [1.0]), (("x", "cd"), "y", [2.0])], kernel)
    (first,) = read.get(np.array([1]))
    assert first[:2] == ((None, "cd"), None)
    np.testing.assert_array_equal(first[2], [2.0])


def test_strings_come_back_as_they_were_given():
    for kernel in (
        K.Spectrum(2),
        K.SegmentMatch(K.Substitution.uniform("abé", match=1, mismatch=0)),
    ):
        for strings in (["ab", "", "é", "ba"], ["ab".encode("latin-1"), b"", b"\xe9"]):
            read = read_objects(strings, kernel)
            assert read.get(np.arange(len(strings))) == strings
            assert join_objects(kernel, [read, read]).get(np.arange(len(strings))) == strings
    wide = read_objects(["a\U0001f600", "\ud800"], K.Spectrum(1))
    narrow = read_more("é", K.Spectrum(1), wide)
    joined = join_objects(K.Spectrum(1), [narrow, wide])
    assert joined.get(np.arange(3)) == ["é", "a\U0001f600", "\ud800"]


def test_graphs_come_back_as_pairs():
    graphs = [([(1, 0), (0, 1), (2, 2)], ["C", None, ("N", 1)]), ([], 0), ([(0, 1)], 2)]
    read = read_objects(graphs, K.ShortestPath())
    first, second, third = read.get(np.array([0, 1, 2]))
    np.testing.assert_array_equal(first[0], [[0, 1]])
    assert first[1] == ["C", None, ("N", 1)]
    assert second[0].shape == (0, 2)
    assert second[1] == []
    assert third[1] == [None, None]


GRAM = np.array([[4.0, 1.0, 0.5], [1.0, 9.0, 2.0], [0.5, 2.0, 1.0]])


def test_a_matrix_grows_by_rows_of_old_and_new_values():
    kernel = K.Precomputed()
    old = read_objects(GRAM[:2, :2], kernel)
    grown = join_objects(kernel, [old, read_more(GRAM[2:], kernel, old)])
    np.testing.assert_array_equal(grown.get(np.arange(3)), GRAM)
    assert_same_matrix(grown.take(np.array([2, 0])), GRAM[np.ix_([2, 0], [2, 0])])
    assert joins_at_once(2.0 * kernel + K.OnField(0, K.Linear()))
    assert not joins_at_once(K.Linear() * K.Gaussian())


def test_a_matrix_grows_after_some_of_its_objects_are_gone():
    kernel = K.Precomputed()
    left = read_objects(GRAM, kernel).take(np.array([2, 0]))
    new = np.array([[0.25, 0.75, 3.0]])  # with object 2, with object 0, with itself
    grown = join_objects(kernel, [left, read_more(new, kernel, left)])
    wanted = [[1.0, 0.5, 0.25], [0.5, 4.0, 0.75], [0.25, 0.75, 3.0]]
    assert_same_matrix(grown, np.array(wanted))


def assert_same_matrix(objects, wanted):
    np.testing.assert_array_equal(objects.get(np.arange(len(objects))), wanted)
    np.testing.assert_array_equal(values(objects, K.Precomputed()).view(np.float64), wanted)


def total(x, y):
    return float((x * y).sum())


REFUSED = [
    (K.Linear(), np.eye(3), [[1.0, 2.0]], "objects must have 3 columns"),
    (K.Linear(), sp.csr_array(np.eye(3)), sp.csr_array(np.eye(2)), "objects must have 3 columns"),
    (K.Linear(), np.eye(2), [[np.nan, 0.0]], "objects must be finite"),
    (K.MinMax(), np.eye(2), [[-1.0, 0.0]], "must not be negative"),
    (K.Tanimoto(), np.eye(3, dtype=bool), np.eye(4, dtype=bool), "must have 3 bits"),
    (K.Tanimoto(), np.eye(3, dtype=bool), [{1, 3}], "positions below the 3 bits"),
    (K.Tanimoto(), [{1, 2}], np.eye(3, dtype=bool), "must all be sets"),
    (K.Tanimoto(), [{1, 2}], {-1}, "set of whole numbers from 0; it has -1"),
    (K.Jaccard(), [{1, 2}], [[1, 2]], "objects must all be sets"),
    (K.Jaccard(), [{1, 2}], [{float("nan")}], "equal to themselves"),
    (K.Spectrum(2), ["ab"], [b"ab"], "must be str, as the objects they are added to"),
    (K.Spectrum(2), [b"ab"], "ab", "must be bytes, as the objects they are added to"),
    (K.SmithWaterman(), ["AR"], b"AR", "must be str, as the objects they are added to"),
    (K.SmithWaterman(), ["AR"], ["A-"], "objects[0] has '-' at position 1"),
    (K.GlobalAlignment(1.0), [[1.0]], [np.ones((4, 2))], "objects[0] has 2"),
    (K.WeisfeilerLehman(), [([], 1)], ([(0, 1)], 1), "objects[0] has an edge (0, 1)"),
    (K.Custom(total), np.eye(2), np.ones((1, 3)), "rows of shape (2,)"),
    (K.Custom(total), np.eye(2, dtype=int), [[0.5, 1.0]], "rows of dtype int64"),
    (K.Custom(total), np.eye(2, dtype=np.float32), [[0.1, 1.0]], "rows of dtype float32"),
    (K.Custom(overlap), ["ab"], {"ab"}, "got one set"),
    (K.Precomputed(), GRAM, GRAM, "must be 3 rows of 6 values"),
    (K.Precomputed(), GRAM[:1, :1], [[1.0, 2.0, 3.0], [1.0, 4.0, 2.0]], "must be symmetric"),
    (K.OnField(0, K.Linear()), [([1.0],)], ([1.0, 2.0],), "field 0 of objects must have 1 column,"),
]


@pytest.mark.parametrize(("kernel", "objects", "more", "words"), REFUSED)
def test_what_does_not_fit_is_refused(kernel, objects, more, words):
    like = read_objects(objects, kernel)
    with pytest.raises(InvalidArgument) as error:
        read_more(more, kernel, like)
    assert words in str(error.value)


def test_rows_that_are_added_get_the_dtype_of_those_before():
    like = read_objects(np.eye(2, dtype=np.float32), K.Custom(total))
    more = read_more([[1, 2]], K.Custom(total), like)
    (joined,) = join_objects(K.Custom(total), [like, more]).stores.values()
    assert joined.objects.dtype == np.float32
    words = read_objects(np.array(["a", "bc"]), K.Custom(overlap))
    longer = read_more(np.array(["defg"]), K.Custom(overlap), words)
    got = join_objects(K.Custom(overlap), [words, longer]).get(np.arange(3))
    assert got.tolist() == ["a", "bc", "defg"]
    listed = read_objects([np.ones(2)], K.Custom(total))
    (store,) = read_more(np.ones((3, 2)), K.Custom(total), listed).stores.values()
    assert [len(row) for row in store.objects] == [2, 2, 2]


def test_known_values_of_functions_are_not_evaluated_again():
    asked = []

    def dot(x, y):
        asked.append((x, y))
        return float(x * y)

    kernel = K.Custom(dot)
    parts = [read_objects([2, 3], kernel), read_objects([5], kernel)]
    Space(parts[0], kernel).self_values()
    assert len(asked) == 2
    joined = join_objects(kernel, parts)
    assert Space(joined, kernel).self_values().tolist() == [4.0, 9.0, 25.0]
    assert asked[2:] == [(5, 5)]
