"""Files of records: what is written comes back, and what is damaged is told so."""

import errno
import json
import os
import sys
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors import safe_open

from fastmks import IndexFileError, InvalidArgument
from fastmks._util.progress import Progress
from fastmks.files import container
from fastmks.files.container import from_bytes, open_record, to_bytes, write_record
from fastmks.files.record import Record, nest

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64"),
]
BLOCK = 1 << 20


def small_record():
    return Record(
        {"kind": "test", "n": 3, "share": 0.1, "words": ["é", '"', "\ud800", None, True]},
        {"b": np.arange(5, dtype=np.float32), "a": np.array([[True, False]]), "empty": np.ones(0)},
    )


def large_record(n_bytes=5 * BLOCK + 12345):
    numbers = np.random.default_rng(0).integers(0, 256, size=n_bytes, dtype=np.uint8)
    return Record({"size": n_bytes}, {"bytes": numbers})


def assert_same(record, expected):
    assert dict(record.facts) == dict(expected.facts)
    assert sorted(record.arrays) == sorted(expected.arrays)
    for name, array in expected.arrays.items():
        found = record.arrays[name]
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.shape == array.shape
        assert found.tobytes() == np.asarray(array, found.dtype).tobytes()
        assert not found.flags.writeable


@pytest.fixture(params=["map", "read", "bytes"])
def round_trip(request, tmp_path):
    """Write a record and read it, in each of the ways there are."""

    def go(record):
        if request.param == "bytes":
            return from_bytes(to_bytes(record))
        write_record(tmp_path / "file", record)
        opened = open_record(tmp_path / "file", mmap=request.param == "map")
        assert opened.is_verified == (request.param == "read")
        opened.verify()
        assert opened.is_verified
        return opened.record

    return go


class TestRoundTrip:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_every_dtype(self, round_trip, dtype):
        array = np.arange(-3, 70).astype(dtype)
        record = Record({}, {"x": array, "y": array.reshape(1, -1, 1), "z": array[:0]})
        assert_same(round_trip(record), record)

    def test_facts(self, round_trip):
        record = nest(
            {"store": small_record()}, {"big": 2**62, "deep": [[[{"a": []}]]], "f": 5e-324}
        )
        assert_same(round_trip(record), record)

    def test_what_was_read_can_be_written_again(self, round_trip):
        outer = nest({"inner": round_trip(small_record())})
        assert_same(round_trip(outer).part("inner"), small_record())

    @pytest.mark.parametrize("shape", [(), (0,), (0, 5), (5, 0, 2), (1, 1, 1, 1), (1,) * 32])
    def test_shapes(self, round_trip, shape):
        record = Record({}, {"x": np.ones(shape), "y": np.ones(shape, dtype=np.uint8)})
        assert_same(round_trip(record), record)

    def test_nothing(self, round_trip):
        assert_same(round_trip(Record()), Record())

    @pytest.mark.parametrize("n_bytes", [BLOCK - 512, BLOCK, 2 * BLOCK, 40 * BLOCK + 1])
    def test_many_blocks(self, round_trip, n_bytes):
        record = large_record(n_bytes)
        assert_same(round_trip(record), record)

    def test_arrays_however_they_lie_in_memory(self, round_trip):
        x = np.arange(600_000, dtype=np.float64).reshape(1000, 600)
        ways = {
            "transposed": x.T,
            "strided": x[::3, ::-2],
            "one row": x[:, 5][None, :],
            "column": np.asfortranarray(x),
            "broadcast": np.broadcast_to(np.float32(7), (300, 200)),
            "big-endian": x.astype(">f8"),
            "big-endian strided": x.astype(">i4")[:, ::7],
            "axes": x.reshape(10, 100, 600).transpose(1, 2, 0),
        }
        record = Record({}, ways)
        assert_same(round_trip(record), record)

    def test_equal_records_make_equal_files(self, tmp_path):
        record = small_record()
        shuffled = Record(
            dict(reversed(record.facts.items())), dict(reversed(record.arrays.items()))
        )
        assert to_bytes(record) == to_bytes(shuffled)
        write_record(tmp_path / "file", record)
        assert (tmp_path / "file").read_bytes() == to_bytes(record)

    @pytest.mark.parametrize("mmap", [True, False])
    def test_arrays_begin_at_multiples_of_64(self, tmp_path, mmap):
        arrays = {f"{n}": np.ones(n, dtype=np.uint8) for n in range(130)}
        write_record(tmp_path / "file", Record({}, arrays))
        found = open_record(tmp_path / "file", mmap=mmap).record.arrays
        assert all(array.ctypes.data % 64 == 0 for array in found.values())
        found = from_bytes(to_bytes(Record({}, arrays))).arrays
        assert all(array.ctypes.data % 64 == 0 for array in found.values())

    def test_arrays_outlive_their_container(self, tmp_path):
        write_record(tmp_path / "file", large_record())
        array = open_record(tmp_path / "file", mmap=True).record.arrays["bytes"]
        (tmp_path / "file").unlink()
        assert np.array_equal(array, large_record().arrays["bytes"])

    @pytest.mark.parametrize(
        "arrays", [{"~x": np.ones(1)}, {"__metadata__": np.ones(1)}, {"x": np.ones(1, complex)}]
    )
    def test_what_the_format_has_no_place_for(self, arrays, tmp_path):
        with pytest.raises(InvalidArgument, match="array"):
            write_record(tmp_path / "file", Record({}, arrays))
        assert not list(tmp_path.iterdir())

    def test_big_endian_machines_are_refused(self, monkeypatch, tmp_path):
        data = to_bytes(small_record())
        monkeypatch.setattr(container.sys, "byteorder", "big")
        for use in (
            lambda: write_record(tmp_path / "file", small_record()),
            lambda: from_bytes(data),
            lambda: open_record(tmp_path / "file", mmap=True),
        ):
            with pytest.raises(NotImplementedError, match="little-endian"):
                use()


