"""Headers of numbers: which first lines of tables are names, objects, or either."""

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fastmks import InvalidArgument, load
from fastmks.cli import run
from fastmks.inputs import open_objects

OPEN = r"the first line \(.*\) may be a header or an object. Pass header=True if .* header=False if"
RNG = np.random.default_rng(3)
REALS = RNG.normal(size=(30, 4))
PIXELS = RNG.integers(0, 5, size=(30, 64))
CITIES = [f"city{'abcdefghij'[i % 10]}{'abc'[i // 10]}" for i in range(30)]


@pytest.fixture
def read(tmp_path):
    def read(text, name="x.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with open_objects(path, **options) as file:
            return file.has_header, *file.read()

    return read


@pytest.mark.parametrize("between", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("array", [REALS, PIXELS, REALS[:1], REALS.astype(np.float32)])
def test_what_pandas_writes_of_columns_without_names(read, array, between, packed):
    text = pd.DataFrame(array).to_csv(index=False, sep=between).encode()
    has_header, vectors, ids = read(gzip.compress(text) if packed else text)
    assert has_header
    assert ids is None
    assert np.array_equal(vectors, array.astype(np.float64).round(12)) or np.allclose(
        vectors, array, rtol=1e-6
    )


@pytest.mark.parametrize("names", [None, range(2019, 2023), [0.0, 1.0, 2.0, 3.0]])
@pytest.mark.parametrize("index", [range(30), CITIES, range(100, 130)])
@pytest.mark.parametrize("called", [None, "id", "name", "Unnamed: 0", "sku"])
def test_an_index_that_pandas_wrote_is_ids(read, names, index, called):
    """Where it is not seen, it is an error that asks, and an answer helps: never an object."""
    frame = pd.DataFrame(REALS, index=index, columns=names)
    text = frame.to_csv(index_label=called)
    try:
        _, vectors, ids = read(text)
    except InvalidArgument:
        _, vectors, ids = read(text, header=True, id_column=called or "")
    assert ids == [str(name) for name in index]
    assert np.array_equal(vectors, REALS)


@pytest.mark.parametrize(
    ("text", "first", "ids"),
    [
        ("name,2019,2020,2021\nann,1,2,3\nbob,3,4,5\n", [1, 2, 3], ["ann", "bob"]),
        ("country,2019,2020,2021\nfr,7,5,5\nde,1,4,8\n", [7, 5, 5], ["fr", "de"]),
        ("country,2021,2020\nfr,7,5\n", [7, 5], ["fr"]),
        ("name,1,2\nann,5,6\n", [5, 6], ["ann"]),
        ("sku,2019\nA,5\nB,6\n", [5], ["A", "B"]),
        ("city,0,1\nRome,0.5,1.5\n", [0.5, 1.5], ["Rome"]),
        (",2019,2020\nann,1,2\n", [1, 2], ["ann"]),
        ("Unnamed: 0,0,1\n0,1,2\n1,3,4\n", [1, 2], ["0", "1"]),
        ('"2019","2020"\n5,7\n', [5, 7], None),
        ('"a","12"\n"b",1\n', [1], ["b"]),
        ("0,1,2\nA,0.5,1\nB,0.7,2\n", [0.5, 1], ["A", "B"]),
    ],
)
def test_headers_of_numbers(read, text, first, ids):
    has_header, vectors, found = read(text)
    assert has_header
    assert vectors[0].tolist() == first
    assert found == ids


@pytest.mark.parametrize(
    "text",
    [
        "0,1,2\n5,6,7\n",
        "0,1,2\n3,4,5\n",  # as numpy counts
        "0,1\n1,0\n",
        "0,1,2,3,4,5,6\n1,0,2,3,4,6,5\n",  # permutations
        "0,1\n0.5,1\n1,0.5\n",
        "0\n1.5\n2.5\n",
        "0\n1\n2\n",
        "0,1,2\n",
        "0.0,1.0,2.0\n0.5,0.7,0.8\n",
        "2019,2020\n5,7\n",
        "2000,2010,2021\n0.5,1.5,2.5\n",
        "1,2,3\n4,5,7\n",
        "1,2,3\n0.5,0.25,0.75\n",
        "400.5,401,401.5,402,402.5,403\n.1,.2,.1,.3,.2,.2\n",
        "ann,0,1\nbob,1,0\n",
        "city,0\nRome,7\n",
        "city,2019\nRome,7\n",
        "city,10,20,30\nRome,7,7,5\n",
        "key,5,9,7\nann,1,2,3\n",
    ],
)
def test_where_it_is_open_the_caller_is_asked(read, text):
    with pytest.raises(InvalidArgument, match=OPEN):
        read(text)
    n_lines = text.count("\n")
    if n_lines > 1:
        assert len(read(text, header=True)[1]) == n_lines - 1
    assert len(read(text, header=False)[1]) == n_lines


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3\n4,5,6\n",
        "1,2\n3,4\n",
        "0.0,1.0\n1.0,0.0\n",
        "0.0,1.0,2.0\n3.0,4.0,5.0\n",
        "1,0\n0,1\n",
        "5\n0.5\n",
        "0,0,1\n1,2,1\n",
        "0,1\n",
        "2019,2020,2021\n2022,2023,2024\n",
        "3,1,2\n0.5,1.5,2.5\n",
        "a,1,2\nb,3,4\n",
        "n0,0\nn1,1\nn2,5\n",
        "A1,2019,2020\nA2,1,2\n",
        "the,0.25,0.5,0.75\nof,1,2,5\n",
        "name,0.5,7\nann,1,2\n",
    ],
)
def test_first_rows_that_are_objects(read, text):
    has_header, vectors, _ = read(text)
    assert not has_header
    assert len(vectors) == text.count("\n")


