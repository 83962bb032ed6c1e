"""Kernels written as the text that `as_kernel` takes, and a list of all that can be."""

from dataclasses import MISSING, dataclass, fields
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.kernels.base import Kernel, Normalized
from fastmks.kernels.names import BY_TEXT, NEEDED, as_kernel
from fastmks.kernels.object_kernel import ObjectKernel

__all__ = ["TextForm", "kernel_text", "list_text_forms"]


@dataclass(frozen=True)
class TextForm:
    """How a kernel is written as text.

    Attributes
    ----------
    name : str
        The name alone.
    parameters : dict of str to str or None
        Its parameters, with their defaults as text; None where one must be given.
    objects : str
        What it compares.
    example : str
        Text that makes one.
    """

    name: str
    parameters: dict[str, str | None]
    objects: str
    example: str


def list_text_forms() -> list[TextForm]:
    """Return the kernels that can be written as text, by name.

    Examples
    --------
    >>> [form.example for form in list_text_forms()][-3:]
    ['tanimoto', 'triangular:bandwidth=1.0', 'weisfeilerlehman:iterations=3']
    """
    return [_text_form(name, BY_TEXT[name]) for name in sorted(BY_TEXT)]


def kernel_text(kernel: Kernel) -> str:
    """Return the text that makes a kernel; those that no text makes are an error.

    Examples
    --------
    >>> from fastmks.kernels import Normalized, Polynomial, Spectrum
    >>> kernel_text(Polynomial(degree=10))
    'polynomial:degree=10'
    >>> kernel_text(Normalized(Spectrum((2, 4))))
    'normalized:spectrum:p=2+4'
    """
    if isinstance(kernel, Normalized):
        return f"normalized:{kernel_text(kernel.kernel)}"
    name = type(kernel).__name__.lower()
    try:
        text = _joined(name, _given(kernel)) if name in BY_TEXT else ""
        is_made = bool(text) and as_kernel(text) == kernel
    except InvalidArgument:
        is_made = False
    if not is_made:
        raise InvalidArgument(
            f"kernel must be one that text can make, with numbers and words for parameters; got "
            f"{kernel!r}. Pass the kernel itself, in Python."
        )
    return text


def _text_form(name: str, cls: type[Kernel]) -> TextForm:
    known = {one.name: _default(one) for one in fields(cls) if one.init}  # type: ignore[arg-type]
    shown = {
        parameter: None if default is MISSING else _write(default)
        for parameter, default in known.items()
    }
    assert issubclass(cls, ObjectKernel)
    example = NEEDED.get(cls) or dict(list(known.items())[:1])  # the first parameter, or none
    return TextForm(name, shown, cls.compares, _joined(name, example))


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _given(kernel: Kernel) -> dict[str, Any]:
    """Return the parameters of a kernel that are not as by default."""
    values = {one.name: (getattr(kernel, one.name), _default(one)) for one in fields(kernel)}  # type: ignore[arg-type]
    return {name: value for name, (value, default) in values.items() if value != default}


def _joined(name: str, given: dict[str, Any]) -> str:
    if not given:
        return name
    return f"{name}:{','.join(f'{key}={_write(value)}' for key, value in given.items())}"


def _write(value: Any) -> str:
    """Return a parameter as text, as `as_kernel` reads it."""
    if isinstance(value, tuple):
        return "+".join(map(_write, value))
    if isinstance(value, float):
        return repr(value).replace("e+", "e")  # a + stands between numbers
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
