"""FASTA files, good and bad."""

import gzip
import io

import pytest

from fastmks import Fasta, Index, InvalidArgument, read_fasta
from fastmks.kernels import Spectrum

TEXT = ">sp|P1|A first\r\nMKV LAA\r\n\r\nGGG\r\n; a comment\r\n>P2\r\n>P3 x\r\nMKVL"


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.fasta"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def test_plain_and_gzip_read_the_same(write):
    want = Fasta(["sp|P1|A", "P2", "P3"], ["MKVLAAGGG", "", "MKVL"])
    assert read_fasta(write(TEXT)) == want
    assert read_fasta(str(write(gzip.compress(TEXT.encode()), "named_anything"))) == want


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_way_to_end_a_line_and_a_byte_order_mark(write, end):
    text = end.join([">P1 first", "MKV", "LAA", ">P2", "MLV", ""])
    want = Fasta(["P1", "P2"], ["MKVLAA", "MLV"])
    assert read_fasta(write(text)) == want
    assert read_fasta(write(b"\xef\xbb\xbf" + text.encode())) == want


def test_ids_name_the_objects_of_an_index(write):
    ids, sequences = read_fasta(write(TEXT))
    hits = Index(sequences, Spectrum(3), ids=ids).search(["MKV"], 2)
    assert hits.ids.tolist() == [["sp|P1|A", "P3"]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "has no sequences"),
        ("; nothing\n\n", "has no sequences"),
        ("\nMKV\n>P1\n", "x.fasta, line 2: a FASTA file begins with a line '>name'; got 'MKV'"),
        (">P1\nMKV\n> \nMKV", "x.fasta, line 3: a name must follow '>'"),
        (">P1\nMKV\n>P1 again\nMKV", "line 3: the name 'P1' was given on line 1 already"),
        (b">P1\n\xff\xfe\n", "line 2: not text in UTF-8"),
        (gzip.compress(TEXT.encode())[:-12], "the gzip file is damaged"),
        (gzip.compress(b"")[:6], "the gzip file is damaged"),
    ],
    ids=range(8),
)
def test_bad_files_are_named_with_the_line(write, content, words):
    with pytest.raises(InvalidArgument) as error:
        read_fasta(write(content))
    assert words in str(error.value)


def test_open_files_are_read_from_where_they_stand(write):
    want = Fasta(["sp|P1|A", "P2", "P3"], ["MKVLAAGGG", "", "MKVL"])
    packed = write(gzip.compress(TEXT.encode()), "x.gz")
    for file in (
        write(TEXT).open(),
        write(TEXT).open("rb"),
        packed.open("rb"),
        gzip.GzipFile(packed),
        io.TextIOWrapper(gzip.GzipFile(packed)),
        io.StringIO(TEXT),
        io.BytesIO(TEXT.encode()),
    ):
        with file:
            assert read_fasta(file) == want
            assert not file.closed
    rest = io.StringIO("a heading\n>P1\nMKV\n")
    rest.readline()
    assert read_fasta(rest) == Fasta(["P1"], ["MKV"])


def test_faults_of_open_files_are_named(write):
    with pytest.raises(InvalidArgument, match="the open file, line 1: a FASTA file begins"):
        read_fasta(io.StringIO("MKV"))
    with (
        write(b">P1\n\xff\n").open(encoding="utf-8") as file,
        pytest.raises(InvalidArgument, match=r"x.fasta: not text in utf-8.*as bytes"),
    ):
        read_fasta(file)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (None, "path must be the name of a file, a path or an open file; got None"),
        (b"x.fasta", "got b'x.fasta'"),
        (3, "got 3"),
        ([">P1", "MKV"], "path must be the name of a file"),
        (">P1\nMKV\n", r"got the text of one. Pass io.StringIO\(text\)"),
    ],
    ids=repr,
)
def test_what_is_no_file_is_refused(path, words):
    with pytest.raises(InvalidArgument, match=words):
        read_fasta(path)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_fasta(tmp_path / "none.fasta")
