"""Ids that are strings: which are taken, and how little memory they need, however long one is."""

import json
import tracemalloc

import numpy as np
import pytest

import fastmks
from fastmks import IndexFileError, InvalidArgument
from fastmks.files.container import open_record, write_record
from fastmks.files.journal import Journal, name_content
from fastmks.files.record import Record
from fastmks.index.ids import LONGEST, as_array
from fastmks.outputs import answers_of, write_answers
from fastmks.service import open_served
from fastmks.service.page import page_routes
from support.paths import DATA
from support.serving import serving

OLD = DATA / "version1" / "odd ids.fmks"  # what 0.1 took
MANY = 20_000  # of one width of 1000 characters they would take 80 MB
LITTLE = 16_000_000


def peak(function):
    """Return the result, and the most bytes that it took on the way."""
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def named(n):
    return [f"object {i}" for i in range(n)]


def test_one_long_id_makes_the_others_no_longer(tmp_path):
    """Built, searched, changed, saved and loaded."""
    rows = np.random.default_rng(0).normal(size=(MANY, 2))
    long = "x" * LONGEST
    path = tmp_path / "index.fmks"

    def live():
        index = fastmks.Index(rows, ids=[*named(MANY - 1), long])
        found = index.search(rows[:50], k=20)
        assert index.search(rows[:1], k=1, only=[long, "object 7"]).ids[0, 0] in (long, "object 7")
        index.add(rows[:2], ids=["y" * LONGEST, "z"])
        index.remove(["object 3", "y" * LONGEST])
        assert long in index
        assert "object 3" not in index
        assert index.get(["z", long]).tolist() == [rows[1].tolist(), rows[-1].tolist()]
        index.save(path)
        loaded = fastmks.load(path)
        assert loaded.ids.tolist() == index.ids.tolist()
        assert loaded.nbytes < LITTLE
        return found

    found, n_bytes = peak(live)
    assert n_bytes < LITTLE
    assert path.stat().st_size < 4_000_000
    numbered = fastmks.Index(rows).search(rows[:50], k=20)
    assert found.indices.tolist() == numbered.indices.tolist()
    names = [*named(MANY - 1), long]
    assert found.ids.tolist() == [[names[i] for i in row] for row in found.indices.tolist()]


def test_long_ids_that_are_sought_take_what_they_are(tmp_path):
    """A thousand, one of a million letters: of one width that would be 4 GB, several times."""
    index = fastmks.Index(np.ones((1000, 1)), ids=named(1000))
    wanted = [*named(999), "x" * 1_000_000]

    def ask():
        with pytest.raises(InvalidArgument, match="ids of the index only; 'xxx") as info:
            index.search([1.0], only=wanted)
        assert len(str(info.value)) < 300
        for change in (index.get, index.remove):
            with pytest.raises(InvalidArgument, match="ids of the index only"):
                change(wanted)
        assert "x" * 1_000_000 not in index
        assert "object 9999" not in index  # of which the first characters are an id

    _, n_bytes = peak(ask)
    assert n_bytes < 32_000_000


def test_many_short_ids_among_long_ones():
    """What is sought is not made as wide as the ids of the index, all at once."""
    index = fastmks.Index(np.ones((40, 1)), ids=[f"{i:1000d}" for i in range(40)])
    wanted = [str(i) for i in range(100_000)]

    def ask():
        with pytest.raises(InvalidArgument, match="'0' is not one"):
            index.search([1.0], only=wanted)

    _, n_bytes = peak(ask)
    assert n_bytes < 150_000_000  # of one width: 400 MB


