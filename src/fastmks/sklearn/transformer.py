"""Objects as a sparse graph of their neighbours, for the next step of a pipeline."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats
from fastmks.engines.faults import named_faults
from fastmks.engines.space import Space
from fastmks.errors import InvalidArgument, NotMercerError
from fastmks.index.hits import Hits
from fastmks.index.index import Index
from fastmks.index.view import view_of
from fastmks.sklearn.checked_input import threads_of
from fastmks.sklearn.estimator import MODES, KernelEstimator, check_mode

_ROUNDING = 1e-14  # this share of K(x, x) counts as 0, in squared distances and between K(x, x)
_IMPOSSIBLE = 1e-6  # no Mercer kernel has squared distances below minus this share


class KernelNeighborsTransformer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    KernelEstimator,
):
    """A sparse graph of the objects with the greatest kernel values.

    Parameters
    ----------
    mode : {"values", "connectivity", "distance"}, default "values"
        The entry of a neighbour: its kernel value, 1, or its distance in the kernel's Hilbert
        space, sqrt(K(x, x) + K(y, y) - 2 K(x, y)). "distance" is what scikit-learn's estimators
        with ``metric="precomputed"`` take: the `n_neighbors` + 1 nearest objects of each query,
        nearest first, one more since a fitted object is its own nearest. It needs a Mercer kernel
        with the same K(x, x) for all fitted objects, as "gaussian" and ``Normalized(kernel)`` have;
        else those with the greatest values are not the nearest, and `fit` says so.
    n_neighbors, kernel, algorithm, n_jobs
        As in `KernelNeighbors`.

    Attributes
    ----------
    index_, n_samples_fit_, n_features_in_, feature_names_in_
        As in `KernelNeighbors`.

    Examples
    --------
    >>> from fastmks.sklearn import KernelNeighborsTransformer
    >>> graph = KernelNeighborsTransformer(n_neighbors=2).fit_transform([[1.0], [2.0], [3.0]])
    >>> graph.toarray()
    array([[0., 2., 3.],
           [0., 4., 6.],
           [0., 6., 9.]])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        mode: str = "values",
        kernel: Any = "linear",
        algorithm: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.mode = mode
        self.kernel = kernel
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "KernelNeighborsTransformer":
        """Index objects; `y` is ignored.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighborsTransformer
        >>> model = KernelNeighborsTransformer(kernel="cosine", mode="distance")
        >>> model.fit([[3.0, 0.0], [0.0, 2.0]]).get_feature_names_out()
        array(['kernelneighborstransformer0', 'kernelneighborstransformer1'], dtype=object)
        """
        check_mode(self.mode, (*MODES, "distance"))
        with self._fitting():
            index = self._make_index(self._checked_objects(X))
            self._self_value = _common_self_value(index) if self.mode == "distance" else None
            self._keep(index)
            self._n_features_out = self.n_samples_fit_
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Return the graph from queries to the fitted objects.

        Returns
        -------
        csr_matrix (n_queries, n_samples_fit_)
            `n_neighbors` entries a row, one more for "distance"; greatest value, or least
            distance, first.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighborsTransformer
        >>> model = KernelNeighborsTransformer(1, kernel="cosine", mode="distance")
        >>> graph = model.fit([[3.0, 0.0], [0.0, 2.0], [0.0, -1.0]]).transform([[0.0, 1.0]])
        >>> graph.indices, graph.data.round(3)
        (array([1, 0]...), array([0.   , 1.414]))
        """
        check_is_fitted(self, "index_")
        check_mode(self.mode, (*MODES, "distance"))
        if self.mode != "distance":
            return self.kneighbors_graph(X, mode=self.mode)
        return self._distance_graph(X)

    def __sklearn_tags__(self) -> Any:
        """Graphs are float64, whatever the objects are."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}  # scikit-learn adds the tags of the bases

    def _distance_graph(self, X: Any) -> csr_matrix:
        if self._self_value is None:
            raise InvalidArgument("mode='distance' must be set before fit. Fit again.")
        # Read here once, for the search and for K(query, query).
        queries = view_of(self.index_).space.queries(self._checked_queries(X))
        k = 1 + self._checked_count(self.n_neighbors, only_others=True)
        own = _self_values(queries)[:, None]
        hits = self.index_.search(queries.objects, k, threads=threads_of(self.n_jobs))
        return self._graph(self._distances(hits, own, self._self_value), hits.indices)

    @own_arithmetic()
    def _distances(self, hits: Hits, own: Floats, other: float) -> Floats:
        scale = own + other
        squared = scale - 2.0 * hits.values
        if (squared < -_IMPOSSIBLE * scale).any():
            query, rank = np.argwhere(squared < -_IMPOSSIBLE * scale)[0].tolist()
            raise NotMercerError(
                f"{self.index_.kernel!r} gives X[{query}] and object {hits.indices[query, rank]} a "
                f"squared distance of {squared[query, rank]:.6g}, which no Mercer kernel does. "
                "Pass mode='values'."
            )
        distances: Floats = np.sqrt(np.where(squared > _ROUNDING * scale, squared, 0.0))
        return distances


def _common_self_value(index: Index) -> float:
    """Return the K(x, x) that all objects of an index share."""
    space = view_of(index).space
    if not space.is_mercer:
        raise InvalidArgument(
            f"mode='distance' needs a Mercer kernel: {index.kernel!r} is none on these objects, "
            "and has no Hilbert space. Pass mode='values'."
        )
    found = _self_values(space)
    least, most = float(found.min()), float(found.max())
    if most - least > _ROUNDING * most:
        raise InvalidArgument(
            "mode='distance' needs a K(x, x) that is the same for all objects, or those with the "
            f"greatest values are not the nearest; {index.kernel!r} has K(x, x) from {least} to "
            f"{most}. Pass a kernel such as Normalized(...), without objects that are zero, or "
            "mode='values'."
        )
    return most


def _self_values(space: Space) -> Floats:
    with named_faults(space.kernel, "X[{}]".format, "X[{}]".format):
        return space.self_values()
