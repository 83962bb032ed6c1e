"""The base of all estimators: a kernel, an index of the fitted objects, and its searches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fastmks._util.arrays import Floats, Int64s
from fastmks._util.validation import check_count
from fastmks.errors import InvalidArgument
from fastmks.index.hits import Hits
from fastmks.index.index import Index
from fastmks.kernels import as_kernel
from fastmks.sklearn.checked_input import Reading, read_input, threads_of
from fastmks.sklearn.kernel_parameters import changed_kernel, named_parameters
from fastmks.sklearn.voting import make_weights

_WITHIN_KERNEL = "kernel__"
MODES = ("connectivity", "values")  # of graphs


class KernelEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The base of all estimators here: a kernel, an index of the fitted objects, its searches."""

    n_neighbors: Any
    kernel: Any
    algorithm: Any
    n_jobs: Any
    index_: Index
    n_samples_fit_: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with ``deep`` also those of the kernel.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighbors
        >>> KernelNeighbors(kernel="gaussian").get_params()["kernel__bandwidth"]
        1.0
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            found = named_parameters(self.kernel)
            params |= {f"{_WITHIN_KERNEL}{name}": value for name, value in found.items()}
        return params

    def set_params(self, **params: Any) -> "KernelEstimator":
        """Set parameters; ``kernel__bandwidth=2.0`` puts another kernel in place of the kernel.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighbors
        >>> KernelNeighbors(kernel="gaussian").set_params(kernel__bandwidth=2.0).kernel
        Gaussian(bandwidth=2.0)
        """
        own = {key: params[key] for key in params if not key.startswith(_WITHIN_KERNEL)}
        super().set_params(**own)
        within = {key.removeprefix(_WITHIN_KERNEL): params[key] for key in params if key not in own}
        if within:
            self.kernel = changed_kernel(self.kernel, within)
        return self

    def __sklearn_tags__(self) -> Any:
        """The tags of X, for scikit-learn from 1.6 on."""
        tags = super().__sklearn_tags__()
        reading = Reading.of(self.kernel)
        tags.input_tags.sparse = reading.is_sparse
        tags.input_tags.string = reading.is_string
        tags.input_tags.pairwise = reading.is_pairwise
        tags.input_tags.positive_only = reading.is_positive
        tags.input_tags.one_d_array = not reading.is_vectors
        tags.input_tags.two_d_array = reading.has_columns
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags of X for scikit-learn before 1.6."""
        reading = Reading.of(self.kernel)
        return {"pairwise": reading.is_pairwise, "requires_positive_X": reading.is_positive}

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None) -> tuple[Floats, Int64s]:
        """Return the fitted objects with the greatest kernel values, for each query.

        Parameters
        ----------
        X : sequence, optional
            Queries. By default every fitted object is one, and is excluded from its own answer.
        n_neighbors : int, optional
            Results per query; the estimator's own when not given.

        Returns
        -------
        values : float64 array (n_queries, n_neighbors)
            Kernel values, greatest first: similarities, not distances.
        indices : int64 array (n_queries, n_neighbors)
            Positions of the fitted objects; of equal values the smaller comes first.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighbors
        >>> neighbors = KernelNeighbors(kernel="cosine").fit([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
        >>> neighbors.kneighbors([[3.0, 0.0]], n_neighbors=1)
        (array([[1.]]), array([[0]]))
        >>> neighbors.kneighbors(n_neighbors=1)[1]
        array([[2],
               [2],
               [0]])
        """
        values, indices = self._search(X, n_neighbors)
        return values, indices

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, *, mode: str = "connectivity"
    ) -> csr_matrix:
        """Return the answers of `kneighbors` as a sparse matrix of queries by fitted objects.

        Parameters
        ----------
        X, n_neighbors
            As in `kneighbors`.
        mode : {"connectivity", "values"}, default "connectivity"
            The entry of a neighbour: 1, or its kernel value, also where that is 0.

        Returns
        -------
        csr_matrix (n_queries, n_samples_fit_)
            The entries of a row are in the order of `kneighbors`.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighbors
        >>> neighbors = KernelNeighbors(n_neighbors=1).fit([[1.0], [2.0], [3.0]])
        >>> neighbors.kneighbors_graph(mode="values").toarray()
        array([[0., 0., 3.],
               [0., 0., 6.],
               [0., 6., 0.]])
        """
        check_mode(mode, MODES)
        values, indices = self._search(X, n_neighbors)
        return self._graph(values if mode == "values" else np.ones_like(values), indices)

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """Restore the earlier fit, or none, where the block raises an error."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _make_index(self, X: Any) -> Index:
        """Return the index of objects that were checked."""
        check_count("n_neighbors", self.n_neighbors)
        threads = threads_of(self.n_jobs)
        return Index(X, self.kernel, algorithm=self.algorithm, threads=threads)

    def _keep(self, index: Index) -> None:
        """Store the index of the fitted objects."""
        self.index_ = index
        self.n_samples_fit_ = len(index)

    def _checked_objects(self, X: Any) -> Any:
        return read_input(self, X, as_kernel(self.kernel), reset=True)

    def _checked_queries(self, X: Any) -> Any:
        return read_input(self, X, self.index_.kernel, reset=False)

    def _search(self, X: Any, n_neighbors: Any = None) -> Hits:
        check_is_fitted(self, "index_")
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        k = self._checked_count(count, only_others=X is None)
        threads = threads_of(self.n_jobs)
        if X is None:
            return self.index_.search_self(k, threads=threads)
        return self.index_.search(self._checked_queries(X), k, threads=threads)

    def _checked_count(self, n_neighbors: Any, *, only_others: bool) -> int:
        k = check_count("n_neighbors", n_neighbors)
        most = self.n_samples_fit_ - only_others
        if k > most:
            who = "objects that were fitted" + " beside an object itself" * only_others
            raise InvalidArgument(
                f"n_neighbors must be between 1 and the {most} {who}; got n_neighbors={k}."
            )
        return k

    def _graph(self, entries: Floats, indices: Int64s) -> csr_matrix:
        n_queries, k = indices.shape
        offsets = np.arange(0, n_queries * k + 1, k)
        shape = (n_queries, self.n_samples_fit_)
        return csr_matrix((entries.ravel(), indices.ravel(), offsets), shape=shape)


class KernelPredictor(KernelEstimator):
    """The base of estimators that predict from the weighted neighbours of an object."""

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: Any = "linear",
        weights: Any = "uniform",
        algorithm: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def _weighted(self, X: Any) -> tuple[Int64s, Floats]:
        """Return the neighbours of each query, and the weight of each."""
        values, indices = self._search(X)
        return indices, make_weights(values, self.weights, self.index_.kernel)


def check_mode(mode: Any, modes: tuple[str, ...]) -> None:
    """Refuse an unknown mode of a graph."""
    if not isinstance(mode, str) or mode not in modes:
        raise InvalidArgument(f"mode must be one of {', '.join(map(repr, modes))}; got {mode!r}.")
