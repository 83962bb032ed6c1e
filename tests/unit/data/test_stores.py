"""What can be indexed, what is shared with the caller, and what is refused with which words."""

import gc
import re
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from fastmks import Index, InvalidArgument, _core, kernels
from fastmks.data import DenseStore, SparseStore, make_queries, make_store

ROWS = [[1.0, 0.0, 3.0], [0.0, 5.0, 6.0]]


class TestDense:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_contiguous_floats_are_not_copied(self, dtype):
        array = np.array(ROWS, dtype=dtype)
        assert np.shares_memory(make_store(array).array, array)

    def test_read_only_and_memory_mapped_arrays_are_not_copied(self, tmp_path):
        np.save(tmp_path / "x.npy", np.array(ROWS))
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        store = make_store(mapped)
        assert np.shares_memory(store.array, mapped)
        assert store.array.tolist() == ROWS

    def test_the_callers_array_stays_writable(self):
        array = np.array(ROWS)
        make_store(array)
        array[0, 0] = 7.0

    @pytest.mark.parametrize(
        ("dtype", "kept"),
        [
            (bool, np.float32),
            (np.int8, np.float32),
            (np.uint16, np.float32),
            (np.float16, np.float32),
            (np.int32, np.float64),
            (np.uint64, np.float64),
            (np.int64, np.float64),
            (np.longdouble, np.float64),
            (">f8", np.float64),
            (">f4", np.float32),
        ],
    )
    def test_other_real_dtypes_are_converted_without_loss(self, dtype, kept):
        array = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
        store = make_store(array)
        assert store.array.dtype == kept
        assert store.array.dtype.isnative
        assert store.array.tolist() == array.astype(float).tolist()

    @pytest.mark.parametrize("how", ["fortran", "strided", "reversed", "offset"])
    def test_other_memory_layouts_are_copied(self, how):
        array = np.arange(24.0).reshape(4, 6)
        array = {
            "fortran": np.asfortranarray(array),
            "strided": array[:, ::2],
            "reversed": array[::-1],
            "offset": np.frombuffer(b"\0" + array.tobytes(), dtype=np.uint8)[1:]
            .view(np.float64)
            .reshape(4, 6),
        }[how]
        store = make_store(array)
        assert store.array.flags.c_contiguous
        assert store.array.flags.aligned
        np.testing.assert_array_equal(store.array, array)

    def test_lists_tuples_and_ranges(self):
        for objects in (ROWS, tuple(map(tuple, ROWS)), [np.array(row) for row in ROWS]):
            assert make_store(objects).array.tolist() == ROWS
        assert make_store([range(3), range(3)]).array.tolist() == [[0, 1, 2], [0, 1, 2]]

    def test_a_generator_is_refused(self):
        with pytest.raises(InvalidArgument, match="objects must be real numbers; got object dtype"):
            make_store(row for row in ROWS)

    def test_whatever_has_an_array_interface(self):
        class Tensor:
            def __array__(self, dtype=None, copy=None):
                return np.array(ROWS, dtype=np.float32)

        assert make_store(Tensor()).array.tolist() == ROWS

    def test_what_fails_in_its_own_way_is_reported(self):
        class Tensor:
            def __array__(self, dtype=None, copy=None):
                raise RuntimeError("can't convert a tensor on the moon")

        with pytest.raises(InvalidArgument, match="objects cannot be read.*tensor on the moon"):
            make_store(Tensor())


class TestFrames:
    def test_mixed_numeric_columns(self):
        frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})
        assert make_store(frame).array.tolist() == [[1.0, 0.5, 1.0], [2.0, 1.5, 0.0]]

    def test_nullable_columns(self):
        frame = pd.DataFrame({"a": pd.array([1, 2], dtype="Int64"), "b": [0.5, 1.5]})
        assert make_store(frame).array.tolist() == [[1.0, 0.5], [2.0, 1.5]]
        frame.loc[0, "a"] = pd.NA
        with pytest.raises(InvalidArgument, match=r"objects\[0, 0\] is nan"):
            make_store(frame)

    def test_float32_stays(self):
        assert make_store(pd.DataFrame(ROWS, dtype=np.float32)).array.dtype == np.float32

    def test_columns_that_are_not_numbers_are_named(self):
        frame = pd.DataFrame({"age": [1, 2], "city": ["x", "y"]})
        with pytest.raises(InvalidArgument, match=r"these columns are not: city\. Drop or encode"):
            make_store(frame)

    def test_a_series_is_one_query(self):
        store = make_queries(pd.Series([1, 2, 3]), make_store(ROWS))
        assert store.array.tolist() == [[1.0, 2.0, 3.0]]


