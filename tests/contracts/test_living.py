"""An index that grows and shrinks answers as one made anew of what it holds, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmks import (
    Fasta,
    Index,
    InvalidArgument,
    KernelValueError,
    kernels,
)
from support.comparing import assert_identical
from support.inside import snapshot_of
from support.living import SEPARATE, algorithms, take

CASES = pytest.mark.parametrize("kind", SEPARATE, ids=str)


def fresh(kind, ids):
    """A new index of the objects with these ids, which are their positions in the kind."""
    return Index(take(kind.objects, ids), kind.kernel, algorithm="scan", ids=list(ids))


def assert_same_searches(index, kind, ids, algorithm):
    wanted, n = fresh(kind, ids), len(ids)
    assert index.ids.tolist() == list(ids)
    assert len(index) == n
    for k in sorted({1, min(3, n), n}):
        hits = index.search(kind.queries, k, algorithm=algorithm)
        assert_identical(hits, wanted.search(kind.queries, k))
    for only in (ids[::3], np.arange(n) % 2 == 0):
        hits = index.search(kind.queries, 1, only=only, algorithm=algorithm)
        assert_identical(hits, wanted.search(kind.queries, 1, only=only))
    threshold = wanted.search(kind.queries, min(3, n)).values[:, -1]
    hits = index.search_above(kind.queries, threshold, algorithm=algorithm)
    assert_identical(hits, wanted.search_above(kind.queries, threshold))


@CASES
def test_every_kind_grows_and_shrinks_under_every_engine(kind):
    """In steps of several sizes, so that there are several parts, and some that have holes."""
    n = len(Index(kind.objects, kind.kernel))
    for algorithm in algorithms(Index(kind.objects, kind.kernel)):
        held = list(range(n // 2))
        index = Index(take(kind.objects, held), kind.kernel, algorithm=algorithm)
        assert_same_searches(index, kind, held, algorithm)
        index.remove([held[1], held[-1]])
        held = [held[0], *held[2:-1]]
        assert_same_searches(index, kind, held, algorithm)
        for begin, end in ((n // 2, n // 2 + 1), (n // 2 + 1, n // 2 + 3), (n // 2 + 3, n)):
            added = list(range(begin, end))
            assert index.add(take(kind.objects, added), ids=added).tolist() == added
            held += added
            assert_same_searches(index, kind, held, algorithm)
            index.remove(held[-1:])
            held = held[:-1]
            assert_same_searches(index, kind, held, algorithm)
        index.remove(held[1::2])
        held = held[::2]
        assert_same_searches(index, kind, held, algorithm)
        if len(held) > 1:
            assert_identical(index.search_self(1), fresh(kind, held).search_self(1))
        assert_same_searches(index, kind, held, algorithm)


@CASES
def test_objects_come_back_as_they_went_in(kind):
    n = len(Index(kind.objects, kind.kernel))
    index = Index(take(kind.objects, range(n // 2)), kind.kernel)
    index.add(take(kind.objects, range(n // 2, n)))
    index.remove([0, n // 2])
    wanted = [n - 1, 1, n // 2 + 1, 2]
    got = index.get(wanted)
    twin = Index(got, kind.kernel, algorithm="scan")
    assert_identical(
        twin.search(kind.queries, 4),
        Index(take(kind.objects, wanted), kind.kernel, algorithm="scan").search(kind.queries, 4),
    )
    index.add(got, ids=[n + 1, n + 2, n + 3, n + 4])
    assert len(index) == n + 2
    with pytest.raises(InvalidArgument, match="0 is not one"):
        index.get([1, 0])
    none = index.get([])
    assert (none.shape[0] if hasattr(none, "shape") else len(none)) == 0


ROWS = np.random.default_rng(0).normal(size=(400, 3)).round(1)


@given(data=st.data())
@settings(max_examples=60)
def test_any_sequence_of_changes(data):
    """A model, a plain dict of rows, goes through the same changes."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    algorithm = data.draw(st.sampled_from(["auto", "scan", "tree", "filter"]))
    n = data.draw(st.integers(1, 50))
    model = dict(enumerate(ROWS[rng.integers(0, 400, size=n)]))
    index = Index(np.array(list(model.values())), algorithm=algorithm)
    next_id = n
    for _ in range(data.draw(st.integers(1, 12))):
        step = data.draw(st.sampled_from(["add", "add many", "remove", "replace", "whole"]))
        if step in ("add", "add many"):
            rows = ROWS[rng.integers(0, 400, size=1 if step == "add" else rng.integers(2, 60))]
            names = index.add(rows if step != "add" else rows[0])
            assert names.tolist() == list(range(next_id, next_id + len(rows)))
            model |= dict(zip(names.tolist(), rows, strict=True))
            next_id += len(rows)
        elif step == "remove" and model:
            leaving = rng.choice(list(model), size=rng.integers(1, len(model) + 1), replace=False)
            index.remove(leaving)
            for name in leaving.tolist():
                del model[name]
        elif step == "replace" and model:
            name = int(rng.choice(list(model)))
            index.remove([name])
            del model[name]
            model[name] = ROWS[rng.integers(400)]
            index.add(model[name], ids=[name])
        elif step == "whole" and model:
            index.tree.check()
        assert len(index) == len(model)
        assert index.ids.tolist() == list(model)
        assert all(name in index for name in model)
        if model:
            wanted = Index(np.array(list(model.values())), algorithm="scan", ids=list(model))
            for k in {1, min(5, len(model)), len(model)}:
                queries = ROWS[rng.integers(0, 400, size=3)]
                assert_identical(index.search(queries, k), wanted.search(queries, k))
            np.testing.assert_array_equal(index.get(list(model)), np.array(list(model.values())))


