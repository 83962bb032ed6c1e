"""Neighbours by kernel value, with the methods that scikit-learn's neighbours have."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from fastmks._util.arrays import Array, Int64s
from fastmks.errors import InvalidArgument
from fastmks.index.hits import HitsAbove
from fastmks.sklearn.checked_input import threads_of
from fastmks.sklearn.estimator import MODES, KernelEstimator, check_mode


class KernelNeighbors(KernelEstimator):
    """The objects with the greatest kernel values, or with all values from a threshold on.

    The counterpart of scikit-learn's ``NearestNeighbors`` for similarities: `kneighbors` returns
    kernel values, greatest first, the same as `fastmks.Index`.

    Parameters
    ----------
    n_neighbors : int, default 5
        Results per query.
    kernel : Kernel, str or function, default "linear"
        As in `fastmks.Index`: a kernel, text such as "polynomial:degree=3", or your own function.
        A kernel's parameters are also those of the estimator: ``kernel__degree``.
    algorithm : str, default "auto"
        As in `fastmks.Index`: how to search; the answers are the same.
    threshold : float, optional
        The least value that `threshold_neighbors` returns.
    n_jobs : int, optional
        Threads per search, -1 for all CPUs. When not given, OMP_NUM_THREADS or the usable CPUs.

    Attributes
    ----------
    index_ : Index
        The index of the fitted objects, for all other kinds of search; do not change it.
    n_samples_fit_ : int
        The number of fitted objects.
    n_features_in_ : int
        Columns of the vectors, or of the table, that was fitted.
    feature_names_in_ : array of str
        Their names, where all are strings.

    Examples
    --------
    >>> from fastmks.kernels import Normalized, Spectrum
    >>> from fastmks.sklearn import KernelNeighbors
    >>> words = ["kernel", "colonel", "search", "research"]
    >>> neighbors = KernelNeighbors(n_neighbors=1, kernel=Normalized(Spectrum(2))).fit(words)
    >>> values, indices = neighbors.kneighbors(["kernels"])
    >>> indices
    array([[0]])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: Any = "linear",
        algorithm: str = "auto",
        threshold: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.algorithm = algorithm
        self.threshold = threshold
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "KernelNeighbors":
        """Index objects; `y` is ignored.

        Dense float arrays are shared, not copied: leave them unchanged.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighbors
        >>> KernelNeighbors().fit([[3.0, 0.0], [0.0, 2.0]]).index_
        <Index: 2 vectors of 2 columns, Linear(), auto>
        """
        with self._fitting():
            self._keep(self._make_index(self._checked_objects(X)))
        return self

    def threshold_neighbors(self, X: Any = None, threshold: Any = None) -> tuple[Array, Array]:
        """Return all fitted objects whose kernel value is at least a threshold, for each query.

        The counterpart of scikit-learn's ``radius_neighbors``: there all within a radius, here
        all from a similarity on.

        Parameters
        ----------
        X : sequence, optional
            Queries. By default every fitted object is one, and is excluded from its own answer.
        threshold : float or sequence of float, optional
            The least value, for all queries or for each; the estimator's own when not given.

        Returns
        -------
        values : array (n_queries,) of float64 arrays
            Kernel values, greatest first.
        indices : array (n_queries,) of int64 arrays
            Positions of the fitted objects.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighbors
        >>> neighbors = KernelNeighbors(threshold=3.0).fit([[1.0], [2.0], [3.0]])
        >>> values, indices = neighbors.threshold_neighbors([[1.0], [2.0]])
        >>> values[1], indices[1]
        (array([6., 4.]), array([2, 1]))
        """
        hits = self._search_above(X, threshold)
        return _ragged(hits.values, hits.offsets), _ragged(hits.indices, hits.offsets)

    def threshold_neighbors_graph(
        self, X: Any = None, threshold: Any = None, *, mode: str = "connectivity"
    ) -> csr_matrix:
        """Return the answers of `threshold_neighbors` as a sparse matrix.

        Parameters
        ----------
        X, threshold
            As in `threshold_neighbors`.
        mode : {"connectivity", "values"}, default "connectivity"
            As in `kneighbors_graph`.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighbors
        >>> neighbors = KernelNeighbors().fit([[1.0], [2.0], [3.0]])
        >>> neighbors.threshold_neighbors_graph(threshold=3.0).toarray()
        array([[0., 0., 1.],
               [0., 0., 1.],
               [1., 1., 0.]])
        """
        check_mode(mode, MODES)
        hits = self._search_above(X, threshold)
        entries = hits.values if mode == "values" else np.ones_like(hits.values)
        shape = (len(hits), self.n_samples_fit_)
        return csr_matrix((entries, hits.indices, hits.offsets), shape=shape)

    def _search_above(self, X: Any, threshold: Any) -> HitsAbove:
        check_is_fitted(self, "index_")
        least = self.threshold if threshold is None else threshold
        if least is None:
            raise InvalidArgument(
                "threshold must be given, here or to KernelNeighbors(threshold=...): the least "
                "kernel value that counts."
            )
        is_self = X is None
        queries = self.index_.get(self.index_.ids) if is_self else self._checked_queries(X)
        hits = self.index_.search_above(queries, least, threads=threads_of(self.n_jobs))
        return _without_self(hits) if is_self else hits


def _without_self(hits: HitsAbove) -> HitsAbove:
    """Return hits of the fitted objects, each without itself."""
    lengths = np.diff(hits.offsets)
    is_other = hits.indices != np.repeat(np.arange(len(hits)), lengths)
    before = np.concatenate([[0], np.cumsum(is_other)])
    return HitsAbove(
        before[hits.offsets],
        hits.values[is_other],
        hits.indices[is_other],
        hits.ids[is_other],
        hits.stats,
    )


def _ragged(entries: Array, offsets: Int64s) -> Array:
    rows = np.empty(len(offsets) - 1, dtype=object)
    for i in range(len(rows)):
        rows[i] = entries[offsets[i] : offsets[i + 1]]
    return rows
