"""Every kernel by name: found in text, written as text, and listed.

`fastmks.kernels.__all__` is the one list of kernels. All other facts are in the class: its
parameters, the objects it compares, its names elsewhere, and an example where parameters must be
given.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from inspect import isabstract
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.kernels.base import Kernel, Normalized, how_to_write
from fastmks.kernels.compiled import find_compiled
from fastmks.kernels.object_kernel import ObjectKernel
from fastmks.kernels.own import Custom


@cache
def known_kernels() -> Mapping[str, type[Kernel]]:
    """Return the public kernels by the name of their class."""
    from fastmks import kernels  # here: the package imports this module

    public = (vars(kernels).get(name) for name in kernels.__all__)
    return {
        cls.__name__: cls
        for cls in public
        if isinstance(cls, type) and issubclass(cls, Kernel) and not isabstract(cls)
    }


@cache
def text_kernels() -> Mapping[str, type[ObjectKernel]]:
    """Return the kernels that text can name, by their name: all without functions."""
    return {
        name.lower(): cls
        for name, cls in sorted(known_kernels().items())
        if issubclass(cls, ObjectKernel) and not cls.functions
    }


@cache
def plain_names() -> tuple[str, ...]:
    """Return the names of kernels that need no parameters."""
    return tuple(name for name, cls in text_kernels().items() if not cls.text_example)


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel given as itself, as text, or as a function.

    Text is a name, with parameters after a colon where they are not to be as by default. Names
    are those of the classes; case, blanks, hyphens and underscores make no difference.
    ``normalized:`` before a name is `Normalized` of it. Several numbers of one parameter have ``+``
    between them.

    Examples
    --------
    >>> as_kernel("gaussian")
    Gaussian(bandwidth=1.0)
    >>> as_kernel("shortest path")
    ShortestPath()
    >>> as_kernel("polynomial:degree=10,offset=1")
    Polynomial(degree=10, offset=1.0, scale=1.0)
    >>> as_kernel("normalized:spectrum:p=3")
    Normalized(kernel=Spectrum(p=3))
    >>> as_kernel("spectrum:p=2+4")
    Spectrum(p=(2, 4))
    >>> as_kernel(max)
    Custom(max)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InvalidArgument(f"kernel must be a kernel, not its class. {how_to_write(kernel)}")
    if isinstance(kernel, str):
        name, colon, rest = kernel.partition(":")
        if _plain(name) == "normalized" and rest.strip():
            return Normalized(as_kernel(rest))
        cls = text_kernels().get(_plain(name))
        if cls is not None and (colon or not cls.text_example):
            return _make(cls, rest)
    is_function = callable(kernel) and not isinstance(kernel, type)
    if is_function or find_compiled(kernel) is not None:
        return Custom(kernel)
    examples = (cls.text_example for cls in text_kernels().values() if cls.text_example)
    raise InvalidArgument(
        f"kernel must be a kernel from fastmks.kernels, a function of two objects, or one of the "
        f"names {', '.join(plain_names())}, or text such as "
        f"{', '.join(map(repr, examples))}; got {kernel!r}.{_hint(kernel)}"
    )


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
        The objects that it compares.
    example : str
        Text that gives one.
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
    return [_text_form(name, cls) for name, cls in text_kernels().items()]


def _text_form(name: str, cls: type[ObjectKernel]) -> TextForm:
    known = _parameters(cls)
    shown = {key: None if value is MISSING else _write(value) for key, value in known.items()}
    example = cls.text_example or _joined(name, dict([*known.items()][:1]))
    return TextForm(name, shown, cls.kind.words, example)


def kernel_text(kernel: Kernel) -> str:
    """Return the text of a kernel; a kernel without a text is an error.

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
    name, text = type(kernel).__name__.lower(), ""
    if name in text_kernels():
        known = _parameters(type(kernel))
        given = {key: getattr(kernel, key) for key in known if getattr(kernel, key) != known[key]}
        text = _joined(name, given)
    try:
        is_made = bool(text) and as_kernel(text) == kernel
    except InvalidArgument:
        is_made = False
    if not is_made:
        raise InvalidArgument(
            f"kernel must be one that text can make, with numbers and words for parameters; got "
            f"{kernel!r}. Pass the kernel itself, in Python."
        )
    return text


def _parameters(cls: Any) -> dict[str, Any]:
    """Return the parameters of a kernel with their defaults; MISSING where one must be given."""
    return {
        one.name: one.default if one.default_factory is MISSING else one.default_factory()
        for one in fields(cls)
        if one.init
    }


def _make(cls: Any, parameters: str) -> Kernel:
    """Return a kernel with the parameters of a text such as degree=10,offset=1."""
    known = _parameters(cls)
    given: dict[str, Any] = {}
    for item in filter(None, map(str.strip, parameters.split(","))):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name not in known or name in given:
            allowed = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise InvalidArgument(
                f"kernel: {cls.__name__} takes name=value, each name once, with commas between "
                f"them; {allowed}; got {item!r}.{_hint_of_several(item, cls)}"
            )
        given[name] = _value(value)
    lacking = [name for name in known if name not in given and known[name] is MISSING]
    if lacking:
        text = ",".join(f"{name}=..." for name in lacking)
        raise InvalidArgument(
            f"kernel: {cls.__name__} needs {' and '.join(lacking)}: "
            f"'{cls.__name__.lower()}:{text}'."
        )
    made: Kernel = cls(**given)
    return made


def _value(text: str) -> Any:
    """Return a parameter as a Python value: numbers, true, false, none, or the text itself."""
    number = _number(text)
    if number is not None:
        return number
    several = tuple(map(_number, text.split("+")))
    if None not in several:
        return several
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def _number(text: str) -> int | float | None:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None


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


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name.lower())


def _hint_of_several(item: str, cls: Any) -> str:
    """Return how several numbers are written, where commas were put between them."""
    name = next((one.name for one in fields(cls) if "tuple" in str(one.type)), None)
    if name is None or _number(item.strip("()[] ")) is None:
        return ""
    return f" Several numbers of one parameter have + between them: {name}=2+4."


def _hint(given: Any) -> str:
    if not isinstance(given, str):
        return ""
    name, ways = _plain(re.split("[(:]", given)[0]), _ways_to_write()
    if "(" in given and (name in plain_names() or name in ways):
        return " Pass the kernel itself, without quotes."
    if name in ways:
        return f" Write {ways[name]}."
    import difflib  # here, since few need it and the import takes time

    close = difflib.get_close_matches(name, [*plain_names(), *ways], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _ways_to_write() -> dict[str, str]:
    """Return what to write for names used elsewhere, and for names that need parameters."""
    ways: dict[str, str] = {}
    for name, cls in known_kernels().items():
        ways |= dict.fromkeys(cls.also_called, f"'{name.lower()}'")
        if cls.python_example:
            text = f", or '{cls.text_example}'" if cls.text_example else ""
            ways[name.lower()] = f"fastmks.kernels.{cls.python_example}{text}"
    return ways
