"""Time series of one and of several channels."""

import numpy as np

from fastmks import kernels as K
from support.kinds.base import Kind

_RNG = np.random.default_rng(5)
_TIMES = np.linspace(0.0, 6.0, 24)
_WAVES = [np.sin(_TIMES * speed) * size for speed in (1.0, 1.3, 2.0) for size in (1.0, 0.5)]
_SERIES = [wave[: len(wave) - cut] for wave in _WAVES for cut in (0, 0, 3, 10)]
_SERIES += [np.zeros(1), np.zeros(1), np.ones(60), np.full(20, 1e200), _RNG.normal(size=5)]
_QUERIES = [np.sin(_TIMES * 1.1), _SERIES[3], [0.0], np.full(20, 1e200)]
_PATHS = [_RNG.normal(size=(n, 3)).cumsum(axis=0) for n in _RNG.integers(1, 20, size=25)]
_BAD = [
    ([[1.0, 2.0], [np.nan]], "objects[1][0] is nan"),
    ([[1.0, 2.0], []], "objects[1] must hold at least one number"),
    ([[1.0], [[1.0, 2.0]]], "objects[1] has 2, objects[0] has 1"),
    ([[1.0], [[1.0, np.inf]]], "objects[1][0, 1] is inf"),
    ([[1.0], "ab"], "objects[1] must be a series of real numbers"),
    ([1.0, 2.0], "got one series of 2 numbers"),
    (3.0, "objects must be a sequence of series"),
    ([[1.0], [1.0, [2.0]]], "objects[1] cannot be read as an array"),
    ([[[1.0, 2.0], [3.0]]], "objects[0] cannot be read as an array"),
    ([[1.0], {1.0}], "objects[1] must be a series of real numbers, 1-D or (time, channels); got {"),
    ([[1.0], None], "objects[1] must be a series of real numbers"),
    (["ab", "cd"], "objects[0] is the string"),
    (np.arange(3.0), "got one series of 3 numbers. Put it in a list"),
    ([np.array(1.0), np.float32(2.0)], "got one series of 2 numbers"),
    ([], "at least one object"),
]

KINDS = [
    Kind("series", K.GlobalAlignment(0.5), _SERIES, _QUERIES, bad=_BAD),
    Kind("normalised series", K.Normalized(K.GlobalAlignment(2.0)), _SERIES, _QUERIES),
    Kind(
        "series near the diagonal",
        K.Normalized(K.GlobalAlignment(0.3, triangular=8)),
        _SERIES,
        _QUERIES,
    ),
    Kind("paths", K.Normalized(K.GlobalAlignment(1.5)), _PATHS, [*_PATHS[:2], _PATHS[0] + 0.1]),
    Kind("one time at most", K.GlobalAlignment(1.0, triangular=1), np.eye(12), np.eye(12)[:3]),
]
