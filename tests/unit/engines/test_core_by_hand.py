"""The core, fed by hand with what Python never gives it: it refuses, and never breaks memory."""

import numpy as np
import pytest

from fastmks import _core


def dense(n=3, d=2, dtype=float):
    return _core.dense_store(np.ones((n, d), dtype=dtype))


def sparse(offsets=(0, 1, 2), columns=(0, 1), values=(1.0, 1.0), n_columns=2):
    return _core.sparse_store(
        np.array(offsets, dtype=np.int64),
        np.array(columns, dtype=np.int32),
        np.array(values),
        n_columns,
    )


def space(store=None, form="linear", **parameters):
    defaults = {"degree": 1, "scale": 1.0, "offset": 0.0, "bandwidth": 1.0}
    store = dense() if store is None else store
    return _core.vector_space(store, "baseline", form, **(defaults | parameters))


@pytest.mark.parametrize(
    "queries",
    [
        space(dense(d=3)),
        space(sparse()),
        space(form="cosine"),
        space(form="polynomial", degree=2),
        _core.sum_space([space(), space()]),
        _core.scaled_space(space(), 2.0),
        _core.normalized_space(space(), True),
    ],
)
def test_queries_of_another_kind(queries):
    with pytest.raises(ValueError, match="queries must have the objects' kernel, columns and kind"):
        _core.scan_matrix(space(), queries, 1)


def test_queries_of_another_combination():
    two = _core.sum_space([space(), space()])
    for other in (
        _core.sum_space([space(), space(), space()]),
        _core.sum_space([space(), space(form="cosine")]),
        _core.product_space([space(), space()]),
    ):
        with pytest.raises(ValueError, match="queries must have"):
            _core.scan_matrix(two, other, 1)
    assert _core.scan_matrix(two, _core.sum_space([space(), space()]), 1).shape == (3, 3)
    with pytest.raises(ValueError, match="queries must have"):
        _core.scan_matrix(_core.scaled_space(space(), 2.0), _core.scaled_space(space(), 3.0), 1)


def test_float32_queries_are_of_the_same_kind():
    assert _core.scan_matrix(space(), space(dense(dtype=np.float32)), 1).shape == (3, 3)


@pytest.mark.parametrize("positions", [[3], [-1], [1, 0], [1, 1]])
def test_positions_that_do_not_exist_or_increase(positions):
    among = np.array(positions, dtype=np.int64)
    with pytest.raises(ValueError, match="positions must increase and exist"):
        _core.scan_top_k(space(), space(), among, None, False, 1, None, 1, None)


@pytest.mark.parametrize(("k", "skip_self"), [(0, False), (4, False), (3, True)])
def test_k_beyond_the_objects(k, skip_self):
    with pytest.raises(ValueError, match="k must be between 1 and the objects searched"):
        _core.scan_top_k(space(), space(), None, None, skip_self, k, None, 1, None)


def test_thresholds_of_another_number():
    with pytest.raises(ValueError, match="one threshold per query"):
        _core.scan_above(space(), space(), None, None, np.zeros(2), 1, None)


@pytest.mark.parametrize(
    "bad",
    [
        {"offsets": (0, 1, 3)},
        {"offsets": (1, 1, 2)},
        {"offsets": (0, 3, 2)},
        {"offsets": ()},
        {"columns": (0, 2)},
        {"columns": (-1, 1)},
        {"offsets": (0, 2), "columns": (1, 0)},
        {"offsets": (0, 2), "columns": (1, 1)},
        {"columns": (0,)},
    ],
    ids=str,
)
def test_sparse_arrays_that_lie(bad):
    with pytest.raises(ValueError, match="offsets|columns"):
        sparse(**bad)


def test_unknown_names():
    with pytest.raises(ValueError, match="no such vector kernel: quadratic"):
        space(form="quadratic")
    with pytest.raises(ValueError, match="no such instruction set here: mmx"):
        _core.vector_space(dense(), "mmx", "linear")


def test_combinations_of_spaces_that_differ_in_size():
    with pytest.raises(ValueError, match="spaces differ in size"):
        _core.sum_space([space(dense(2)), space(dense(3))])
    with pytest.raises(ValueError, match="at least one space"):
        _core.product_space([])


def test_arrays_of_another_dtype_or_layout():
    for bad in (np.ones((2, 2), dtype=int), np.ones((2, 2, 2)), [[1.0]]):
        with pytest.raises(TypeError):
            _core.dense_store(bad)
    for bad in (np.asfortranarray(np.ones((3, 2))), np.ones((3, 4))[:, ::2], np.ones((3, 2))[::-1]):
        with pytest.raises(ValueError, match="side by side"):
            _core.dense_store(bad)
