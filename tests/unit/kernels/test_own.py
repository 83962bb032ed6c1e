"""Python functions as kernels: what they are given, what they cost, and how they are searched."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastmks
from fastmks import Index, InvalidArgument, KernelValueError, NotMercerError
from fastmks import kernels as K
from support.comparing import assert_identical
from support.inside import data_of
from support.kinds.own import common_letters, dot, dots, is_near, nearness, squares
from support.waiting import PATIENCE

ROWS = np.random.default_rng(0).integers(-3, 4, size=(40, 3)).astype(float)
VECTORS = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=25
)


def plain_dot(x, y):
    return float(sum(a * b for a, b in zip(x, y, strict=True)))


def best(x, objects, k):
    """The k best by brute force, ties to the smaller position."""
    ranked = sorted((-plain_dot(x, y), i) for i, y in enumerate(objects))[:k]
    return [-value for value, _ in ranked], [i for _, i in ranked]


@given(objects=VECTORS, queries=VECTORS, data=st.data())
@settings(max_examples=60)
def test_every_engine_finds_what_brute_force_finds(objects, queries, data):
    k = data.draw(st.integers(1, len(objects)))
    for algorithm in ("scan", "tree", "dual-tree"):
        hits = Index(objects, plain_dot, algorithm=algorithm).search(queries, k)
        for i, x in enumerate(queries):
            values, indices = best(x, objects, k)
            assert hits.values[i].tolist() == values
            assert hits.indices[i].tolist() == indices


@pytest.mark.parametrize("algorithm", ["scan", "tree", "dual-tree"])
def test_a_value_is_that_of_query_and_object_in_this_order(algorithm):
    """Symmetric only up to rounding: the last bit says which came first."""

    def nearly(x, y):
        return x[1] * y[1] * (1.0 + 2**-50 * (x[0] == "query"))

    objects = [("object", float(v)) for v in range(1, 30)]
    index = Index(objects, nearly, algorithm=algorithm)
    hits = index.search([("query", 3.0)], 5)
    assert (hits.values == 3.0 * np.arange(29, 24, -1) * (1.0 + 2**-50)).all()


def seen_by(objects):
    """What a function gets for these objects: one of them, and a block."""
    blocks = []

    def block(x, ys):
        blocks.append((x, ys))
        return [0.0] * len(ys)

    Index(objects, K.Custom(block=block)).search_self()
    return blocks[-1]


def test_a_function_sees_the_objects_themselves():
    things = [object() for _ in range(7)]
    for given_as in (things, tuple(things), (thing for thing in things), pd.Series(things)):
        x, ys = seen_by(given_as)
        assert x in things
        assert isinstance(ys, list)
        assert set(ys) <= set(things)


def test_a_function_sees_rows_of_arrays_and_frames():
    x, ys = seen_by(ROWS)
    assert x.shape == (3,)
    assert isinstance(ys, np.ndarray)
    assert ys.shape[1] == 3
    assert not x.flags.writeable
    assert not ys.flags.writeable
    assert ROWS.flags.writeable
    x, ys = seen_by(np.arange(5))
    assert isinstance(x, np.integer)
    assert ys.ndim == 1
    x, ys = seen_by(pd.DataFrame({"name": ["a", "b"], "age": [1, 2]}))
    assert x.age in (1, 2)
    assert isinstance(ys, list)


def test_python_is_entered_once_a_block():
    calls = []

    def block(x, ys):
        calls.append(len(ys))
        return dots(x, ys)

    rows = np.random.default_rng(0).normal(size=(5000, 3))
    hits = Index(rows, K.Custom(block=block)).search(rows[:1], 1)
    assert sum(calls) == 5000
    assert len(calls) < 60
    assert hits.stats.kernel_evaluations == 5000


def test_self_values_are_evaluated_once_an_object():
    asked = []

    def counted(x, y):
        if x is y:
            asked.append(id(x))
        return common_letters(x, y)

    words = [f"word number {i}" for i in range(60)]
    index = Index(words, counted, algorithm="tree")
    built = len(asked)
    assert built == 60
    selves = data_of(index).space.self_values()  # in the tree's order: known from before
    assert len(asked) == built
    assert selves.tolist() == [
        common_letters(words[i], words[i]) for i in data_of(index).space.order
    ]


def test_self_values_come_in_blocks():
    calls = []

    def selves(xs):
        calls.append(len(xs))
        return squares(xs)

    index = Index(ROWS, K.Custom(block=dots, self_values=selves), algorithm="tree")
    assert calls == [40]
    assert_identical(index.search(ROWS, 3), Index(ROWS, "linear").search(ROWS, 3))


def test_functions_that_are_not_mercer_are_caught_where_it_shows():
    with pytest.raises(NotMercerError, match="allow a Mercer kernel at most"):
        Index([0, 1, 2, 3], lambda x, y: float(abs(x - y)) + 1.0, algorithm="tree")
    with pytest.raises(NotMercerError, match="no negative"):
        Index([0, 1], lambda x, y: -1.0, algorithm="tree")
    with pytest.raises(NotMercerError, match="is not Mercer"):
        Index([0, 1], K.Custom(dot, is_mercer=False), algorithm="tree")


def test_an_index_and_its_objects_are_freed():
    class Thing:
        pass

    things = [Thing() for _ in range(5)]
    died = [weakref.ref(thing) for thing in things]
    index = Index(things, lambda x, y: 1.0 + (x is y), algorithm="tree")
    index.search(things, 2)
    del things, index
    gc.collect()
    assert all(ref() is None for ref in died)


@pytest.mark.parametrize("wrap", [K.Custom, lambda f: 2.0 * K.Normalized(K.Custom(f))])
def test_an_index_whose_function_refers_back_to_it_is_freed(wrap):
    class Model:
        def __init__(self):
            self.index = Index(["a", "b", "ab"], wrap(self.compare), algorithm="tree")
            self.index.search(["a"])

        def compare(self, x, y):
            return common_letters(x, y)

    died = weakref.ref(Model())
    gc.collect()
    assert died() is None


def test_a_core_space_without_its_objects_is_an_error_and_no_crash():
    core = data_of(Index(["a"], common_letters)).space.core
    gc.collect()
    with pytest.raises(RuntimeError, match="are gone"):
        core.self_values()


def test_threads_may_search_one_index_at_once_and_functions_may_search():
    inner = Index(["abc", "bcd"], common_letters)
    index = Index(
        ["tree", "search", "kernel"],
        lambda x, y: common_letters(x, y) + inner.search([x]).values[0, 0] * 0.0,
    )
    wanted = index.search(["trees", "cat"], 3)
    assert index.search(["a"], threads=4).stats.threads == 1
    with ThreadPoolExecutor(4) as pool:
        asked = [["trees", "cat"]] * 80
        for hits in pool.map(lambda queries: index.search(queries, 3, algorithm="tree"), asked):
            assert_identical(hits, wanted)


def test_single_queries_and_shapes():
    index = Index(ROWS, dot)
    assert_identical(index.search(ROWS[3]), index.search(ROWS[3:4]))
    assert_identical(index.search(ROWS[:4].tolist()), index.search(ROWS[:4]))
    assert index.search([]).values.shape == (0, 1)
    with pytest.raises(InvalidArgument, match="rows of shape"):
        index.search(np.ones((2, 5)))
    words = Index(["ab", "c"], common_letters)
    assert_identical(words.search("abc"), words.search(["abc"]))
    arrays = Index(list(ROWS), dot)
    assert_identical(arrays.search(ROWS[3]), index.search(ROWS[3]))
    with pytest.raises(InvalidArgument, match="masked"):
        Index(np.ma.masked_array([[1.0]], [[True]]), dot)


def test_similarities_search_in_the_order_of_their_bounds():
    numbers = list(range(1000))
    index = Index(numbers, K.Similarity(is_near, nearness))
    scan = Index(numbers, K.Similarity(is_near))
    hits = index.search([500, 3], 3)
    assert hits.stats.algorithm == "filter"
    assert hits.stats.kernel_evaluations < 50
    assert_identical(hits, scan.search([500, 3], 3))
    assert scan.search([500]).stats.algorithm == "scan"
    blocks = K.Similarity(
        block=lambda x, ys: (np.abs(ys - x) <= 1) * 1.0,
        bounds_block=lambda x, ys: np.where(np.abs(ys - x) <= 2, 1.0, np.nan),
    )
    assert_identical(Index(np.array(numbers), blocks).search([500, 3], 3), hits)
    with pytest.raises(KernelValueError, match="more than its upper bound"):
        Index(numbers, K.Similarity(is_near, lambda x, y: 0.5)).search([3], 3)
    with pytest.raises(NotMercerError, match="algorithm='filter' or 'auto', which"):
        Index(numbers, K.Similarity(is_near, nearness), algorithm="tree")
    with pytest.raises(NotMercerError, match="Give Similarity an upper_bound"):
        Index(numbers, K.Similarity(is_near), algorithm="tree")


def test_rtol_is_the_rounding_that_trees_work_with():
    assert data_of(Index(ROWS, K.Custom(dot, rtol=1e-5))).space.rounding == (1e-5, 0.0)
    rough = K.Custom(lambda x, y: float(np.float32(x @ y)), rtol=1e-5)
    rows = np.random.default_rng(1).normal(size=(300, 3))
    for algorithm in ("tree", "dual-tree"):
        hits = Index(rows, rough, algorithm=algorithm).search(rows[:20] + 0.5, 5)
        assert_identical(hits, Index(rows, rough, algorithm="scan").search(rows[:20] + 0.5, 5))


def test_hardness_and_trees_of_functions():
    found = fastmks.hardness(ROWS, kernel=dot, budget=10_000)
    assert found.expansion_constant == fastmks.hardness(ROWS).expansion_constant
    Index(ROWS, dot).tree.check()


@pytest.mark.parametrize("algorithm", ["tree", "dual-tree"])
def test_a_function_that_searches_its_own_index_does_not_wait_for_itself(algorithm):
    """The tree that it asks for is the one that waits for its value."""
    asked = {"of": None}

    def nosy(x, y):
        if asked["of"] is not None:
            index.search([x], algorithm=asked["of"])
        return dot(x, y)

    def search():
        try:
            answers.append(index.search(ROWS, 3, algorithm=algorithm))
        except InvalidArgument as error:
            answers.append(error)

    index = Index(ROWS, nosy)
    wanted = index.search(ROWS, 3, algorithm="scan")
    answers = []
    for asked["of"] in (algorithm, None):
        thread = threading.Thread(target=search, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert "the index whose tree or filter is being built" in str(answers[0])
    assert_identical(answers[1], wanted)


def test_a_function_may_scan_its_own_index_while_the_tree_is_built():
    seen = []

    def nosy(x, y):
        if not seen:
            seen.append(None)
            seen[0] = index.search([x], algorithm="scan").indices
        return dot(x, y)

    index = Index(ROWS, nosy)
    index.tree.check()
    assert seen[0].shape == (1, 1)