def test_text_below_numbers(read):
    assert read("0\nhello\nworld\n", kind="strings")[:2] == (True, ["hello", "world"])
    options = {"kind": "strings", "columns": ["2"]}
    assert read("0,1\nA1,red\nB1,blue\n", **options) == (True, ["red", "blue"], ["A1", "B1"])
    with pytest.raises(InvalidArgument, match=OPEN):
        read("0\n123\n7\n", kind="strings")
    with pytest.raises(InvalidArgument, match=OPEN):
        read("ann,0\nbob,red\n", kind="strings")


def test_columns_may_be_asked_for_by_names_that_are_numbers(read):
    text = "2019,2020\n17,1\n23,5\n"
    assert read(text, columns=["2020"])[1].tolist() == [[1], [5]]
    assert read(text, id_column="2019", columns=["2020"])[2] == ["17", "23"]
    with pytest.raises(InvalidArgument, match=OPEN):
        read(text, columns=["2"])


@pytest.mark.parametrize("options", [{"id_column": "1"}, {"columns": ["2", "3"]}])
def test_text_above_numbers_in_a_column_that_is_no_vector(read, options):
    """The name of the column of ids was an id, and the years were an object."""
    with pytest.raises(InvalidArgument, match=OPEN):
        read("town,2019,2020\n17,1,2\n23,3,5\n", **options)
    assert read("town,2019,2020\n17,1,2\n", header=True, **options)[1].tolist() == [[1, 2]]


@pytest.mark.parametrize("text", ["x,2019\n1,2\n", "2019,total\n1,2\n", "name,1,all\nann,1,2\n"])
def test_a_first_line_with_text_that_cannot_be_read_says_how_to_call_it_a_header(read, text):
    with pytest.raises(InvalidArgument, match=r"line 1, .* \(header=True\)"):
        read(text)
    with pytest.raises(InvalidArgument) as error:
        read(text, header=False)
    assert "header=" not in str(error.value)


def test_series_of_an_archive_have_no_header(read):
    text = "0\t1\t2\t3\n1\t0.5\t0.7\t0.8\n"
    with pytest.raises(InvalidArgument, match=OPEN):
        read(text, "x_TRAIN.tsv")
    assert [one.tolist() for one in read(text, "x_TRAIN.tsv", header=True)[1]] == [[0.5, 0.7, 0.8]]
    assert len(read(text, "x_TRAIN.tsv", header=False)[1]) == 2


class TestCommands:
    def test_an_error_in_one_line_names_the_options(self, failing):
        Path("n.csv").write_text("0,1,2,3,4\n5,5,7,1,2\n1,2,3,4,9\n")
        said = "fastmks: error: n.csv: the first line (0, 1, 2, 3, 4) may be a header or an object."
        way_out = "Pass --header if it names the columns, --no-header if it is an object."
        assert run(["build", "x.npy", "-o", "x.fmks"]) == 0
        for line in ("build n.csv -o n.fmks", "hardness n.csv", "bench n.csv", "add x.fmks n.csv"):
            assert failing(line) == (1, f"{said} {way_out}")
        for line in ("search x.fmks n.csv", "explain x.fmks n.csv"):
            assert failing(line) == (1, f"{said} {way_out}")
            assert run([*line.split(), "--header"]) == 0
            assert run([*line.split(), "--no-header"]) == 0

    @pytest.mark.parametrize(("option", "n"), [("--header", 2), ("--no-header", 3)])
    def test_options_decide_and_what_was_understood_is_said(self, folder, capfd, option, n):
        Path("n.csv").write_text("0,1\n1,0\n1,1\n")
        assert run(f"build n.csv -o n.fmks {option}".split()) == 0
        assert len(load("n.fmks")) == n
        said = "with header" if n == 2 else "without header"
        assert f"read as csv {said}, no ids" in capfd.readouterr().err

    def test_standard_input(self, folder, capfd, monkeypatch):
        text = pd.DataFrame(REALS).to_csv(index=False)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert run(["build", "-", "-o", "n.fmks"]) == 0
        assert "vectors of 4 columns, read as csv with header, no ids" in capfd.readouterr().err
        assert np.array_equal(load("n.fmks").get([0]), REALS[:1])
