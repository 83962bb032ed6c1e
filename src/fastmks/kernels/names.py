"""Kernels by name, or as functions."""

import difflib
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.kernels.base import Kernel
from fastmks.kernels.compiled import find_compiled
from fastmks.kernels.own import Custom
from fastmks.kernels.vectors import FORMS

__all__ = ["KERNEL_NAMES", "as_kernel"]

_BY_NAME = {name: cls for cls, name in FORMS.items()}
KERNEL_NAMES = tuple(_BY_NAME)


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel given as itself, by name with its default parameters, or as a function.

    Examples
    --------
    >>> as_kernel("gaussian")
    Gaussian(bandwidth=1.0)
    >>> as_kernel(max)
    Custom(max)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InvalidArgument(
            f"kernel must be a kernel, not its class; write {kernel.__name__}(...)."
        )
    if isinstance(kernel, str) and kernel.lower() in _BY_NAME:
        return _BY_NAME[kernel.lower()]()
    is_function = callable(kernel) and not isinstance(kernel, type)
    if is_function or find_compiled(kernel) is not None:
        return Custom(kernel)
    close = difflib.get_close_matches(str(kernel).lower(), KERNEL_NAMES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close and isinstance(kernel, str) else ""
    raise InvalidArgument(
        f"kernel must be a kernel from fastmks.kernels, a function of two objects, or one of the "
        f"names {', '.join(KERNEL_NAMES)}; got {kernel!r}.{hint}"
    )
