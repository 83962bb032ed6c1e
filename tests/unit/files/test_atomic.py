"""A file is replaced as a whole or not at all: errors, full disks, kills, leftovers."""

import errno
import os
import stat
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from test_container import BLOCK, assert_same, large_record, small_record

from fastmks.files import atomic as replacing
from fastmks.files.atomic import replace_file
from fastmks.files.container import open_record, write_record
from fastmks.files.record import Record
from support.programs import run_python


class StopError(Exception):
    pass


def stopping_pieces(error):
    yield b"new" * 1000
    raise error


class TestReplacing:
    @pytest.mark.parametrize(
        "error", [KeyboardInterrupt(), StopError(), OSError(errno.ENOSPC, "full")]
    )
    @pytest.mark.parametrize("is_there", [True, False])
    def test_whatever_goes_wrong_leaves_the_old_file_and_nothing_else(
        self, tmp_path, error, is_there
    ):
        path = tmp_path / "file"
        if is_there:
            path.write_bytes(b"old")
        with pytest.raises(type(error)) as caught:
            replace_file(path, stopping_pieces(error))
        if isinstance(error, OSError):
            assert caught.value.filename == str(path)
        assert [p.name for p in tmp_path.iterdir()] == ["file"][:is_there]
        assert not is_there or path.read_bytes() == b"old"

    def test_a_full_disk(self, tmp_path):
        """A limit on the size of files stands in for it: the error comes from the same call."""
        write_record(tmp_path / "file", small_record())
        result = run_python(FULL, tmp_path / "file")
        assert result.stdout.split() == ["OSError", str(errno.EFBIG), str(tmp_path / "file")]
        assert [p.name for p in tmp_path.iterdir()] == ["file"]
        assert_same(open_record(tmp_path / "file", mmap=False).record, small_record())

    @pytest.mark.parametrize(
        ("make", "error"),
        [
            (lambda folder: folder / "no folder" / "file", FileNotFoundError),
            (lambda folder: folder / "a file" / "file", NotADirectoryError),
            (lambda folder: folder / "a folder", IsADirectoryError),
            (lambda folder: folder / ("x" * 300), OSError),
            (lambda folder: folder / "loop", OSError),
            (lambda folder: Path("/dev/null"), OSError),
            (lambda folder: Path("/proc/file"), OSError),
        ],
    )
    def test_where_nothing_can_be_written(self, tmp_path, make, error):
        (tmp_path / "a file").write_bytes(b"")
        (tmp_path / "a folder").mkdir()
        (tmp_path / "loop").symlink_to("loop")
        before = sorted(tmp_path.iterdir())
        path = make(tmp_path)
        with pytest.raises(error) as caught:
            write_record(path, small_record())
        assert caught.value.filename == str(path)
        assert sorted(tmp_path.iterdir()) == before
        assert Path("/dev/null").is_char_device()

    def test_the_longest_names_will_do(self, tmp_path):
        path = tmp_path / ("x" * 255)
        write_record(path, small_record())
        write_record(path, large_record())
        assert_same(open_record(path, mmap=True).record, large_record())

    def test_a_link_stays_a_link(self, tmp_path):
        (tmp_path / "folder").mkdir()
        link, file = tmp_path / "link", tmp_path / "folder" / "file"
        link.symlink_to(file)
        for record in (small_record(), large_record()):
            write_record(link, record)
            assert link.is_symlink()
            assert not file.is_symlink()
            assert_same(open_record(file, mmap=True).record, record)

    def test_modes(self, tmp_path):
        path = tmp_path / "file"
        before = os.umask(0o027)
        try:
            write_record(path, small_record())
            assert stat.S_IMODE(path.stat().st_mode) == 0o640
            for mode in (0o600, 0o444, 0o664):
                path.chmod(mode)
                write_record(path, small_record())
                assert stat.S_IMODE(path.stat().st_mode) == mode
        finally:
            os.umask(before)

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o664])
    def test_modes_hold_from_the_first_byte(self, tmp_path, monkeypatch, mode):
        path, seen = tmp_path / "file", set()
        path.write_bytes(b"")
        path.chmod(mode)
        write = replacing._write

        def watched(file, piece):
            seen.add(stat.S_IMODE(os.fstat(file).st_mode))
            write(file, piece)

        monkeypatch.setattr(replacing, "_write", watched)
        before = os.umask(0o022)
        try:
            replace_file(path, [b"new"])
            replace_file(tmp_path / "another", [b"new"], mode=mode)
            assert seen == {mode | 0o600}  # its owner can remove what a kill leaves
            replace_file(tmp_path / "third", [b"new"])
        finally:
            os.umask(before)
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
        assert modes == {"file": mode, "another": mode, "third": 0o644}

    def test_is_on_disk_before_it_has_its_name_and_the_name_after(self, tmp_path, monkeypatch):
        events = []
        fsync, replace = os.fsync, Path.replace

        def watch_fsync(file):
            events.append(stat.S_IFMT(os.fstat(file).st_mode))
            fsync(file)

        def watch_replace(path, target):
            assert path.parent == target.parent
            events.append("replace")
            return replace(path, target)

        monkeypatch.setattr(replacing.os, "fsync", watch_fsync)
        monkeypatch.setattr(Path, "replace", watch_replace)
        write_record(tmp_path / "file", small_record())
        assert events == [stat.S_IFREG, "replace", stat.S_IFDIR]

    def test_readers_keep_what_they_have(self, tmp_path):
        write_record(tmp_path / "file", large_record())
        opened = open_record(tmp_path / "file", mmap=True)
        write_record(tmp_path / "file", small_record())
        opened.verify()
        assert_same(opened.record, large_record())
        write_record(tmp_path / "file", opened.record)
        write_record(tmp_path / "file", open_record(tmp_path / "file", mmap=True).record)
        assert_same(open_record(tmp_path / "file", mmap=False).record, large_record())

    def test_two_at_once(self, tmp_path):
        """Neither takes the other's file for one that was left behind."""
        records = [large_record(), small_record()]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write_record, [tmp_path / "file"] * 60, records * 30))
        assert [p.name for p in tmp_path.iterdir()] == ["file"]
        assert open_record(tmp_path / "file", mmap=False).record.facts in [
            record.facts for record in records
        ]

    def test_what_the_killed_left_is_removed_and_what_others_have_is_not(self, tmp_path):
        folder, path = tmp_path / "folder", tmp_path / "folder" / "file"
        folder.mkdir()

        def pieces():
            yield b"first"
            write_record(path, small_record())  # removes what is left of the file, but not this
            yield b"second"

        replace_file(path, pieces())
        assert path.read_bytes() == b"firstsecond"
        prefix = f".fastmks-{zlib.crc32(b'file'):08x}-"
        for name in (f"{prefix}1-aa.tmp", ".fastmks-00000000-1-aa.tmp", "other.tmp"):
            (folder / name).write_bytes(b"left")
        (folder / f"{prefix}2-bb.tmp").symlink_to(folder / "other.tmp")
        write_record(path, small_record())
        left = {".fastmks-00000000-1-aa.tmp", "other.tmp", f"{prefix}2-bb.tmp", "file"}
        assert {p.name for p in folder.iterdir()} == left

    def test_takes_no_memory_to_speak_of(self, tmp_path):
        x = np.random.default_rng(0).random((2000, 2000))
        for array in (x, x.T, x[:, ::2], x.astype(">f4")):
            tracemalloc.start()
            write_record(tmp_path / "file", Record({}, {"x": array}))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 4 * BLOCK

    def test_kill_at_any_moment(self, tmp_path):
        """Savers of two records in turn are killed; one of the two is there each time.

        At least 200 times, until enough were killed while they saved, and enough after they had.
        """
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        result = run_python(KILL, tmp_path, env=environment)
        assert result.returncode == 0, result.stderr
        assert [p.name for p in tmp_path.iterdir()] == ["file"]


