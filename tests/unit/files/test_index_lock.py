"""Files of indexes are changed by one at a time, and never beside changes that they lack."""

import os

import numpy as np
import pytest

import fastmks
from fastmks.cli import run
from fastmks.files.index_lock import changing, lock_file, n_pending, not_served
from support.serving import Process


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(np.eye(3)).save(path)
    return path


def add(file, row):
    more = file.parent / "more.csv"
    more.write_text(",".join(map(str, row)) + "\n")
    return run(["add", str(file), str(more)])


def after_the_first_opening(monkeypatch, change):
    """Change something once a file was opened; returns all files that are."""
    opened, first = [], os.open

    def opening(*arguments):
        opened.append(first(*arguments))
        if len(opened) == 1:
            change()
        return opened[-1]

    monkeypatch.setattr(os, "open", opening)
    return opened


def test_one_at_a_time(file):
    with changing(file), pytest.raises(fastmks.InvalidArgument, match="another process"):
        lock_file(file)
    assert os.listdir(file.parent) == [file.name]  # noqa: PTH208, nothing is left
    os.close(lock_file(file))


def test_a_lock_that_is_removed_meanwhile_is_none(file, monkeypatch):
    path = file.with_name(f"{file.name}.lock")
    opened = after_the_first_opening(monkeypatch, path.unlink)
    lock = lock_file(file)
    assert len(opened) == 2
    assert os.fstat(lock).st_nlink == 1
    os.close(lock)


def test_a_lock_with_another_name_is_none_either(file, monkeypatch):
    path = file.with_name(f"{file.name}.lock")
    after_the_first_opening(monkeypatch, lambda: path.rename(path.with_name("moved")))
    with changing(file):
        assert path.exists()
    assert not path.exists()


def test_who_ends_does_not_remove_the_lock_of_another(file):
    path = file.with_name(f"{file.name}.lock")
    with changing(file):
        path.unlink()
        lock = lock_file(file)
    assert path.exists()
    os.close(lock)


def test_a_removed_lock_does_not_let_commands_in_beside_a_service(file, capsys):
    service = Process(file, "--writable")
    try:
        file.with_name(f"{file.name}.lock").unlink()
        assert add(file, (7, 7, 7)) == 1
        assert "is being changed by another process" in capsys.readouterr().err
        assert service.client.post("/v1/objects", json={"objects": [[5, 5, 5]]}).status_code == 200
    finally:
        assert service.stop() == 0
    assert add(file, (7, 7, 7)) == 0
    assert len(fastmks.load(file)) == 5


def test_commands_do_not_change_what_a_service_changes(file, capsys):
    service = Process(file, "--writable")
    try:
        assert service.client.post("/v1/objects", json={"objects": [[5, 5, 5]]}).status_code == 200
        for words in (["remove", str(file), "0"], ["build", "-o", str(file), "--force"]):
            if words[0] == "build":
                (file.parent / "x.csv").write_text("1,2,3\n4,5,6\n")
                words = ["build", str(file.parent / "x.csv"), *words[1:]]
            assert run(words) == 1
            assert "is being changed by another process" in capsys.readouterr().err
        assert add(file, (7, 7, 7)) == 1
    finally:
        assert service.stop() == 0
    assert add(file, (7, 7, 7)) == 0
    assert fastmks.load(file).ids.tolist() == [0, 1, 2, 3, 4]
    service = Process(file, "--writable")  # goes on with the file as it is
    try:
        assert service.client.get("/v1/index").json()["size"] == 5
    finally:
        assert service.stop() == 0


@pytest.mark.parametrize("is_link", [False, True])
def test_nobody_saves_over_the_file_of_a_running_service(file, is_link):
    """It would save over that again, with its own changes and without those."""
    other = fastmks.Index(np.ones((7, 3)))
    name = file
    if is_link:
        name = file.with_name("link.fmks")
        name.symlink_to(file)
    service = Process(file, "--writable")
    try:
        before = file.read_bytes()
        for _ in range(2):
            with pytest.raises(fastmks.InvalidArgument, match="fastmks serve --writable; stop"):
                other.save(name)
            file.with_name(f"{file.name}.lock").unlink(missing_ok=True)  # the journal is locked too
        assert file.read_bytes() == before
        other.save(file.with_name("another.fmks"))
        assert service.client.post("/v1/objects", json={"objects": [[5, 5, 5]]}).is_success
    finally:
        assert service.stop() == 0
    assert len(fastmks.load(file)) == 4
    other.save(name)
    assert len(fastmks.load(file)) == 7
    reading = Process(file)  # which changes nothing, and keeps what it has
    try:
        fastmks.Index(np.ones((2, 3))).save(name)
        assert reading.client.get("/v1/index").json()["size"] == 7
    finally:
        assert reading.stop() == 0


def test_several_may_save_the_same_file_at_once(file):
    os.close(lock_file(file))  # as after a service
    with not_served(file), not_served(file):
        fastmks.Index(np.ones((7, 3))).save(file)
        with pytest.raises(fastmks.InvalidArgument, match="another process"):
            lock_file(file)
    assert len(fastmks.load(file)) == 7
    long = file.with_name("x" * 250)  # whose lock has no name
    fastmks.Index(np.ones((7, 3))).save(long)
    assert len(fastmks.load(long)) == 7


def test_what_a_killed_service_acknowledged_is_not_lost(file, capsys):
    service = Process(file, "--writable")
    assert service.client.post("/v1/objects", json={"objects": [[5, 5, 5]]}).status_code == 200
    service.kill()
    assert n_pending(file) == 1
    assert run(["info", str(file)]) == 0
    assert "has 1 change of a service" in capsys.readouterr().err
    assert add(file, (7, 7, 7)) == 1
    assert "a service was killed" in capsys.readouterr().err
    assert Process(file, "--writable").stop() == 0
    assert n_pending(file) == 0
    assert add(file, (7, 7, 7)) == 0
    assert len(fastmks.load(file)) == 5
