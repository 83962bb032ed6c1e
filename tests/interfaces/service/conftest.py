"""Fixtures of tests of the service."""

import numpy as np
import pytest

import fastmks


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(np.random.default_rng(0).normal(size=(50, 2))).save(path)
    return path
