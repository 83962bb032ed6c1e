"""Kernels by name."""

import difflib
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.kernels import vectors
from fastmks.kernels.base import Kernel

__all__ = ["KERNEL_NAMES", "as_kernel", "name_of"]

_CLASSES: tuple[type[vectors.VectorKernel], ...] = (
    vectors.Cosine,
    vectors.Epanechnikov,
    vectors.Exponential,
    vectors.Gaussian,
    vectors.Laplacian,
    vectors.Linear,
    vectors.Polynomial,
    vectors.Spherical,
    vectors.Tanh,
    vectors.Triangular,
)
_BY_NAME = {cls.__name__.lower(): cls for cls in _CLASSES}
_NAMES = {cls: name for name, cls in _BY_NAME.items()}
KERNEL_NAMES = tuple(_BY_NAME)


def name_of(kernel: vectors.VectorKernel) -> str:
    """Return the name under which `as_kernel` finds kernels of this very class."""
    if type(kernel) not in _NAMES:
        raise InvalidArgument(
            f"kernel must be one of the classes in fastmks.kernels; got {kernel!r} of the derived "
            f"class {type(kernel).__name__}, whose values are not known."
        )
    return _NAMES[type(kernel)]


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel given as itself or, with its default parameters, by name.

    Examples
    --------
    >>> as_kernel("gaussian")
    Gaussian(bandwidth=1.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InvalidArgument(
            f"kernel must be a kernel, not its class; write {kernel.__name__}(...)."
        )
    if isinstance(kernel, str) and kernel.lower() in _BY_NAME:
        return _BY_NAME[kernel.lower()]()
    close = difflib.get_close_matches(str(kernel).lower(), KERNEL_NAMES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close and isinstance(kernel, str) else ""
    raise InvalidArgument(
        f"kernel must be a kernel from fastmks.kernels or one of the names "
        f"{', '.join(KERNEL_NAMES)}; got {kernel!r}.{hint}"
    )