class TestSparse:
    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    @pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
    def test_every_format(self, form, kind):
        store = make_store(kind(np.array(ROWS)).asformat(form))
        assert isinstance(store, SparseStore)
        np.testing.assert_array_equal(
            make_queries(store_matrix(store), make_store(ROWS)).array, ROWS
        )

    def test_canonical_csr_is_not_copied(self):
        matrix = sp.csr_array(np.array(ROWS))
        assert np.shares_memory(make_store(matrix).values, matrix.data)

    def test_unsorted_and_repeated_columns_are_summed_in_a_copy(self):
        matrix = sp.csr_array(
            (np.array([200, 100, 7], dtype=np.uint8), np.array([2, 2, 0]), np.array([0, 3])), (1, 3)
        )
        store = make_store(matrix)
        assert store.columns.tolist() == [0, 2]
        assert store.values.tolist() == [7.0, 300.0]
        assert matrix.indices.tolist() == [2, 2, 0]

    def test_arrays_with_room_to_spare(self):
        matrix = sp.csr_array(np.array(ROWS))
        matrix.data = np.append(matrix.data, [np.nan, np.nan])
        matrix.indices = np.append(matrix.indices, [-5, 99]).astype(np.int32)
        assert kernels.Linear().matrix(matrix).tolist() == [[10.0, 18.0], [18.0, 61.0]]

    def test_explicit_zeros_change_nothing(self):
        matrix = sp.csr_array(np.array(ROWS))
        matrix.data[0] = 0.0
        for kernel in (kernels.Cosine(), kernels.Gaussian()):
            np.testing.assert_array_equal(kernel.matrix(matrix), kernel.matrix(matrix.toarray()))

    def test_many_columns_cost_nothing_dense(self):
        matrix = sp.random_array(
            (2000, 10**9), density=1e-8, rng=np.random.default_rng(0), format="csr"
        )
        hits = Index(matrix, "cosine").search(matrix[:5], k=1)
        np.testing.assert_array_equal(hits.values[:, 0], np.diff(matrix.indptr)[:5] > 0)

    def test_one_dimensional_sparse_query(self):
        hits = Index(ROWS).search(sp.coo_array(np.array([1.0, 0.0, 0.0])))
        assert hits.values.tolist() == [[1.0]]

    def test_nan_is_found(self):
        matrix = sp.csr_array(np.array([[0.0, 1.0], [2.0, np.nan]]))
        with pytest.raises(InvalidArgument, match=r"objects\[1, 1\] is nan"):
            make_store(matrix)

    @pytest.mark.parametrize(
        ("part", "value"),
        [
            ("indices", [77, 2, 1, 2]),
            ("indices", [-1, 2, 1, 2]),
            ("indices", [2**32, 2, 1, 2]),
            ("indices", [0.5, 2, 1, 2]),
            ("indices", [0, 2]),
            ("indptr", [0, 100_000, 4]),
            ("indptr", [0, -(10**9), 4]),
            ("indptr", [1, 2, 4]),
            ("indptr", [0, 2, 5]),
            ("indptr", [0, 2]),
            ("indptr", [0, 1, 2, 4]),
            ("indptr", []),
            ("data", [[1.0], [2.0], [3.0], [4.0]]),
        ],
        ids=str,
    )
    def test_a_matrix_that_lies_is_refused(self, part, value):
        matrix = sp.csr_array(np.array(ROWS))
        setattr(matrix, part, np.array(value))
        with pytest.raises(
            InvalidArgument, match="objects is not a valid sparse matrix: its indptr"
        ):
            make_store(matrix)

    def test_a_matrix_that_says_sorted_but_is_not(self):
        matrix = sp.csr_array(np.array(ROWS))
        assert matrix.has_canonical_format
        matrix.indices[:2] = [2, 0]
        with pytest.raises(InvalidArgument, match="sparse matrix: columns must increase"):
            make_store(matrix)

    def test_small_integers_do_not_wrap_around_when_entries_repeat(self):
        entries = (np.array([100, 100], dtype=np.int8), ([0, 0], [0, 0]))
        matrix = sp.coo_array(entries, shape=(1, 2))
        assert kernels.Linear()(matrix, [1.0, 0.0]) == 200.0

    def test_columns_changed_later_are_not_followed(self):
        matrix = sp.csr_array(np.array(ROWS))
        index = Index(matrix)
        matrix.indices[:] = 2**30
        matrix.indptr[:] = 2**30
        assert index.search([1.0, 1.0, 1.0]).values.tolist() == [[11.0]]


def store_matrix(store):
    return sp.csr_array((store.values, store.columns, store.offsets), (len(store), store.n_columns))


