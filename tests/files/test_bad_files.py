"""No file can be worse than an error: damaged, cut, forged, or of another kind."""

import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_saving import times

import fastmks
from fastmks import Index, IndexFileError, kernels, load
from fastmks.files.container import from_bytes, open_record, to_bytes
from fastmks.files.record import Record
from fastmks.index.index import index_of
from fastmks.index.index_file import Source, record_snapshot, restore_index
from support.inside import snapshot_of


def small_indexes():
    """One small index of each kind of thing that a file can hold."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    words = ["".join(rng.choice(list("MKVL"), size=n)) for n in rng.integers(1, 9, size=30)]
    bits = rng.random((30, 70)) < 0.2
    sparse = Index(_csr(rows * (rng.random(rows.shape) < 0.5)), algorithm="filter")
    grown = Index(rows, algorithm="tree", ids=[f"row {i}" for i in range(40)])
    grown.add(rows[:3] + 1, ids=["a", "b", "c"])
    grown.remove(["b", "row 7"])
    return {
        "tree": (grown, rows[:3]),
        "filter": (Index(rows, "cosine", algorithm="filter"), rows[:3]),
        "sparse": (sparse, rows[:3]),
        "grams": (Index(words, kernels.Spectrum(2), algorithm="filter"), words[:3]),
        "letters": (Index(words, kernels.SmithWaterman(), algorithm="filter"), words[:3]),
        "bits": (Index(bits, kernels.Tanimoto(), algorithm="filter"), bits[:3]),
        "sets": (Index([{i, "a"} for i in range(9)], kernels.Jaccard()), [{1, "a"}]),
        "graphs": (
            Index(
                [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])],
                kernels.WeisfeilerLehman(),
            ),
            [([(0, 1)], ["C", "C"])],
        ),
        "series": (
            Index(
                [rng.normal(size=n) for n in (3, 5, 4)],
                kernels.Normalized(kernels.GlobalAlignment(1.0)),
                algorithm="filter",
            ),
            [[0.0, 1.0]],
        ),
        "gram matrix": (
            Index(rows @ rows.T, kernels.Precomputed(), algorithm="tree"),
            rows[:2] @ rows.T,
        ),
    }


def _csr(rows):
    from scipy.sparse import csr_array

    return csr_array(rows)


SMALL = small_indexes()


def loaded(data):
    """The index of some bytes, all engines built."""
    snapshot = restore_index(Source(record=from_bytes(data), check=lambda: None))
    snapshot.build()
    return index_of(snapshot)


def try_to_search(data, queries):
    """Load bytes and search: an answer, or an error that fastmks raises on purpose."""
    try:
        return loaded(data).search(queries, 1)
    except (fastmks.FastmksError, MemoryError):
        return None


def with_lies(record, data, among=""):
    """The record with other numbers in one to three of its arrays, those of certain names."""
    arrays = dict(record.arrays)
    keys = sorted(key for key, array in arrays.items() if array.size and among in key)
    for _ in range(data.draw(st.integers(1, 3))):
        key = data.draw(st.sampled_from([key for key in keys if arrays[key].size]))
        array = np.array(arrays[key])
        how = data.draw(
            st.sampled_from(["bytes", "extreme", "scaled", "shorter", "longer", "swap"])
        )
        if how == "bytes":
            flat = array.reshape(-1).view(np.uint8)
            at = data.draw(st.integers(0, len(flat) - 1))
            flat[at] = data.draw(st.integers(0, 255))
        elif how == "extreme":
            flat = array.reshape(-1)
            at = data.draw(st.integers(0, len(flat) - 1))
            if flat.dtype.kind == "f":
                flat[at] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, -1.0, 1e30]))
            else:
                info = np.iinfo(flat.dtype) if flat.dtype.kind != "b" else None
                choices = [0, 1] if info is None else [info.min, info.max, 0, len(flat)]
                value = data.draw(st.sampled_from(choices))
                flat[at] = value if info is None else min(value, info.max)
        elif how == "scaled":
            rows = array.reshape(len(array), -1).view(np.uint8)
            dtype = data.draw(st.sampled_from([np.float32, np.float64]))  # also of structs
            if rows.shape[1] % dtype().itemsize == 0:
                numbers = rows.view(dtype)
                column = data.draw(st.integers(0, numbers.shape[1] - 1))
                with np.errstate(all="ignore"):
                    numbers[:, column] *= dtype(data.draw(st.sampled_from([0.5, 1.01, 3.0, 1e6])))
        elif how == "shorter":
            array = array[:-1]
        elif how == "longer":
            array = np.concatenate([array, array[-1:]])
        else:
            array = np.array(arrays[data.draw(st.sampled_from(keys))])
        arrays[key] = array
    return Record(record.facts, arrays)


class TestBadFiles:
    def test_every_single_bit(self, tmp_path):
        """One bit of a byte, another one each time: always an error, never an answer."""
        index, _ = SMALL["tree"]
        data = to_bytes(record_snapshot(snapshot_of(index)))
        path = tmp_path / "x"
        rng = np.random.default_rng(0)
        for at in np.unique(np.concatenate([rng.integers(0, len(data), 1500), np.arange(300)])):
            damaged = bytearray(data)
            damaged[at] ^= 1 << (at % 8)
            path.write_bytes(damaged)
            with pytest.raises(IndexFileError, match=re.escape(str(path))):
                load(path, mmap=bool(at % 2))

    def test_every_length(self, tmp_path):
        index, _ = SMALL["filter"]
        data = to_bytes(record_snapshot(snapshot_of(index)))
        path = tmp_path / "x"
        for length in np.unique(np.linspace(0, len(data) - 1, 400).astype(int)):
            path.write_bytes(data[:length])
            with pytest.raises(IndexFileError, match=re.escape(str(path))):
                load(path)

    def test_a_large_file_is_verified_before_its_first_use(self, tmp_path, monkeypatch):
        monkeypatch.setattr(fastmks.index.load, "_SOON_VERIFIED", 0)
        rows = np.random.default_rng(0).normal(size=(40_000, 5))
        index, queries, path = Index(rows), rows[:3], tmp_path / "x"
        data = bytearray(to_bytes(record_snapshot(snapshot_of(index))))
        data[data.rindex(rows[-1].tobytes())] ^= 1
        path.write_bytes(data)
        for use in (
            lambda back: back.search(queries),
            lambda back: back.ids,
            lambda back: back.get([0]),
            lambda back: (back.add(queries), back.search(queries)),
            lambda back: back.remove([0]),
            lambda back: 0 in back,
            lambda back: back.tree,
            lambda back: back.save(tmp_path / "y"),
            pickle.dumps,
        ):
            back = load(path)
            assert len(back) == 40_000  # known from the header
            with pytest.raises(IndexFileError, match="damaged"):
                use(back)
        assert not (tmp_path / "y").exists()
        load(path, verify=False).search(queries)  # as asked: not looked at
        with pytest.raises(IndexFileError, match="damaged"):
            load(path, verify=True)

    @pytest.mark.parametrize("name", SMALL)
    @given(data=st.data())
    @settings(max_examples=60)
    def test_arrays_that_lie(self, name, data):
        """Whatever numbers an array holds, checksums in order: an error or an answer, no crash."""
        index, queries = SMALL[name]
        try_to_search(to_bytes(with_lies(record_snapshot(snapshot_of(index)), data)), queries)

    @pytest.mark.parametrize("name", SMALL)
    @given(data=st.data())
    @settings(max_examples=60)
    def test_facts_that_lie(self, name, data):
        index, queries = SMALL[name]
        record = record_snapshot(snapshot_of(index))
        facts = json.loads(json.dumps(record.facts))
        for _ in range(data.draw(st.integers(1, 2))):
            node, key = facts, None
            while isinstance(node, (dict, list)) and node:
                keys = sorted(node) if isinstance(node, dict) else list(range(len(node)))
                parent, key = node, data.draw(st.sampled_from(keys))
                node = parent[key]
                if data.draw(st.booleans()) and not isinstance(node, (dict, list)):
                    break
            if key is None:
                continue
            parent[key] = data.draw(
                st.sampled_from([None, 0, -1, 1, 2**40, 2**70, 0.5, "", "x", [], {}, True, [[]]])
            )
        try_to_search(to_bytes(Record(facts, record.arrays)), queries)

    def test_files_of_other_kinds(self, tmp_path):
        path = tmp_path / "x"
        for text in (b"", b"not an index", b"PK\x03\x04" + bytes(100), pickle.dumps([1, 2, 3])):
            path.write_bytes(text)
            with pytest.raises(IndexFileError, match=re.escape(str(path))):
                load(path)
        np.save(tmp_path / "y.npy", np.zeros(100))
        with pytest.raises(IndexFileError):
            load(tmp_path / "y.npy")
        path.write_bytes(to_bytes(Record({"unit": "m"}, {"lengths": np.ones(3)})))
        with pytest.raises(IndexFileError, match="kernel"):
            load(path)
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "nowhere")
        with pytest.raises(IsADirectoryError):
            load(tmp_path)

    def test_a_bomb_is_not_unpacked(self, tmp_path):
        """A file that speaks of many objects makes nobody allocate them."""
        index, _ = SMALL["filter"]
        record = record_snapshot(snapshot_of(index))
        facts = json.loads(json.dumps(record.facts))
        facts["part 0"]["n_objects"] = 10**15
        facts["part 0"]["ids"] = {"kind": "range", "first": 0, "count": 10**15}
        (tmp_path / "x").write_bytes(to_bytes(Record(facts, record.arrays)))
        with pytest.raises(IndexFileError):
            load(tmp_path / "x")


class TestForgedIndexes:
    """Sizes, ids and counters that do not fit, under checksums that do."""

    @staticmethod
    def forged(index, tmp_path, facts=(), arrays=(), encode=None):
        index.save(tmp_path / "forged.fmks", encode=encode)
        record = open_record(tmp_path / "forged.fmks", mmap=False).record
        changed = json.loads(json.dumps(dict(record.facts)))
        for (*outer, name), value in dict(facts).items():
            inner = changed
            for key in outer:
                inner = inner[key]
            inner[name] = value
        made = Record(changed, {**record.arrays, **dict(arrays)})
        (tmp_path / "forged.fmks").write_bytes(to_bytes(made))
        return tmp_path / "forged.fmks"

    @pytest.mark.parametrize(
        ("facts", "arrays", "use"),
        [
            ({("next_id",): 1}, {}, lambda index: index.add([[1.0]])),
            ({("has_text_ids",): True}, {}, lambda index: index.add([[1.0]], ids=["a"])),
            (
                {("part 0", "ids"): {"kind": "text", "width": 1}},
                {"part 0/ids/letters": np.array([65, 66, 67], np.uint32)},
                lambda index: index.ids,
            ),
            (
                {("part 0", "ids"): {"kind": "numbers"}},
                {"part 0/ids/numbers": np.array([1, 2, 1])},
                lambda index: index.get([1]),
            ),
            ({("part 0", "n_objects"): 2**62}, {}, len),
        ],
    )
    @pytest.mark.parametrize("verify", [None, False])
    def test_ids_and_sizes(self, facts, arrays, use, verify, tmp_path):
        path = self.forged(Index([[1.0], [2.0], [3.0]]), tmp_path, facts, arrays)
        with pytest.raises(IndexFileError):
            use(load(path, verify=verify))

    def test_an_id_in_two_parts(self, tmp_path):
        index = Index(np.ones((40, 1)))
        index.add([[2.0]])
        path = self.forged(
            index, tmp_path, {("part 1", "ids"): {"kind": "range", "first": 3, "count": 1}}
        )
        for use in (Index.get, Index.remove):
            with pytest.raises(IndexFileError, match="differ"):
                use(load(path), [3])

    @pytest.mark.parametrize("n_objects", [2**34, 2**40])
    def test_a_number_of_objects_that_no_memory_holds(self, n_objects, tmp_path):
        path = self.forged(
            Index([1.0, 2.0], times),
            tmp_path,
            {("part 0", "n_objects"): n_objects},
            encode=lambda x: str(x).encode(),
        )
        with pytest.raises(IndexFileError, match="objects"):
            load(path, kernel=times, decode=float)

    @pytest.mark.parametrize("use", [lambda index: index.search_self(1), lambda index: index.ids])
    def test_nor_where_some_have_left(self, use, tmp_path):
        index = Index(np.ones((40, 1)), algorithm="tree")
        index.remove([3])
        path = self.forged(index, tmp_path, {("part 0", "n_objects"): 2**40})
        with pytest.raises(IndexFileError):
            use(load(path, verify=False))

    def test_vectors_that_are_not_finite(self, tmp_path):
        rows = np.random.default_rng(0).normal(size=(300, 4))
        path = self.forged(Index(rows), tmp_path)
        record = open_record(path, mmap=False).record
        name = next(name for name in record.arrays if name.endswith("rows") and "part" in name)
        damaged = np.full_like(record.arrays[name], np.nan)
        path = self.forged(Index(rows), tmp_path, arrays={name: damaged})
        with pytest.raises(fastmks.FastmksError):
            load(path).search(rows[:2], algorithm="filter")

    def test_members_that_are_there_twice(self, tmp_path):
        index = Index([{1, 2}, {2, 3}] * 20, kernels.Jaccard())
        index.add([{4}])
        index.save(tmp_path / "sets.fmks")
        record = open_record(tmp_path / "sets.fmks", mmap=False).record
        (name,) = [name for name in record.arrays if "part 0" in name and "numbers" in name]
        path = self.forged(index, tmp_path, arrays={name: record.arrays[name] * 0})
        with pytest.raises(IndexFileError, match="unique"):
            load(path).search_self(1)
