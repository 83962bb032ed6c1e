"""Hits in files: every bit comes back, in chunks as in one, and nothing half written is left."""

import csv
import io
import json
import os
import threading
import tracemalloc

import numpy as np
import pytest
from pyarrow import parquet

from fastmks import Index, InvalidArgument
from fastmks.outputs import OUTPUT_FORMS, answers_of, output_form, write_answers
from fastmks.outputs.text import csv_pieces
from support.older import index_with_odd_ids
from support.waiting import PATIENCE

RNG = np.random.default_rng(3)
X, Q = (
    RNG.normal(size=(50, 4)) * 10.0 ** RNG.integers(-150, 150, size=(50, 1)),
    RNG.normal(size=(9, 4)),
)
AWKWARD = ["a,b", 'c "d"', "line\nend", "ünï", " blank ", "'", "=1+1", ""] + [
    f"n{i}" for i in range(42)
]


def index_of(ids):
    return index_with_odd_ids(X, ids=ids)


def answers(ids, names, *, threshold=None, chunk=9, with_gap=False):
    index = index_of(ids)
    for begin in range(0, len(Q), chunk):
        part = slice(begin, begin + chunk)
        if threshold is None:
            hits = index.search(Q[part], 3)
        else:
            hits = index.search_above(Q[part], threshold)
        yield answers_of(hits, names[part], with_gap=with_gap)


def read_rows(path, form):
    """Return (query, id, value) of each hit as the file has them, and the ranks."""
    if form == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return [(r["query"], r["id"], float(r["value"])) for r in rows], [
            int(r["rank"]) for r in rows
        ]
    if form == "jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    elif form == "parquet":
        rows = parquet.read_table(path).to_pylist()
    else:
        return None
    return [(r["query"], r["id"], r["value"]) for r in rows], [r["rank"] for r in rows]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("ids", [None, AWKWARD], ids=["numbers", "text"])
@pytest.mark.parametrize("chunk", [1, 4, 9])
def test_every_bit_comes_back(tmp_path, form, ids, chunk):
    names = [f"query {i}" for i in range(len(Q))] if ids else np.arange(len(Q))
    path = tmp_path / f"hits.{form}"
    write_answers(path, answers(ids, names, chunk=chunk))
    hits = index_of(ids).search(Q, 3)
    as_read = str if form == "csv" else (lambda x: x)
    want = [
        (
            as_read(names[i] if ids else int(names[i])),
            as_read(hits.ids[i, j].item()),
            hits.values[i, j],
        )
        for i in range(len(Q))
        for j in range(3)
    ]
    rows, ranks = read_rows(path, form)
    assert rows == want
    assert ranks == [1, 2, 3] * len(Q)


def test_ends_of_lines_in_names_end_no_line():
    names = ["a\rb", "\r", "\n", "c\r\nd", "plain"]
    hits = index_with_odd_ids(np.eye(5), ids=names).search(np.eye(5))
    text = b"".join(csv_pieces([answers_of(hits, names)])).decode()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[1:] == [[name, "1", name, "1.0"] for name in names]
    assert text.endswith("\nplain,1,plain,1.0\n")


@pytest.mark.parametrize("what", ["query", "id"])
@pytest.mark.parametrize("form", OUTPUT_FORMS)
def test_half_of_a_surrogate_pair(tmp_path, form, what):
    """No text in UTF-8 has one, but ids of earlier versions may."""
    odd, plain = ["a", "b\ud800"], ["é", "d"]
    ids, names = (odd, plain) if what == "id" else (plain, odd)
    path = tmp_path / f"hits.{form}"
    answered = answers_of(index_with_odd_ids(np.eye(2), ids=ids).search(np.eye(2)), names)
    if form in ("csv", "parquet"):
        with pytest.raises(InvalidArgument, match=rf"UTF-8.* the {what} 'b\\ud800'. .*\.jsonl"):
            write_answers(path, [answered])
        assert not path.exists()
        return
    write_answers(path, [answered])
    if form == "npz":
        with np.load(path, allow_pickle=False) as found:
            got = list(zip(found["queries"].tolist(), found["ids"].ravel().tolist(), strict=True))
    else:
        got = [(query, name) for query, name, _ in read_rows(path, form)[0]]
        assert "é" in path.read_text(encoding="utf-8")
    assert got == list(zip(names, ids, strict=True))


@pytest.mark.parametrize("chunk", [1, 4, 9])
@pytest.mark.parametrize("ids", [None, AWKWARD], ids=["numbers", "text"])
def test_arrays_come_back(tmp_path, ids, chunk):
    names = [str(10**i) for i in range(len(Q))]  # of different lengths
    write_answers(tmp_path / "hits.npz", answers(ids, names, chunk=chunk, with_gap=True))
    hits = index_of(ids).search(Q, 3)
    with np.load(tmp_path / "hits.npz", allow_pickle=False) as found:
        assert set(found) == {"queries", "ids", "values", "gap", "proven"}
        assert np.array_equal(found["values"], hits.values)
        assert np.array_equal(found["ids"], hits.ids)
        assert found["queries"].tolist() == names
        assert found["gap"].tolist() == [0.0] * len(Q)
        assert np.array_equal(found["proven"], np.ones((len(Q), 3), dtype=bool))