class TestIds:
    def test_numbers_follow_the_greatest_ever_used(self):
        index = Index([[1.0], [2.0]], ids=[7, -3])
        assert index.add([[3.0]]).tolist() == [8]
        index.remove([8])
        assert index.add([[3.0], [4.0]]).tolist() == [9, 10]
        index.add([[5.0]], ids=[100])
        assert index.add([[5.0]]).tolist() == [101]

    def test_negative_ones_are_followed_by_zero(self):
        assert Index([[1.0]], ids=[-5]).add([[1.0]]).tolist() == [0]

    def test_strings(self):
        index = Index([[1.0], [2.0]], ids=["a", "bb"])
        assert index.add([[3.0]], ids=["a longer one"]).tolist() == ["a longer one"]
        hits = index.search([1.0], k=3)
        assert hits.ids.tolist() == [["a longer one", "bb", "a"]]
        index.remove(["bb"])
        assert index.ids.tolist() == ["a", "a longer one"]
        with pytest.raises(InvalidArgument, match="ids must be given, since those of the index"):
            index.add([[1.0]])
        with pytest.raises(InvalidArgument, match="ids must hold strings"):
            index.add([[1.0]], ids=[3])
        with pytest.raises(InvalidArgument, match="ids must hold strings"):
            index.remove([3])
        assert 3 not in index
        assert "a" in index
        assert "" not in index
        assert None not in index

    def test_none_are_of_the_same_kind(self):
        index = Index([[1.0]], ids=["a"])
        assert index.add(np.empty((0, 1))).dtype.kind == "U"
        index.remove(["a"])
        assert index.ids.dtype.kind == "U"
        with pytest.raises(InvalidArgument, match="the 0 other objects"):
            index.search_self()

    def test_those_of_a_fasta_file(self):
        index = Index(Fasta(["one"], ["AB"]), kernels.Spectrum(1))
        index.add(Fasta(["two", "three"], ["BB", "A"]))
        assert index.search("A", k=3).ids.tolist() == [["one", "three", "two"]]

    @pytest.mark.parametrize(
        ("ids", "message"),
        [
            ([0, 5], "ids must be new; 0 is in use"),
            ([5, 5], "ids must differ; 5 is given more than once"),
            ([5], "ids must name each of the 2 objects; got 1"),
            ([5, "a"], "ids must be integers that fit int64, or strings"),
            (["a", "b"], "ids must hold integers"),
            ({5, 6}, "a set has no order"),
            ([2**63, 5], "ids must be integers that fit int64"),
        ],
    )
    def test_bad_ones_change_nothing(self, ids, message):
        index = Index([[1.0], [2.0]])
        with pytest.raises(InvalidArgument, match=message):
            index.add([[3.0], [4.0]], ids=ids)
        assert index.ids.tolist() == [0, 1]
        assert index.add([[1.0]]).tolist() == [2]

    def test_the_greatest_int64_has_no_follower(self):
        index = Index([[1.0]], ids=[2**63 - 1])
        with pytest.raises(InvalidArgument, match="ids must be given: the greatest int64"):
            index.add([[2.0]])
        assert index.add([[2.0]], ids=[0]).tolist() == [0]

    @pytest.mark.parametrize("ids", [[9], [0, 9], ["a"], 0, [0.0], None])
    def test_unknown_ones_remove_nothing(self, ids):
        index = Index([[1.0], [2.0]])
        index.add([[3.0]])
        with pytest.raises(InvalidArgument, match="ids must"):
            index.remove(ids)
        assert len(index) == 3

    def test_removed_ones_are_unknown_and_may_come_again(self):
        index = Index([[1.0], [2.0], [3.0], [4.0], [5.0]])
        index.remove([2, 2])
        assert 2 not in index
        with pytest.raises(InvalidArgument, match="2 is not one"):
            index.remove([2])
        with pytest.raises(InvalidArgument, match="2 is not one"):
            index.search([1.0], only=[2])
        index.add([[9.0]], ids=[2])
        assert index.search([1.0]).ids.tolist() == [[2]]
        assert index.search([1.0]).indices.tolist() == [[4]]  # it came last

    def test_wide_apart_ones(self):
        index = Index([[1.0], [2.0]], ids=[-(2**63), 2**63 - 1])
        assert -(2**63) in index
        assert 2**63 - 1 in index
        assert 0 not in index


