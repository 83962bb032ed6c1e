"""Objects from files: every form, whole and in chunks, plain and compressed, good and bad."""

import gzip
import io
import itertools
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import feather, ipc, parquet

from fastmks import Index, InvalidArgument, kernels
from fastmks.inputs import FORMS, open_objects, read_names

X = np.random.default_rng(7).normal(size=(11, 3))
NAMES = [f"n{i}" for i in range(len(X))]


def read(path, **options):
    with open_objects(path, **options) as file:
        return file.read()


def in_chunks(path, **options):
    with open_objects(path, **options) as file:
        return list(file)


def dense(objects):
    return objects.toarray() if sp.issparse(objects) else objects


def write_npy(path):
    np.save(path, X)


def write_fortran(path):
    np.save(path, np.asfortranarray(X))


def write_npz(path):
    np.savez(path, vectors=X, ids=np.array(NAMES))


def write_packed_npz(path):
    np.savez_compressed(path, X)


def write_sparse(path):
    sp.save_npz(path, sp.csc_matrix(X))


def write_csv(path):
    pd.DataFrame(X, index=NAMES).to_csv(path)


def write_plain_csv(path):
    np.savetxt(path, X, delimiter=",", fmt="%.17g")


def write_text(path):
    np.savetxt(path, X, fmt="%.17g")


def write_parquet(path):
    frame = pd.DataFrame(X, columns=list("xyz"))
    frame.insert(1, "id", NAMES)
    frame.to_parquet(path, row_group_size=4)


def write_lists(path):
    feather.write_feather(pa.table({"name": NAMES, "v": X.tolist()}), path, compression="lz4")


def write_arrow_stream(path):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


VECTORS = {
    "npy": (write_npy, "x.npy", None),
    "fortran": (write_fortran, "x.npy", None),
    "npz": (write_npz, "x.npz", NAMES),
    "packed npz": (write_packed_npz, "x.npz", None),
    "sparse": (write_sparse, "x.npz", None),
    "csv": (write_csv, "x.csv", NAMES),
    "plain csv": (write_plain_csv, "x.csv", None),
    "text": (write_text, "x.txt", None),
    "parquet": (write_parquet, "x.parquet", NAMES),
    "lists": (write_lists, "x.feather", NAMES),
    "arrow stream": (write_arrow_stream, "x.arrows", None),
}


@pytest.fixture(params=VECTORS)
def vectors(request, tmp_path):
    write, name, ids = VECTORS[request.param]
    write(tmp_path / name)
    return tmp_path / name, ids


class TestVectors:
    def test_all_bits_and_ids(self, vectors):
        path, ids = vectors
        objects, names = read(path)
        assert np.array_equal(dense(objects), X)
        assert names is None if ids is None else list(names) == ids

    @pytest.mark.parametrize("chunk", [1, 4, 11, 100])
    def test_chunks_are_of_one_size_and_make_the_whole(self, vectors, chunk):
        path, ids = vectors
        chunks = in_chunks(path, chunk=chunk)
        sizes = [part.objects.shape[0] for part in chunks]
        assert sizes == [min(chunk, 11 - begin) for begin in range(0, 11, chunk)]
        assert np.array_equal(np.concatenate([dense(part.objects) for part in chunks]), X)
        if ids is not None:
            assert [name for part in chunks for name in part.ids] == ids

    def test_gzip_under_any_name(self, vectors, tmp_path):
        path, ids = vectors
        packed = tmp_path / f"{path.name}.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        objects, names = read(packed, chunk=4)
        assert np.array_equal(dense(objects), X)
        assert names is None if ids is None else list(names) == ids

    def test_standard_input(self, vectors, monkeypatch):
        path, ids = vectors
        content = io.BytesIO(path.read_bytes())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
        objects, names = read("-")
        assert np.array_equal(dense(objects), X)
        assert names is None if ids is None else list(names) == ids
        assert not content.closed

    def test_content_counts_more_than_the_suffix(self, vectors, tmp_path):
        path, _ = vectors
        if path.suffix in (".csv", ".txt"):
            other = path.rename(tmp_path / "x.unknown")
        else:
            other = path.rename(tmp_path / "x.csv")
        assert np.array_equal(dense(read(other).objects), X)

    def test_a_damaged_file_is_named(self, vectors):
        path, _ = vectors
        content = path.read_bytes()
        path.write_bytes(
            content[: content.index(b"\n", len(content) // 2) - 30]
            if path.suffix in (".csv", ".txt")
            else content[: len(content) // 2]
        )
        with pytest.raises(InvalidArgument, match=path.name):
            read(path)

    def test_a_damaged_gzip_file_is_named(self, vectors):
        path, _ = vectors
        packed = gzip.compress(path.read_bytes() * 1)
        path.write_bytes(packed[:-9])
        with pytest.raises(InvalidArgument, match=rf"{path.name}.*gzip file is damaged"):
            read(path)


class TestNumpyFiles:
    def test_float32_and_integers_keep_their_type(self, tmp_path):
        for dtype in (np.float32, np.int16, np.uint8, np.bool_):
            np.save(tmp_path / "x.npy", X.astype(dtype))
            assert read(tmp_path / "x.npy").objects.dtype == dtype

    def test_strings_and_series(self, tmp_path):
        np.save(tmp_path / "s.npy", np.array(["MKV", "ML"]))
        assert read(tmp_path / "s.npy").objects == ["MKV", "ML"]
        np.save(tmp_path / "t.npy", np.zeros((4, 5, 2)))
        with open_objects(tmp_path / "t.npy") as file:
            assert (file.kind, file.n_objects) == ("series", 4)

    @pytest.mark.parametrize(
        ("array", "words"),
        [
            (np.array([1.0, 2.0]), r"shape \(1, n\)"),
            (np.array(3.0), "one object a row"),
            (np.zeros((2, 2, 2, 2)), "at most 3 axes"),
            (np.array([[1j]]), "must hold numbers"),
            (np.zeros(2, dtype=[("a", float)]), "must hold numbers"),
        ],
        ids=range(5),
    )
    def test_other_arrays_are_refused(self, tmp_path, array, words):
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(InvalidArgument, match=words):
            read(tmp_path / "x.npy")

    def test_no_pickle_is_opened(self, tmp_path):
        np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object))
        with pytest.raises(InvalidArgument, match="must hold numbers"):
            read(tmp_path / "x.npy")

    def test_a_header_that_promises_too_much_takes_no_memory(self, tmp_path):
        buffer = io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 1000)}
        np.lib.format.write_array_header_1_0(buffer, header)
        (tmp_path / "x.npy").write_bytes(buffer.getvalue() + bytes(80))
        with pytest.raises(InvalidArgument, match="x.npy is cut"):
            read(tmp_path / "x.npy", chunk=None)

    def test_several_arrays_need_a_choice(self, tmp_path):
        np.savez(tmp_path / "x.npz", train=X, test=2 * X)
        with pytest.raises(InvalidArgument, match="holds the arrays train, test"):
            read(tmp_path / "x.npz")
        assert np.array_equal(read(tmp_path / "x.npz", columns=["test"]).objects, 2 * X)

    def test_ids_must_be_as_many(self, tmp_path):
        np.savez(tmp_path / "x.npz", X, ids=np.arange(3))
        with pytest.raises(InvalidArgument, match="for each of the 11 objects; got 3"):
            read(tmp_path / "x.npz")
        assert read(tmp_path / "x.npz", has_ids=False).ids is None

    def test_a_zip_file_that_is_none(self, tmp_path):
        (tmp_path / "x.npz").write_bytes(b"PK\x03\x04" + bytes(100))
        with pytest.raises(InvalidArgument, match="x.npz is no .npz file"):
            read(tmp_path / "x.npz")


