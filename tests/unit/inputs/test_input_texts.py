"""Strings, molecules and time series from files of text, their names, and pipes."""

import io
import itertools
import sys

import numpy as np
import pytest

from fastmks import Index, InvalidArgument, kernels
from fastmks.inputs import FORMS, open_objects, read_names
from support.reading import in_chunks, read


class TestText:
    def test_lines_are_strings_empty_ones_too(self, tmp_path):
        (tmp_path / "x.txt").write_bytes("one\r\n\r\nthrée\nfour".encode())
        assert read(tmp_path / "x.txt").objects == ["one", "", "thrée", "four"]

    def test_numbers_are_lines_where_strings_are_wanted(self, tmp_path):
        (tmp_path / "x.txt").write_text("12\n13\n")
        assert read(tmp_path / "x.txt", kind="strings").objects == ["12", "13"]
        assert read(tmp_path / "x.txt", form="lines").objects == ["12", "13"]
        assert read(tmp_path / "x.txt").objects.tolist() == [[12.0], [13.0]]

    def test_fasta_is_known_by_its_first_letter(self, tmp_path):
        (tmp_path / "x.txt").write_text("\n>P1 a protein\nMKV\nLAA\n>P2\nMLV\n")
        assert read(tmp_path / "x.txt") == (["MKVLAA", "MLV"], ["P1", "P2"])
        assert [ids for _, ids in in_chunks(tmp_path / "x.txt", chunk=1)] == [["P1"], ["P2"]]

    def test_names_may_be_repeated_in_a_stream_only(self, tmp_path):
        (tmp_path / "x.fa").write_text(">P1\nMKV\n>P1\nMLV\n")
        assert len(in_chunks(tmp_path / "x.fa", chunk=1)) == 2
        with pytest.raises(
            InvalidArgument, match="x.fa, line 3: the name 'P1' was given on line 1"
        ):
            read(tmp_path / "x.fa", chunk=None)
        assert read(tmp_path / "x.fa", chunk=None, has_ids=False).ids is None

    @pytest.mark.parametrize("suffix", [f".{form}" for form in ("csv", "smi", "fa", "txt", "ts")])
    def test_what_is_no_text_is_named_with_its_line(self, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        start = {".fa": b">P1\n", ".smi": b"CCO\n", ".ts": b"@data\n"}.get(suffix, b"1\n")
        path.write_bytes(start + b"\xff\xfe\n")
        with pytest.raises(InvalidArgument, match=rf"x\{suffix}, line 2: not text in UTF-8"):
            read(path)

    def test_bytes_of_no_known_form(self, tmp_path):
        (tmp_path / "x.bin").write_bytes(b"\x00\x01\x02")
        with pytest.raises(InvalidArgument, match="no known format"):
            read(tmp_path / "x.bin")

    @pytest.mark.parametrize("form", [None, *FORMS])
    def test_empty_files(self, tmp_path, form):
        (tmp_path / "x").write_bytes(b"")
        with pytest.raises(InvalidArgument, match="x is empty"):
            read(tmp_path / "x", form=form)

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize(
        "content", [b"\n", b"\x93NUMPY", b"PAR1", b"ARROW1", b"PK\x03\x04", b"@data"]
    )
    def test_files_of_another_form_end_in_an_error_that_names_them(self, tmp_path, form, content):
        (tmp_path / "x").write_bytes(content)
        if form == "lines" and content.isascii():
            assert len(read(tmp_path / "x", form=form).objects) == 1
            return
        with pytest.raises(InvalidArgument, match=str(tmp_path / "x")):
            read(tmp_path / "x", form=form)

    def test_an_unknown_form(self, tmp_path):
        with pytest.raises(InvalidArgument, match="form must be one of arrow, csv, .*; got 'xls'"):
            open_objects(tmp_path / "x", form="xls")

    @pytest.mark.parametrize("kind", [None, "strings"])
    @pytest.mark.parametrize("n", [70_000, 200_000, 20_000_000])
    def test_lines_may_be_longer_than_what_is_looked_at(self, tmp_path, kind, n):
        lines = ["a" * n, "b,1", "c" * n]
        (tmp_path / "x").write_text("\n".join(lines))
        assert read(tmp_path / "x", kind=kind).objects == lines


class TestMolecules:
    def test_names_and_fingerprints(self, tmp_path):
        (tmp_path / "x.smi").write_text("CCO ethanol\nc1ccccc1\tbenzene of coal\n\nCCN\n")
        bits, names = read(tmp_path / "x.smi")
        assert names == ["ethanol", "benzene of coal", "CCN"]
        assert bits.shape == (3, 256)
        from rdkit import Chem
        from rdkit.Chem import rdFingerprintGenerator

        morgan = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
        query = morgan.GetFingerprint(Chem.MolFromSmiles("CCO"))
        hits = Index(bits, kernels.Tanimoto(), ids=names).search([query])
        assert (hits.ids[0, 0], hits.values[0, 0]) == ("ethanol", 1.0)

    def test_without_names_and_with_a_header(self, tmp_path):
        (tmp_path / "x.smi").write_text("SMILES\nCCO\nCCN\n")
        assert read(tmp_path / "x.smi", bits=64, radius=0).objects.shape == (2, 8)
        assert read(tmp_path / "x.smi").ids is None

    def test_a_bad_molecule_is_named_and_nothing_else_is_said(self, tmp_path, capfd):
        (tmp_path / "x.smi").write_text("CCO\nC1CC\n")
        with pytest.raises(InvalidArgument, match=r"x.smi, line 2: RDKit cannot read .* 'C1CC'"):
            read(tmp_path / "x.smi")
        assert capfd.readouterr().err == ""

    def test_bits_fill_bytes(self, tmp_path):
        (tmp_path / "x.smi").write_text("CCO\n")
        with pytest.raises(InvalidArgument, match="multiple of 8, .*; got 100"):
            read(tmp_path / "x.smi", bits=100)


class TestSeries:
    HEADER = "# from an archive\n@problemName X\n@timeStamps false\n@classLabel true a b\n@data\n"

    def test_ts_of_one_channel_and_of_several(self, tmp_path):
        (tmp_path / "x.ts").write_text(self.HEADER + "1,2,3:a\n4,5:b\n")
        assert [one.tolist() for one in read(tmp_path / "x.ts").objects] == [[1, 2, 3], [4, 5]]
        (tmp_path / "x.ts").write_text(self.HEADER + "1,2:3,4:a\n")
        assert read(tmp_path / "x.ts").objects[0].tolist() == [[1, 3], [2, 4]]

    def test_tsv_of_the_archive_drops_labels_and_padding(self, tmp_path):
        (tmp_path / "X_TRAIN.tsv").write_text("1\t0.5\t1.5\tNaN\n-1\t2\t3\t4\n")
        series = read(tmp_path / "X_TRAIN.tsv").objects
        assert [one.tolist() for one in series] == [[0.5, 1.5], [2, 3, 4]]
        assert len(Index(series, kernels.GlobalAlignment(1.0))) == 2

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (HEADER + "1,?,3:a\n", "line 6: number 2 of the series is ?; fill gaps"),
            (HEADER + "1,x:a\n", "line 6: a series is made of numbers"),
            (HEADER + "1,2:3:a\n", "line 6: channels of one series must have one length; got 2, 1"),
            (HEADER + "(0,1),(1,2):a\n", "line 6: series with time stamps are not read"),
            (HEADER + "NaN,NaN:a\n", "line 6: the series holds no number"),
            ("@problemName X\n1,2\n", "line 2: series come after a line '@data'"),
            ("@problemName X\n", "has no line '@data'"),
            (HEADER, "holds no objects"),
        ],
        ids=range(8),
    )
    def test_what_is_wrong_is_named(self, tmp_path, text, words):
        (tmp_path / "x.ts").write_text(text)
        with pytest.raises(InvalidArgument) as error:
            read(tmp_path / "x.ts")
        assert words in str(error.value)
        assert "x.ts" in str(error.value)


class TestNames:
    def test_numbers_only_where_all_are_written_as_such(self):
        assert read_names(["1", "-2"]).tolist() == [1, -2]
        for odd in (["1", "01"], ["1", "1.0"], ["1", " 2"], ["1", str(2**63)], ["٣"]):
            assert list(read_names(odd)) == odd

    def test_as_the_index_has_them(self):
        assert read_names(["1", "2"], is_text=True) == ["1", "2"]
        assert read_names(np.array([1, 2]), is_text=True) == ["1", "2"]
        with pytest.raises(InvalidArgument, match="whole numbers, .*; got 'x'"):
            read_names(["1", "x"], is_text=False)


def test_all_of_a_long_pipe_is_read_whatever_the_pieces(monkeypatch):
    lines = [f"line {i}" for i in range(50_000)]

    class Dripping(io.BytesIO):
        sizes = itertools.cycle([1, 7, 5000])

        def read1(self, size=-1):
            return super().read1(min(size, next(self.sizes)))

    content = Dripping("\n".join(lines).encode())
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": content})())
    assert read("-", chunk=999).objects == lines