class TestRefusals:
    """What cannot be added is an error, and changes nothing."""

    @pytest.mark.parametrize(
        ("kernel", "objects", "bad"),
        [
            ("linear", [[1.0, 2.0]], [[1.0]]),
            ("linear", [[1.0, 2.0]], [[1.0, np.nan]]),
            ("linear", [[1.0, 2.0]], ["words"]),
            (kernels.Spectrum(2), ["words"], [b"bytes"]),
            (kernels.Spectrum(2), ["words"], [[1.0]]),
            (kernels.Jaccard(), [{1}], [[1]]),
            (kernels.Tanimoto(), np.eye(8, dtype=bool), np.eye(9, dtype=bool)),
            (kernels.SmithWaterman(), ["MKV"], ["mkv"]),
            (kernels.GlobalAlignment(1.0), [[1.0, 2.0]], [[[1.0, 2.0], [3.0, 4.0]]]),
            (kernels.WeisfeilerLehman(), [([(0, 1)], 2)], [([(0, 5)], 2)]),
        ],
    )
    def test_objects_that_do_not_fit(self, kernel, objects, bad):
        index = Index(objects, kernel)
        before = index.search(objects)
        with pytest.raises(InvalidArgument):
            index.add(bad)
        assert_identical(index.search(objects), before)

    def test_values_that_cannot_be(self):
        """Found when the object is added, not by the searches that follow."""
        kernel = kernels.Normalized(kernels.Custom(lambda x, y: float(x * y)))
        index = Index([1.0, 2.0], kernel)
        with pytest.raises(KernelValueError, match=r"objects\[1\]"):
            index.add([3.0, float("inf")])
        assert len(index) == 2
        assert len(index.search([1.0], k=2).ids) == 1

    def test_a_kernel_that_changes_the_index(self):
        def add(x, y):
            if len(index) and x == 7.0:
                index.add([9.0])
            return float(x * y)

        index = ()
        index = Index([1.0, 2.0], kernels.Normalized(kernels.Custom(add)))
        with pytest.raises(InvalidArgument, match="from its own function"):
            index.add([7.0])
        assert len(index) == 2

    def test_nothing_to_add_or_remove(self):
        index = Index([[1.0, 2.0]])
        assert index.add(np.empty((0, 2))).tolist() == []
        index.remove([])
        assert len(index) == 1


