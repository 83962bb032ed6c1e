"""Rows of several lengths, one after the other: row i lies from offsets[i] to offsets[i + 1]."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmks._util.arrays import Array, Int64s


def offsets_of(lengths: Any) -> Int64s:
    """Return where rows of these lengths begin, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def take_entries(offsets: Int64s, positions: Int64s) -> tuple[Int64s, Int64s]:
    """Return the offsets of the rows at these positions, and where each of their entries was."""
    lengths = np.diff(offsets)[positions]
    taken = offsets_of(lengths)
    # Entry e of the result comes from e - (where its row begins) + (where it began).
    entries = np.arange(taken[-1]) + np.repeat(offsets[positions] - taken[:-1], lengths)
    return taken, entries


def take_runs(values: Array, offsets: Int64s, positions: Int64s) -> tuple[Int64s, Array]:
    """Return the rows at these positions; long rows take less memory than with `take_entries`."""
    begins, ends = offsets[positions].tolist(), offsets[positions + 1].tolist()
    runs = [values[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return offsets_of([len(run) for run in runs]), np.concatenate([*runs, values[:0]])


def join_offsets(parts: Sequence[Int64s]) -> Int64s:
    """Return the offsets of the rows of several parts, one part after the other."""
    begins = np.cumsum([0, *(part[-1] for part in parts)])
    shifted = [part[1:] + begin for part, begin in zip(parts, begins, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *shifted])


def rising(offsets: Int64s, n_entries: int) -> bool:
    """Whether these are offsets of rows with n_entries in all."""
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != n_entries:
        return False
    return bool((offsets[1:] >= offsets[:-1]).all())
