"""Compiled functions as kernels: which are taken, and what they are called with."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import LowLevelCallable

from fastmks import Index, InvalidArgument
from fastmks import kernels as K
from support.comparing import assert_identical
from support.kinds.own import COMPILED, compiled_dot

POINTER = ctypes.POINTER(ctypes.c_double)
ROWS = np.random.default_rng(0).integers(-3, 4, size=(50, 6)).astype(float)


def like_numba(signature):
    """What fastmks looks at in a numba cfunc."""
    address = ctypes.cast(compiled_dot, ctypes.c_void_p).value
    return SimpleNamespace(address=address, _sig=signature, keeps=compiled_dot)


NUMBA = like_numba("(float64*, float64*, int64) -> float64")


@pytest.mark.parametrize("function", [COMPILED, NUMBA], ids=["scipy", "numba"])
@pytest.mark.parametrize("algorithm", ["scan", "tree", "dual-tree"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_compiled_product_is_the_linear_kernel(function, algorithm, threads):
    index = Index(ROWS, K.Custom(function), algorithm=algorithm, threads=threads)
    hits = index.search(ROWS[:9], 4)
    assert hits.stats.threads == threads
    assert_identical(hits, Index(ROWS).search(ROWS[:9], 4))
    assert_identical(index.search_self(3), Index(ROWS).search_self(3))
    assert K.Custom(function)(ROWS[0], ROWS[1]) == K.Linear()(ROWS[0], ROWS[1])


def test_rows_are_converted_to_float64():
    wanted = Index(ROWS).search(ROWS[:3], 2)
    for rows in (ROWS.astype(np.float32), ROWS.astype(int), np.asfortranarray(ROWS), ROWS.tolist()):
        assert_identical(Index(rows, COMPILED).search(ROWS[:3], 2), wanted)
        assert_identical(Index(ROWS, COMPILED).search(rows[:3], 2), wanted)
    wide = np.zeros((50, 9))
    wide[:, :6] = ROWS
    assert_identical(Index(wide[:, :6], COMPILED).search(ROWS[:3], 2), wanted)
    with pytest.raises(InvalidArgument, match="queries must have 6 columns"):
        Index(ROWS, COMPILED).search(ROWS[:, :3])
    with pytest.raises(InvalidArgument, match="dense rows"):
        Index(sp.csr_array(ROWS), COMPILED)


def test_algebra_with_compiled_functions():
    kernel = 0.5 * K.Custom(COMPILED) + K.Gaussian(2.0) * K.Custom(COMPILED)
    plain = 0.5 * K.Linear() + K.Gaussian(2.0) * K.Linear()
    for algorithm in ("scan", "tree"):
        index = Index(ROWS, kernel, algorithm=algorithm)
        assert_identical(index.search(ROWS[:5], 3), Index(ROWS, plain).search(ROWS[:5], 3))


def callback(result, *arguments):
    return LowLevelCallable(ctypes.CFUNCTYPE(result, *arguments)(lambda *_: 0))


@pytest.mark.parametrize(
    "function",
    [
        callback(ctypes.c_double, POINTER, POINTER),
        callback(ctypes.c_double, POINTER, POINTER, ctypes.c_int),
        callback(ctypes.c_float, POINTER, POINTER, ctypes.c_ssize_t),
        callback(ctypes.c_double, ctypes.c_double, POINTER, ctypes.c_ssize_t),
        like_numba("(float64, float64) -> float64"),
        like_numba("(float32*, float32*, int64) -> float64"),
    ],
)
def test_other_signatures_are_refused(function):
    with pytest.raises(InvalidArgument, match=r"must have the signature double\(const double\*"):
        K.Custom(function)


def test_what_does_not_go_with_compiled_functions():
    data = ctypes.cast(ctypes.pointer(ctypes.c_int(3)), ctypes.c_void_p)
    with pytest.raises(InvalidArgument, match="without user_data"):
        K.Custom(LowLevelCallable(compiled_dot, data))
    with pytest.raises(InvalidArgument, match="block goes with functions in Python"):
        K.Custom(COMPILED, block=max)
    with pytest.raises(InvalidArgument, match="self_values goes with"):
        K.Custom(COMPILED, self_values=max)
    with pytest.raises(InvalidArgument, match="takes functions in Python"):
        K.Similarity(COMPILED)


def test_compiled_functions_that_are_not_mercer_are_scanned():
    kernel = K.Custom(COMPILED, is_mercer=False, name="mine")
    assert repr(kernel) == "Custom(mine, is_mercer=False)"
    assert_identical(Index(ROWS, kernel).search(ROWS[:3]), Index(ROWS).search(ROWS[:3]))
