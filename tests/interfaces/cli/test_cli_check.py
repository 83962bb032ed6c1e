"""The command that proves the bounds of index files."""

from pathlib import Path

import numpy as np
import pytest

from fastmks.cli import run
from fastmks.files.container import open_record, to_bytes
from fastmks.files.record import Record


@pytest.fixture
def made(fastmks_):
    """A sound index, and one whose tree has false distances under checksums that fit."""
    fastmks_("build x.npy -o x.fmks --kernel gaussian --algorithm filter")
    fastmks_("build t.csv -o bad.fmks --algorithm tree")
    record = open_record("bad.fmks", mmap=False).record
    name = "part 0/engines/tree/leaf_distance"
    arrays = {**record.arrays, name: np.array(record.arrays[name]) * 0.5}
    Path("bad.fmks").write_bytes(to_bytes(Record(record.facts, arrays)))
    return fastmks_


def test_a_sound_file(made):
    assert made("check x.fmks") == "x.fmks: sound\n"
    assert made("check x.fmks x.fmks --threads 1").count("sound") == 2


def test_a_forged_file_is_searched_and_fails_the_check(made, failing):
    assert "query" in made("search bad.fmks t.csv -k 1")
    code, line = failing("check bad.fmks")
    assert code == 1
    assert line.startswith(
        "fastmks: error: bad.fmks: the tree of segment 0 cannot be trusted: node"
    )


def test_files_after_a_bad_one_are_checked(made, capfd):
    Path("cut.fmks").write_bytes(Path("x.fmks").read_bytes()[:-1])
    assert run(["check", "bad.fmks", "nowhere.fmks", "cut.fmks", "x.fmks"]) == 1
    out, err = capfd.readouterr()
    assert out == "x.fmks: sound\n"
    lines = err.splitlines()
    assert len(lines) == 3
    assert "bad.fmks: the tree" in lines[0]
    assert lines[1].endswith("No such file or directory: nowhere.fmks")
    assert "cut.fmks" in lines[2]


def test_a_file_is_needed(failing):
    assert failing("check")[0] == 2