def test_a_request_with_a_long_id(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(np.ones((1000, 1)), ids=named(1000)).save(path)
    with serving(path, writable=True) as client:
        body = {"query": [1.0], "only": [*named(999), "x" * 1_000_000]}
        answer, n_bytes = peak(lambda: client.post("/v1/search", json=body))
        assert answer.status_code == 400
        assert len(answer.text) < 1000
        assert n_bytes < 100_000_000
        for name, says in [("x" * 1001, "at most 1000 characters"), ("a\tb", "control characters")]:
            answer = client.post("/v1/objects", json={"objects": [[1.0]], "ids": [name]})
            assert answer.status_code == 400
            assert says in answer.json()["error"]["message"]
        names = {"objects": [[1.0], [2.0]], "ids": ["x" * 1000, "short"]}
        assert client.post("/v1/objects", json=names).json()["ids"] == names["ids"]
        assert client.get(f"/v1/objects/{'x' * 1000}").json()["object"] == [1.0]
        described = client.get("/openapi.json").json()["paths"]["/v1/objects"]["post"]
        schema = described["requestBody"]["content"]["application/json"]["schema"]
        assert schema["properties"]["ids"]["items"]["maxLength"] == LONGEST
    assert path.stat().st_size < 200_000
    assert len(fastmks.load(path)) == 1002


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("x" * 1001, r"at most 1000 characters; ids\[1\] has 1001: 'xxx"),
        ("a\n", r"ids\[1\] has '\\n': 'a\\n'. Remove or replace them"),
        ("\x1b[31mred", r"ids\[1\] has '\\x1b': '\\x1b\[31mred'"),
        ("tab\there", "control characters"),
        ("\x7f", "control characters"),
        ("\x85", "control characters"),
        ("\0a", "control characters"),
        ("\ud800", r"halves of surrogate pairs; ids\[1\] has '\\ud800'"),
    ],
)
def test_new_ids_that_are_refused(name, says):
    with pytest.raises(InvalidArgument, match=says):
        fastmks.Index([[1.0], [2.0]], ids=["fine", name])
    index = fastmks.Index([[1.0]], ids=["first"])
    with pytest.raises(InvalidArgument, match=says):
        index.add([[1.0], [2.0]], ids=["fine", name])
    assert len(index) == 1
    assert name not in index  # asking is free


def test_new_ids_that_are_taken():
    names = ["x" * 1000, "", " ", "é", "日本", "\N{DNA DOUBLE HELIX}", "a/b", "\u200b", "\xa0"]
    assert fastmks.Index(np.ones((9, 1)), ids=names).ids.tolist() == names


def test_odd_ids_of_earlier_versions_live_on(tmp_path):
    """Those of a file and those of a journal: found, removed, saved and served."""
    wanted = json.loads(OLD.with_suffix(".json").read_text())["ids"]
    index = fastmks.load(OLD)
    assert index.get(wanted).shape == (6, 2)
    index.add([[9.0, 9.0]], ids=["new"])
    index.remove(["\ud800"])
    path = tmp_path / "index.fmks"
    index.save(path)
    left = [name for name in wanted if name != "\ud800"]
    assert fastmks.load(path).ids.tolist() == [*left, "new"]
    journal = path.with_name("index.fmks.journal")
    with serving(path, writable=True) as client:
        assert client.post("/v1/objects", json={"objects": [[1, 2]], "ids": ["b"]}).is_success
    written = Journal.begin(journal, name_content(path))
    written.append([{"add": [[5.0, 5.0]], "ids": ["odd\n"]}])
    written.close()
    assert "odd\n" in open_served(path).index


def test_the_page_compares_odd_ids_under_other_kernels():
    with serving(OLD, make_routes=page_routes) as client:
        kernels = [kernel["text"] for kernel in client.get("/page/about").json()["kernels"]]
        assert len(kernels) > 1
        for kernel in kernels:
            body = {"object": [1.0, 1.0], "kernel": kernel, "k": 6}
            hits = client.post("/page/compare", json=body).json()["hits"]
            assert {hit["id"] for hit in hits} == set(fastmks.load(OLD).ids.tolist())