class TestSafetensors:
    @pytest.mark.parametrize("record", [small_record(), large_record(), Record()])
    def test_the_library_reads_what_we_write(self, tmp_path, record):
        write_record(tmp_path / "file", record)
        found = safetensors.numpy.load_file(tmp_path / "file")
        for name, array in record.arrays.items():
            assert found[name].dtype == array.dtype
            assert np.array_equal(found[name], array)
        assert all(name in record.arrays or name.startswith("~") for name in found)
        with safe_open(tmp_path / "file", "np") as file:
            assert file.metadata()["format"] == "fastmks"
            assert json.loads(file.metadata()["facts"]) == dict(record.facts)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_of_every_dtype(self, tmp_path, dtype):
        write_record(tmp_path / "file", Record({}, {"x": np.arange(3).astype(dtype)}))
        found = safetensors.numpy.load_file(tmp_path / "file")["x"]
        assert found.dtype == dtype
        assert np.array_equal(found, np.arange(3).astype(dtype))

    def test_other_files_of_the_library_are_told(self, tmp_path):
        safetensors.numpy.save_file({"x": np.ones(3)}, tmp_path / "file")
        with pytest.raises(IndexFileError, match="safetensors file of something else"):
            open_record(tmp_path / "file", mmap=True)


def check_refused(path, data):
    """No part of it may be taken for the record, mapped or read or from bytes."""
    path.write_bytes(data)
    with pytest.raises(IndexFileError):
        open_record(path, mmap=True).verify()
    with pytest.raises(IndexFileError):
        open_record(path, mmap=False)
    with pytest.raises(IndexFileError):
        from_bytes(data)


