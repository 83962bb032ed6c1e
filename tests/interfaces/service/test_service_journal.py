"""What was acknowledged is there, whatever happens; what was not is there as a whole or not."""

import errno
import itertools
import os
import shutil
import stat
import threading
from concurrent.futures import wait
from contextlib import closing

import numpy as np
import pytest

import fastmks
from fastmks.files.journal import Journal, name_content, read_journal
from fastmks.index.view import current_of
from fastmks.service import open as opening_module
from fastmks.service import open_served
from fastmks.service import served as served_module
from fastmks.service.refusals import RefusalError, UnwritableError
from fastmks.service.served import Change
from support.waiting import PATIENCE, wait_until

VECTORS = np.random.default_rng(1).normal(size=(20, 3))


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    fastmks.Index(VECTORS).save(folder / "index.fmks")
    return folder / "index.fmks"


def addition(*rows, ids=None):
    return Change(ids, [list(map(float, row)) for row in rows], np.array(rows, dtype=float))


def opened(path, **options):
    return closing(open_served(path, writable=True, **options))


def state(path):
    """Return the objects of a file and its journal, by id; opened as who only reads does."""
    index = open_served(path).index
    return {name: index.get([name])[0].tolist() for name in index.ids.tolist()}


def crashed(path, changes):
    """Make changes, and leave the files as a kill would; returns the folder's copy."""
    copy = path.parent.with_name("crashed")
    shutil.rmtree(copy, ignore_errors=True)
    with opened(path) as served:
        for change in changes:
            served.submit(change).result()
        shutil.copytree(path.parent, copy)
    return copy / path.name