def test_what_is_added_is_copied():
    row = np.array([1.0, 2.0])
    index = Index([[0.0, 0.0]])
    for i in range(3):
        row[:] = i
        index.add(row)
    row[:] = 9
    assert index.get([1, 2, 3]).tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


def test_float64_rows_stay_exact_beside_float32_ones():
    index = Index(np.ones((2, 1), dtype=np.float32))
    index.add(np.array([[1.0 + 1e-12]]))
    for _ in range(2):
        hits = index.search([1.0], k=1)
        assert hits.values.item() == 1.0 + 1e-12
        assert hits.ids.item() == 2
        index.tree.check()  # all in one part


def test_an_index_can_be_emptied_and_filled_again():
    index = Index([[1.0], [2.0]])
    index.remove([0, 1])
    assert len(index) == 0
    assert index.ids.tolist() == []
    assert index.nbytes == 0
    assert repr(index) == "<Index: 0 vectors of 1 column, Linear(), auto>"
    with pytest.raises(InvalidArgument, match="between 1 and the 0 indexed objects"):
        index.search([1.0])
    with pytest.raises(InvalidArgument, match="holds no objects"):
        _ = index.tree
    above = index.search_above([[1.0], [2.0]], threshold=0.0)
    assert len(above) == 2
    assert len(above.values) == 0
    with pytest.raises(InvalidArgument, match="queries must have 1 column,"):
        index.search_above([[1.0, 2.0]], threshold=0.0)
    assert index.add([[5.0]]).tolist() == [2]
    assert index.search([1.0]).values.tolist() == [[5.0]]