FULL = """
import resource, signal, sys
import numpy as np
from fastmks.files.container import write_record
from fastmks.files.record import Record
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
try:
    write_record(sys.argv[1], Record({}, {"x": np.ones(1_000_000)}))
except OSError as error:
    print(type(error).__name__, error.errno, error.filename)
"""

KILL = """
import os, random, signal, sys, time
from pathlib import Path
import numpy as np
from fastmks.files.container import open_record, write_record
from fastmks.files.record import Record

folder, random = Path(sys.argv[1]), random.Random(0)
path = folder / "file"
records = [Record({"which": i}, {"x": np.full(300_000 + i, i, np.float64)}) for i in (0, 1)]
write_record(path, records[0])
begin = time.perf_counter()
write_record(path, records[0])
longest = min(0.1, 5 * (time.perf_counter() - begin))
n_kills = n_changes = n_left = last = 0
while n_kills < 200 or min(n_changes, n_left) <= 5:
    n_kills += 1
    pid = os.fork()
    if pid == 0:
        try:
            while True:
                for record in records:
                    write_record(path, record)
        finally:
            os._exit(1)
    time.sleep(random.uniform(0.0, longest))
    os.kill(pid, signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    record = open_record(path, mmap=False).record
    which = record.facts["which"]
    assert np.array_equal(record.arrays["x"], records[which].arrays["x"])
    left = len(list(folder.iterdir())) - 1
    assert left <= 1
    n_left += left
    n_changes += which != last
    last = which
write_record(path, records[0])
"""


class TestOtherSystems:
    """What is done where the calls of POSIX are missing, as on Windows."""

    @pytest.fixture(autouse=True)
    def _lacking(self, monkeypatch):
        monkeypatch.setattr(replacing, "fcntl", None)
        monkeypatch.setattr(replacing, "_IS_POSIX", False)
        for name in ("preadv", "O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW", "O_DIRECTORY", "fchmod"):
            monkeypatch.delattr(os, name)

    def test_records_are_written_and_read(self, tmp_path):
        path = tmp_path / "record"
        for record in (small_record(), large_record()):
            write_record(path, record)
            for mmap in (True, False):
                assert_same(open_record(path, mmap=mmap).record, record)
        assert list(tmp_path.iterdir()) == [path]

    def test_what_fails_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        with pytest.raises(StopError):
            replace_file(path, stopping_pieces(StopError()))
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_what_was_abandoned_is_removed(self, tmp_path):
        path = tmp_path / "file"
        left = tmp_path / f".fastmks-{zlib.crc32(b'file'):08x}-1-00.tmp"
        left.write_bytes(b"half")
        replace_file(path, [b"new"])
        assert list(tmp_path.iterdir()) == [path]
