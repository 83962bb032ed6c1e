"""Vectors from files: every form, whole and in chunks, plain and compressed, good and bad."""

import contextlib
import gzip
import io
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import feather, ipc, parquet

from fastmks import InvalidArgument
from fastmks.inputs import open_objects
from support.reading import in_chunks, read

X = np.random.default_rng(7).normal(size=(11, 3))
NAMES = [f"n{i}" for i in range(len(X))]


def dense(objects):
    return objects.toarray() if sp.issparse(objects) else objects


def write_sparse(path):
    sp.save_npz(path, sp.csc_matrix(X))


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
    "npy": (lambda path: np.save(path, X), "x.npy", None),
    "fortran": (lambda path: np.save(path, np.asfortranarray(X)), "x.npy", None),
    "npz": (lambda path: np.savez(path, vectors=X, ids=np.array(NAMES)), "x.npz", NAMES),
    "packed npz": (lambda path: np.savez_compressed(path, X), "x.npz", None),
    "sparse": (write_sparse, "x.npz", None),
    "csv": (pd.DataFrame(X, index=NAMES).to_csv, "x.csv", NAMES),
    "plain csv": (lambda path: np.savetxt(path, X, delimiter=",", fmt="%.17g"), "x.csv", None),
    "text": (lambda path: np.savetxt(path, X, fmt="%.17g"), "x.txt", None),
    "parquet": (write_parquet, "x.parquet", NAMES),
    "lists": (write_lists, "x.feather", NAMES),
    "arrow stream": (write_arrow_stream, "x.arrows", None),
}


@pytest.fixture(params=VECTORS)
def vectors(request, tmp_path):
    write, name, ids = VECTORS[request.param]
    write(tmp_path / name)
    return tmp_path / name, ids


@pytest.mark.parametrize(
    ("form", "indices", "indptr"),
    [
        ("csr", [0, 1], [0, 10**9, 2]),
        ("csr", [0, 1], [0, -(10**9), 2]),
        ("csr", [0, 10**9], [0, 1, 2]),
        ("csc", [0, 10**9], [0, 1, 2, 2]),
        ("csc", [0, -(10**9)], [0, 1, 2, 2]),
        ("csc", [0, 1], [0, 10**9, 2, 2]),
    ],
)
def test_places_outside_of_a_sparse_matrix(tmp_path, form, indices, indptr):
    """scipy follows them out of its memory, which ends the process."""
    path = tmp_path / "x.npz"
    np.savez(path, indices=indices, indptr=indptr, data=[1.0, 2.0], shape=[2, 3], format=form)
    with pytest.raises(InvalidArgument, match=r"x\.npz is no sparse matrix"):
        read(path, chunk=1)


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


@pytest.mark.parametrize(
    "name", sorted(set(VECTORS) - {"arrow stream"})
)  # which may ask for all memory
def test_whatever_bytes_are_wrong_the_worst_is_an_error_that_names_the_file(tmp_path, name):
    write, file, _ = VECTORS[name]
    path = tmp_path / file
    write(path)
    good, rng = path.read_bytes(), np.random.default_rng(23)
    n_refused = 0
    for _ in range(60):
        bad = bytearray(good)
        for at in rng.integers(0, len(bad), size=3):
            bad[at] = rng.integers(0, 256)
        path.write_bytes(bad)
        with contextlib.suppress(InvalidArgument), named(path):
            read(path, chunk=4)
            n_refused -= 1
        n_refused += 1
    assert n_refused > 0