class TestApproximation:
    """Promises hold for what is there, whatever the parts."""

    def grown(self, n=3000, *, removed=300, **options):
        rng = np.random.default_rng(5)
        rows = rng.normal(size=(n, 4))
        index = Index(rows[: n // 2], algorithm="tree", **options)
        for begin in range(n // 2, n, n // 6):
            index.add(rows[begin : begin + n // 6])
        if removed:
            index.remove(rng.choice(n, size=removed, replace=False))
        assert len(snapshot_of(index).segments) > 1
        return index, rng.normal(size=(40, 4))

    @pytest.mark.parametrize("options", [{"epsilon": 0.5}, {"relative": 0.2}])
    def test_values(self, options):
        index, queries = self.grown()
        exact = index.search(queries, 7, algorithm="scan").values
        hits = index.search(queries, 7, **options)
        allowed = 0.5 if "epsilon" in options else 0.2 * np.abs(exact)
        assert (hits.values >= exact - allowed).all()
        assert (exact[:, -1] <= hits.values[:, -1] + hits.gap).all()
        assert hits.stats.kernel_evaluations < index.search(queries, 7).stats.kernel_evaluations

    def test_ranks(self):
        """Over many seeds, failures are no more than promised, by a wide margin of chance."""
        index, queries = self.grown(n=9000, removed=500)
        exact = index.search(queries, 30, algorithm="scan").values[:, -1]
        failures, n = 0, 0
        for seed in range(20):
            hits = index.search(queries, 3, rank=30, delta=0.2, seed=seed)
            failures += int((hits.values[:, -1] < exact).sum())
            n += len(queries)
        assert failures <= 0.2 * n + 4 * np.sqrt(0.2 * 0.8 * n)
        assert failures > 0  # a draw, not a scan
        assert hits.stats.kernel_evaluations < len(queries) * len(index) / 2

    @pytest.mark.parametrize("removed", [0, 300])
    @pytest.mark.parametrize("budget", [7, 40, 400])
    def test_budgets(self, removed, budget):
        index, queries = self.grown(removed=removed)
        exact = index.search(queries, 7, algorithm="scan")
        hits = index.search(queries, 7, budget=budget)
        assert hits.stats.kernel_evaluations <= budget * len(queries)
        assert (exact.values[:, -1] <= hits.values[:, -1] + hits.gap).all()
        assert (hits.indices == exact.indices)[hits.proven].all()
        assert not np.isin(hits.ids, np.setdiff1d(np.arange(3000), index.ids)).any()

    def test_seconds(self):
        index, queries = self.grown()
        exact = index.search(queries, 7, algorithm="scan").values
        hits = index.search(queries, 7, seconds=1e-4)
        assert (exact[:, -1] <= hits.values[:, -1] + hits.gap).all()


@pytest.mark.parametrize(
    ("kernel", "objects"),
    [
        (kernels.Spectrum(2), ["abc", "abe", "xyz"] * 500),
        (kernels.Jaccard(), [{"a", "b"}, {"b"}, {"c"}] * 500),
        (kernels.WeisfeilerLehman(1), [([(0, 1)], ["C", "N"]), ([], ["N"])] * 700),
    ],
    ids=["strings", "sets", "graphs"],
)
def test_queries_that_can_be_read_once_only(kernel, objects):
    index = Index(objects, kernel)
    index.add(objects[:2])
    assert len(snapshot_of(index).segments) == 2
    assert_identical(index.search(iter(objects[:3]), k=4), index.search(objects[:3], k=4))
    assert_identical(
        index.search_above(iter(objects[:3]), 1.0), index.search_above(objects[:3], 1.0)
    )


def test_an_empty_index_counts_its_queries():
    index = Index([[1.0]])
    index.remove([0])
    assert index.search_above([[1.0], [2.0]], 0.0).stats.n_queries == 2


def test_durations_are_no_ids():
    index = Index([[1.0]])
    with pytest.raises(InvalidArgument, match="ids must be integers"):
        index.add([[2.0]], ids=np.array([5], dtype="m8[s]"))


def test_a_plan_counts_the_objects_that_are_there():
    index = Index([[float(i)] for i in range(20)])
    index.remove([3])
    assert index.explain([[1.0]]).n_objects == 19
    assert index.explain([[1.0]], only=[1, 2]).n_objects == 2


def test_ids_in_use_are_known_after_any_history():
    """With ids that are given, in no order, against a set: what is added, removed and put again."""
    rng = np.random.default_rng(0)
    index = Index(np.zeros((3000, 1)), ids=rng.permutation(10**6)[:3000])
    held = set(index.ids.tolist())
    for step in range(400):
        names = rng.integers(0, 10**6, size=int(rng.integers(1, 60)))
        names = np.unique(np.append(names, rng.choice(sorted(held), size=step % 3)))
        in_use = sorted(held & set(names.tolist()))
        if in_use:
            with pytest.raises(InvalidArgument, match=f"{in_use[0]} is in use"):
                index.add(np.zeros((len(names), 1)), ids=names)
            index.remove(in_use)
            held -= set(in_use)
        index.add(np.zeros((len(names), 1)), ids=names)
        held |= set(names.tolist())
        if step % 50 == 49:
            leaving = rng.choice(sorted(held), size=len(held) // 3, replace=False)
            index.remove(leaving)
            held -= set(leaving.tolist())
            index.tree.check()  # one part
    assert set(index.ids.tolist()) == held
