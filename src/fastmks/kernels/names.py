"""Kernels by name, as a line of text, or as functions."""

import re
from dataclasses import MISSING, fields
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.kernels.alignments import LocalAlignment, SegmentMatch, SmithWaterman
from fastmks.kernels.base import Kernel, Normalized, how_to_write
from fastmks.kernels.compiled import find_compiled
from fastmks.kernels.graphs import ShortestPath, WeisfeilerLehman
from fastmks.kernels.own import Custom
from fastmks.kernels.precomputed import Precomputed
from fastmks.kernels.sequences import Mismatch, Spectrum
from fastmks.kernels.series import GlobalAlignment
from fastmks.kernels.sets import Jaccard, MinMax, Tanimoto
from fastmks.kernels.vectors import FORMS

__all__ = ["BY_TEXT", "KERNEL_NAMES", "NEEDED", "as_kernel"]

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
# Those that need parameters, with some that will do.
NEEDED: dict[type[Kernel], dict[str, Any]] = {
    GlobalAlignment: {"bandwidth": 1.0},
    Mismatch: {"p": 5, "m": 1},
    Spectrum: {"p": 3},
}
BY_TEXT: dict[str, type[Kernel]] = _BY_NAME | {cls.__name__.lower(): cls for cls in NEEDED}
_NEEDED_TEXTS = [
    f"{cls.__name__.lower()}:{','.join(f'{name}={value}' for name, value in given.items())}"
    for cls, given in NEEDED.items()
]

# What to write for kernels that a name alone does not make, and for names that others use.
_WRITE = {
    "custom": "Custom(function)",
    "dot": "'linear'",
    "globalalignment": "GlobalAlignment(bandwidth=1.0), or 'globalalignment:bandwidth=1.0'",
    "innerproduct": "'linear'",
    "mismatch": "Mismatch(5, 1), or 'mismatch:p=5,m=1'",
    "normalized": "Normalized(Linear()), or 'normalized:linear'",
    "onfield": "OnField(0, Linear())",
    "poly": "'polynomial'",
    "rbf": "'gaussian'",
    "sigmoid": "'tanh'",
    "similarity": "Similarity(function, upper_bound)",
    "spectrum": "Spectrum(3), or 'spectrum:p=3'",
}


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel given as itself, as text, or as a function.

    Text is a name, with parameters behind a colon where they are not to be as by default. Names
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
        if _plain(name) in (BY_TEXT if colon else _BY_NAME):
            return _make(BY_TEXT[_plain(name)], rest)
    is_function = callable(kernel) and not isinstance(kernel, type)
    if is_function or find_compiled(kernel) is not None:
        return Custom(kernel)
    raise InvalidArgument(
        f"kernel must be a kernel from fastmks.kernels, a function of two objects, or one of the "
        f"names {', '.join(KERNEL_NAMES)}, or text such as "
        f"{', '.join(map(repr, _NEEDED_TEXTS))}; got {kernel!r}.{_hint(kernel)}"
    )


def _make(cls: type[Kernel], parameters: str) -> Kernel:
    """Return a kernel with the parameters of a text such as degree=10,offset=1."""
    known = {one.name: one for one in fields(cls) if one.init}  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for item in filter(None, map(str.strip, parameters.split(","))):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name not in known or name in given:
            allowed = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise InvalidArgument(
                f"kernel: {cls.__name__} takes name=value, each name once, with commas between "
                f"them; {allowed}; got {item!r}.{_hint_of_several(item, known)}"
            )
        given[name] = _value(value)
    lacking = [
        name
        for name, one in known.items()
        if name not in given and one.default is MISSING and one.default_factory is MISSING
    ]
    if lacking:
        text = ",".join(f"{name}=..." for name in lacking)
        raise InvalidArgument(
            f"kernel: {cls.__name__} needs {' and '.join(lacking)}: "
            f"'{cls.__name__.lower()}:{text}'."
        )
    return cls(**given)


def _value(text: str) -> Any:
    """Return a parameter as Python has it: numbers, true, false, none, or the text itself."""
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


def _hint_of_several(item: str, known: dict[str, Any]) -> str:
    """Return how several numbers are written, where commas were put between them."""
    name = next((name for name, one in known.items() if "tuple" in str(one.type)), None)
    if name is None or _number(item.strip("()[] ")) is None:
        return ""
    return f" Several numbers of one parameter have + between them: {name}=2+4."


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name.lower())


def _hint(given: Any) -> str:
    if not isinstance(given, str):
        return ""
    name = _plain(re.split("[(:]", given)[0])
    if "(" in given and (name in _BY_NAME or name in _WRITE):
        return " Pass the kernel itself, without quotes."
    if name in _WRITE:
        place = "" if _WRITE[name].startswith("'") else "fastmks.kernels."
        return f" Write {place}{_WRITE[name]}."
    import difflib  # here, since importing it costs time that few need

    close = difflib.get_close_matches(name, [*KERNEL_NAMES, *_WRITE], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
