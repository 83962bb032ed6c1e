"""The public face: ids, only=, errors, statistics, and searches that do not disturb each other."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from fastmks import Hits, HitsAbove, Index, InvalidArgument, KernelValueError
from fastmks import kernels as K

ROWS = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])


class TestIds:
    def test_positions_without_ids(self):
        hits = Index(ROWS).search([1.0, 2.0], k=3)
        np.testing.assert_array_equal(hits.ids, hits.indices)
        assert hits.ids.dtype == np.int64

    @pytest.mark.parametrize(
        "ids",
        [
            pd.Index(["x", "y", "z"]),
            np.array(["x", "y", "z"], dtype=object),
            np.array(["x", "y", "z"]),
            ("x", "y", "z"),
            iter("xyz"),
        ],
    )
    def test_strings_in_whatever_holds_them(self, ids):
        assert Index(ROWS, ids=ids).ids.tolist() == ["x", "y", "z"]

    @pytest.mark.parametrize(
        "ids", [range(5, 8), np.arange(5, 8, dtype=np.uint8), pd.Index([5, 6, 7])]
    )
    def test_integers_in_whatever_holds_them(self, ids):
        assert Index(ROWS, ids=ids).ids.tolist() == [5, 6, 7]

    def test_integers(self):
        index = Index(ROWS, ids=[-5, 2**62, 7])
        assert index.search([1.0, 2.0], k=3).ids.tolist() == [[2**62, -5, 7]]
        assert index.ids.dtype == np.int64

    def test_strings(self):
        hits = Index(ROWS, ids=["right", "up", "both"]).search([1.0, 2.0], k=2)
        assert hits.ids.tolist() == [["up", "right"]]
        assert hits.indices.tolist() == [[1, 0]]

    def test_ties_go_to_the_smaller_position_whatever_the_ids(self):
        assert Index(np.ones((3, 1)), ids=[9, 5, 7]).search([1.0], k=3).ids.tolist() == [[9, 5, 7]]

    def test_ids_cannot_be_written_through(self):
        with pytest.raises(ValueError, match="read-only"):
            Index(ROWS).ids[0] = 7

    @pytest.mark.parametrize(
        ("ids", "words"),
        [
            ([1, 2], "ids must name each of the 3 objects; got 2 ids"),
            ([1, 2, 1], "ids must differ; 1 is given more than once"),
            (["a", "b", "a"], "ids must differ; 'a' is given more than once"),
            ([1.5, 2.0, 3.0], "ids must be integers that fit int64, or strings; got 1.5"),
            ({1, 2, 3}, "ids must be in the order of the objects; a set has no order"),
            (["a", "b", "c\0"], "ids must not end in a NUL character"),
            (np.array(3), "ids must be integers that fit int64, or strings; got array(3)"),
            ([[1], [2, 3], []], "ids must be integers that fit int64, or strings; got [1]"),
            (np.ma.masked_equal([1, 2, 3], 2), "ids must not be masked"),
            (7, "ids must be a sequence of ids; got the single 7"),
            ([1, "a", 2], "ids must be integers that fit int64, or strings"),
            ([2**63, 1, 2], "ids must be integers that fit int64, or strings"),
            ([None, 1, 2], "ids must be integers that fit int64, or strings"),
            ([[1], [2], [3]], "ids must be integers that fit int64, or strings; got [1]"),
            ([True, False, True], "ids must be integers"),
            ("abc", "ids must be a sequence of ids; got the single 'abc'"),
        ],
        ids=str,
    )
    def test_bad_ids(self, ids, words):
        with pytest.raises(InvalidArgument, match=re.escape(words)):
            Index(ROWS, ids=ids)


class TestOnly:
    INDEX = Index(ROWS, ids=["right", "up", "both"])

    @pytest.mark.parametrize(
        "only",
        [
            ["up", "both"],
            {"up", "both"},
            ("both", "up", "up"),
            np.array(["up", "both"]),
            iter(["up", "both"]),
        ],
    )
    def test_ids_in_any_collection_order_and_number(self, only):
        hits = self.INDEX.search([3.0, 1.0], k=2, only=only)
        assert hits.ids.tolist() == [["both", "up"]]
        assert hits.stats.kernel_evaluations == 2

    @pytest.mark.parametrize(
        "mask",
        [
            [False, True, True],
            np.array([False, True, True]),
            pd.Series([False, True, True]),
            pd.Series([False, True, True], dtype="boolean"),
        ],
    )
    def test_mask(self, mask):
        assert self.INDEX.search([3.0, 1.0], k=2, only=mask).ids.tolist() == [["both", "up"]]

    def test_above(self):
        hits = self.INDEX.search_above([3.0, 1.0], threshold=0.0, only=["up"])
        assert hits.ids.tolist() == ["up"]

    @pytest.mark.parametrize(
        ("only", "words"),
        [
            (["up", "down"], "only must hold ids of the index only; 'down' is not one"),
            ([0, 1], "only must hold strings, as the ids of the index are"),
            ([True, False], "got a mask of shape (2,)"),
            ([], "k must be between 1 and the 0 objects that only= leaves; got k=1"),
            (np.zeros(3, dtype=bool), "k must be between 1 and the 0 objects that only= leaves"),
            ([0.5], "only must be integers that fit int64, or strings; got 0.5"),
            ([True, 1, 2], "only must be integers that fit int64, or strings; got True"),
            (5, "only must be a sequence of ids; got the single 5"),
            (np.array(5), "got array(5)"),
            ("up", "only must be a sequence of ids; got the single 'up'"),
        ],
        ids=str,
    )
    def test_bad_only(self, only, words):
        with pytest.raises(InvalidArgument, match=re.escape(words)):
            self.INDEX.search([3.0, 1.0], only=only)

    def test_an_integer_that_is_no_id(self):
        with pytest.raises(InvalidArgument, match="only must hold ids of the index only; 3 is not"):
            Index(ROWS).search([1.0, 1.0], only=[0, 3])


class TestArguments:
    @pytest.mark.parametrize(
        ("k", "words"),
        [
            (0, "k must be a whole number of at least 1; got k=0"),
            (-1, "got k=-1"),
            (4, "k must be between 1 and the 3 indexed objects; got k=4"),
            (1.5, "k must be a whole number of at least 1; got 1.5"),
            ("2", "got '2'"),
            (None, "got None"),
            (True, "got True"),
        ],
        ids=str,
    )
    def test_k(self, k, words):
        with pytest.raises(InvalidArgument, match=re.escape(words)):
            Index(ROWS).search(ROWS, k)

    def test_k_of_a_self_search(self):
        with pytest.raises(
            InvalidArgument, match="k must be between 1 and the 2 other objects; got k=3"
        ):
            Index(ROWS).search_self(k=3)
        with pytest.raises(InvalidArgument, match="k must be between 1 and the 0 other objects"):
            Index([[1.0]]).search_self()

    def test_numpy_integers_are_fine(self):
        assert Index(ROWS).search(ROWS, np.int32(2), threads=np.int64(1)).values.shape == (3, 2)

    @pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, 1025])
    def test_threads(self, threads):
        with pytest.raises(InvalidArgument, match="threads must be a whole number from 1 to 1024"):
            Index(ROWS).search(ROWS, threads=threads)
        with pytest.raises(InvalidArgument, match="threads must be a whole number from 1 to 1024"):
            Index(ROWS, threads=threads)

    def test_a_filter_needs_a_kernel_with_bounds(self):
        similarity = K.Similarity(lambda x, y: 1.0)
        for call in (
            lambda: Index(ROWS, similarity, algorithm="filter"),
            lambda: Index(ROWS, similarity).search(ROWS, algorithm="filter"),
        ):
            with pytest.raises(InvalidArgument, match=r"needs upper bounds; .* has none"):
                call()

    def test_algorithm(self):
        for call in (
            lambda: Index(ROWS, algorithm="tre"),
            lambda: Index(ROWS).search(ROWS, algorithm=3),
        ):
            with pytest.raises(
                InvalidArgument,
                match="algorithm must be one of 'auto', 'scan', 'tree', 'dual-tree', 'f",
            ):
                call()

    @pytest.mark.parametrize(
        "threshold",
        [
            np.nan,
            "a",
            "0.7",
            None,
            True,
            [1.0],
            [[1.0, 2.0, 3.0]],
            1j,
            np.ones(3) * 1j,
            10**400,
            [[1], [1, 2]],
        ],
    )
    def test_threshold(self, threshold):
        with pytest.raises(
            InvalidArgument, match="threshold must be a number, or one for each of the 3"
        ):
            Index(ROWS).search_above(ROWS, threshold)

    def test_infinite_thresholds_return_all_or_nothing(self):
        assert len(Index(ROWS).search_above(ROWS, -np.inf).values) == 9
        assert len(Index(ROWS).search_above(ROWS, np.inf).values) == 0

    def test_options_are_keywords(self):
        with pytest.raises(TypeError):
            Index(ROWS, "linear", "scan")

    def test_kernel_by_name_and_as_value(self):
        assert Index(ROWS).kernel == K.Linear()
        assert Index(ROWS, "cosine").kernel == Index(ROWS, K.Cosine()).kernel
        with pytest.raises(InvalidArgument, match="kernel must be a kernel from fastmks.kernels"):
            Index(ROWS, "metric")


class TestAnswers:
    def test_one_vector_is_one_query(self):
        hits = Index(ROWS).search([1.0, 2.0], k=2)
        assert hits.values.tolist() == [[4.0, 3.0]]
        assert hits.indices.tolist() == [[1, 0]]

    def test_unpacking_dtypes_and_order(self):
        values, indices = Index(ROWS).search(ROWS, k=3)
        assert values.dtype == np.float64
        assert indices.dtype == np.int64
        assert (np.diff(values, axis=1) <= 0).all()

    def test_one_object(self):
        assert Index([[2.0]]).search([[3.0], [-3.0]]).values.tolist() == [[6.0], [-6.0]]

    def test_two_searches_with_different_k_do_not_disturb_each_other(self):
        index = Index(ROWS)
        first = index.search(ROWS, k=3)
        index.search(ROWS, k=1)
        np.testing.assert_array_equal(index.search(ROWS, k=3).values, first.values)

    def test_a_duplicate_is_found_by_self_search(self):
        hits = Index(np.ones((3, 2)), ids=["a", "b", "c"]).search_self(k=2)
        assert hits.ids.tolist() == [["b", "c"], ["a", "c"], ["a", "b"]]

    def test_above_is_walked_per_query(self):
        hits = Index(ROWS).search_above(ROWS, threshold=[9.0, 100.0, 0.0])
        assert [indices.tolist() for _, indices in hits] == [[0], [], [0, 1, 2]]
        assert [len(values) for values, _ in hits] == [1, 0, 3]
        assert hits[-1][0].tolist() == [3.0, 2.0, 2.0]
        assert hits.offsets.tolist() == [0, 1, 1, 4]
        assert [hits.ids_of(i).tolist() for i in (0, 1, -1)] == [[0], [], [0, 1, 2]]
        with pytest.raises(IndexError, match="there are 3 queries; got query 3"):
            hits[3]

    def test_reprs_tell_what_they_hold(self):
        index = Index(ROWS)
        assert repr(index) == "<Index: 3 vectors of 2 columns, Linear(), auto>"
        assert re.fullmatch(
            r"<Hits: 2 best for each of 3 queries, 9 kernel evaluations in .* s>",
            repr(index.search(ROWS, k=2)),
        )
        assert repr(index.search_above(ROWS, 2.5)).startswith(
            "<HitsAbove: 4 for 3 queries, 9 kernel"
        )

    def test_stats(self):
        stats = Index(ROWS, K.Normalized(K.Linear()), threads=3).search(ROWS[:2], k=1).stats
        assert (stats.algorithm, stats.n_queries, stats.n_objects, stats.threads) == (
            "scan",
            2,
            3,
            3,
        )
        assert (stats.kernel_evaluations, stats.self_evaluations) == (6, 2)
        assert stats.scan_share == 1.0
        assert stats.seconds > 0.0

    def test_kinds_of_answers(self):
        assert isinstance(Index(ROWS).search(ROWS), Hits)
        assert isinstance(Index(ROWS).search_self(), Hits)
        assert isinstance(Index(ROWS).search_above(ROWS, 0.0), HitsAbove)


class TestKernelValueError:
    def test_names_query_and_object_and_leaves_the_index_usable(self):
        index = Index([[1.0], [1e300]], ids=["small", "large"])
        with pytest.raises(
            KernelValueError, match=r"queries\[1\] and object 'large' the value inf"
        ):
            index.search([[1.0], [1e300]])
        assert index.search([1.0]).ids.tolist() == [["large"]]

    def test_in_a_self_search_both_are_objects(self):
        with pytest.raises(
            KernelValueError, match=r"gives object [89] and object [89] the value inf"
        ):
            Index([[1.0], [1e300], [1e10]], ids=[7, 8, 9]).search_self()

    def test_an_object_outside_only_is_not_evaluated(self):
        index = Index([[1.0], [1e300]])
        assert index.search([1e10], only=[0]).values.tolist() == [[1e10]]
        with pytest.raises(KernelValueError):
            index.search([1e10], only=[1])

    def test_at_index_time_where_the_kernel_is_normalised(self):
        with pytest.raises(KernelValueError, match="object 'x' and object 'x' the value inf"):
            Index([[1e300]], K.Normalized(K.Linear()), ids=["x"])


def test_any_number_of_threads_may_search_one_index():
    rng = np.random.default_rng(0)
    index = Index(rng.normal(size=(3000, 16)), "cosine", threads=2)
    queries = [rng.normal(size=(5, 16)) for _ in range(40)]
    alone = [index.search(q, k=7) for q in queries]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda q: index.search(q, k=7), queries))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.indices, b.indices)
