"""Fixtures and hypothesis profiles shared by all tests."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

from fastmks import _core

_COMMON = {
    "deadline": None,  # machines are noisy
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("default", max_examples=300, **_COMMON)
settings.register_profile("quick", max_examples=10, **_COMMON)
settings.register_profile("sanitize", max_examples=40, **_COMMON)
settings.register_profile("long", max_examples=20_000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_finish():
    """Let the garbage collector pass over what all tests share: many of them call it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=_core.available_isas())
def isa(request, monkeypatch):
    """Force each instruction set this CPU has."""
    monkeypatch.setenv("FASTMKS_ISA", request.param)
    return request.param


@pytest.fixture(scope="module")
def client():
    """A Dask cluster of two workers in this process."""
    from support.sharding import cluster  # here, since few tests need it

    with cluster() as shared:
        yield shared


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files of every kind, in which commands run."""
    from support.calling import write_files

    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


@pytest.fixture
def fastmks_(folder, capfd):
    """Run a command that must end well, and return what it wrote to standard output."""
    from fastmks.cli import run

    def call(line):
        code = run(line.split())
        captured = capfd.readouterr()
        assert code == 0, captured.err
        return captured.out

    return call


@pytest.fixture
def failing(folder, capfd):
    """Run a command that must fail, with a code and words, and return its code and its one line."""
    from fastmks.cli import run

    def call(line, wanted=None, words=""):
        code = run(line.split())
        err = capfd.readouterr().err
        assert code == wanted or (wanted is None and code != 0)
        last = err.splitlines()[-1]
        assert last.startswith("fastmks: error: ")
        assert "Traceback" not in err
        assert words in last
        return code, last

    return call
