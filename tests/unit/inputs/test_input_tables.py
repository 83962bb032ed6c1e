"""Tables of text: what is between fields, headers, ids, chosen columns, and bad fields."""

import csv
import gzip
import io
import tracemalloc

import pytest

from fastmks import InvalidArgument
from fastmks.inputs import open_objects


@pytest.fixture
def read(tmp_path):
    def read(text, name="x.csv", **options):
        path = tmp_path / name
        path.write_text(text)
        with open_objects(path, **options) as file:
            return file.read()

    return read


@pytest.mark.parametrize("between", [",", "\t", ";", "|", " ", "   "])
@pytest.mark.parametrize("header", [None, ["a", "b"], ["id", "b"]])
def test_what_is_between_fields_is_seen(read, between, header):
    rows = [["1", "2.5"], ["3", "-4e-3"]]
    lines = [between.join(row) for row in ([header] if header else []) + rows]
    vectors, ids = read("\n".join(lines) + "\n")
    if header and header[0] == "id":
        assert ids == ["1", "3"]
        assert vectors.tolist() == [[2.5], [-0.004]]
    else:
        assert ids is None
        assert vectors.tolist() == [[1.0, 2.5], [3.0, -0.004]]


@pytest.mark.parametrize(
    ("text", "vectors", "ids"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]], None),
        ("a,1\nb,2\n", [[1], [2]], ["a", "b"]),
        ("name,x\na,1\nb,2\n", [[1], [2]], ["a", "b"]),
        ("ID,x\n5,1\n6,2\n", [[1], [2]], ["5", "6"]),
        (",0,1\n0,1,2\n1,3,4\n", [[1, 2], [3, 4]], ["0", "1"]),
        ("id,0,1\na,1,2\n", [[1, 2]], ["a"]),
        ("x\n1\n2\n", [[1], [2]], None),
        ("item_id,x,y\n17,1,2\n23,3,4\n", [[1, 2], [3, 4]], ["17", "23"]),
        ("1\n2\n", [[1], [2]], None),
        ('"a, b",1\n"c ""d""",2\n', [[1], [2]], ["a, b", 'c "d"']),
        ("a,1,2\n", [[1, 2]], ["a"]),
        ("\ufeffa,b\r\n1,2\r\n\r\n3,4", [[1, 2], [3, 4]], None),
        (" 1 , 2 \n", [[1, 2]], None),
    ],
    ids=range(13),
)
def test_headers_and_ids(read, text, vectors, ids):
    found = read(text)
    assert found.objects.tolist() == vectors
    assert found.ids == ids


def test_what_is_seen_can_be_overruled(read):
    text = "id,x\n1,2\n3,4\n"
    assert read(text, has_ids=False).objects.tolist() == [[2], [4]]
    assert read(text, has_ids=False).ids is None
    assert read(text, id_column="x").ids == ["2", "4"]
    assert read(text, id_column="2").ids == ["2", "4"]
    assert read(text, columns=["x", "id"], has_ids=False).objects.tolist() == [[2, 1], [4, 3]]
    assert read("1,2\n3,4\n", header=True).objects.tolist() == [[3, 4]]
    assert read("1,2\n3,4\n", id_column="1").ids == ["1", "3"]
    assert read("1;2\n", form="csv", name="x").objects.tolist() == [[1, 2]]


def test_columns_of_text_where_strings_are_wanted(read):
    text = "id,name,note\n1,ann,x\n2,bob,y\n"
    assert read(text, kind="strings", columns=["name"]) == (["ann", "bob"], ["1", "2"])
    smiles = read("smiles,id\nCCO,e\nCCN,a\n", kind="fingerprints", id_column="id")
    assert smiles.objects.shape == (2, 256)
    assert smiles.ids == ["e", "a"]


