"""Checks of X and y: those of scikit-learn, and those of the kernel."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_non_negative

from fastmks._util.arrays import Array
from fastmks.data.frames import is_table
from fastmks.data.graphs import GRAPHS
from fastmks.data.sets import SETS
from fastmks.data.strings import STRINGS
from fastmks.errors import InvalidArgument
from fastmks.kernels import (
    Custom,
    Kernel,
    Precomputed,
    Similarity,
    as_kernel,
)
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.objects import listed, read_objects

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6, where it was a method

    def validate_data(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
        """Check X, and its columns against those of the objects."""
        if options.pop("skip_check_array", False):
            estimator._check_feature_names(X, reset=reset)  # noqa: SLF001
            estimator._check_n_features(X, reset=reset)  # noqa: SLF001
            return X
        return estimator._validate_data(X, reset=reset, **options)  # noqa: SLF001


_VECTORS, _NON_NEGATIVE, _COMPILED = "vectors", "non-negative vectors", "float64 rows"
_BITS = "bits"
_ANYTHING = (Custom, Similarity)
_WITHOUT_COLUMNS = (STRINGS, SETS, GRAPHS)
_FLOATS = [np.float64, np.float32]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The objects that a kernel takes, in the terms of scikit-learn's tags."""

    is_vectors: bool = True
    is_sparse: bool = True
    is_positive: bool = False
    is_string: bool = False
    is_pairwise: bool = False
    has_columns: bool = True

    @classmethod
    def of(cls, kernel: Any) -> "Reading":
        """Return the input tags of a kernel; a value that is no kernel is an error in `fit`."""
        try:
            parts = list(leaves(as_kernel(kernel)))
        except InvalidArgument:
            return cls()
        keys = {leaf.store_key for fields, leaf in parts if not fields}
        has_fields = any(fields for fields, _ in parts)
        return cls(
            # One part that reads vectors is enough: all parts read the same objects.
            is_vectors=bool(keys & {_VECTORS, _NON_NEGATIVE, _COMPILED}) and not has_fields,
            is_sparse=keys <= {_VECTORS, _NON_NEGATIVE, _BITS} and not has_fields,
            is_positive=_NON_NEGATIVE in keys,
            is_string=all(leaf.kind is STRINGS or isinstance(leaf, _ANYTHING) for _, leaf in parts),
            is_pairwise=any(isinstance(leaf, Precomputed) for _, leaf in parts),
            has_columns=has_fields or not any(x.kind in _WITHOUT_COLUMNS for _, x in parts),
        )


def read_input(estimator: Any, X: Any, kernel: Kernel, *, reset: bool) -> Any:
    """Return X checked as scikit-learn does: vectors wholly, of a table the columns.

    The kernel itself checks all other objects. `reset` stores the columns; without it they must
    be the stored ones.
    """
    reading = Reading.of(kernel)
    if reading.is_vectors:
        _refuse_words(X, kernel)
        options = {"accept_sparse": "csr", "dtype": _FLOATS, "order": "C"}
        vectors = validate_data(estimator, X, reset=reset, **options)
        if reading.is_positive:
            check_non_negative(vectors, repr(kernel))
        return vectors
    if reset:  # stored by an earlier fit
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)
    if is_table(X) and (reset or hasattr(estimator, "n_features_in_")):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return listed(X)


def _refuse_words(X: Any, kernel: Kernel) -> None:
    """Add to an error about vectors which kernels compare strings and sets."""
    is_row_of_objects = isinstance(X, (list, tuple)) or getattr(X, "ndim", 0) == 1
    if is_row_of_objects and len(X) and isinstance(next(iter(X)), (str, bytes, set, frozenset)):
        read_objects(list(X), kernel, name="X")


def check_targets(estimator: Any, X: Any, y: Any) -> Array:
    """Return y as an array of one target for each object, or of a row of them."""
    if y is None:
        raise InvalidArgument(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    if np.isscalar(y):
        raise InvalidArgument(
            f"y must have one target, or a row of them, for each object; got {y!r}."
        )
    targets: Array = check_array(
        y, ensure_2d=False, dtype=None, input_name="y", estimator=estimator
    )
    check_consistent_length(X, targets)
    return targets


def warn_of_column(targets: Array) -> None:
    """Warn, as scikit-learn does, of a y that is a column where a 1-D array was meant."""
    if targets.ndim == 2 and targets.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected: pass y.ravel().",
            DataConversionWarning,
            stacklevel=3,
        )


def threads_of(n_jobs: Any) -> int | None:
    """Return the number of threads for n_jobs: None gives that of an Index."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise InvalidArgument(
            f"n_jobs must be None, a number of threads, or -1 for all CPUs; got {n_jobs!r}."
        )
    return int(effective_n_jobs(int(n_jobs)))