class TestDamage:
    def test_every_length_that_is_too_short(self, tmp_path):
        data = to_bytes(small_record())
        for length in range(len(data)):
            check_refused(tmp_path / "file", data[:length])

    def test_something_appended(self, tmp_path):
        check_refused(tmp_path / "file", to_bytes(small_record()) + b"\0")

    def test_every_bit(self, tmp_path):
        data = bytearray(to_bytes(small_record()))
        for at in range(len(data)):
            for bit in range(8):
                data[at] ^= 1 << bit
                if bit == at % 8:
                    check_refused(tmp_path / "file", bytes(data))
                with pytest.raises(IndexFileError):
                    from_bytes(bytes(data))
                data[at] ^= 1 << bit
        from_bytes(bytes(data))

    @pytest.mark.parametrize("threads", [1, 2, 5])
    @pytest.mark.parametrize("blocks", [(1,), (38, 17, 39), (40,)])
    def test_the_first_damaged_block_is_named(self, tmp_path, threads, blocks):
        data = bytearray(to_bytes(large_record(40 * BLOCK + 777)))
        for block in blocks:
            data[block * BLOCK + 5] ^= 16
        (tmp_path / "file").write_bytes(data)
        opened = open_record(tmp_path / "file", mmap=True)
        begin = min(blocks) * BLOCK
        for _ in range(2):
            with pytest.raises(IndexFileError, match=f"file is damaged: its bytes {begin} to "):
                opened.verify(threads=threads)
            assert not opened.is_verified
        with pytest.raises(IndexFileError, match=f"file is damaged: its bytes {begin} to "):
            open_record(tmp_path / "file", mmap=False)

    def test_a_file_that_gets_shorter_while_it_is_read(self, tmp_path, monkeypatch):
        write_record(tmp_path / "file", large_record())
        cut = container._check_blocks

        def cut_first(*args, **kwargs):
            os.truncate(tmp_path / "file", 3 * BLOCK)
            cut(*args, **kwargs)

        monkeypatch.setattr(container, "_check_blocks", cut_first)
        with pytest.raises(IndexFileError, match="has become shorter while it was read"):
            open_record(tmp_path / "file", mmap=False)

    def test_a_file_that_gets_shorter_before_it_is_mapped(self, tmp_path, monkeypatch):
        write_record(tmp_path / "file", large_record())
        read_layout = container.read_layout

        def cut_after(*args):
            layout = read_layout(*args)
            os.truncate(tmp_path / "file", 3 * BLOCK)
            return layout

        monkeypatch.setattr(container, "read_layout", cut_after)
        with pytest.raises(IndexFileError, match="has become shorter while it was read"):
            open_record(tmp_path / "file", mmap=True)

    def test_bools_that_are_neither(self, tmp_path):
        data = bytearray(to_bytes(Record({}, {"x": np.array([True])})))
        header = 8 + int.from_bytes(data[:8], "little")
        data[header] = 2
        data = seal(bytes(data[8:header]), bytes(data[header:-8]))
        (tmp_path / "file").write_bytes(data)
        opened = open_record(tmp_path / "file", mmap=True)
        for read in (
            opened.verify,
            lambda: open_record(tmp_path / "file", mmap=False),
            lambda: from_bytes(data),
        ):
            with pytest.raises(IndexFileError, match="'x' of .* has bools that are neither"):
                read()


def seal(header, data):
    """Return a file with checksums that fit, whatever its header says. For less than a block."""
    header += b" " * (-(8 + len(header)) % 64)
    text = len(header).to_bytes(8, "little") + header + data
    own = zlib.crc32(text).to_bytes(4, "little")
    return text + own + zlib.crc32(own).to_bytes(4, "little")


def take_apart(data):
    begin = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:begin]), data[begin:-8]


def with_header(change):
    """Return a file whose header was changed, with checksums that fit."""
    header, data = take_apart(to_bytes(small_record()))
    header = change(header) or header
    return seal(header if isinstance(header, bytes) else json.dumps(header).encode(), data)


def set_entry(name, key, value):
    def change(header):
        header[name][key] = value

    return change


NUMBERS = (
    st.integers(-3, 300)
    | st.sampled_from([2**31, 2**62, 2**63, 2**64, 2**70, -(2**63), 10**30, 64, 128, 0])
    | st.sampled_from([0.0, 5.0, 1e300, True, False, None, "5", [], [5]])
)
VALUES = st.one_of(
    NUMBERS,
    st.lists(NUMBERS, max_size=4),
    st.lists(st.sampled_from([0, 2**62, 2**63, 2**33]), min_size=1, max_size=40),
    st.sampled_from(["F32", "F64", "U8", "I64", "BOOL", "C64", "F16", "BF16", "O", ""]),
    st.dictionaries(st.text(max_size=3), NUMBERS, max_size=2),
)