def test_zeros_and_ones_are_bits_where_fingerprints_are_wanted(read):
    assert read("1,0\n0,1\n", kind="fingerprints").objects.dtype == bool


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            "a,b\n1,2\n3,x\n",
            {},
            "line 3, column 2 (b): vectors are made of finite numbers; got 'x'",
        ),
        ("1,2\n3,\n", {}, "line 2, column 2: vectors are made of finite numbers; got an empty"),
        ("1,2\n3,nan\n", {}, "line 2, column 2: vectors are made of finite numbers; got 'nan'"),
        ("1,2\n3,1e999\n", {}, "line 2, column 2: vectors are made of finite numbers; got '1e999'"),
        ("1,2\n3,1_0\n", {}, "line 2, column 2: vectors are made of finite numbers; got '1_0'"),
        ("1,2\n3,4,5\n", {}, "line 2: 3 fields, where the first line has 2"),
        ('1,2\n"3,4\n', {}, "line 2: a quote that this row opens is not closed"),
        ("a,b\n", {}, "holds no objects: there are no rows below its header (a, b)."),
        ("id,x\n", {"header": True}, "holds no objects: there are no rows below its header"),
        ("a\n", {}, "there are no rows below its header (a)"),
        ("a,b\n", {"columns": ["b"], "kind": "strings"}, "there are no rows below its header"),
        ("a,b\n", {"header": False}, "line 1, column 2: vectors are made of"),
        ("id,x\n1,2\n", {"id_column": "y"}, "it has id, x; got 'y'"),
        ("id,x\n1,2\n", {"id_column": "3"}, "or number them from 1 to 2"),
        ("id,x\n1,2\n", {"columns": ["q"]}, "columns must name columns of"),
    ],
    ids=range(15),
)
def test_what_is_wrong_is_named_with_line_and_column(read, text, options, words):
    with pytest.raises(InvalidArgument) as error:
        read(text, **options)
    assert words in str(error.value)
    assert "x.csv" in str(error.value)


def test_lines_are_counted_through_chunks_and_quoted_line_ends(read):
    rows = ['"two\nlines",1'] + [f"row{i},{i}" for i in range(9000)] + ["last,oops"]
    with pytest.raises(InvalidArgument, match="line 9003, column 2: .* got 'oops'"):
        read("\n".join(rows), chunk=1000)


def test_ids_of_a_stream_may_turn_into_numbers_later(read):
    rows = [f"n{i},{i}" for i in range(60)] + ["61,61"]
    assert read("\n".join(rows)).ids[-2:] == ["n59", "61"]


@pytest.mark.parametrize("first", ["1,", "NA,2", "1.2.3,5", "0x10,1", ",2"])
def test_a_first_row_with_something_wrong_in_it_is_no_header(read, first):
    with pytest.raises(InvalidArgument, match="line 1"):
        read(f"{first}\n3,4\n5,6\n")


@pytest.mark.parametrize("n", [9_000, 30_000, 200_000])
@pytest.mark.parametrize("header", [True, False])
def test_rows_may_be_longer_than_what_is_looked_at(read, n, header):
    names = ["id", *(f"c{i}" for i in range(n))]
    rows = [[f"n{row}", *(f"{i}.5" for i in range(n))] for row in range(3)]
    vectors, ids = read("".join(",".join(row) + "\n" for row in ([names] if header else []) + rows))
    assert ids == ["n0", "n1", "n2"]
    assert vectors.shape == (3, n)


TEXTS = ["two\nlines", "a\r\nb", "c\rd", "\n", "\n\nend\n", 'x "y"\n, z', "plain", "  \n  "]


def table_of(rows, between=",", end="\n"):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=between, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue().encode()


class TestEndsOfLinesWithinQuotes:
    @pytest.fixture
    def read(self, tmp_path):
        def read(content, name="x.csv", **options):
            (tmp_path / name).write_bytes(content)
            with open_objects(tmp_path / name, **options) as file:
                chunks = list(file)
            return [o for c in chunks for o in c.objects], [i for c in chunks for i in c.ids]

        return read

    @pytest.mark.parametrize("chunk", [1, 3, None])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("between", [",", "\t", ";", "|", " "])
    def test_strings_are_kept(self, read, between, end, chunk):
        rows = [["id", "the\ntext"], *([f"n{i}", text] for i, text in enumerate(TEXTS))]
        content = table_of(rows, between, end)
        options = {"kind": "strings", "columns": ["the\ntext"], "chunk": chunk}
        want = TEXTS, [f"n{i}" for i in range(len(TEXTS))]
        assert read(content, **options) == want
        assert read(gzip.compress(content), **options) == want

    @pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x"])
    def test_ids_are_kept(self, read, name):
        between = "\t" if name == "x.tsv" else ","
        content = table_of([[text, i, 2 * i] for i, text in enumerate(TEXTS[:-1])], between)
        vectors, ids = read(content, name, chunk=2)
        assert ids == TEXTS[:-1]
        assert [vector.tolist() for vector in vectors] == [[i, 2.0 * i] for i in range(7)]

    def test_more_lines_than_are_looked_at(self, read):
        long = "line\n" * 500
        rows = [["id", "text"], *([f"n{i}", f"{long}{i}"] for i in range(100))]
        options = {"kind": "strings", "columns": ["text"], "chunk": 7}
        assert read(table_of(rows), **options)[0] == [f"{long}{i}" for i in range(100)]

    def test_rows_are_called_by_their_first_line(self, read):
        rows = [["a\nb\nc", "1"], ["d\ne", "oops"]]
        with pytest.raises(InvalidArgument, match="line 4, column 2: .* got 'oops'"):
            read(table_of(rows))
        with pytest.raises(InvalidArgument, match="line 4: 3 fields"):
            read(table_of([rows[0], ["d\ne", "1", "2"]]))

    @pytest.mark.parametrize("chunk", [1, None])
    def test_a_quote_that_is_not_closed_is_where_it_opens(self, read, chunk):
        content = b'"a\nb",1\nc,2\n"d,3\n' + b"e,4\n" * 1000
        with pytest.raises(InvalidArgument, match="line 4: a quote that this row opens is not"):
            read(content, chunk=chunk)

    def test_a_quote_that_is_not_closed_takes_no_memory(self, read):
        content = b'a,1\n"b,2\n' + b"c,3\n" * 2_000_000
        tracemalloc.start()
        with pytest.raises(InvalidArgument, match="line 2: a field of this row has more than 131"):
            read(content)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 4 * 2**20


