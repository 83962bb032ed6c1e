"""What every kind of object is given in, and what no kind can read: accepted, or named."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from fastmks import Index, InvalidArgument
from fastmks import kernels as K
from support.comparing import assert_identical
from support.functions import overlap

# Kinds whose objects are not rows of numbers, each with three objects.
LISTS = {
    "sets": (K.Jaccard(), [{1, 2}, {2, 3}, set()]),
    "sets of positions": (K.Tanimoto(), [{1, 2}, {2, 3}, set()]),
    "graphs": (K.WeisfeilerLehman(1), [nx.path_graph(3), ([(0, 1)], ["C", "O"]), ([], 2)]),
    "paths": (K.ShortestPath(), [nx.path_graph(3), ([(0, 1)], ["C", "O"]), ([], 2)]),
    "series": (K.GlobalAlignment(1.0), [np.arange(3.0), np.arange(4.0), np.arange(2.0)]),
    "strings": (K.Spectrum(2), ["MKV", "AAA", "RND"]),
    "aligned": (K.SmithWaterman(), ["MKV", "AAA", "RND"]),
    "Python objects": (K.Custom(overlap), ["MKV", "AAA", "RND"]),
    "tuples": (K.OnField(0, K.Spectrum(1)), [("MKV", 1), ("AAA", 2), ("RND", 3)]),
}
BITS = np.eye(3, 16, dtype=bool)
KERNELS = {**LISTS, "bits": (K.Tanimoto(), BITS)}
EVERY_LIST = pytest.mark.parametrize("kind", LISTS)
EVERY_KIND = pytest.mark.parametrize("kind", KERNELS)


def column(objects):
    """An array of objects, whatever they hold."""
    made = np.empty(len(objects), dtype=object)
    for i, one in enumerate(objects):
        made[i] = one
    return made


class Ordered:
    """A sequence as Python had them before iterators."""

    def __init__(self, objects):
        self.objects = objects

    def __len__(self):
        return len(self.objects)

    def __getitem__(self, i):
        return self.objects[i]


@EVERY_LIST
def test_every_sequence_of_objects_will_do(kind):
    kernel, objects = LISTS[kind]
    wanted = Index(objects, kernel).search(objects, 3)
    assert_identical(Index(tuple(objects), kernel).search(objects, 3), wanted)
    for make in (column, lambda given: pd.Series(column(given), index=[7, 8, 9]), Ordered):
        assert_identical(Index(make(objects), kernel).search(make(objects), 3), wanted)
    by_name = dict(zip("abc", objects, strict=True)).values()
    assert_identical(Index(by_name, kernel).search(by_name, 3), wanted)


@EVERY_KIND
@pytest.mark.parametrize(
    "given",
    [None, 5, np.int64(5), np.array(3.0), np.array(None), np.array("abc"), np.ma.masked, object()],
    ids=lambda given: type(given).__name__,
)
def test_what_holds_no_objects_is_named(kind, given):
    """Also arrays without axes, which claim to be iterable."""
    kernel, objects = KERNELS[kind]
    with pytest.raises(InvalidArgument, match="^objects must be "):
        Index(given, kernel)
    with pytest.raises(InvalidArgument, match="^queries must be "):
        Index(objects, kernel).search(given)


@EVERY_KIND
def test_dicts_are_not_sequences(kind):
    kernel, objects = KERNELS[kind]
    by_name = dict(zip("abc", objects, strict=True))
    with pytest.raises(InvalidArgument, match=r"^objects must .* one dict|ids=list\(d\)"):
        Index(by_name, kernel)
    with pytest.raises(InvalidArgument, match=r"^queries must .*dict"):
        Index(objects, kernel).search(by_name)


@pytest.mark.parametrize("kind", ["sets", "graphs", "paths", "strings", "aligned"])
def test_tables_and_sparse_matrices_are_named(kind):
    kernel, objects = LISTS[kind]
    table = pd.DataFrame({"a": column(objects)})
    with pytest.raises(InvalidArgument, match="objects must be a .* got a table. Pass one of its"):
        Index(table, kernel)
    assert len(Index(table["a"], kernel)) == 3
    with pytest.raises(InvalidArgument, match="queries must be a .* got a sparse matrix"):
        Index(objects, kernel).search(sp.csr_array(np.eye(3)))


MASK = np.array([[False, False], [False, True], [False, False]])
ROWS = {
    "vectors": (K.Linear(), np.arange(6.0).reshape(3, 2)),
    "counts": (K.MinMax(), np.arange(6.0).reshape(3, 2)),
    "booleans": (K.Tanimoto(), np.array([[True, False], [True, True], [False, True]])),
    "packed": (K.Tanimoto(), np.arange(6, dtype=np.uint8).reshape(3, 2)),
    "series": (K.GlobalAlignment(1.0), np.arange(6.0).reshape(3, 2)),
    "rows for a function": (K.Custom(np.dot), np.arange(6.0).reshape(3, 2)),
}


@pytest.mark.parametrize("kind", ROWS)
def test_masks_are_never_forgotten(kind):
    """Refused where something is masked, read where nothing is."""
    kernel, rows = ROWS[kind]
    masked, whole = np.ma.array(rows, mask=MASK), np.ma.array(rows, mask=False)
    index = Index(rows, kernel)
    with pytest.raises(InvalidArgument, match="objects must have no masked entries"):
        Index(masked, kernel)
    for queries in (masked, masked[1]):
        with pytest.raises(InvalidArgument, match=r"queries(\[0\])? must have no masked entries"):
            index.search(queries)
    assert_identical(Index(whole, kernel).search(whole, 3), index.search(rows, 3))
    if kind != "rows for a function":  # a function of one's own gets what is in the list
        with pytest.raises(InvalidArgument, match=r"objects\[1\] must have no masked entries"):
            Index(list(masked), kernel)


def test_columns_of_vectors_are_read():
    """As they come in a column of a table."""
    rows = np.arange(6.0).reshape(3, 2)
    wanted = Index(rows).search(rows, 3)
    for given in (pd.Series(list(rows), index=[4, 5, 6]), column(rows), column(rows.tolist())):
        assert_identical(Index(given).search(given, 3), wanted)
    with pytest.raises(InvalidArgument, match="row 0 has 2 entries, row 1 has 1"):
        Index(pd.Series([rows[0], rows[1][:1]]))


def test_strings_in_every_type():
    wanted = Index([b"MKV", b"MKL"], K.Spectrum(2)).search([b"KV"], 2)
    index = Index([bytearray(b"MKV"), memoryview(b"MKL")], K.Spectrum(2))
    for query in (bytearray(b"KV"), [memoryview(b"KV")]):
        assert_identical(index.search(query, 2), wanted)
    names = {"MKV": 1, "MKL": 2}
    assert len(Index(names.keys(), K.Spectrum(2))) == 2


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (None, r"objects\[1\] is None. Drop or fill missing"),
        (float("nan"), r"objects\[1\] is nan. Drop or fill missing"),
        (pd.NA, r"objects\[1\] is <NA>. Drop or fill missing"),
        (b"MKV", r"objects\[1\] is b'MKV'. Decode"),
        (frozenset("a"), r"objects\[1\] is .*\[str\(s\) for s in"),
    ],
    ids=repr,
)
def test_what_is_no_string_is_named(bad, words):
    with pytest.raises(InvalidArgument, match=words):
        Index(["MKV", bad], K.Spectrum(2))


def test_rows_of_a_table_are_tuples():
    table = pd.DataFrame({"seq": ["ab", "bc"], "x": [1.0, 2.0]}, index=[5, 6])
    kernel = K.OnField(0, K.Spectrum(1))
    wanted = Index([("ab",), ("bc",)], kernel).search([("b",)], 2)
    assert_identical(Index(table, kernel).search(table[["seq"]].replace("ab", "b")[:1], 2), wanted)
    with pytest.raises(InvalidArgument, match=r"objects\[0\] must be a tuple with a field 0"):
        Index(["ab", "bc"], kernel)


def test_dicts_of_vectors_have_a_way_out():
    vectors = {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}
    with pytest.raises(InvalidArgument, match=r"must be vectors.*got a dict.*ids=list\(d\)"):
        Index(vectors)
    index = Index(vectors.values(), ids=vectors.keys())
    assert index.search(vectors["dog"]).ids.tolist() == [["dog"]]
    with pytest.raises(InvalidArgument, match="objects must be vectors.*got a set"):
        Index({(1.0, 0.0)})


@pytest.mark.parametrize("kernel", [K.Linear(), K.Tanimoto(), K.GlobalAlignment(1.0)], ids=repr)
def test_lists_of_sparse_rows_are_refused(kernel):
    """Their length is ambiguous, says scipy."""
    row = sp.coo_array(np.array([1.0, 0.0]))
    with pytest.raises(InvalidArgument, match="^objects"):
        Index([row, row], kernel)
