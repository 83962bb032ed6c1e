"""Classes by the votes of the objects with the greatest kernel values."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin
from sklearn.utils.multiclass import check_classification_targets

from fastmks._util.arrays import Array, Floats
from fastmks.sklearn.checked_input import check_targets, warn_of_column
from fastmks.sklearn.estimator import KernelPredictor
from fastmks.sklearn.voting import check_weights, vote_shares


class KernelNeighborsClassifier(MultiOutputMixin, ClassifierMixin, KernelPredictor):  # type: ignore[misc]
    """A classifier by the votes of the objects with the greatest kernel values.

    Parameters
    ----------
    n_neighbors : int, default 5
        The number of objects that vote.
    kernel : Kernel, str or function, default "linear"
        As in `KernelNeighbors`. "linear" prefers long vectors: "cosine" and "gaussian" do not.
    weights : {"uniform", "values"} or function, default "uniform"
        The weight of a vote: 1, its kernel value, or the result of a function of an array of
        values, which must be at least 0. A negative value counts 0. A query whose votes all count
        0 is an error.
    algorithm, n_jobs
        As in `KernelNeighbors`.

    Attributes
    ----------
    classes_ : array, or list of arrays for a y of several columns
        The classes, increasing.
    outputs_2d_ : bool
        Whether y had several columns.
    index_, n_samples_fit_, n_features_in_, feature_names_in_
        As in `KernelNeighbors`.

    Examples
    --------
    >>> from fastmks.sklearn import KernelNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = KernelNeighborsClassifier(n_neighbors=3, kernel="gaussian").fit(X, y)
    >>> model.predict([[0.9], [2.5]])
    array(['low', 'high'], dtype='<U4')
    """

    def fit(self, X: Any, y: Any) -> "KernelNeighborsClassifier":
        """Index objects and store their classes: one each, or a row for several outputs.

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighborsClassifier
        >>> KernelNeighborsClassifier().fit([[3.0], [-2.0]], ["up", "down"]).classes_
        array(['down', 'up'], dtype='<U4')
        """
        check_weights(self.weights)
        with self._fitting():
            objects = self._checked_objects(X)
            targets = check_targets(self, objects, y)
            warn_of_column(targets)
            check_classification_targets(targets)
            self._keep_classes(targets.reshape(len(targets), -1))
            self._keep(self._make_index(objects))
        return self

    def predict(self, X: Any) -> Array:
        """Return the class with most votes; of equal votes, the smaller class.

        Parameters
        ----------
        X : sequence or None
            Queries; None for the fitted objects, none of which votes for itself.

        Returns
        -------
        array (n_queries,), or (n_queries, n_outputs)

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighborsClassifier
        >>> model = KernelNeighborsClassifier(n_neighbors=1).fit([[3.0], [-2.0]], ["up", "down"])
        >>> model.predict([[1.0], [-1.0]])
        array(['up', 'down'], dtype='<U4')
        """
        shares = self._shares(X)
        found = [
            classes[np.argmax(share, axis=1)]
            for classes, share in zip(self._class_lists, shares, strict=True)
        ]
        return np.stack(found, axis=1) if self.outputs_2d_ else found[0]

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in the votes.

        Parameters
        ----------
        X : sequence or None
            As in `predict`.

        Returns
        -------
        float64 array (n_queries, n_classes), or a list of one for each output

        Examples
        --------
        >>> from fastmks.sklearn import KernelNeighborsClassifier
        >>> X, y = [[4.0], [2.0], [1.0]], ["big", "small", "small"]
        >>> KernelNeighborsClassifier(n_neighbors=2).fit(X, y).predict_proba([[1.0]])
        array([[0.5, 0.5]])
        >>> by_value = KernelNeighborsClassifier(n_neighbors=3, weights="values").fit(X, y)
        >>> by_value.predict_proba([[1.0]]).round(2)
        array([[0.57, 0.43]])
        """
        shares = self._shares(X)
        return shares if self.outputs_2d_ else shares[0]

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: several outputs are accepted."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"multilabel": True}  # scikit-learn adds the tags of the bases

    def _keep_classes(self, columns: Array) -> None:
        classes = [np.unique(column) for column in columns.T]
        labels = [np.searchsorted(*pair) for pair in zip(classes, columns.T, strict=True)]
        self.outputs_2d_ = len(classes) > 1
        self.classes_: Any = classes if self.outputs_2d_ else classes[0]
        self._labels = np.stack(labels, axis=1)

    @property
    def _class_lists(self) -> list[Array]:
        return list(self.classes_) if self.outputs_2d_ else [self.classes_]

    def _shares(self, X: Any) -> list[Floats]:
        indices, weights = self._weighted(X)
        labels = self._labels[indices]
        return [
            vote_shares(labels[:, :, i], weights, len(classes))
            for i, classes in enumerate(self._class_lists)
        ]
