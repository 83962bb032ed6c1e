"""A kernel as users write one, and rows to search."""

import numpy as np


def overlap(x, y):
    """The number of letters or members that both have."""
    return float(len(set(x) & set(y)))


def normal(n, d, seed=0):
    """Rows of normal numbers."""
    return np.random.default_rng(seed).normal(size=(n, d))


def line(n):
    """Points on a line, one apart."""
    return np.arange(float(n)).reshape(-1, 1)
