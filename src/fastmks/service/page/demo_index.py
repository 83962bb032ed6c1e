"""The index of the demo: handwritten digits."""

from fastmks._util.digits import load_digits, vary_digits
from fastmks.index.index import Index

__all__ = ["demo_index"]


def demo_index() -> Index:
    """Return an index of handwritten digits, images of 8 x 8 pixels, under the cosine.

    The first 1797 come with scikit-learn: ``pip install ".[demo]"``. The others are eleven variants
    of each, turned and moved a little. `auto` chooses the engine.

    Examples
    --------
    >>> from fastmks.service.page import demo_index
    >>> demo_index()
    <Index: 21564 vectors of 64 columns, Cosine(), auto>
    """
    return Index(vary_digits(load_digits()), "cosine")
