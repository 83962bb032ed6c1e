"""The facts about each kind of objects that interfaces use."""

import numpy as np
import pytest

import fastmks
from fastmks.cli.object_files import default_kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.registry import text_kernels

IN_FILES = {
    "vectors": np.eye(3),
    "strings": ["abcd", "bcde"],
    "fingerprints": np.eye(3, dtype=bool),
    "series": [np.ones(3), np.zeros(4)],
}


def test_files_hold_what_some_kernel_compares():
    assert {cls.kind.in_files for cls in text_kernels().values()} - {""} == set(IN_FILES)


@pytest.mark.parametrize("name", IN_FILES)
def test_a_file_has_a_kernel_for_its_objects(name):
    kernel = default_kernel(name, IN_FILES[name])
    assert {leaf.kind.in_files for _, leaf in leaves(kernel)} == {name}
    fastmks.Index(IN_FILES[name], kernel)
