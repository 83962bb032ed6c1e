"""Files that pass a check answer as a scan; forged files, under right checksums, fail it."""

import json
import time
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from test_bad_files import loaded, with_lies
from test_saved_files import SAVED
from test_saved_files import given as given_to
from test_saving import CASES, given_again

import fastmks
from fastmks import Index, IndexFileError, kernels, load
from fastmks._util.progress import Progress
from fastmks.files.container import to_bytes
from fastmks.files.record import Record
from fastmks.index.index_file import record_snapshot
from fastmks.index.load import load_bytes
from support.comparing import assert_identical
from support.inside import data_of, snapshot_of
from support.living import SEPARATE, algorithms, take
from support.waiting import stop_after

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(700, 6)) * 0.6 ** np.arange(6)
WIDE = RNG.normal(size=(700, 60)) * 0.9 ** np.arange(60)  # more than their codes have axes
WORDS = ["".join(RNG.choice(list("MKVLA"), size=n)) for n in RNG.integers(3, 15, size=300)]
BITS = RNG.random((300, 70)) < 0.2
SERIES = [RNG.normal(size=n) for n in RNG.integers(3, 9, size=80)]
GRAPHS = [
    ([(i, i + 1) for i in range(n)], [*"CNOCNOCNOCNO"[: n + 1]]) for n in range(1, 11) for _ in "ab"
]


OBJECTS = {
    "tree": (ROWS, "gaussian", "tree"),
    "codes": (WIDE, "linear", "filter"),
    "codes of distances": (WIDE, "gaussian", "filter"),
    "lists": (csr_array(ROWS * (ROWS > 0)), "linear", "filter"),
    "lists of cosines": (csr_array(ROWS * (ROWS > 0)), "cosine", "filter"),
    "planes": (csr_array(np.round(np.abs(ROWS) * 3)), "linear", "filter"),
    "pivots": (SERIES, kernels.Normalized(kernels.GlobalAlignment(2.0)), "filter"),
    "grams": (WORDS, kernels.Spectrum((2, 3)), "tree"),
    "mismatches": (WORDS, kernels.Mismatch(2, 1), "filter"),
    "graphs": (GRAPHS, kernels.WeisfeilerLehman(2), "tree"),
    "paths": (GRAPHS, kernels.ShortestPath(), "tree"),
}


def letters_in_common(x, y):
    """A function of the user, an inner product of counts."""
    return float(sum(x.count(letter) * y.count(letter) for letter in "MKVLA"))


def living(objects, kernel, algorithm):
    """An index of two segments, from both of which an object was removed."""
    index = Index(objects[: len(objects) - 9], kernel, algorithm=algorithm)
    index.add(objects[len(objects) - 9 :])
    index.remove([3, len(objects) - 2])
    return index


def forged(index, name, forge, **options):
    """An index loaded from a file in which an array was changed, under checksums that fit."""
    record = record_snapshot(snapshot_of(index), encode=options.pop("encode", None))
    array = np.array(record.arrays[name])
    forge(array)
    made = Record(json.loads(json.dumps(dict(record.facts))), {**record.arrays, name: array})
    back = load_bytes(to_bytes(made), "forged.fmks", **options)
    snapshot_of(back).build()
    return back


def column(name, change):
    """Changes of a figure of every node or leaf, by where it lies in the record of the core."""
    at, dtype = {
        "point_norm": (24, np.float64),
        "parent_radius": (32, np.float64),
        "radius": (40, np.float64),
        "least_norm": (48, np.float64),
        "greatest_norm": (56, np.float64),
        "scale": (0, np.float32),
        "code_norm": (4, np.float32),
        "code_error": (8, np.float32),
        "leaf radius": (12, np.float32),
        "length": (16, np.float32),
        "tail": (20, np.float32),
        "error": (24, np.float32),
    }[name]

    def forge(array):
        numbers = np.ascontiguousarray(array[:, at : at + dtype().itemsize]).view(dtype)
        array[:, at : at + dtype().itemsize] = change(numbers).view(np.uint8)

    return forge


