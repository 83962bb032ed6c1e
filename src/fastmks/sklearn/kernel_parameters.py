"""Parameters within a kernel by name, as scikit-learn writes them: kernel__bandwidth."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.kernels import Kernel, as_kernel


def named_parameters(kernel: Any) -> dict[str, Any]:
    """Return the parameters within a kernel, by names that `changed_kernel` takes.

    Text is read as a kernel. Functions and values that are no kernel have no parameters.

    Examples
    --------
    >>> from fastmks.kernels import Gaussian, Linear, Normalized
    >>> named_parameters("gaussian")
    {'bandwidth': 1.0}
    >>> list(named_parameters(Normalized(Gaussian()) + Linear()))
    ['terms', 'terms__0', 'terms__0__kernel', 'terms__0__kernel__bandwidth', 'terms__1']
    """
    try:
        return _named(as_kernel(kernel) if isinstance(kernel, str) else kernel)
    except InvalidArgument:  # an error of fit
        return {}


def changed_kernel(kernel: Any, changes: Mapping[str, Any]) -> Any:
    """Return a kernel with other parameters.

    Examples
    --------
    >>> from fastmks.kernels import Gaussian, Normalized
    >>> changed_kernel(Normalized(Gaussian()), {"kernel__bandwidth": 2.0})
    Normalized(kernel=Gaussian(bandwidth=2.0))
    >>> changed_kernel("polynomial", {"degree": 3, "offset": 1.0})
    Polynomial(degree=3, offset=1.0, scale=1.0)
    """
    return _changed(as_kernel(kernel) if isinstance(kernel, str) else kernel, changes, "kernel")


def _named(whole: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, part in _parts(whole).items():
        found[name] = part
        found |= {f"{name}__{inner}": value for inner, value in _named(part).items()}
    return found


def _changed(whole: Any, changes: Mapping[str, Any], name: str) -> Any:
    parts = _parts(whole)
    inner: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        first, deeper, rest = key.partition("__")
        if first not in parts:
            has = f"its parameters are {', '.join(parts)}" if parts else "it has no parameters"
            raise InvalidArgument(f"{name}__{key} must name a parameter of {whole!r}; {has}.")
        if deeper:
            inner.setdefault(first, {})[rest] = value
        else:
            parts[first] = value
    for first, within in inner.items():  # in a kernel that may just have been replaced as a whole
        parts[first] = _changed(parts[first], within, f"{name}__{first}")
    return tuple(parts.values()) if isinstance(whole, tuple) else replace(whole, **parts)


def _parts(whole: Any) -> dict[str, Any]:
    """Return the parameters of a kernel by name, or the kernels of a tuple by position."""
    if isinstance(whole, Kernel) and is_dataclass(whole):
        return {field.name: getattr(whole, field.name) for field in fields(whole) if field.init}
    if isinstance(whole, tuple) and all(isinstance(part, Kernel) for part in whole):
        return {str(i): part for i, part in enumerate(whole)}
    return {}