class TestColumns:
    def write(self, tmp_path, **columns):
        parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
        return tmp_path / "x.parquet"

    def test_numbers_of_ids_stay_numbers(self, tmp_path):
        path = self.write(tmp_path, id=[7, 5], x=[1.0, 2.0])
        assert read(path).ids.tolist() == [7, 5]
        assert read(path, has_ids=False).ids is None
        assert read(path, has_ids=False).objects.tolist() == [[1.0], [2.0]]
        assert read(path, columns=["id", "x"]).objects.tolist() == [[7.0, 1.0], [5.0, 2.0]]

    def test_one_column_of_text_is_strings(self, tmp_path):
        path = self.write(tmp_path, id=[1, 2], sequence=["MKV", "ML"])
        with open_objects(path) as file:
            assert file.kind == "strings"
            assert file.read().objects == ["MKV", "ML"]

    def test_smiles_where_fingerprints_are_wanted(self, tmp_path):
        path = self.write(tmp_path, id=[1, 2], smiles=["CCO", "CCN"])
        assert read(path, kind="fingerprints", bits=64).objects.shape == (2, 8)

    def test_columns_of_one_name(self, tmp_path):
        table = pa.table([[1.0], [2.0]], names=["x", "x"])
        parquet.write_table(table, tmp_path / "x.parquet")
        with pytest.raises(InvalidArgument, match="different names"):
            read(tmp_path / "x.parquet")

    def test_chosen_columns(self, tmp_path):
        path = self.write(tmp_path, a=[1.0, 2.0], b=["x", "y"], c=[5, 6])
        assert read(path, columns=["c", "a"], id_column="b").objects.tolist() == [[5, 1], [6, 2]]

    @pytest.mark.parametrize(
        ("columns", "options", "words"),
        [
            ({"x": [1.0, None]}, {}, "row 2, column 'x': the value is missing"),
            ({"x": [1.0], "y": ["a"]}, {}, "the column 'y' holds string"),
            ({"v": [[1.0], [1.0, 2.0]]}, {}, "row 2, column 'v': vectors have as many numbers"),
            ({"x": [1.0]}, {"columns": ["z"]}, "columns must name columns of .*; got 'z'"),
            ({"x": [1.0]}, {"id_column": "x"}, "no column beside that of ids"),
            ({"x": [1.5], "y": [1.0]}, {"id_column": "x"}, "ids are whole numbers or strings"),
        ],
        ids=range(6),
    )
    def test_what_is_wrong_is_named(self, tmp_path, columns, options, words):
        path = self.write(tmp_path, **columns)
        with pytest.raises(InvalidArgument, match=words) as error:
            read(path, **options)
        assert "x.parquet" in str(error.value)


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
        with pytest.raises(InvalidArgument, match="no form that is known here"):
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
            (HEADER + "1,2:3:a\n", "line 6: channels of one series must be as long; got 2, 1"),
            (HEADER + "(0,1),(1,2):a\n", "line 6: series with time stamps are not read"),
            (HEADER + "NaN,NaN:a\n", "line 6: the series holds no number"),
            ("@problemName X\n1,2\n", "line 2: series come behind a line '@data'"),
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
