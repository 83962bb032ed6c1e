"""An index that was saved and loaded is the same index, whatever happens meanwhile."""

import json
import multiprocessing
import os
import pickle
import signal
import time
from copy import copy as shallow_copy

import numpy as np
import pytest

import fastmks
from fastmks import Index, InvalidArgument, Traversal, kernels, load
from fastmks.files.container import to_bytes
from fastmks.files.record import Record
from fastmks.index.index_file import record_snapshot
from fastmks.kernels.own import has_functions
from support.comparing import assert_identical
from support.inside import data_of, snapshot_of, store_of
from support.kinds import KINDS
from support.living import SEPARATE, algorithms, take

CASES = pytest.mark.parametrize("kind", KINDS, ids=str)


def given_again(kind, ids):
    """What load needs of a kind whose kernel has functions."""
    if not has_functions(kind.kernel):
        return {}
    options = {"kernel": kind.kernel}
    if isinstance(kind.objects, list) or getattr(kind.objects, "dtype", None) == np.dtype(object):
        options["objects"] = take(kind.objects, ids)
    return options


def assert_same_answers(got, wanted, queries):
    assert repr(got) == repr(wanted)
    assert got.ids.tolist() == wanted.ids.tolist()
    n = len(wanted)
    for k in sorted({1, min(3, n), n}):
        mine, other = got.search(queries, k), wanted.search(queries, k)
        assert_identical(mine, other)
    threshold = wanted.search(queries, min(3, n)).values[:, -1]
    assert_identical(got.search_above(queries, threshold), wanted.search_above(queries, threshold))


@CASES
@pytest.mark.parametrize("mmap", [True, False])
def test_every_kind_and_engine_comes_back(kind, mmap, tmp_path):
    path = tmp_path / "index.fmks"
    for algorithm in algorithms(Index(kind.objects, kind.kernel)):
        index = Index(kind.objects, kind.kernel, algorithm=algorithm)
        index.search(kind.queries, 1)
        index.save(path)
        back = load(path, mmap=mmap, **given_again(kind, range(len(index))))
        assert back.kernel == index.kernel
        assert_same_answers(back, index, kind.queries)
        assert data_of(back).engines.has_built == data_of(index).engines.has_built
        if data_of(index).engines.has_built_tree:
            assert back.tree.build_evaluations == index.tree.build_evaluations
            back.tree.check()
        assert_identical(back.search_self(1), index.search_self(1))