class TestHostileHeaders:
    def test_what_the_helpers_make_is_a_file(self):
        assert_same(from_bytes(with_header(lambda header: None)), small_record())

    @given(
        name=st.sampled_from(["a", "b", "empty", "~checksums", "~pad1"]),
        key=st.sampled_from(["dtype", "shape", "data_offsets", "more"]),
        value=VALUES,
    )
    @example(name="empty", key="shape", value=[0, 2**62, 2**62])
    @example(name="empty", key="shape", value=[0, 2**70])
    @example(name="empty", key="shape", value=[0] + [1] * 40)
    @example(name="a", key="shape", value=[2**40, 2**40])
    @example(name="b", key="data_offsets", value=[0, 20])
    @example(name="b", key="data_offsets", value=[2**63, 2**63 + 20])
    @example(name="a", key="shape", value=[True, 2])
    def test_entries_that_lie(self, name, key, value):
        data = with_header(set_entry(name, key, value))
        tracemalloc.start()
        try:
            record = from_bytes(data)
        except IndexFileError:
            pass
        else:  # other shapes or types of as many bytes are possible
            assert sum(array.nbytes for array in record.arrays.values()) == 22
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 1_000_000

    @given(value=VALUES, key=st.sampled_from(["format", "version", "facts"]))
    def test_metadata_that_lie(self, key, value):
        with pytest.raises(IndexFileError):
            from_bytes(with_header(set_entry("__metadata__", key, value)))

    @given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
    @example(b"[" * 100_000)
    @example(b'{"a":' * 100_000)
    @example(b'{"x": NaN}')
    @example(b"{}")
    @example(b"\xff\xfe{\0}\0")
    @example(b'{"a": ' + b"9" * 5000 + b"}")
    def test_headers_of_anything(self, header):
        for text in (header, b"{" + header):
            with pytest.raises(IndexFileError):
                from_bytes(seal(text, b""))

    @given(st.text(max_size=100))
    @example("[" * 100_000)
    @example("1")
    @example('{"a": 1, "a": 2}')
    @example('{"a": Infinity}')
    @example("")
    @example("{")
    def test_facts_that_are_no_json_object(self, facts):
        with pytest.raises(IndexFileError):
            from_bytes(with_header(set_entry("__metadata__", "facts", facts)))

    @pytest.mark.parametrize("name", ["__metadata__", "a", "~checksums"])
    def test_what_is_missing(self, name):
        with pytest.raises(IndexFileError):
            from_bytes(with_header(lambda header: {k: header[k] for k in header if k != name}))

    @pytest.mark.parametrize("name", ["__metadata__", "a", "~checksums"])
    def test_what_is_there_twice(self, name):
        def repeat(header):
            text = json.dumps(header)
            return f"{text[:-1]}, {json.dumps(name)}: {json.dumps(header[name])}}}".encode()

        with pytest.raises(IndexFileError, match="a name occurs twice"):
            from_bytes(with_header(repeat))

    def test_another_order(self):
        with pytest.raises(IndexFileError, match="wrong entry for"):
            from_bytes(with_header(lambda header: dict(sorted(header.items(), reverse=True))))

    @pytest.mark.parametrize("length", [2**63, 2**64 - 1, (64 << 20) + 1, 1000])
    def test_a_header_of_any_length(self, length, tmp_path):
        data = length.to_bytes(8, "little") + b"{}" + bytes(54)
        check_refused(tmp_path / "file", data)

    def test_facts_too_long_for_a_header(self):
        with pytest.raises(InvalidArgument, match="facts must fit in"):
            to_bytes(Record({"x": "x" * (64 << 20)}))

    def test_what_a_later_version_adds_may_stay_unknown(self):
        def add(header):
            header["__metadata__"]["more"] = "text"

        assert_same(from_bytes(with_header(add)), small_record())


