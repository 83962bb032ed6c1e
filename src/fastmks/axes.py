"""The axes on which vectors are told apart soonest, and how many of them pay."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks.spaces import Space

__all__ = ["Axes", "choose_axes"]

_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_MOST_SAMPLED = 8192  # vectors that say where the axes lie
_MOST_EXACT = 1024  # columns up to which all axes are computed, and more axes than are ever used
_MOST_AXES = 512
_N_JUDGES = 64  # sampled vectors that play the queries when the number of axes is chosen
_N_JUDGED = 4096  # and those that play the objects
# Seconds of the code of one coordinate of one object, and of one evaluation beside its own time:
# only their ratio matters, and little.
_CODE_SECONDS = 1e-11
_EVALUATION_SECONDS = 4e-8


@dataclass(frozen=True)
class Axes:
    """Orthonormal rows, and the point that distances are measured from."""

    rows: _Floats
    origin: _Floats | None

    @property
    def dimension(self) -> int:
        """How many there are."""
        return int(self.rows.shape[0])


def choose_axes(space: Space, *, dimension: int | None = None, k: int = 10) -> Axes:
    """Return principal axes of the vectors of a space that has scores.

    Their number is the one that makes a search of about k hits cheapest, judged on a sample; any
    number gives the same answers.
    """
    rows, origin = _sampled(space)
    axes = _principal_axes(rows)
    if dimension is None:
        value_seconds = space.core.measure_cost()[1]
        dimension = _cheapest(rows, axes, len(space), k, value_seconds + _EVALUATION_SECONDS)
    return Axes(np.ascontiguousarray(axes[: min(dimension, len(axes))]), origin)


def _sampled(space: Space) -> tuple[_Floats, _Floats | None]:
    """Return some vectors as their scores see them, and the origin of distances."""
    n = min(len(space), _MOST_SAMPLED)
    positions = np.linspace(0, len(space) - 1, n).astype(np.int64)
    rows = space.vectors(positions)
    # One unit for all, so that neither sums nor squares leave the range of float64.
    largest = float(np.abs(rows).max(initial=0.0)) or 1.0
    rows = rows / largest
    origin = None
    if space.core.score == "distance":
        mean = rows.mean(axis=0)
        rows, origin = rows - mean, mean * largest
    if space.core.score == "cosine":
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0)
    return rows, origin


def _principal_axes(rows: _Floats) -> _Floats:
    """Return orthonormal rows, the one along which the given rows are longest first."""
    n_columns = rows.shape[1]
    if n_columns <= _MOST_EXACT:
        _, vectors = np.linalg.eigh(rows.T @ rows)
        axes = vectors[:, ::-1]
    else:  # the axes of a random part of the space that the rows reach
        rng = np.random.default_rng(0)
        wanted = min(_MOST_AXES, n_columns, len(rows))
        tried = rows.T @ (rows @ (rows.T @ rng.standard_normal((len(rows), wanted))))
        basis, _ = np.linalg.qr(tried)
        _, _, within = np.linalg.svd(rows @ basis, full_matrices=False)
        axes = basis @ within.T
    orthonormal, _ = np.linalg.qr(axes)  # to the last bits
    return np.ascontiguousarray(orthonormal[:, :_MOST_AXES].T)


def _cheapest(rows: _Floats, axes: _Floats, n: int, k: int, evaluation_seconds: float) -> int:
    """Return the number of axes with the least forecast cost for an object and a query."""
    judges = rows[:: max(1, len(rows) // _N_JUDGES)][:_N_JUDGES] @ axes.T
    judged = rows[:: max(1, len(rows) // _N_JUDGED)][:_N_JUDGED] @ axes.T
    scores = judges @ judged.T
    # The k-th best of all lies about here among those judged, the judge itself left out.
    rank = min(len(judged) - 1, 1 + round(k * len(judged) / n))
    threshold = np.sort(scores, axis=1)[:, -1 - rank]
    judge_tails = _tail_lengths(judges)
    judged_tails = _tail_lengths(judged)
    best, least = len(axes), np.inf
    for m in _candidates(len(axes)):
        bounds = judges[:, :m] @ judged[:, :m].T + np.outer(judge_tails[m], judged_tails[m])
        # Codes of 8 bits blur a bound by about this share of both lengths.
        blur = 0.01 * np.outer(_lengths(judges), _lengths(judged))
        share = float(np.mean(bounds + blur >= threshold[:, None]))
        cost = m * _CODE_SECONDS + share * evaluation_seconds
        if cost < least:
            best, least = m, cost
    return best


def _candidates(most: int) -> list[int]:
    few = [m for m in (1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384) if m < most]
    return [*few, most]


def _lengths(rows: _Floats) -> _Floats:
    lengths: _Floats = np.linalg.norm(rows, axis=1)
    return lengths


def _tail_lengths(rows: _Floats) -> _Floats:
    """Return the length of what the first m coordinates leave, for every m: (m, row)."""
    squares = np.cumsum((rows**2)[:, ::-1], axis=1)[:, ::-1]
    padded = np.concatenate([squares, np.zeros((len(rows), 1))], axis=1)
    lengths: _Floats = np.sqrt(padded).T
    return lengths