class TestBadInput:
    @pytest.mark.parametrize(
        ("objects", "words"),
        [
            (
                np.ones(3),
                "must be two-dimensional, one object per row; got 1 dimension, shape (3,)",
            ),
            (np.ones((2, 2, 2)), "got 3 dimensions, shape (2, 2, 2)"),
            (7.0, "got 0 dimensions"),
            (np.ones((0, 3)), "must hold at least one object; got none"),
            (np.ones((3, 0)), "must have between 1 and 2**31 - 1 columns; got 0"),
            ([], "must be two-dimensional"),
            ([[]], "must have between 1 and 2**31 - 1 columns; got 0"),
            ([[1.0, 2.0], [3.0]], "row 0 has 2 entries, row 1 has 1"),
            ([[1.0, np.nan]], "objects[0, 1] is nan"),
            ([[1.0], [-np.inf]], "objects[1, 0] is -inf"),
            (np.array([[np.longdouble("1e400")]]), "objects[0, 0] is inf"),
            (np.ones((2, 2), dtype=complex), "must be real numbers; got complex dtype complex128"),
            (np.ones((2, 2), dtype=object), "must be real numbers; got object dtype object"),
            ([["a", "b"]], "must be real numbers; got string dtype"),
            (np.array([["2020-01-01"]], dtype="M8[D]"), "got datetime dtype"),
            (None, "must be real numbers; got object dtype"),
            (np.ma.masked_equal([[1.0, 2.0]], 2.0), "must have no masked entries"),
            (sp.csr_array(np.ones((2, 2), dtype=complex)), "got complex dtype"),
            (sp.csr_array((0, 3)), "must hold at least one object"),
            (sp.csr_array((2, 2**31)), "must have between 1 and 2**31 - 1 columns"),
        ],
        ids=lambda value: value[:30] if isinstance(value, str) else "",
    )
    def test_objects(self, objects, words):
        with pytest.raises(InvalidArgument, match=re.escape(words)):
            Index(objects)

    @pytest.mark.parametrize(
        ("queries", "words"),
        [
            (
                np.ones((2, 4)),
                "queries must have 3 columns, as the objects they are compared with; got 4",
            ),
            (np.ones(2), "queries must have 3 columns"),
            ([], "queries must have between 1"),
            ([[1.0, np.inf, 0.0]], "queries[0, 1] is inf"),
            (sp.csr_array((1, 5)), "queries must have 3 columns"),
        ],
        ids=lambda value: value[:30] if isinstance(value, str) else "",
    )
    def test_queries(self, queries, words):
        for objects in (ROWS, sp.csr_array(np.array(ROWS))):
            with pytest.raises(InvalidArgument, match=re.escape(words)):
                Index(objects).search(queries)


class TestQueries:
    def test_dense_and_sparse_meet(self):
        dense, sparse = np.array(ROWS), sp.csr_array(np.array(ROWS))
        expected = (dense @ dense.T).tolist()
        for A in (dense, sparse):
            for B in (dense, sparse):
                assert kernels.Linear().matrix(A, B).tolist() == expected

    def test_no_queries_is_an_empty_answer(self):
        for objects in (ROWS, sp.csr_array(np.array(ROWS))):
            hits = Index(objects).search(np.empty((0, 3)), k=2)
            assert hits.values.shape == hits.indices.shape == hits.ids.shape == (0, 2)
            assert len(Index(objects).search_above(np.empty((0, 3)), 1.0)) == 0

    def test_queries_are_not_kept(self):
        assert isinstance(make_queries([1.0, 2.0, 3.0], make_store(ROWS)), DenseStore)


class TestTaken:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_rows_are_the_same_wherever_they_begin(self, dtype):
        """Taken rows begin at whole cache lines where that costs at most an eighth more."""
        rng = np.random.default_rng(0)
        in_line = 64 // np.dtype(dtype).itemsize
        for n_columns in (1, 3, 8, 15, 16, 17, 60, 64, 70):
            rows = rng.standard_normal((2100, n_columns)).astype(dtype)
            order = rng.permutation(2100)
            taken = make_store(rows).take(order)
            np.testing.assert_array_equal(taken.array, rows[order])
            stride = taken.array.strides[0] // taken.array.itemsize
            assert n_columns <= stride <= n_columns * 9 / 8
            if -n_columns % in_line <= n_columns / 8:
                assert taken.array.ctypes.data % 64 == taken.array.strides[0] % 64 == 0
            expected = kernels.Linear().matrix(rows[:5], rows[order])
            space = kernels.Linear().make_space(taken, "baseline")
            queries = kernels.Linear().make_space(make_store(rows[:5]), "baseline")
            found = _core.scan_matrix(space, queries, 1)
            assert found.tobytes() == expected.tobytes()


class TestOwnership:
    def test_a_copy_does_not_see_later_changes(self):
        for objects in (np.array(ROWS), sp.csr_array(np.array(ROWS))):
            index = Index(objects, copy=True)
            before = index.search(ROWS, k=2)
            (objects.data if sp.issparse(objects) else objects)[...] = 0.0
            after = index.search(ROWS, k=2)
            np.testing.assert_array_equal(before.values, after.values)

    def test_memory_outlives_the_caller(self):
        """Values stay right when nobody else holds the array any more."""
        index = Index(np.full((50_000, 8), 2.0))
        junk = [np.full((50_000, 8), 9.0) for _ in range(5)]
        assert index.search(np.ones(8)).values[0, 0] == 16.0
        del junk

    @pytest.mark.parametrize(
        "kernel", ["linear", kernels.Normalized(kernels.Linear() + kernels.Cosine())]
    )
    def test_nothing_is_kept_once_the_index_is_gone(self, kernel):
        for array in (np.ones((4, 3)), sp.csr_array(np.ones((4, 3)))):
            data = array.data if sp.issparse(array) else array
            data = data if data.base is None else data.base  # the array that owns the memory
            before = sys.getrefcount(data)
            index = Index(array, kernel)
            hits = index.search(array, k=2)
            assert sys.getrefcount(data) > before
            del index, hits
            gc.collect()
            assert sys.getrefcount(data) == before
