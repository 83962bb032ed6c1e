"""Weights of neighbours: equal, by kernel value, or by a function of it."""

from typing import Any

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats
from fastmks.errors import InvalidArgument
from fastmks.kernels import Kernel

_NAMES = ("uniform", "values")


def check_weights(weights: Any) -> None:
    """Refuse unknown weights of neighbours."""
    if not callable(weights) and not (isinstance(weights, str) and weights in _NAMES):
        raise InvalidArgument(
            "weights must be 'uniform', 'values', or a function of an array of kernel values; "
            f"got {weights!r}."
        )


def make_weights(values: Floats, weights: Any, kernel: Kernel) -> Floats:
    """Return the weight of each neighbour of each query, the greatest of a query 1.

    Examples
    --------
    >>> from fastmks.kernels import Linear
    >>> make_weights(np.array([[4.0, 1.0, -2.0]]), "values", Linear())
    array([[1.  , 0.25, 0.  ]])
    """
    check_weights(weights)
    if isinstance(weights, str) and weights == "uniform":
        return np.ones_like(values)
    if callable(weights):
        return _scaled(_called(weights, values), "weights(values)")
    # A neighbour with a negative value has no vote.
    return _scaled(np.maximum(values, 0.0), f"max(0, K) of {kernel!r}")


@own_arithmetic()
def _scaled(made: Floats, what: str) -> Floats:
    greatest = made.max(axis=1, keepdims=True)
    if not greatest.all():
        query = int(np.flatnonzero(greatest == 0.0)[0])
        raise InvalidArgument(
            f"{what} is 0 for all neighbours of X[{query}], so that none counts. Pass "
            "weights='uniform', or a kernel with greater values, such as one of a greater "
            "bandwidth."
        )
    scaled: Floats = made / greatest  # so that no sum of them overflows
    return scaled


def _called(weights: Any, values: Floats) -> Floats:
    returned = weights(values.copy())
    with own_arithmetic():
        made = np.array(returned, dtype=np.float64)
    if made.shape != values.shape:
        raise InvalidArgument(
            f"weights(values) must have the shape of values, {values.shape}; got {made.shape}."
        )
    is_bad = ~((made >= 0.0) & (made < np.inf))
    if is_bad.any():
        at = tuple(np.argwhere(is_bad)[0].tolist())
        raise InvalidArgument(
            f"weights(values) must be finite and at least 0; got {made[at]} for the value "
            f"{values[at]}."
        )
    return made


@own_arithmetic()
def vote_shares(
    labels: np.ndarray[Any, np.dtype[np.intp]], weights: Floats, n_classes: int
) -> Floats:
    """Return the share of each class in the votes of each query's neighbours.

    Examples
    --------
    >>> vote_shares(np.array([[2, 0, 2, 0]]), np.ones((1, 4)), 3)
    array([[0.5, 0. , 0.5]])
    """
    votes = np.zeros((len(labels), n_classes))
    queries = np.arange(len(labels))
    for labels_of_rank, weights_of_rank in zip(labels.T, weights.T, strict=True):
        votes[queries, labels_of_rank] += weights_of_rank
    shares: Floats = votes / votes.sum(axis=1, keepdims=True)
    return shares


@own_arithmetic()
def weighted_mean(targets: Floats, weights: Floats) -> Floats:
    """Return the mean of targets (n_queries, k, n_outputs) by weights (n_queries, k).

    Examples
    --------
    >>> weighted_mean(np.array([[[1.0], [5.0]]]), np.array([[1.0, 0.25]]))
    array([[1.8]])
    """
    total = (targets * weights[:, :, None]).sum(axis=1)
    mean: Floats = total / weights.sum(axis=1, keepdims=True)
    return mean
