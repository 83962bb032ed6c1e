"""Max-kernel search as scikit-learn estimators: neighbours, classifier, regressor, transformer.

``pip install ".[sklearn]"``; docs/guides/scikit-learn.md shows them in pipelines and grid searches.
"""

from fastmks._util.validation import import_extra

import_extra("sklearn", extra="sklearn", needed_by="fastmks.sklearn")

from fastmks.sklearn.classifier import KernelNeighborsClassifier  # noqa: E402, after the check
from fastmks.sklearn.neighbors import KernelNeighbors  # noqa: E402
from fastmks.sklearn.regressor import KernelNeighborsRegressor  # noqa: E402
from fastmks.sklearn.transformer import KernelNeighborsTransformer  # noqa: E402

__all__ = [
    "KernelNeighbors",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelNeighborsTransformer",
]