def test_strings_of_one_width_unless_one_is_much_longer():
    for names in (["a"], ["a", "b" * 32], ["c" * 900, "d" * 1000], named(100), [""], []):
        assert as_array(names).dtype.kind == "U"
    assert as_array(["a", "b", "c", "d" * 200]).dtype == object
    index = fastmks.Index([[1.0], [2.0], [3.0], [4.0]], ids=["a", "b", "c", "d" * 200])
    assert index.search([1.0], k=2).ids.tolist() == [["d" * 200, "c"]]
    index.remove(["d" * 200])
    index.add([[5.0]], ids=["e"])
    assert index.search([1.0], k=2).ids.tolist() == [["e", "c"]]


def test_the_same_answers_as_of_one_width(tmp_path):
    """Each operation with a long id in it, and without."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 3))
    names = [f"{i:x}" for i in rng.permutation(300)]
    answers = []
    for last in ("last", "l" * 1000):
        index = fastmks.Index(rows[:200], ids=[*names[:199], last], algorithm="tree")
        for i in range(200, 300, 10):
            index.add(rows[i : i + 10], ids=[f"{name}+" for name in names[i : i + 10]])
        index.remove([*names[20:60], f"{names[250]}+"])
        path = tmp_path / "index.fmks"
        index.save(path)
        some = []
        for one in (index, fastmks.load(path), fastmks.load(path, mmap=False), index.copy()):
            hits = one.search(rows[:9], k=30)
            above = one.search_above(rows[:3], 1.0, only=[last, *names[:15], *names[60:90]])
            some += [hits.ids.tolist(), above.ids.tolist(), one.get(names[:5]).tolist()]
            some += [above.ids_of(1).tolist(), [name in one for name in names], one.ids.tolist()]
            with pytest.raises(InvalidArgument, match="is in use"):
                one.add(rows[:1], ids=[last])
        answers.append(json.dumps(some).replace("l" * 1000, "last"))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("form", ["csv", "jsonl", "npz", "parquet"])
def test_answers_with_long_ids_are_written(form, tmp_path):
    long = "x" * 1000
    index = fastmks.Index([[1.0], [2.0], [3.0]], ids=["a", long, "c"])
    path = tmp_path / f"hits.{form}"
    hits = index.search([[1.0], [2.0]], k=2)
    assert hits.ids.dtype == object
    write_answers(path, [answers_of(hits, ["q", "r" * 500])])
    if form == "npz":
        assert np.load(path)["ids"].tolist() == [["c", long]] * 2
        assert np.load(path)["queries"].tolist() == ["q", "r" * 500]
    elif form == "parquet":
        from pyarrow import parquet

        assert parquet.read_table(path).column("id").to_pylist() == ["c", long] * 2
    else:
        assert path.read_text().count(long) == 2


def test_a_file_with_ids_of_many_lengths_that_is_forged(tmp_path):
    path = tmp_path / "index.fmks"
    index = fastmks.Index([[1.0], [2.0], [3.0]], ids=["a", "b" * 1000, "c"])
    index.remove(["c"])
    index.save(path)
    good = open_record(path, mmap=False).record
    assert good.facts["part 0"]["ids"] == {"kind": "strings"}
    texts = {"kinds": [1, 1, 1], "text": list(b"abc"), "text_offsets": [0, 1, 2, 3]}
    for changed in (
        {"text": list(b"ab\0")},
        {"text": list(b"aab")},
        {"kinds": [1, 1, 4]},
        {"kinds": [1, 1]},
        {"text_offsets": [0, 2, 1, 3]},
        {"kinds": [1, 1, 1, 1], "text_offsets": [0, 1, 1, 2, 3]},
        {"kinds": [2, 2, 2], "numbers": [1, 2, 3]},
        {"text": [255, 255, 255]},
    ):
        arrays = {
            f"part 0/ids/{name}": np.array(values, dtype=_TYPES[name])
            for name, values in (texts | changed).items()
        }
        kept = {name: x for name, x in good.arrays.items() if not name.startswith("part 0/ids/")}
        write_record(path, Record(good.facts, kept | arrays))
        with pytest.raises(IndexFileError):
            fastmks.load(path).get(["a"])


_TYPES = {"kinds": np.uint8, "text": np.uint8, "text_offsets": np.int64, "numbers": np.int64}
