"""Numbers by the mean over the objects with the greatest kernel values."""

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats
from fastmks.errors import InvalidArgument
from fastmks.sklearn.checked_input import check_targets
from fastmks.sklearn.estimator import KernelPredictor
from fastmks.sklearn.voting import check_weights, weighted_mean


class KernelNeighborsRegressor(MultiOutputMixin, RegressorMixin, KernelPredictor):  # type: ignore[misc]
    """A regressor by the mean over the objects with the greatest kernel values.

    Parameters
    ----------
    n_neighbors : int, default 5
        The number of objects in the mean.
    kernel : Kernel, str or function, default "linear"
        As in `KernelNeighbors`. "linear" prefers long vectors: "cosine" and "gaussian" do not.
    weights : {"uniform", "values"} or function, default "uniform"
        The weight of each object, as in `KernelNeighborsClassifier`.
    algorithm, n_jobs
        As in `KernelNeighbors`.

    Attributes
    ----------
    index_, n_samples_fit_, n_features_in_, feature_names_in_
        As in `KernelNeighbors`.

    Examples
    --------
    >>> from fastmks.sklearn import KernelNeighborsRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 10.0, 20.0, 30.0]
    >>> KernelNeighborsRegressor(n_neighbors=2, kernel="gaussian").fit(X, y).predict([[1.4]])
    array([15.])
    """

    def fit(self, X: Any, y: Any) -> "KernelNeighborsRegressor":
        """Index objects and store their numbers: one each, or a row for several outputs.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighborsRegressor
        >>> KernelNeighborsRegressor().fit([[3.0], [-2.0]], [1.0, 2.0]).n_samples_fit_
        2
        """
        check_weights(self.weights)
        with self._fitting():
            objects = self._checked_objects(X)
            targets = check_targets(self, objects, y)
            try:
                with own_arithmetic():
                    self._targets = targets.astype(np.float64)
            except (TypeError, ValueError):
                raise InvalidArgument(f"y must be numbers; got dtype {targets.dtype}.") from None
            self._keep(self._make_index(objects))
        return self

    def predict(self, X: Any) -> Floats:
        """Return the mean of the neighbours' numbers.

        Parameters
        ----------
        X : sequence or None
            Queries; None for the fitted objects, none of which is its own neighbour.

        Returns
        -------
        float64 array (n_queries,), or (n_queries, n_outputs)

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighborsRegressor
        >>> X, y = [[4.0], [1.0]], [10.0, 20.0]
        >>> KernelNeighborsRegressor(n_neighbors=2, weights="values").fit(X, y).predict([[1.0]])
        array([12.])
        """
        indices, weights = self._weighted(X)
        columns = self._targets.reshape(self.n_samples_fit_, -1)
        means = weighted_mean(columns[indices], weights)
        return means.ravel() if self._targets.ndim == 1 else means