def times(factor):
    return lambda array: np.multiply(array, factor, out=array)


def add(number):
    return lambda array: np.add(array, array.dtype.type(number), out=array)


def swap(array):
    array[[0, 1]] = array[[1, 0]]


def flip(array):
    """Change a bit of the first number."""
    array.reshape(-1).view(np.uint8)[0] ^= 1


class TestSound:
    @CASES
    def test_every_kind_and_engine(self, kind, tmp_path):
        for algorithm in algorithms(Index(kind.objects, kind.kernel)):
            index = Index(kind.objects, kind.kernel, algorithm=algorithm)
            index.search(kind.queries, 1)
            index.check()
            index.save(tmp_path / "x.fmks")
            load(tmp_path / "x.fmks", **given_again(kind, range(len(index)))).check()

    @pytest.mark.parametrize("kind", SEPARATE, ids=str)
    def test_segments_and_removed_objects(self, kind, tmp_path):
        n = len(Index(kind.objects, kind.kernel))
        for algorithm in algorithms(Index(kind.objects, kind.kernel)):
            index = Index(take(kind.objects, range(n // 2)), kind.kernel, algorithm=algorithm)
            index.add(take(kind.objects, range(n // 2, n)))
            index.remove([0, n - 1])
            index.save(tmp_path / "x.fmks")
            load(tmp_path / "x.fmks", **given_again(kind, range(1, n - 1))).check()

    @pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
    def test_files_of_every_version(self, path):
        load(path, **given_to(path)).check()

    @pytest.mark.parametrize("kernel", ["linear", "cosine", "gaussian"])
    def test_many_leaves_and_threads(self, kernel):
        """Leaves of codes have boxes around groups of them from 512 on."""
        rows = np.random.default_rng(1).normal(size=(132_000, 3))
        index = Index(rows, kernel, algorithm="filter", threads=2)
        assert data_of(index).engines.built_filter.core.n_leaves >= 512
        index.check()

    @pytest.mark.parametrize("name", OBJECTS)
    def test_files_of_another_cpu(self, name, isa, tmp_path, monkeypatch):
        monkeypatch.delenv("FASTMKS_ISA")
        objects, kernel, algorithm = OBJECTS[name]
        Index(objects, kernel, algorithm=algorithm).save(tmp_path / "x.fmks")
        monkeypatch.setenv("FASTMKS_ISA", isa)
        index = load(tmp_path / "x.fmks")
        assert data_of(index).space.isa == isa
        index.check()

    def test_objects_too_large_for_distances(self):
        rows = np.concatenate([ROWS, [[1e200] * 6, [-1e200] * 6]])
        for algorithm in ("tree", "filter"):
            Index(rows, algorithm=algorithm).check()

    def test_an_empty_index(self):
        index = Index(ROWS[:3], algorithm="tree")
        index.remove([0, 1, 2])
        index.check()

    def test_progress_has_a_total(self, capfd):
        living(ROWS, "linear", "filter").check(progress=True)
        assert "100%" in capfd.readouterr().err

    @pytest.mark.parametrize("algorithm", ["tree", "filter"])
    def test_a_check_can_be_stopped(self, algorithm):
        seconds = [0.0]

        def slow(x, y):
            time.sleep(seconds[0])
            return letters_in_common(x, y)

        stop, _ = stop_after(1)
        kernel = kernels.Custom(slow)
        index = Index(WORDS[:150], kernel, algorithm=algorithm)
        seconds[0] = 0.001  # an evaluation: together far more than stop() waits for
        with pytest.raises(TimeoutError, match="enough"):
            index.check(progress=Progress(False, stop))
        seconds[0] = 0.0
        index.check()


@dataclass(frozen=True)
class Forgery:
    """An array of the first segment, how it is forged, and what the error says."""

    structure: str
    array: str
    forge: object
    said: str

    def __str__(self):
        return f"{self.structure}-{self.array}-{self.said}"


TREE, FILTER, STORE = "engines/tree", "engines/filter", "engines/objects/store 0"
LEAST = 1.0 - 1e-9
FORGERIES = [
    Forgery("tree", f"{TREE}/nodes", column("radius", lambda x: x * LEAST), "radius"),
    Forgery("tree", f"{TREE}/nodes", column("parent_radius", lambda x: x * LEAST), "parent radius"),
    Forgery("tree", f"{TREE}/nodes", column("point_norm", lambda x: x * LEAST), "point is not"),
    Forgery("tree", f"{TREE}/nodes", column("point_norm", lambda x: x * 2.0), "point is not"),
    Forgery("tree", f"{TREE}/nodes", column("least_norm", lambda x: x + 1e-9), "norm of object"),
    Forgery("tree", f"{TREE}/nodes", column("greatest_norm", lambda x: x * LEAST), "norm of"),
    Forgery("tree", f"{TREE}/norms", times(LEAST), "norm of object"),
    Forgery("tree", f"{TREE}/norms", times(2.0), "norm of object"),
    Forgery("tree", f"{TREE}/leaf_distance", times(LEAST), "leaf"),
    Forgery("tree", f"{TREE}/parent_distance", times(LEAST), "parent distance"),
    Forgery("tree", f"{STORE}/rows", times(2.0), "radius|parent|distance|norm"),
    Forgery("tree", f"{STORE}/rows", lambda rows: rows.fill(np.nan), "node"),
    *(
        Forgery("codes", f"{FILTER}/leaves", column(name, lambda x: x * np.float32(0.5)), "leaves")
        for name in ("scale", "code_norm", "code_error", "leaf radius", "length", "tail", "error")
    ),
    Forgery("codes", f"{FILTER}/codes", flip, "codes"),
    Forgery("codes", f"{FILTER}/tails", times(0.5), "tails"),
    Forgery("codes", f"{FILTER}/tails", times(1e6), "tails"),  # more than their leaf's
    Forgery("codes", f"{FILTER}/positions", swap, "codes"),
    Forgery("codes", f"{FILTER}/counts", times(3), "counts"),
    Forgery("codes", f"{FILTER}/figures", times(0.5), "figures"),
    *(
        Forgery("codes", f"{FILTER}/boxes_{name}", times(0.5), f"boxes_{name}")
        for name in ("centres", "halves", "radii", "lengths", "greatest_tails")
    ),
    Forgery("codes of distances", f"{FILTER}/boxes_least_tails", add(1.0), "boxes_least_tails"),
    Forgery("codes of distances", f"{FILTER}/extras", times(2.0), "extras"),
    Forgery("codes of distances", f"{FILTER}/extras", times(0.9), "extras"),
    Forgery("codes of distances", f"{FILTER}/whole_centres", times(0.5), "whole_centres"),
    Forgery("codes of distances", f"{FILTER}/origin", add(0.5), "does not bound"),
    Forgery("codes", f"{STORE}/rows", times(1.1), "does not bound"),
    Forgery("codes", f"{STORE}/rows", lambda rows: rows.fill(np.nan), "finite"),
    Forgery("lists", f"{FILTER}/postings", flip, "postings"),
    Forgery("lists", f"{FILTER}/shelf_norms", times(0.5), "shelf_norms"),
    Forgery("lists", f"{STORE}/values", times(1.1), "is not what"),
    Forgery("lists of cosines", f"{FILTER}/inverse_norms", times(0.5), "inverse_norms"),
    Forgery("planes", f"{FILTER}/lines", flip, "lines"),
    Forgery("planes", f"{FILTER}/counts", lambda counts: counts.__setitem__(1, 0), "counts"),
    Forgery("pivots", f"{FILTER}/pivot_axes", times(0.5), "axes"),
    Forgery("pivots", f"{FILTER}/pivots", swap, "axes"),
    Forgery("pivots", f"{FILTER}/pivot_exponents", add(1), "exponents"),
    Forgery("pivots", f"{FILTER}/pivot_figures", times(0.5), "errors of coordinates"),
    Forgery("pivots", f"{FILTER}/pivot_figures", times(2.0), "errors"),
    Forgery("pivots", f"{FILTER}/rows", times(1.5), "rows"),
    Forgery("pivots", f"{FILTER}/tails", times(0.5), "tails"),
    Forgery("pivots", f"{FILTER}/errors", times(0.5), "errors"),
    Forgery("pivots", f"{FILTER}/norms", times(0.5), "norms"),
    Forgery("pivots", f"{FILTER}/counts", add(-1), "counts"),
    Forgery("pivots", f"{FILTER}/figures", times(0.5), "figures"),
    Forgery("grams", f"{STORE}/counts 1/values", times(3), "counts 1 of the strings"),
    Forgery("grams", f"{STORE}/letters", swap, "counts 0 of the strings"),
    Forgery("mismatches", f"{STORE}/counts 0/values", times(2), "counts 0 of the strings"),
    Forgery("graphs", f"{STORE}/counts/values", times(2), "counts of the graphs"),
    Forgery("graphs", f"{STORE}/features", flip, "counts of the graphs"),
    Forgery("paths", f"{STORE}/counts/values", times(2), "counts of the graphs"),
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=str)
def test_forged_numbers_load_and_fail_the_check(forgery):
    objects, kernel, algorithm = OBJECTS[forgery.structure]
    index = Index(objects, kernel, algorithm=algorithm)
    index.check()
    back = forged(index, f"part 0/{forgery.array}", forgery.forge)
    with pytest.raises(IndexFileError, match=forgery.said) as caught:
        back.check()
    assert "of segment 0 cannot be trusted" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_segment_is_named():
    index = living(ROWS, "linear", "tree")
    snapshot_of(index).segments[1].data.engines.tree(Progress(False))
    back = forged(index, "part 1/engines/tree/norms", times(0.5))
    with pytest.raises(IndexFileError, match=r"the tree of segment 1 cannot be trusted: node 0"):
        back.check()


def test_known_values_of_a_function():
    index = Index(WORDS, letters_in_common, algorithm="tree")
    options = {"encode": str.encode, "kernel": letters_in_common, "decode": bytes.decode}
    forged(index, "part 0/engines/tree/norms", times(1.0), **options).check()
    back = forged(index, "part 0/engines/objects/store 0/known 0", times(0.5), **options)
    with pytest.raises(IndexFileError, match=r"objects of segment 0 .* K\(x, x\)"):
        back.check()


def test_ids_that_are_not_unique():
    index = Index(ROWS, ids=RNG.permutation(10**6)[:700])
    with pytest.raises(IndexFileError):
        forged(index, "part 0/ids/numbers", lambda ids: ids.fill(7)).check()


def test_forged_bounds_gave_wrong_answers():
    """The purpose of a check: nothing else tells."""
    index = Index(ROWS, "gaussian", algorithm="tree")
    nodes = forged(index, "part 0/engines/tree/nodes", column("radius", lambda x: x * 0.0))
    leaves = forged(nodes, "part 0/engines/tree/leaf_distance", times(0.0))
    back = forged(leaves, "part 0/engines/tree/nodes", column("parent_radius", lambda x: x * 0.0))
    hits, wanted = back.search(ROWS[:50] + 0.1, 5), index.search(ROWS[:50] + 0.1, 5)
    assert (hits.indices != wanted.indices).any()
    assert hits.gap.max() == 0.0
    with pytest.raises(IndexFileError):
        back.check()


RECORDS = {
    name: record_snapshot(snapshot_of(Index(objects[:300], kernel, algorithm=algorithm)))
    for name, (objects, kernel, algorithm) in OBJECTS.items()
}


@pytest.mark.parametrize("name", OBJECTS)
@given(data=st.data())
@settings(max_examples=60)
def test_what_passes_answers_as_a_scan(name, data):
    queries = OBJECTS[name][0][:9]
    try:
        back = loaded(to_bytes(with_lies(RECORDS[name], data, among="engines")))
        back.check()
        wanted = back.search(queries, 2, algorithm="scan")
    except (fastmks.FastmksError, MemoryError):
        return
    assert_identical(back.search(queries, 2), wanted)
    assert_identical(back.search_self(5), back.search_self(5, algorithm="scan"))
