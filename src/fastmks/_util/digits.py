"""Handwritten digits for the demonstrations: images of 8 x 8 pixels that ship with scikit-learn."""

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats
from fastmks._util.validation import import_extra

_SIDE = 8  # pixels
_TURNS = (0.0, 0.2, -0.2)  # radians
_SHIFTS = ((0.0, 0.0), (0.5, 0.0), (-0.5, 0.5), (0.0, -0.5))  # pixels to the right and down


def load_digits() -> Floats:
    """Return 1797 images, a row of 64 pixels from 0 to 16 each."""
    datasets = import_extra("sklearn.datasets", extra="demo", needed_by="the demonstration")
    images: Floats = datasets.load_digits(return_X_y=True)[0]
    return images


@own_arithmetic()
def vary_digits(images: Floats) -> Floats:
    """Return the images, then eleven variants of them all: turned and moved a little."""
    squares = images.reshape(-1, _SIDE, _SIDE)
    varied = [_moved(squares, turn, shift) for turn in _TURNS for shift in _SHIFTS]
    return np.concatenate(varied).reshape(-1, _SIDE * _SIDE)


def _moved(images: Floats, turn: float, shift: tuple[float, float]) -> Floats:
    """Return images turned about their middle and moved, by bilinear interpolation."""
    middle = (_SIDE - 1) / 2
    down, right = np.mgrid[:_SIDE, :_SIDE] - middle
    cos, sin = np.cos(turn), np.sin(turn)
    column = cos * right + sin * down - shift[0] + middle
    row = cos * down - sin * right - shift[1] + middle
    moved = np.zeros_like(images)
    for below in (0, 1):
        for beside in (0, 1):
            y, x = np.floor(row).astype(int) + below, np.floor(column).astype(int) + beside
            is_inside = (y >= 0) & (y < _SIDE) & (x >= 0) & (x < _SIDE)
            weight = np.where(is_inside, (1 - np.abs(row - y)) * (1 - np.abs(column - x)), 0.0)
            moved += images[:, y.clip(0, _SIDE - 1), x.clip(0, _SIDE - 1)] * weight
    return moved
