"""Kernels by name, or as functions."""

import re
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.kernels.alignments import LocalAlignment, SegmentMatch, SmithWaterman
from fastmks.kernels.base import Kernel, how_to_write
from fastmks.kernels.compiled import find_compiled
from fastmks.kernels.graphs import ShortestPath, WeisfeilerLehman
from fastmks.kernels.own import Custom
from fastmks.kernels.precomputed import Precomputed
from fastmks.kernels.sets import Jaccard, MinMax, Tanimoto
from fastmks.kernels.vectors import FORMS

__all__ = ["KERNEL_NAMES", "as_kernel"]

_CLASSES: tuple[type[Kernel], ...] = (
    *FORMS,
    Jaccard,
    LocalAlignment,
    MinMax,
    Precomputed,
    SegmentMatch,
    ShortestPath,
    SmithWaterman,
    Tanimoto,
    WeisfeilerLehman,
)
_BY_NAME = {cls.__name__.lower(): cls for cls in sorted(_CLASSES, key=lambda cls: cls.__name__)}
KERNEL_NAMES = tuple(_BY_NAME)

# What to write for kernels that a name alone does not make, and for names that others use.
_WRITE = {
    "custom": "Custom(function)",
    "dot": "'linear'",
    "globalalignment": "GlobalAlignment(bandwidth=1.0)",
    "innerproduct": "'linear'",
    "mismatch": "Mismatch(5, 1)",
    "normalized": "Normalized(Linear())",
    "onfield": "OnField(0, Linear())",
    "poly": "'polynomial'",
    "rbf": "'gaussian'",
    "sigmoid": "'tanh'",
    "similarity": "Similarity(function, upper_bound)",
    "spectrum": "Spectrum(3)",
}


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel given as itself, by name with its default parameters, or as a function.

    Names are those of the classes; case, blanks, hyphens and underscores make no difference.

    Examples
    --------
    >>> as_kernel("gaussian")
    Gaussian(bandwidth=1.0)
    >>> as_kernel("shortest path")
    ShortestPath()
    >>> as_kernel(max)
    Custom(max)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InvalidArgument(f"kernel must be a kernel, not its class. {how_to_write(kernel)}")
    if isinstance(kernel, str) and _plain(kernel) in _BY_NAME:
        return _BY_NAME[_plain(kernel)]()
    is_function = callable(kernel) and not isinstance(kernel, type)
    if is_function or find_compiled(kernel) is not None:
        return Custom(kernel)
    raise InvalidArgument(
        f"kernel must be a kernel from fastmks.kernels, a function of two objects, or one of the "
        f"names {', '.join(KERNEL_NAMES)}; got {kernel!r}.{_hint(kernel)}"
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name.lower())


def _hint(given: Any) -> str:
    if not isinstance(given, str):
        return ""
    name = _plain(given.partition("(")[0])
    if "(" in given and (name in _BY_NAME or name in _WRITE):
        return " Pass the kernel itself, without quotes."
    if name in _WRITE:
        place = "" if _WRITE[name].startswith("'") else "fastmks.kernels."
        return f" Write {place}{_WRITE[name]}."
    import difflib  # here, since importing it costs time that few need

    close = difflib.get_close_matches(name, [*KERNEL_NAMES, *_WRITE], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
