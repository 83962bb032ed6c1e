"""`search_self` by a scan that evaluates each pair once: the hits of one that evaluates both."""

import ctypes
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmks import Index, KernelValueError
from fastmks import kernels as K
from fastmks._util.progress import Progress
from fastmks.engines.space import Space
from fastmks.kernels.objects import read_objects
from support.comparing import assert_identical
from support.functions import normal, overlap
from support.kinds import KINDS


def other_hits(index, k):
    """The hits of a scan of rows: each object as a query, among all others."""
    matrix = index.kernel.matrix(index.get(index.ids))
    np.fill_diagonal(matrix, -np.inf)
    indices = np.argsort(-matrix, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(matrix, indices, axis=1), indices


def halves(kernel, objects):
    return Space(read_objects(objects, kernel), kernel).core.halves_self_scan


def n_pairs(n):
    return n * (n - 1) // 2


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_all_kinds_have_the_same_hits(kind, threads):
    index = Index(kind.objects, kind.kernel)
    hits = index.search_self(3, algorithm="scan", threads=threads)
    values, indices = other_hits(index, 3)
    np.testing.assert_array_equal(hits.indices, indices)
    np.testing.assert_array_equal(hits.values, values)
    n = len(index)
    is_halved = halves(kind.kernel, kind.objects)
    assert hits.stats.kernel_evaluations == (n_pairs(n) if is_halved else n * (n - 1))


def test_alignments_and_series_are_evaluated_once():
    halved = {kind.name for kind in KINDS if halves(kind.kernel, kind.objects)}
    assert any("align" in name.lower() for name in halved), halved
    assert "function of words" not in halved
    for kernel, objects in (
        (K.LocalAlignment(), ["ARND", "AR"]),
        (K.Normalized(K.GlobalAlignment(1.0)), [[1.0, 2.0], [3.0]]),
        (K.SmithWaterman(), ["ARND", "AR"]),
    ):
        assert halves(kernel, objects)
        assert halves(2.0 * kernel + kernel * kernel, objects)


@given(
    words=st.lists(st.text("abc", max_size=4), min_size=2, max_size=40),
    k=st.integers(1, 6),
    changes=st.booleans(),
    algorithm=st.sampled_from(["scan", "auto"]),
)
def test_declared_functions_have_the_same_hits(words, k, changes, algorithm):
    k = min(k, len(words) - 1)
    plain = Index(words, K.Custom(overlap))
    declared = Index(words, K.Custom(overlap, symmetric=True))
    if changes and len(words) > k + 2:
        for index in (plain, declared):
            index.add(["abca"])
            index.remove([0, 1])
    if changes and len(words) % 2:  # then the objects are in the order of the tree
        _ = declared.tree
    hits = declared.search_self(k, algorithm=algorithm)
    assert_identical(hits, plain.search_self(k, algorithm=algorithm))
    n = len(declared)
    assert hits.stats.kernel_evaluations == n_pairs(n) + n - 1


def test_every_pair_is_counted_as_it_is_called():
    calls = []

    def same(x, y):
        calls.append((x, y))
        return float(x == y)

    numbers = list(range(90))
    hits = Index(numbers, K.Similarity(same, symmetric=True)).search_self(2)
    assert hits.stats.kernel_evaluations == len(calls) == n_pairs(90) + 89
    assert {(min(pair), max(pair)) for pair in calls} == {(i, j) for j in numbers for i in range(j)}


def test_a_function_that_is_not_symmetric_is_an_error_that_names_the_pair():
    kernel = K.Similarity(lambda x, y: float(x - y), symmetric=True)
    message = (
        r"symmetric=True\) gives (object \d+) and (object \d+) the value -?\d+\.0, and in the "
        r"other order -?\d+\.0: it is not symmetric bit for bit. Leave symmetric=True out."
    )
    with pytest.raises(KernelValueError, match=message):
        Index([5, 7, 9, 1], kernel).search_self()
    signed = K.Similarity(lambda x, y: 0.0 if x < y else -0.0, symmetric=True)
    with pytest.raises(KernelValueError, match="bit for bit"):
        Index([5, 7, 9, 1], signed).search_self()


def test_the_option_is_a_bool_and_part_of_the_kernel():
    with pytest.raises(ValueError, match="symmetric must be True or False; got 1"):
        K.Custom(overlap, symmetric=1)
    with pytest.raises(ValueError, match="symmetric must be True or False; got 'yes'"):
        K.Similarity(overlap, symmetric="yes")
    assert repr(K.Custom(overlap, symmetric=True)) == "Custom(overlap, symmetric=True)"
    assert K.Custom(overlap, symmetric=True) != K.Custom(overlap)


def test_compiled_functions_run_on_all_threads():
    scipy = pytest.importorskip("scipy")

    @ctypes.CFUNCTYPE(
        ctypes.c_double,
        ctypes.POINTER(ctypes.c_double),
        ctypes.POINTER(ctypes.c_double),
        ctypes.c_ssize_t,
    )
    def product(x, y, n):
        return sum(x[i] * y[i] for i in range(n))

    rows = normal(150, 3)
    compiled = scipy.LowLevelCallable(product)
    plain = Index(rows, K.Custom(compiled)).search_self(4)
    for threads in (1, 3):
        hits = Index(rows, K.Custom(compiled, symmetric=True)).search_self(4, threads=threads)
        assert_identical(hits, plain)
        assert hits.stats.kernel_evaluations == n_pairs(150) + 149


def test_a_check_can_stop_it():
    calls = []

    def slow(x, y):
        calls.append(1)
        time.sleep(1e-4)
        return float(x * y)

    def stop():
        if len(calls) > 500:
            raise TimeoutError

    index = Index(list(range(400)), K.Custom(slow, symmetric=True))
    with pytest.raises(TimeoutError):
        index.search_self(progress=Progress(False, check=stop))
    assert len(calls) < n_pairs(400)