class TestOtherFiles:
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "file is empty"),
            (b"abc", "it has 3 bytes only"),
            (b"PK\x03\x04" + bytes(90), "it is a zip archive"),
            (b"\x93NUMPY\x01\x00" + bytes(90), "it is a numpy array"),
            (b"\x80\x04\x95" + bytes(90), "it may be a pickle"),
            (b"\x1f\x8b\x08" + bytes(90), "it is compressed with gzip"),
            (b"a,b,c\n1,2,3\n", "it begins with b'a,b,c"),
            (bytes(1000), "it begins with b'.x00"),
        ],
    )
    def test_the_message_says_what_it_can_tell(self, tmp_path, data, message):
        (tmp_path / "file").write_bytes(data)
        for mmap in (True, False):
            with pytest.raises(IndexFileError, match=message):
                open_record(tmp_path / "file", mmap=mmap)

    @pytest.mark.parametrize("version", ["0", "2", "7", "01", "1.0", "", "one"])
    def test_another_version(self, version):
        with pytest.raises(IndexFileError, match=f"is of version {version} of the format; this"):
            from_bytes(with_header(set_entry("__metadata__", "version", version)))

    def test_cut(self, tmp_path):
        data = to_bytes(large_record())
        (tmp_path / "file").write_bytes(data[:-1000])
        message = f"is cut: it has {len(data) - 1000} bytes, its header says {len(data)}"
        with pytest.raises(IndexFileError, match=message):
            open_record(tmp_path / "file", mmap=True)

    def test_errors_of_the_system_stay_what_they_are(self, tmp_path, monkeypatch):
        with pytest.raises(FileNotFoundError, match="file"):
            open_record(tmp_path / "file", mmap=True)
        with pytest.raises(IsADirectoryError, match=str(tmp_path)):
            open_record(tmp_path, mmap=True)

        def refuse(path, *args):
            raise PermissionError(errno.EACCES, "Permission denied", path)

        with monkeypatch.context() as patch:
            patch.setattr(container.os, "open", refuse)  # root may open everything
            with pytest.raises(PermissionError, match="file"):
                open_record(tmp_path / "file", mmap=True)

        def fail(*args):
            raise OSError(errno.EIO, "Input/output error")

        write_record(tmp_path / "file", small_record())
        monkeypatch.setattr(container.os, "preadv", fail)
        with pytest.raises(OSError, match="Input/output error.*file"):
            open_record(tmp_path / "file", mmap=True)

    def test_a_pipe_does_not_block(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(IndexFileError, match="not a regular file"):
            open_record(tmp_path / "pipe", mmap=True)


def count_open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


class TestOpening:
    def test_reads_the_first_block_and_the_checksums_only(self, tmp_path, monkeypatch):
        write_record(tmp_path / "file", large_record(50 * BLOCK))
        read = []
        pread = os.pread
        monkeypatch.setattr(
            container.os, "pread", lambda *a: (read.append((a[2], a[1])), pread(*a))[1]
        )
        open_record(tmp_path / "file", mmap=True)
        assert sum(length for _, length in read) < BLOCK + 2000
        assert all(begin < BLOCK or begin >= 50 * BLOCK for begin, _ in read)

    def test_leaves_no_file_open(self, tmp_path):
        write_record(tmp_path / "file", large_record())
        before = count_open_files()
        read = open_record(tmp_path / "file", mmap=False)
        assert count_open_files() == before
        mapped = open_record(tmp_path / "file", mmap=True)
        kept = 0 if sys.version_info >= (3, 13) else 1  # the map's own
        assert count_open_files() == before + kept
        del read, mapped
        (tmp_path / "file").write_bytes(b"not ours")
        for mmap in (True, False):
            with pytest.raises(IndexFileError):
                open_record(tmp_path / "file", mmap=mmap)
        assert count_open_files() == before

    def test_verifies_once_and_from_any_thread(self, tmp_path, monkeypatch):
        write_record(tmp_path / "file", large_record())
        opened = open_record(tmp_path / "file", mmap=True)
        checks = []
        check = container._check_blocks
        monkeypatch.setattr(
            container, "_check_blocks", lambda *a, **k: (checks.append(1), check(*a, **k))[1]
        )
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: opened.verify(), range(8)))
        assert opened.is_verified
        assert checks == [1]

    @pytest.mark.parametrize("threads", [1, 2])
    def test_verifying_can_be_stopped_and_started_again(self, tmp_path, monkeypatch, threads):
        write_record(tmp_path / "file", large_record(40 * BLOCK))
        opened = open_record(tmp_path / "file", mmap=True)
        is_whole = container.Layout.is_whole
        seen = []

        def press(layout, number, data):
            seen.append(number)
            if number == 3:
                raise KeyboardInterrupt
            return is_whole(layout, number, data)

        with monkeypatch.context() as patch:
            patch.setattr(container.Layout, "is_whole", press)
            with pytest.raises(KeyboardInterrupt):
                opened.verify(threads=threads)
        assert not opened.is_verified
        opened.verify(threads=threads)
        assert opened.is_verified

    def test_shows_progress_where_asked(self, tmp_path, capsys):
        write_record(tmp_path / "file", large_record())
        open_record(tmp_path / "file", mmap=True).verify(progress=Progress(True))
        assert "100%" in capsys.readouterr().err
