"""Fixtures and hypothesis profiles shared by all tests."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fastmks import _core

sys.path.insert(0, str(Path(__file__).parent))  # oracle.py and strategies.py

_COMMON = {
    "deadline": None,  # machines are noisy
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("default", max_examples=300, **_COMMON)
settings.register_profile("sanitize", max_examples=40, **_COMMON)
settings.register_profile("long", max_examples=20_000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(params=_core.available_isas())
def isa(request, monkeypatch):
    """Force each instruction set this CPU has."""
    monkeypatch.setenv("FASTMKS_ISA", request.param)
    return request.param


@pytest.fixture(scope="module")
def client():
    """A Dask cluster of two workers in this process."""
    from sharding import cluster  # here, since few tests need it

    with cluster() as shared:
        yield shared