@contextlib.contextmanager
def named(path):
    try:
        yield
    except InvalidArgument as error:
        if path.name not in str(error):
            raise AssertionError(f"{error} does not name {path}") from error
        raise


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

    @pytest.mark.parametrize(
        ("descr", "shape", "words"),
        [
            ("'<f8'", "(1000000000000, 0)", "at least one number or character; got .* <f8"),
            ("'<f8'", "(2, 3, 0)", "at least one number or character"),
            ("'<f8'", "(True, 3)", r"is no .npy file \(an array of shape \(True, 3\)"),
            ("'<f8'", "(-2, -3)", r"is no .npy file \(an array of shape \(-2, -3\)"),
            ("'<f8'", "(-1, 3)", "is no .npy file"),
            ("'<f8'", "(" * 3000 + "2" + ")" * 3000, "is no .npy file"),
            ("'<f8'", "(2, 4)", "is cut: it ends 16 bytes too early"),
            ("'<f8'", f"({10**30}, 3)", "is cut"),
            ("'<U0'", "(2,)", "at least one number or character; got .* <U0"),
            ("'|S0'", "(2,)", "at least one number or character"),
            ("'<U6'", "(2,)", "Unicode characters; got one with the code 4294967295"),
            ("'>U6'", "(2,)", "Unicode characters"),
            ("'<U99999999999'", "(2,)", "is no .npy file|is cut"),
            ("'|O'", "(2, 3)", "must hold numbers"),
            ("('<f8',)", "(2,)", "is no .npy file"),
            ("('<f8', -1)", "(2,)", "is no .npy file"),
            ("[()]", "(2,)", "is no .npy file"),
            ("None, 1: 2", "(2, 3)", "is no .npy file"),
            ("'<f8'}\\n  x\\n y", "(2, 3)", "is no .npy file"),
        ],
        ids=range(19),
    )
    @pytest.mark.parametrize("chunk", [1, None])
    def test_odd_headers_are_errors_that_name_the_file(self, tmp_path, descr, shape, words, chunk):
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        begin = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header
        (tmp_path / "x.npy").write_bytes(begin + b"\xff" * 48)
        with pytest.raises(InvalidArgument, match=words) as error:
            read(tmp_path / "x.npy", chunk=chunk)
        assert "x.npy" in str(error.value)
        with zipfile.ZipFile(tmp_path / "y.npz", "w") as archive:
            archive.writestr("a.npy", begin + b"\xff" * 48)
        with pytest.raises(InvalidArgument, match=words) as error:
            read(tmp_path / "y.npz", chunk=chunk)
        assert "y.npz, array 'a'" in str(error.value)

    def test_a_sparse_matrix_that_promises_too_much(self, tmp_path):
        write_sparse(tmp_path / "x.npz")
        with np.load(tmp_path / "x.npz") as found:
            arrays = {name: array for name, array in found.items() if name != "data"}
        buffer = io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
        np.lib.format.write_array_header_1_0(buffer, header)
        np.savez(tmp_path / "x.npz", **arrays)
        with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
            archive.writestr("data.npy", buffer.getvalue())
        with pytest.raises(InvalidArgument, match=r"x\.npz is no sparse matrix"):
            read(tmp_path / "x.npz")

    def test_several_arrays_need_a_choice(self, tmp_path):
        np.savez(tmp_path / "x.npz", train=X, test=2 * X)
        with pytest.raises(InvalidArgument, match=r"arrays train, test: .* columns=\['train'\]\.$"):
            read(tmp_path / "x.npz")
        assert np.array_equal(read(tmp_path / "x.npz", columns=["test"]).objects, 2 * X)

    def test_what_was_seen_is_known(self, tmp_path):
        np.savez(tmp_path / "x.npz", X, ids=np.arange(11))
        np.save(tmp_path / "series.npy", np.ones((2, 3, 4)))
        with open_objects(tmp_path / "x.npz") as file:
            seen = file.n_columns, file.has_header, file.ids_from
        assert seen == (X.shape[1], None, "the array 'ids'")
        with open_objects(tmp_path / "series.npy") as file:
            assert (file.n_columns, file.ids_from) == (None, None)

    @pytest.mark.parametrize(
        ("array", "words"),
        [
            (np.array([{}, 1], dtype=object), "Objects of Python are not read: save numbers"),
            (np.array([1.0, 2.0]), "save array.reshape"),
            (np.array([1j, 2j]), "of complex128.$"),
        ],
    )
    def test_the_way_out_is_that_of_the_type(self, tmp_path, array, words):
        np.save(tmp_path / "x.npy", array, allow_pickle=True)
        with pytest.raises(InvalidArgument, match=words) as error:
            read(tmp_path / "x.npy")
        assert ("reshape" in str(error.value)) == (array.dtype.kind == "f")

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
            ({"v": [[1.0], [1.0, 2.0]]}, {}, "column 'v', row 2: vectors have as many numbers"),
            ({"x": [1.0]}, {"columns": ["z"]}, "columns must name columns of .*; got 'z'"),
            ({"x": [1.0]}, {"id_column": "x"}, "no column but that of ids"),
            ({"x": [1.5], "y": [1.0]}, {"id_column": "x"}, "ids are whole numbers or strings"),
        ],
        ids=range(6),
    )
    def test_what_is_wrong_is_named(self, tmp_path, columns, options, words):
        path = self.write(tmp_path, **columns)
        with pytest.raises(InvalidArgument, match=words) as error:
            read(path, **options)
        assert "x.parquet" in str(error.value)
