"""The pictures of README and docs/evidence are drawn from the stored results."""

import numpy as np
import pytest
from benchmarks.evidence.__main__ import PICTURES, main
from benchmarks.evidence.overview import race_in
from matplotlib.image import imread

from support.paths import ROOT


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    main(folder)
    return folder


def coarse(image):
    """The mean of each of 16 by 16 parts."""
    return [
        part.mean() for rows in np.array_split(image, 16) for part in np.array_split(rows, 16, 1)
    ]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_those_that_the_program_draws(drawn, name):
    new, kept = imread(drawn / f"{name}.png"), imread(ROOT / "docs" / "images" / f"{name}.png")
    assert np.allclose(new.shape, kept.shape, rtol=0.05)  # versions of matplotlib differ a little
    assert np.allclose(coarse(new), coarse(kept), atol=0.1)


def test_every_picture_is_shown():
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "evidence").glob("*.md"))
    pages += (ROOT / "README.md").read_text()
    assert all(f"images/{name}.png)" in pages for name in PICTURES)


def test_the_fastest_other_is_exact():
    ours = {"name": "fastmks auto", "is_ours": True, "median_us": 2.0}
    tree = {"name": "fastmks tree", "is_ours": True, "median_us": 1.0}
    slow = {"name": "numpy", "is_ours": False, "median_us": 10.0}
    failed = {"name": "mlpack", "is_ours": False}
    graph = {"name": "hnswlib", "is_ours": False, "is_exact": False, "median_us": 1.0}
    assert race_in([ours, tree, slow, failed, graph]) == (2.0, 10.0, "numpy", 5.0)