def no_space(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def journal_of(path):
    return path.with_name(f"{path.name}.journal")


CHANGES = [
    addition([1, 2, 3]),
    Change([3, 20]),
    addition([4, 5, 6], [0.1, 1 / 3, -5e-324], ids=[100, 50]),
    Change([100]),
]


def test_changes_are_replayed(path):
    left = crashed(path, CHANGES)
    assert len(fastmks.load(left)) == 20  # the file is the old one
    found = state(left)
    assert set(found) == {*range(20), 50} - {3}
    assert found[50] == [0.1, 1 / 3, -5e-324]
    with opened(left) as served:  # and go on from there: ids that were used are not used again
        assert served.submit(addition([7, 8, 9])).result() == [101]
    assert len(fastmks.load(left)) == 21
    assert read_journal(journal_of(left)).changes == []
    assert state(path) == found  # the one that was closed in peace


def begins(data):
    """Where the frames of a journal begin."""
    found = [data.find(b"\xffFMJ", at) for at in range(len(data))]
    return sorted({at for at in found if at >= 0})


def torn(path, changes, last):
    """Return a folder's copy as a crash leaves it while the last change is being flushed."""
    copy, flush = path.parent.with_name("torn"), os.fsync
    shutil.rmtree(copy, ignore_errors=True)

    def crash(file):
        if not copy.exists() and stat.S_ISREG(os.fstat(file).st_mode):
            shutil.copytree(path.parent, copy)
        flush(file)

    with opened(path) as served, pytest.MonkeyPatch.context() as patched:
        for change in changes:
            served.submit(change).result()
        patched.setattr(os, "fsync", crash)
        served.submit(last).result()
    return copy / path.name


LONG = addition(*np.arange(300.0).reshape(100, 3))  # several sectors


def ways_to_tear(whole, at):
    """The journal without the end of its last frame, or without some of its sectors."""
    for end in range(at, len(whole)):
        yield whole[:end]
    sectors = range(at // 512 * 512, len(whole), 512)
    for lacking in itertools.product([False, True], repeat=len(sectors)):
        data = bytearray(whole)
        for begin in itertools.compress(sectors, lacking):
            data[max(at, begin) : begin + 512] = bytes(len(data[max(at, begin) : begin + 512]))
        yield bytes(data)
        yield bytes(data[:-700])


def test_what_a_torn_write_leaves_of_the_last_frame_is_left_out(path):
    """Whatever is there of it: all that was acknowledged is there, and what is dropped is kept."""
    left = torn(path, CHANGES[:3], LONG)
    whole = journal_of(left).read_bytes()
    wanted = read_journal(journal_of(left)).changes  # it may be there as a whole
    assert len(wanted) == 4
    at = begins(whole)[-1]
    assert len(whole) - at > 3 * 512
    n_torn = 0
    for data in ways_to_tear(whole, at):
        journal_of(left).write_bytes(data)
        read = read_journal(journal_of(left))
        assert read.changes == wanted[: 3 + (data == whole)]
        assert read.torn == data[read.n_bytes :]
        assert read.n_bytes == at or data == whole
        n_torn += len(read.torn) > 0
    assert n_torn > 1000


@pytest.mark.parametrize(("length", "n_before"), [(700, 0), (30, 2)])
def test_what_is_dropped_is_said_and_kept(path, caplog, length, n_before):
    """In a file of its own, for those who look into it, with the mode of the index."""
    left = torn(path, CHANGES[:3], LONG)
    for file in (left, journal_of(left)):
        file.chmod(0o600)
    for i in range(n_before):
        journal_of(left).with_name(f"index.fmks.journal.torn-{i + 1}").write_bytes(b"of before")
    at = begins(journal_of(left).read_bytes())[-1]
    with journal_of(left).open("r+b") as file:
        file.truncate(at + length)
    data = journal_of(left).read_bytes()
    assert len(open_served(left).index) == 21
    assert f"the last {length} bytes are a part of changes that were not" in caplog.text
    assert journal_of(left).read_bytes() == data  # who only reads changes nothing
    caplog.clear()
    with opened(left) as served:
        kept = journal_of(left).with_name(f"index.fmks.journal.torn-{n_before + 1}")
        assert f"the last {length} bytes" in caplog.text
        assert kept.name in caplog.text
        assert kept.read_bytes() == data[at:]
        assert kept.stat().st_mode & 0o777 == 0o600
        served.submit(addition([9, 9, 9], ids=[999])).result()  # behind the whole ones
        assert len(read_journal(journal_of(left)).changes) == 4
    assert len(fastmks.load(left)) == 22


def read_or_refuse(journal):
    """What a journal holds, or the words with which it is refused."""
    try:
        return read_journal(journal)
    except fastmks.IndexFileError as error:
        return str(error)


def test_damage_is_an_error_or_harms_nothing(path):
    """Each byte of a journal is changed, and each is the last one: no acknowledged change is lost.

    The service was killed after its last answer, so that nothing of the journal can be torn.
    """
    left = crashed(path, CHANGES)
    whole, wanted = journal_of(left).read_bytes(), state(left)
    changes = read_journal(journal_of(left)).changes
    assert len(changes) == len(CHANGES)
    n_harmless = 0
    damaged = [whole[:end] for end in range(len(whole))]
    for at in range(len(whole)):
        for other in [*(whole[at] ^ 1 << bit for bit in range(8)), 0, 255]:
            damaged.append(whole[:at] + bytes([other]) + whole[at + 1 :])
    for data in damaged:
        journal_of(left).write_bytes(data)
        read = read_or_refuse(journal_of(left))
        if isinstance(read, str):
            assert "is damaged at byte" in read or "not a journal" in read
            continue
        assert data == whole or len(data) == len(whole)  # no cut is harmless
        assert read.changes == changes
        assert read.torn == b""
        n_harmless += 1
    assert n_harmless > 100  # in the name, and in one of the marks
    for at in range(0, begins(whole)[0], 3):  # the name says which changes the file lacks
        journal_of(left).write_bytes(whole[:at] + b"0" + whole[at + 1 :])
        try:
            assert state(left) == wanted
        except fastmks.IndexFileError:
            continue


@pytest.mark.parametrize("value", [1, 0x20, 0x80, 0xFF])
def test_damage_in_a_frame_that_was_not_acknowledged(path, value):
    """It is no torn write either: an error, for the frame was whole, or all is there."""
    left = torn(path, CHANGES[:3], addition([1, 2, 3], ids=[700]))
    whole = journal_of(left).read_bytes()
    for at in range(begins(whole)[-1], len(whole)):
        data = bytearray(whole)
        data[at] ^= value
        journal_of(left).write_bytes(data)
        read = read_or_refuse(journal_of(left))
        if isinstance(read, str):
            assert f"is damaged at byte {begins(whole)[-1]}" in read
            continue
        assert len(read.changes) == 3  # as if the length were another, or a zero not written
        assert read.torn == bytes(data[begins(whole)[-1] :])


def of_version_1(data):
    """A journal as it was written before there were marks."""
    return b"fastmks journal 1\n" + data[18:83] + data[begins(data)[0] :]


def test_journals_without_marks_go_on(path):
    """All their changes are replayed, a torn end is left out, damage before is an error."""
    left = crashed(path, CHANGES)
    wanted, new = state(left), journal_of(left).read_bytes()
    old = of_version_1(new)
    last = begins(old)[-1]
    journal_of(left).write_bytes(old[:-1])
    assert len(read_journal(journal_of(left)).changes) == 3
    for at in range(83, len(old)):
        journal_of(left).write_bytes(old[:at] + bytes([old[at] ^ 0x10]) + old[at + 1 :])
        if at < last:
            with pytest.raises(fastmks.IndexFileError, match="is damaged at byte"):
                read_journal(journal_of(left))
    journal_of(left).write_bytes(old)
    assert state(left) == wanted
    with opened(left) as served:
        served.submit(addition([9, 9, 9], ids=[999])).result()
        read = read_journal(journal_of(left))
        assert read.is_marked
        assert len(read.changes) == 5
        copy = path.parent.with_name("copy")
        shutil.copytree(left.parent, copy)
    assert set(state(copy / left.name)) == {*wanted, 999}


def test_what_is_no_journal(path):
    for text in (b"", b"nonsense", b"fastmks journal 1\n", b"fastmks journal 3\n" + b"0" * 200):
        journal_of(path).write_bytes(text)
        with pytest.raises(fastmks.IndexFileError, match="not a journal"):
            open_served(path)


def test_a_journal_of_another_file(path):
    """Someone puts another index in the place: its changes must not be lost without a word."""
    left = crashed(path, CHANGES)
    fastmks.Index(VECTORS[:5]).save(left)
    for writable in (False, True):
        with pytest.raises(fastmks.IndexFileError, match="belongs to another file"):
            open_served(left, writable=writable)
    journal_of(left).unlink()
    assert len(open_served(left).index) == 5


def test_an_empty_journal_of_another_file(path):
    """A service that ended in peace leaves a journal without changes: the file may be replaced."""
    for changes in ([], [addition([4, 5, 6])]):
        with opened(path) as served:
            for change in changes:
                served.submit(change).result()
        fastmks.Index(VECTORS[:5]).save(path)  # as `fastmks add` does
        assert len(open_served(path).index) == 5
        with opened(path) as served:
            assert served.submit(addition([1, 2, 3])).result() == [5]
        assert len(fastmks.load(path)) == 6


def test_a_change_that_the_file_cannot_have(path):
    left = crashed(path, CHANGES)
    journal = Journal.begin(journal_of(left), name_content(left))
    journal.append([{"remove": [777]}])
    journal.close()
    with pytest.raises(fastmks.IndexFileError, match="777"):
        open_served(left)
    journal = Journal.begin(journal_of(left), name_content(left))
    journal.append([{"explode": [1]}])
    journal.close()
    with pytest.raises(fastmks.IndexFileError, match="no change is written as"):
        open_served(left)


def test_a_crash_at_any_step_of_saving(path, monkeypatch):
    """Snapshots of the folder before and after each step: every one has all the changes, once."""
    snapshots = []

    def snap(*_):
        copy = path.parent.with_name(f"snapshot{len(snapshots)}")
        shutil.copytree(path.parent, copy)
        snapshots.append(copy / path.name)

    def watched(function):
        def call(*arguments, **options):
            snap()
            result = function(*arguments, **options)
            snap()
            return result

        return call

    with opened(path) as served:
        for change in CHANGES:
            served.submit(change).result()
        wanted = {name: served.index.get([name])[0].tolist() for name in served.index.ids.tolist()}
        monkeypatch.setattr(served_module, "name_content", watched(name_content))
        monkeypatch.setattr(served_module, "sync_folder", watched(served_module.sync_folder))
        monkeypatch.setattr(Journal, "note_saved", watched(Journal.note_saved))
        monkeypatch.setattr(Journal, "begin", watched(Journal.begin))
    assert len(snapshots) == 8
    monkeypatch.undo()
    for snapshot in snapshots:
        assert state(snapshot) == wanted
        with opened(snapshot) as served:
            served.submit(Change([50])).result()
        assert set(state(snapshot)) == set(wanted) - {50}
        assert not snapshot.with_name("index.fmks.saving").exists()


@pytest.mark.parametrize("step", ["name_content", "sync_folder", "note_saved", "begin"])
def test_saving_that_fails_loses_nothing(path, monkeypatch, step):
    with opened(path, most_bytes=1) as served:  # saves after each change
        owner = Journal if step in ("note_saved", "begin") else served_module
        monkeypatch.setattr(owner, step, no_space)
        for change in CHANGES:
            served.submit(change).result()
        wanted = set(served.index.ids.tolist())
        assert set(state(path)) == wanted
        monkeypatch.undo()
        served.submit(addition([1, 1, 1], ids=[300])).result()
        assert set(state(path)) == {*wanted, 300}
    assert set(state(path)) == {*wanted, 300}
    assert len(fastmks.load(path)) == len(wanted) + 1


def test_a_last_save_that_fails_is_an_error(path, monkeypatch):
    """Whoever closes is told, each time; nothing is lost."""
    served = open_served(path, writable=True)
    served.submit(addition([1, 2, 3])).result()
    monkeypatch.setattr(served_module, "sync_folder", no_space)
    for _ in range(2):
        with pytest.raises(UnwritableError, match="was not saved .No space left on device"):
            served.close()
    monkeypatch.undo()
    assert set(state(path)) == set(range(21))
    open_served(path, writable=True).close()
    assert len(fastmks.load(path)) == 21


def test_a_save_that_fails_before_the_last_one_is_none(path, monkeypatch):
    """The index is saved at the end, and that is what counts."""
    with opened(path, most_bytes=1) as served, monkeypatch.context() as patched:
        patched.setattr(served_module, "name_content", lambda _: 1 / 0)
        for _ in range(2):  # when the second is made, the first attempt to save has failed
            served.submit(addition([1, 2, 3])).result()
        assert served._unsaved == "ZeroDivisionError"
        patched.undo()
    assert len(fastmks.load(path)) == 22


def test_nothing_is_acknowledged_or_seen_before_it_is_on_disk(path, monkeypatch):
    may_flush, is_flushing, flush = threading.Event(), threading.Event(), os.fsync

    def slow_flush(file):
        is_flushing.set()
        may_flush.wait(PATIENCE)
        flush(file)

    with opened(path) as served:
        monkeypatch.setattr(os, "fsync", slow_flush)
        first = served.submit(addition([1, 2, 3]))
        assert is_flushing.wait(PATIENCE)
        others = [served.submit(addition([i, i, i])) for i in range(50)]
        assert not first.done()
        assert len(served.index) == 20
        may_flush.set()
        wait([first, *others])
        assert len(served.index) == 71
        assert read_journal(journal_of(path)).n_frames == 2  # 50 changes shared one flush


def test_a_disk_that_is_full(path, monkeypatch):
    """The change is not made; when there is room again, the next one is."""
    with opened(path) as served:
        served.submit(addition([1, 2, 3])).result()
        write = os.pwrite

        def full(file, data, at):
            write(file, data[:10], at)
            no_space()

        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(UnwritableError, match="No space left"):
            served.submit(addition([4, 5, 6])).result()
        assert len(served.index) == 21
        assert not served.is_broken
        monkeypatch.undo()
        assert served.submit(addition([7, 8, 9])).result() == [21]
        assert set(state(path)) == set(range(22))
    assert set(state(path)) == set(range(22))


def test_a_flush_that_fails_ends_the_writing(path, monkeypatch):
    """Nobody knows what is on disk then; searches go on, and the end says that nothing is saved."""
    not_saved = pytest.raises(UnwritableError, match="was not saved .its journal could not be")
    with not_saved, opened(path) as served:
        served.submit(addition([1, 2, 3])).result()

        def fail(file):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(UnwritableError, match="Input/output"):
            served.submit(addition([4, 5, 6])).result()
        monkeypatch.undo()
        assert served.is_broken
        with pytest.raises(UnwritableError):
            served.submit(addition([4, 5, 6])).result()
        assert len(served.index.search([1.0, 2.0, 3.0], k=21).ids[0]) == 21
    assert set(range(21)) <= set(state(path))


def test_one_service_writes_at_a_time(path):
    link = path.with_name("link.fmks")
    link.symlink_to(path)
    with opened(path) as served:
        for name in (path, link):
            with pytest.raises(fastmks.InvalidArgument, match="by another process"):
                open_served(name, writable=True)
        served.submit(addition([1, 2, 3])).result()
        assert len(open_served(link).index) == 21  # reading is free
    with opened(link) as served:
        assert len(served.index) == 21
        served.submit(addition([1, 2, 3])).result()
    assert link.is_symlink()
    assert len(fastmks.load(path)) == 22


def test_a_removed_lock_lets_no_second_service_in(path):
    with opened(path, most_bytes=1) as served:  # saves, and begins a journal, after each change
        for i in range(3):
            path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
            with pytest.raises(fastmks.InvalidArgument, match="by another process"):
                open_served(path, writable=True)
            served.submit(addition([i, i, i])).result()
    assert set(state(path)) == set(range(23))


def test_a_removed_journal_is_put_back(path):
    with opened(path) as served:
        served.submit(addition([1, 2, 3])).result()
        journal_of(path).unlink()
        served.submit(addition([4, 5, 6])).result()
        assert set(state(path)) == set(range(22))
        with pytest.raises(fastmks.InvalidArgument, match="by another process"):
            open_served(path, writable=True)
        journal_of(path).unlink()
    assert set(state(path)) == set(range(22))
    assert len(fastmks.load(path)) == 22


def test_a_journal_of_someone_else_is_not_written_to(path):
    not_saved = pytest.raises(UnwritableError, match="was not saved .its journal could not be")
    with not_saved, opened(path) as served:
        served.submit(addition([1, 2, 3])).result()
        mine = journal_of(path).rename(path.with_name("moved"))
        journal_of(path).write_bytes(mine.read_bytes())
        with pytest.raises(UnwritableError, match="another file has taken its place"):
            served.submit(addition([4, 5, 6])).result()
        assert served.is_broken
    assert len(fastmks.load(path)) == 20  # it is that of the other now
    assert set(state(path)) == set(range(21))


def test_a_hard_link_is_an_index_of_its_own(path):
    """Files are replaced, never written to: each name has the changes that came by it."""
    link = path.with_name("link.fmks")
    link.hardlink_to(path)
    with opened(path) as first, opened(link) as second:
        first.submit(addition([1, 2, 3])).result()
        second.submit(Change([0, 1])).result()
    assert set(state(path)) == set(range(21))
    assert set(state(link)) == set(range(2, 20))


@pytest.mark.parametrize("lacks", ["locks", "pwrite"])
def test_a_system_that_cannot_write_journals_says_so(path, monkeypatch, lacks):
    if lacks == "locks":
        monkeypatch.setattr(opening_module, "HAS_LOCKS", False)
    else:
        monkeypatch.delattr(os, "pwrite")
    with pytest.raises(fastmks.InvalidArgument, match="writable must be False on this system"):
        open_served(path, writable=True)
    assert len(open_served(path).index) == 20
    assert not path.with_name(f"{path.name}.lock").exists()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_every_file_has_the_mode_of_the_index(path, monkeypatch, mode):
    """The journal, the index while it is saved, and what is put back: from the first byte."""
    path.chmod(mode)
    before = os.umask(0o022)
    seen = set()

    def watched(function):
        def call(file, *arguments):
            status = os.fstat(file)
            if stat.S_ISREG(status.st_mode):
                seen.add(status.st_mode & 0o777)
            return function(file, *arguments)

        return call

    try:
        journal_of(path).write_bytes(b"fastmks journal 1\n" + b"0" * 64 + b"\n")
        journal_of(path).chmod(0o644)  # as it was made before
        with monkeypatch.context() as patched:
            for name in ("write", "pwrite"):
                patched.setattr(os, name, watched(getattr(os, name)))
            with opened(path) as served:
                served.submit(addition([1, 2, 3])).result()
                journal_of(path).unlink()
                served.submit(addition([1, 2, 3])).result()
                assert journal_of(path).stat().st_mode & 0o777 == mode
            with opened(path, most_bytes=1) as served:
                served.submit(addition([1, 2, 3])).result()
        assert seen == {mode}
        left = crashed(path, [addition([1, 2, 3])])
        journal_of(left).chmod(0o666)
        with opened(left):
            assert journal_of(left).stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode
    assert len(fastmks.load(path)) == 24


def test_changes_that_fail_are_alone(path):
    """One of several that share a flush cannot be made: the others are."""
    with opened(path) as served:
        with current_of(served._writing).changing.alone():  # which the writer waits for
            futures = [
                served.submit(addition([1, 2, 3], ids=[20])),
                served.submit(addition([1, 2, 3], ids=[20])),
                served.submit(Change([500])),
                served.submit(addition([3, 2, 1], ids=[21])),
            ]
        wait(futures)
        assert [future.exception() is None for future in futures] == [True, False, False, True]
        assert len(served.index) == 22
    assert set(state(path)) == set(range(22))


def test_too_many_changes_waiting(path):
    with opened(path, most_waiting=3) as served:
        with current_of(served._writing).changing.alone():
            futures = [served.submit(addition([1, 2, 3]))]
            wait_until(futures[0].running)  # the writer has it, and waits
            with pytest.raises(RefusalError, match="3 changes are waiting"):
                for _ in range(10):
                    futures.append(served.submit(addition([1, 2, 3])))
            assert futures.pop().cancel()  # one that nobody has begun with
        wait(futures)
    assert len(fastmks.load(path)) == 20 + len(futures)
    with pytest.raises(RefusalError, match="shutting down"):
        served.submit(addition([1, 2, 3]))
