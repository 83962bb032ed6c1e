"""The axes on which vectors are told apart soonest, and how many of them pay."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fastmks.spaces import Space

__all__ = ["Axes", "choose_axes"]

_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_MOST_SAMPLED = 8192  # vectors that say where the axes lie
_MOST_EXACT = 1024  # columns up to which all axes are computed
_MOST_FOUND = 512  # axes beyond that
_LEAF_SIZE = 256  # objects
_N_JUDGES = 32  # sampled vectors that play the queries when the number of axes is chosen
_N_JUDGED = 8192  # and those that play the objects
_N_NEIGHBOURS = 1024  # objects among which a judge looks for close ones
_CLOSE = 0.8  # cosine of vectors that are
# Seconds of the code of one coordinate of one object, of one column of an evaluation, and of an
# evaluation beside, which is spent waiting for memory. The same on every machine, so that the same
# objects have the same axes everywhere.
_CODE_SECONDS = 6e-12
_COLUMN_SECONDS = 1e-10
_WAITING_SECONDS = 1e-7
_PER_SURVIVOR = 2.0  # candidates for each object that the last threshold leaves: it was lower once


@dataclass(frozen=True)
class Axes:
    """Orthonormal rows, the point that distances are measured from, and what to expect of them.

    Those of a file come without expectations.
    """

    rows: _Floats
    origin: _Floats | None
    survivors: float = 0.0  # share of the objects that the bounds of a typical search leave
    seconds_per_object: float = 0.0  # that a typical search needs, for each query

    @property
    def dimension(self) -> int:
        """How many there are."""
        return int(self.rows.shape[0])


def choose_axes(
    space: Space, *, queries: Space | None = None, dimension: int | None = None, k: int = 10
) -> Axes:
    """Return principal axes of the vectors of a space that has scores.

    Their number is the one that makes a search of k hits cheapest, judged on a sample of the
    objects and of the queries, or of the objects alone; any number gives the same answers.
    """
    judges, judged, origin = _sampled(space, queries)
    axes = _principal_axes(judged)
    judged = judged[_spread(len(judged), _N_JUDGED)]
    wanted = None if dimension is None else min(dimension, len(axes))
    # A judge that is an object is its own best hit.
    n_hits = k / len(space) * len(judged) + (1 if queries is None else 0)
    shares = _survivors(judges @ axes.T, judged @ axes.T, wanted, n_hits)
    survivor_seconds = _PER_SURVIVOR * (_WAITING_SECONDS + space.n_columns * _COLUMN_SECONDS)
    code_seconds = _CODE_SECONDS * _share_looked_into(judged, len(space))
    costs = {m: m * code_seconds + share * survivor_seconds for m, share in shares.items()}
    best = min(costs, key=lambda m: (costs[m], m))
    return Axes(np.ascontiguousarray(axes[:best]), origin, shares[best], costs[best])


def _share_looked_into(rows: _Floats, n_objects: int) -> float:
    """Return about which share of all objects lies in leaves that a query has to look into.

    Boxes of leaves tell little apart unless objects were split more often than they have
    dimensions: (sum of variances)^2 / sum of their squares, along principal axes.
    """
    centred = rows - rows.mean(axis=0)
    covariance = centred.T @ centred
    squares = float((covariance**2).sum())
    dimensions = float(np.trace(covariance)) ** 2 / squares if squares > 0.0 else 0.0
    n_splits = np.log2(max(1.0, n_objects / _LEAF_SIZE))
    return float(min(1.0, 4.0 * 2.0 ** (dimensions - n_splits)))


def _sampled(space: Space, queries: Space | None) -> tuple[_Floats, _Floats, _Floats | None]:
    """Return some queries and objects as their scores see them, and the origin of distances."""
    rows = space.vectors(_spread(len(space), _MOST_SAMPLED))
    asked = rows[_spread(len(rows), _N_JUDGES)]
    if queries is not None and len(queries) > 0:
        asked = queries.vectors(_spread(len(queries), _N_JUDGES))
    # One unit for all, so that neither sums nor squares leave the range of float64.
    unit = float(np.abs(rows).max(initial=0.0)) or 1.0
    if space.core.score == "product":
        own_unit = float(np.abs(asked).max(initial=0.0)) or 1.0
        return asked / own_unit, rows / unit, None
    if space.core.score == "distance":
        judges, judged = asked / unit, rows / unit
        mean = judged.mean(axis=0)
        return judges - mean, judged - mean, mean * unit
    judges, judged = _unit_rows(asked), _unit_rows(rows)
    some = judged[_spread(len(judged), _N_NEIGHBOURS)]
    second_best = np.partition(judges @ some.T, -min(2, len(some)), axis=1)[:, -min(2, len(some))]
    if float(np.median(second_best)) < _CLOSE:
        return judges, judged, None
    # Close to each other, unit vectors are told apart better by their distances.
    mean = judged.mean(axis=0)
    return judges - mean, judged - mean, mean


def _spread(n: int, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return some positions, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)


def _unit_rows(rows: _Floats) -> _Floats:
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0.0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    units: _Floats = np.divide(scaled, lengths, out=np.zeros_like(scaled), where=lengths > 0.0)
    return units


def _principal_axes(rows: _Floats) -> _Floats:
    """Return orthonormal rows, the one along which the given rows are longest first."""
    n_columns = rows.shape[1]
    if n_columns <= _MOST_EXACT:
        _, vectors = np.linalg.eigh(rows.T @ rows)
        axes = vectors[:, ::-1]
    else:  # the axes of a random part of the space that the rows reach
        rng = np.random.default_rng(0)
        wanted = min(_MOST_FOUND, n_columns, len(rows))
        tried = rows.T @ (rows @ (rows.T @ rng.standard_normal((len(rows), wanted))))
        basis, _ = np.linalg.qr(tried)
        _, _, within = np.linalg.svd(rows @ basis, full_matrices=False)
        axes = basis @ within.T
    orthonormal, _ = np.linalg.qr(axes)  # to the last bits
    return np.ascontiguousarray(orthonormal.T)


def _survivors(
    judges: _Floats, judged: _Floats, wanted: int | None, n_hits: float
) -> dict[int, float]:
    """Return the share of objects that bounds of some numbers of axes leave to be evaluated."""
    scores = judges @ judged.T
    rank = min(len(judged) - 1, round(n_hits))  # of the last hit, about
    threshold = np.partition(scores, -1 - rank, axis=1)[:, -1 - rank, None]
    # Codes of 8 bits blur a bound by about this share of both lengths.
    needed = threshold - 0.01 * np.outer(_lengths(judges), _lengths(judged))
    judge_tails, judged_tails = _tail_lengths(judges), _tail_lengths(judged)
    shares = {}
    for m in _candidates(judged.shape[1]) if wanted is None else [wanted]:
        bounds = judges[:, :m] @ judged[:, :m].T + np.outer(judge_tails[m], judged_tails[m])
        shares[m] = float(np.count_nonzero(bounds >= needed)) / bounds.size
    return shares


def _candidates(most: int) -> list[int]:
    few = [m for m in (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768) if m < most]
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