@pytest.mark.parametrize(
    ("name", "between"),
    [("x.csv", "\t"), ("x.csv", ";"), ("x.csv", "|"), ("x.csv", " "), ("x", "\t"), ("x", ";")],
)
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["1,5 2,5", "3,5 4"], "line 1, column 1: .* got '1,5'"),
        (["x y", "1,5 2", "3,5 4"], r"line 2, column 1 \(x\): .* got '1,5'.* as in 1.5, or say"),
        (["1 -2,5", "3,5 4"], "line 1, column 2: .* got '-2,5'"),
        (["x y", "1,5 2,5"], r"line 2, column 1 \(x\): .* got '1,5'"),
        (["id x", "a 1.002,5"], r"line 2, column 2 \(x\): .* got '1.002,5'.* as in 1002.5"),
        (["a 1,5 2,5", "b 2,5 1"], "line 1, column 2: .* got '1,5'"),
        (["1,5 2,5 3"] * 3, "column 1: .* got '1,5'"),
        (["1 2", "3 4,25e-3"], "line 2, column 2: .* got '4,25e-3'"),
        (["x y", "1 1,234,567.5"], r"column 2 \(y\): .* got '1,234,567.5'.* as in 1234567.5\."),
    ],
    ids=range(9),
)
def test_decimal_commas_are_called_so(read, name, between, rows, words):
    with pytest.raises(InvalidArgument, match=words) as error:
        read("\n".join(rows).replace(" ", between), name)
    assert "Commas are no decimal points: save the table with points" in str(error.value)


def test_commas_in_quotes_are_decimal_commas_too(read):
    with pytest.raises(InvalidArgument, match="got '2,5'. Commas are no decimal points"):
        read('x,y\n1,"2,5"\n')
    with pytest.raises(InvalidArgument, match=r"line 1, .* got '1,234'.* 1.234 or 1234, or say"):
        read('"1,234",5\n"2,345",6\n')
    with pytest.raises(InvalidArgument, match="line 2, .* got '1,5'. Commas are no decimal points"):
        read('name,x\n"1,5",2\n')


def test_ids_with_commas_are_ids_where_that_is_said(read):
    assert read('name,x\n"1,5",2\n', id_column="name").ids == ["1,5"]
    assert read('id,x\n"1,5",2\n').ids == ["1,5"]
    assert read('name,x\n"1,5 mm",2\n').ids == ["1,5 mm"]


@pytest.mark.parametrize(
    ("text", "options", "seen"),
    [
        ("1,2\n3,4\n", {}, (2, False, None)),
        ("x,y\n1,2\n", {}, (2, True, None)),
        ("a,1,2\n", {}, (2, False, "column 1")),
        ("id,x\n1,2\n", {}, (1, True, "column 1 'id'")),
        ("id,x\n1,2\n", {"has_ids": False}, (1, True, None)),
        ("x,y,z\n1,2,3\n", {"id_column": "z", "columns": ["y"]}, (1, True, "column 3 'z'")),
        ("id,name\n1,ann\n", {"kind": "strings"}, (None, True, "column 1 'id'")),
    ],
    ids=range(7),
)
def test_what_was_seen_is_known(tmp_path, text, options, seen):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with open_objects(path, **options) as file:
        assert (file.n_columns, file.has_header, file.ids_from) == seen
