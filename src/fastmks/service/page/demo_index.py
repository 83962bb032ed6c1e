"""The index of the demo: handwritten digits."""

from fastmks._util.validation import import_extra
from fastmks.index.index import Index

__all__ = ["demo_index"]


def demo_index() -> Index:
    """Return an index of handwritten digits, images of 8 x 8 pixels, under the cosine.

    They come with scikit-learn: ``pip install ".[demo]"``.

    Examples
    --------
    >>> from fastmks.service.page import demo_index
    >>> demo_index()
    <Index: 1797 vectors of 64 columns, Cosine(), tree>
    """
    datasets = import_extra("sklearn.datasets", extra="demo", needed_by="the demo")
    images, _ = datasets.load_digits(return_X_y=True)
    return Index(images, "cosine", algorithm="tree")
