"""Kernels of the user's own as values, and what their functions may return or raise."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from fastmks import Index, InvalidArgument, KernelValueError, load
from fastmks import kernels as K
from support.comparing import assert_identical
from support.kinds.own import common_letters, dot, dots, is_near, nearness, squares


@pytest.mark.parametrize(
    "value", [3, True, np.float32(3), np.int8(3), Fraction(3), Decimal(3), np.array(3)]
)
def test_any_real_number_may_be_returned(value):
    assert K.Custom(lambda x, y: value)(0, 0) == float(value)
    assert K.Custom(block=lambda x, ys: [float(value)] * len(ys))(0, 0) == float(value)


@pytest.mark.parametrize("values", [[1, 2], (1.0, 2.0), np.array([1, 2], "f4"), pd.Series([1, 2])])
def test_a_block_may_return_any_sequence_of_numbers(values):
    kernel = K.Custom(block=lambda x, ys: values[: len(ys)])
    assert Index(["a", "b"], kernel, algorithm="scan").search(["c"]).values[0, 0] in (1.0, 2.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a", "'a' (str); it must return one real number"),
        (None, "returned None; it must"),
        (1j, "(complex)"),
        (np.complex128(1), "complex"),
        (np.ones(1), "ndarray"),
        ([1.0], "list"),
        (10**400, "too large for a float"),
        (float("nan"), "the value nan"),
        (float("inf"), "the value inf"),
    ],
)
@pytest.mark.parametrize("algorithm", ["scan", "tree"])
def test_other_returns_are_errors_that_name_the_objects(value, words, algorithm):
    def function(x, y):
        return value if "bad" in (x, y) and x != y else 1.0

    index = Index(["good", "bad"], function, ids=["g", "b"])
    with pytest.raises(KernelValueError) as error:
        index.search(["fine", "query"], algorithm=algorithm)
    assert words in str(error.value)
    assert "object 'b'" in str(error.value)
    assert "function" in str(error.value)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (np.ones((2, 1)), "of shape (2, 1); it must return 2 real numbers"),
        (np.ones(3), "of shape (3,)"),
        (1.0, "of shape ()"),
        (None, "must return 2 real numbers"),
        (["a", "b"], "of dtype <U1"),
        (np.array([1j, 1]), "of dtype complex128"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "masked array"),
        ([[1.0], [1.0, 2.0]], "must return 2 real numbers"),
    ],
)
def test_wrong_blocks_are_errors(returned, words):
    kernel = K.Custom(block=lambda x, ys: returned if len(ys) == 2 else [1.0])
    blocks = Index(["a", "b", "c", "d", "e"], kernel, algorithm="scan")
    kernel = K.Custom(block=lambda x, ys: returned, self_values=lambda xs: returned)
    with pytest.raises(KernelValueError) as error:
        Index(["a", "b"], kernel, algorithm="tree")
    assert words in str(error.value)
    assert "asked for object 0 and itself, and returned" in str(error.value)
    with pytest.raises(KernelValueError, match="asked for queries.0. and object"):
        blocks.search(["q"])


class MineError(Exception):
    pass


@pytest.mark.parametrize("algorithm", ["scan", "tree", "dual-tree"])
def test_exceptions_arrive_unchanged_and_the_index_stays_usable(algorithm):
    raised = []

    def function(x, y):
        if "boom" in (x, y):
            raised.append(MineError("from the user"))
            raise raised[-1]
        return common_letters(x, y)

    index = Index(["tree", "kernel", "search"], function, algorithm=algorithm)
    before = index.search(["trees"], 2)
    for search in (index.search, lambda queries: index.search_above(queries, 0.0)):
        with pytest.raises(MineError) as error:
            search(["trees", "boom"])
        assert error.value is raised[-1]
        assert error.traceback[-1].name == "function"
    assert_identical(index.search(["trees"], 2), before)
    with pytest.raises(MineError):
        Index(["tree", "boom"], function, algorithm="tree")


def test_exceptions_of_bounds_and_self_values_arrive_too():
    def fail(*_):
        raise MineError

    with pytest.raises(MineError):
        Index([1, 2], K.Similarity(is_near, fail)).search([1])
    with pytest.raises(MineError):
        Index([1, 2], K.Custom(is_near, self_values=fail), algorithm="tree")
    with pytest.raises(MineError):
        Index([1, 2], K.Normalized(K.Custom(fail)))
    with pytest.raises(KeyboardInterrupt):
        Index([1, 2], lambda x, y: (_ for _ in ()).throw(KeyboardInterrupt)).search([1])


def test_kernels_are_values():
    class Comparer:
        __hash__ = None

        def __call__(self, x, y):
            return 1.0

        def compare(self, x, y):
            return 1.0

    comparer = Comparer()
    assert K.Custom(dot) == K.Custom(dot)
    assert hash(K.Custom(dot)) == hash(K.Custom(dot))
    assert K.Custom(dot) != K.Custom(common_letters)
    assert K.Custom(dot) != K.Custom(dot, rtol=1e-5)
    assert K.Custom(dot) != K.Custom(dot, is_mercer=False)
    assert K.Custom(dot) != K.Custom(dot, is_mercer=True)
    assert K.Custom(dot) != K.Similarity(dot)
    assert K.Custom(comparer.compare) == K.Custom(comparer.compare)
    assert {K.Custom(comparer): 1}[K.Custom(comparer)] == 1
    assert repr(K.Custom(dot, rtol=1e-5)) == "Custom(dot, rtol=1e-05)"
    assert repr(K.Custom(comparer)).endswith("Comparer)")
    assert repr(K.Custom(block=dots, name="products")) == "Custom(products)"
    assert repr(K.Similarity(is_near, nearness)) == "Similarity(is_near, upper_bound=nearness)"
    assert repr(K.Custom(block=dots)) == "Custom(block=dots)"
    assert repr(K.Custom(dot, self_values=squares)) == "Custom(dot, self_values=squares)"
    assert repr(K.Similarity(block=dots, bounds_block=dots)) == (
        "Similarity(block=dots, bounds_block=dots)"
    )
    assert K.Custom(dot) != K.Custom(block=dot)
    assert K.Custom(dot) == K.Custom(dot, name="dot")
    assert K.Custom(dot) != K.Custom(dot, name="product")
    assert 2.0 * K.Custom(dot) + K.Linear() == 2.0 * K.Custom(dot) + K.Linear()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: K.Custom(), "needs a function"),
        (lambda: K.Similarity(), "needs a function"),
        (lambda: K.Custom(3), "function must be a function; got 3"),
        (lambda: K.Custom(dot, block=3), "block must be a function"),
        (lambda: K.Custom(float), "must be a function"),
        (lambda: K.Custom(K.Linear), r"must be a function; .* Write Linear\(\.\.\.\)"),
        (lambda: K.Custom(K.Linear()), r"Linear\(\) is a kernel already"),
        (lambda: K.Custom(dot, rtol=0.5), "rtol must be between 0 and 0.01"),
        (lambda: K.Custom(dot, rtol=-1), "rtol must be"),
        (lambda: K.Custom(dot, name=""), "name must be"),
        (lambda: K.Custom(dot, is_mercer=1), "is_mercer must be"),
        (lambda: K.Precomputed(is_mercer=None), "is_mercer must be"),
        (lambda: Index([1], kernel=int), "kernel must be"),
        (lambda: Index([1], kernel=3), "a function of two objects"),
    ],
)
def test_parameters_are_checked(make, words):
    with pytest.raises(InvalidArgument, match=words):
        make()


def test_a_function_is_mercer_when_its_user_says_so():
    unknown, declared = K.Custom(dot), K.Custom(dot, is_mercer=True)
    denied = K.Custom(dot, is_mercer=False)
    assert (unknown.is_mercer, declared.is_mercer, denied.is_mercer) == (None, True, False)
    assert repr(declared) == "Custom(dot, is_mercer=True)"
    assert K.as_kernel(dot).is_mercer is None
    assert (2.0 * unknown + K.Linear()).is_mercer is None
    assert (K.Normalized(unknown) * declared).is_mercer is None
    assert (K.OnField(0, declared) + K.Linear()).is_mercer is True
    assert (unknown + denied).is_mercer is False
    assert (unknown * K.Tanh()).is_mercer is False


@pytest.mark.parametrize("is_mercer", [None, True])
def test_a_file_holds_no_declaration_about_a_function(is_mercer, tmp_path):
    rows, path = np.ones((2, 1)), tmp_path / "numbers.fmks"
    Index(rows, K.Custom(dot, is_mercer=is_mercer)).save(path)
    assert load(path, kernel=dot).kernel.is_mercer is None
    given = K.Custom(dot, is_mercer=True)
    assert load(path, kernel=given).kernel.is_mercer is True