@pytest.mark.parametrize("chunk", [1, 4, 9])
def test_arrays_of_different_lengths_come_back(tmp_path, chunk):
    want = index_of(None).search_above(Q, 1.0)
    assert len(set(np.diff(want.offsets).tolist())) > 1
    write_answers(tmp_path / "hits.npz", answers(None, np.arange(9), threshold=1.0, chunk=chunk))
    with np.load(tmp_path / "hits.npz", allow_pickle=False) as found:
        assert np.array_equal(found["offsets"], want.offsets)
        assert np.array_equal(found["values"], want.values)
        assert np.array_equal(found["ids"], want.ids)


@pytest.mark.parametrize("form", OUTPUT_FORMS)
@pytest.mark.parametrize("ids", [None, AWKWARD], ids=["numbers", "text"])
def test_no_hits_at_all(tmp_path, form, ids):
    path = tmp_path / f"hits.{form}"
    write_answers(path, answers(ids, np.arange(9), threshold=1e300, chunk=4))
    if form == "npz":
        with np.load(path) as found:
            assert found["offsets"].tolist() == [0] * 10
    else:
        assert read_rows(path, form) == ([], [])


def test_gaps_and_what_is_proven_are_written_where_asked_for(tmp_path):
    hits = Index(X, algorithm="tree").search(Q, 2, budget=3)
    for form in ("csv", "jsonl", "parquet"):
        write_answers(tmp_path / f"hits.{form}", [answers_of(hits, range(9), with_gap=True)])
    with (tmp_path / "hits.csv").open() as file:
        assert [float(row["gap"]) for row in csv.DictReader(file)] == np.repeat(
            hits.gap, 2
        ).tolist()
    table = parquet.read_table(tmp_path / "hits.parquet")
    assert table.column("gap").to_pylist() == np.repeat(hits.gap, 2).tolist()
    assert table.column("proven").to_pylist() == hits.proven.ravel().tolist()
    lines = (tmp_path / "hits.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["proven"] for line in lines] == hits.proven.ravel().tolist()


class StopError(Exception):
    pass


@pytest.mark.parametrize("form", OUTPUT_FORMS)
@pytest.mark.parametrize("error", [StopError(), KeyboardInterrupt(), SystemExit(143)])
@pytest.mark.parametrize("is_there", [True, False])
def test_what_goes_wrong_leaves_the_old_file_and_nothing_else(tmp_path, form, error, is_there):
    def stopping():
        yield from answers(None, np.arange(9), chunk=3)
        raise error

    path = tmp_path / f"hits.{form}"
    if is_there:
        path.write_bytes(b"old")
    with pytest.raises(type(error)):
        write_answers(path, stopping())
    assert [file.name for file in tmp_path.iterdir()] == [path.name][:is_there]
    assert not is_there or path.read_bytes() == b"old"


@pytest.mark.parametrize("form", OUTPUT_FORMS)
def test_memory_holds_one_chunk(tmp_path, form):
    index = Index(RNG.normal(size=(2000, 4)))
    hits = index.search(RNG.normal(size=(500, 4)), 10)

    def repeated(n):
        return (answers_of(hits, np.arange(500)) for _ in range(n))

    def peak(n):
        tracemalloc.start()
        write_answers(tmp_path / f"hits.{form}", repeated(n))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(12) < 2 * peak(2)


def test_an_open_file_and_a_pipe_are_written_to(tmp_path):
    buffer = io.BytesIO()
    write_answers(buffer, answers(None, np.arange(9)), form="csv")
    os.mkfifo(tmp_path / "pipe.csv")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe.csv").read_bytes()))
    reader.start()
    write_answers(tmp_path / "pipe.csv", answers(None, np.arange(9)))
    reader.join(timeout=PATIENCE)
    assert got == [buffer.getvalue()]
    assert (tmp_path / "pipe.csv").is_fifo()
    write_answers("/dev/null", answers(None, np.arange(9)), form="parquet")


def test_forms_by_suffix():
    assert [output_form(f"x.{s}") for s in ("CSV", "ndjson", "pq", "npz")] == [
        "csv",
        "jsonl",
        "parquet",
        "npz",
    ]
    with pytest.raises(InvalidArgument, match="files that end in .csv, .jsonl, .* got 'hits.xls'"):
        output_form("hits.xls")
    with pytest.raises(InvalidArgument, match="form must be one of csv, jsonl"):
        write_answers("x.csv", [], form="xls")