@pytest.mark.parametrize("kind", SEPARATE, ids=str)
def test_an_index_with_parts_and_holes_lives_on(kind, tmp_path):
    path = tmp_path / "index.fmks"
    n = len(Index(kind.objects, kind.kernel))
    index = Index(take(kind.objects, range(n // 2)), kind.kernel)
    index.add(take(kind.objects, range(n // 2, n - 1)))
    index.remove([0])
    index.save(path)
    back = load(path, **given_again(kind, range(1, n - 1)))
    assert_same_answers(back, index, kind.queries)
    for one in (index, back):
        assert one.add(take(kind.objects, [n - 1])).tolist() == [n - 1]
        one.remove([1])
    assert_same_answers(back, index, kind.queries)
    back.save(path)
    again = load(path, **given_again(kind, range(2, n)))
    assert_same_answers(again, index, kind.queries)


@CASES
def test_every_kind_can_be_pickled(kind):
    index = Index(kind.objects, kind.kernel)
    try:
        pickle.dumps(kind.kernel)
    except (TypeError, AttributeError, pickle.PicklingError):  # a function without a name
        with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
            pickle.dumps(index)
        return
    assert_same_answers(pickle.loads(pickle.dumps(index)), index, kind.queries)


class TestParts:
    def grown(self, **options):
        rng = np.random.default_rng(3)
        index = Index(rng.normal(size=(3000, 4)), **options)
        index.add(rng.normal(size=(1200, 4)))
        index.add(rng.normal(size=(30, 4)))
        index.remove(np.arange(0, 400, 3))
        assert len(snapshot_of(index).segments) == 3
        return index, rng.normal(size=(20, 4))

    @pytest.mark.parametrize("algorithm", ["scan", "tree", "filter", "auto", "dual-tree"])
    def test_they_come_back_as_they_were(self, algorithm, tmp_path):
        index, queries = self.grown(algorithm=algorithm)
        index.search(queries, 5)
        index.save(tmp_path / "x")
        back = load(tmp_path / "x")
        built = [
            [segment.data.has_built for segment in snapshot_of(one).segments]
            for one in (index, back)
        ]
        assert built[0] == built[1]
        assert_same_answers(back, index, queries)
        for mine, other in zip(
            snapshot_of(back).segments, snapshot_of(index).segments, strict=True
        ):
            assert mine.removed.tolist() == other.removed.tolist()
            assert mine.data.is_small == other.data.is_small
        if algorithm != "auto":  # which measures
            same = Traversal(order="level", block=1)  # which measures nothing either
            found = [one.search(queries, 5, traversal=same) for one in (index, back)]
            assert found[0].stats.kernel_evaluations == found[1].stats.kernel_evaluations

    def test_the_same_index_gives_the_same_bytes(self, tmp_path):
        for algorithm in ("tree", "filter"):
            for name in ("a", "b"):
                index, _ = self.grown(algorithm=algorithm, threads=1)
                record = record_snapshot(snapshot_of(index))
                facts = json.loads(json.dumps(record.facts))
                for part in ("part 0", "part 1"):
                    engines = facts[part]["engines"]
                    engines.get("tree", {}).pop("build_seconds", None)
                (tmp_path / name).write_bytes(to_bytes(Record(facts, record.arrays)))
            assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    def test_an_empty_index(self, tmp_path):
        index = Index(["one", "two"], kernels.Spectrum(2), ids=["a", "b"])
        index.remove(["a", "b"])
        index.save(tmp_path / "x")
        back = load(tmp_path / "x")
        assert len(back) == 0
        assert repr(back) == repr(index)
        back.add(["three"], ids=["c"])
        assert back.search("three").ids.tolist() == [["c"]]

    def test_numbers_go_on_where_they_were(self, tmp_path):
        index = Index([[1.0], [2.0]])
        index.remove([1])
        index.save(tmp_path / "x")
        assert load(tmp_path / "x").add([[3.0]]).tolist() == [2]

    def test_a_file_can_be_saved_over_itself(self, tmp_path):
        index, queries = self.grown(algorithm="filter")
        index.save(tmp_path / "x")
        for _ in range(3):
            back = load(tmp_path / "x", mmap=True, verify=False)
            back.save(tmp_path / "x")
            assert_same_answers(back, index, queries)

    def test_what_is_mapped_is_not_copied(self, tmp_path):
        index, queries = self.grown(algorithm="filter")
        index.save(tmp_path / "x")
        back = load(tmp_path / "x")
        back.search(queries)
        rows = store_of(data_of(back).space.objects).array
        assert not rows.flags.owndata
        assert not rows.flags.writeable
        assert rows.ctypes.data % 64 == 0


class TestFunctions:
    """Kernels and objects that only the user knows."""

    @staticmethod
    def overlap(x, y):
        return float(len(set(x) & set(y)))

    def saved(self, path, **options):
        words = ["search", "match", "tree", "kernel", "index", "exact"]
        index = Index(words, self.overlap, **options)
        index.save(path)
        return index, words

    def test_they_are_handed_back(self, tmp_path):
        index, words = self.saved(tmp_path / "x", algorithm="tree")
        asked = []

        def counted(x, y):
            asked.append((x, y))
            return self.overlap(x, y)

        back = load(tmp_path / "x", kernel=counted, objects=words)
        assert len(asked) <= 40  # what proves the function; the tree was not built again
        assert back.tree.build_evaluations == index.tree.build_evaluations
        assert_identical(back.search(["research"], 3), index.search(["research"], 3))

    def test_another_function_is_an_error(self, tmp_path):
        _, words = self.saved(tmp_path / "x")
        with pytest.raises(InvalidArgument, match="kernel must be the function that the index"):
            load(tmp_path / "x", kernel=lambda x, y: float(len(x) + len(y)), objects=words)

    def test_other_objects_are_an_error(self, tmp_path):
        _, words = self.saved(tmp_path / "x")
        with pytest.raises(InvalidArgument, match="kernel must be the function that the index"):
            load(tmp_path / "x", kernel=self.overlap, objects=words[::-1])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, "kernel must be given: the index was saved with Custom"),
            ({"kernel": "linear"}, "kernel must be the one that the index was saved with"),
            ({"kernel": 3}, "kernel must be"),
            ({"kernel": overlap}, "objects must be given: the file holds none"),
            ({"kernel": overlap, "objects": ["a"]}, "objects must be"),
            ({"kernel": overlap, "objects": ["a"] * 7}, "objects must be"),
            ({"kernel": overlap, "objects": 3}, "objects must be a sequence"),
        ],
    )
    def test_what_is_missing_is_named(self, options, message, tmp_path):
        self.saved(tmp_path / "x")
        with pytest.raises(InvalidArgument, match=message):
            load(tmp_path / "x", **options)

    def test_a_codec_stores_the_objects(self, tmp_path):
        words = [{"name": "search"}, {"name": "match"}]

        def common(x, y):
            return self.overlap(x["name"], y["name"])

        index = Index(words, common)
        index.add([{"name": "tree"}])
        index.remove([1])
        index.save(tmp_path / "x", encode=lambda one: json.dumps(one).encode())
        with pytest.raises(InvalidArgument, match="decode"):
            load(tmp_path / "x", kernel=common)
        back = load(tmp_path / "x", kernel=common, decode=json.loads)
        assert back.get([2, 0]) == [{"name": "tree"}, {"name": "search"}]
        query = [{"name": "arch"}]
        assert_identical(back.search(query, 2), index.search(query, 2))

    def test_rows_of_numbers_need_no_codec(self, tmp_path):
        rows = np.random.default_rng(0).normal(size=(50, 3))
        index = Index(rows, lambda x, y: float(x @ y))
        index.save(tmp_path / "x")
        back = load(tmp_path / "x", kernel=lambda x, y: float(x @ y))
        assert_identical(back.search(rows[:3], 2), index.search(rows[:3], 2))

    def test_objects_that_are_in_the_file_are_not_wanted(self, tmp_path):
        Index([[1.0]]).save(tmp_path / "x")
        with pytest.raises(InvalidArgument, match="objects must not be given"):
            load(tmp_path / "x", objects=[[1.0]])
        with pytest.raises(InvalidArgument, match="kernel must be Linear"):
            load(tmp_path / "x", kernel="cosine")
        assert load(tmp_path / "x", kernel="linear").kernel == kernels.Linear()

    def test_members_that_no_file_can_hold(self, tmp_path):
        class Token:
            pass

        index = Index([{Token()}], kernels.Jaccard())
        with pytest.raises(InvalidArgument, match="Token"):
            index.save(tmp_path / "x")
        assert list(tmp_path.iterdir()) == []


class TestSharing:
    def test_processes_of_every_way_to_start(self, tmp_path):
        index, queries = TestParts().grown(algorithm="filter")
        wanted = index.search(queries, 3).ids.tolist()
        for method in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(method).Pool(2) as pool:
                for got in pool.map(_ids_of, [(index, queries)] * 4):
                    assert got == wanted

    def test_copies(self):
        index, queries = TestParts().grown()
        assert_same_answers(shallow_copy(index), index, queries)

    def test_a_pickle_of_an_index_is_the_bytes_of_a_file(self, tmp_path):
        index = Index([[1.0, 2.0]])
        index.save(tmp_path / "x")
        assert (tmp_path / "x").read_bytes() in pickle.dumps(index)


def _ids_of(task):
    index, queries = task
    return index.search(queries, 3).ids.tolist()


def test_a_killed_save_leaves_a_whole_index(tmp_path):
    """Killed at random moments while it saves a small and a large index in turn: each is found."""
    path = tmp_path / "x.fmks"
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 10))
    large, small = Index(rows, algorithm="filter"), Index(rows[:50])
    wanted = {len(one): one.search(rows[:2]) for one in (large, small)}
    small.save(path)
    found = []
    while len(found) < 60 or min(found.count(50), found.count(20_000)) < 5:
        child = os.fork()
        if child == 0:
            while True:
                large.save(path)
                small.save(path)
        time.sleep(rng.uniform(0.0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        back = load(path, verify=True)
        assert_identical(back.search(rows[:2]), wanted[len(back)])
        found.append(len(back))
    small.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.fmks"]  # and no leftovers


def times(x, y):
    return x * y


def minus(x, y):
    return -x * y


def nothing(x, y):
    return float("nan")


class TestWrongFunctions:
    """They are told, also where they fail before they can be compared."""

    def test_a_normalised_one(self, tmp_path):
        path = tmp_path / "index.fmks"
        index = Index([1.0, 2.0], kernels.Normalized(kernels.Custom(times)))
        index.save(path, encode=lambda x: str(x).encode())
        with pytest.raises(fastmks.NotMercerError, match=r"K\(x, x\) = -1.0 for object 0"):
            load(path, kernel=kernels.Normalized(kernels.Custom(minus)), decode=float)
        with pytest.raises(fastmks.KernelValueError, match="object 0 and object 0 the value nan"):
            load(path, kernel=kernels.Normalized(kernels.Custom(nothing)), decode=float)

    def test_one_without_values(self, tmp_path):
        path = tmp_path / "index.fmks"
        Index([1.0, 2.0], times).save(path, encode=lambda x: str(x).encode())
        with pytest.raises(fastmks.KernelValueError, match="object 0 and object 0 the value nan"):
            load(path, kernel=nothing, decode=float)
        with pytest.raises(fastmks.KernelValueError, match="object 0 and object 0 the value nan"):
            Index([1.0, 2.0], nothing).save(path)


class TestThoseWhoHaveLeft:
    """They are no reason why an index cannot be saved."""

    def test_an_object_that_cannot_be_encoded(self, tmp_path):
        index = Index([*range(10), "ten"], lambda x, y: 1.0)

        def encode(number):
            return number.to_bytes(8, "little")

        with pytest.raises(AttributeError):
            index.save(tmp_path / "index.fmks", encode=encode)
        index.remove([10])
        index.save(tmp_path / "index.fmks", encode=encode)
        twin = load(
            tmp_path / "index.fmks",
            kernel=lambda x, y: 1.0,
            decode=lambda data: int.from_bytes(data, "little"),
        )
        assert twin.get(twin.ids) == list(range(10))

    def test_a_member_that_no_file_can_hold(self, tmp_path):
        index = Index([*({i, i + 1} for i in range(10)), {object()}], kernels.Jaccard())
        with pytest.raises(InvalidArgument, match="members of sets"):
            index.save(tmp_path / "index.fmks")
        index.remove([10])
        index.save(tmp_path / "index.fmks")
        assert load(tmp_path / "index.fmks").get([3]) == [{3, 4}]


def test_a_path_of_bytes(tmp_path):
    path = os.fsencode(tmp_path / "index.fmks")
    Index([[1.0]]).save(path)
    assert len(load(path)) == 1


class Named(Index):
    """A class of a user's, with something of its own."""

    label = ""


class TestDerivedClasses:
    def test_copies_and_pickles_are_of_the_same_class(self):
        index = Named([[1.0], [2.0]])
        index.label = "mine"
        for twin in (index.copy(), shallow_copy(index), pickle.loads(pickle.dumps(index))):
            assert type(twin) is Named
            assert twin.label == "mine"
            twin.add([[3.0]])
            assert (len(index), len(twin)) == (2, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mmap": "no"}, "mmap must be True or False"),
        ({"verify": "x"}, "verify True, False or None"),
        ({"decode": 5}, "decode must be a function; got 5"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_what_load_is_given_is_checked(options, message, tmp_path):
    Index([[1.0]]).save(tmp_path / "x")
    with pytest.raises(InvalidArgument, match=message):
        load(tmp_path / "x", **options)
    with pytest.raises(InvalidArgument, match="encode must be a function; got 5"):
        Index([[1.0]]).save(tmp_path / "x", encode=5)
