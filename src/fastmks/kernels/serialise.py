"""Kernels as plain facts, for a file, and back. Functions are not: the user gives them again."""

import reprlib
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.kernels.base import Kernel
from fastmks.kernels.compiled import find_compiled
from fastmks.kernels.own import Custom, function_label, has_functions
from fastmks.kernels.registry import as_kernel, known_kernels
from fastmks.kernels.substitution import Substitution

_MOST_DEPTH = 64  # of kernels within kernels


def kernel_facts(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel as JSON values: its class, its parameters, its functions' names.

    Examples
    --------
    >>> from fastmks.kernels import Gaussian
    >>> kernel_facts(Gaussian(bandwidth=2.0))
    {'name': 'Gaussian', 'parameters': {'bandwidth': 2.0}}
    >>> kernel_from_facts(kernel_facts(Gaussian(bandwidth=2.0)), None)
    Gaussian(bandwidth=2.0)
    """
    return _facts(kernel, 0)


def kernel_from_facts(facts: Any, given: Any) -> Kernel:
    """Return the kernel of recorded facts.

    Where it has functions, `given` must be a kernel that is the same but for its functions; for a
    kernel of one function the function is enough. Where it has none, `given` may be None, or must
    be equal to it. Facts are checked as the arguments of a kernel are.
    """
    stored = _restore(facts, 0)
    if not has_functions(stored):
        if given is not None and as_kernel(given) != stored:
            raise InvalidArgument(
                f"kernel must be {stored!r}, which the index was saved with, or not be given; "
                f"got {given!r}."
            )
        return stored
    if given is None:
        raise InvalidArgument(
            f"kernel must be given: the index was saved with {stored!r}, and files hold no "
            "functions. Pass the same kernel, kernel=..."
        )
    kernel = _complete(stored, given)
    if _without_labels(_facts(kernel, 0)) != _without_labels(_facts(stored, 0)):
        raise InvalidArgument(
            f"kernel must be the one that the index was saved with, {stored!r}, where functions "
            f"may have other names; got {kernel!r}."
        )
    return kernel


def _facts(kernel: Kernel, depth: int) -> dict[str, Any]:
    if depth > _MOST_DEPTH:
        raise InvalidArgument(f"kernels in files must be nested at most {_MOST_DEPTH} deep.")
    cls = type(kernel)
    if known_kernels().get(cls.__name__) is not cls:
        raise InvalidArgument(
            f"kernel must be one of the classes in fastmks.kernels to be saved; got {kernel!r} of "
            f"the class {cls.__name__}."
        )
    functions = cls.functions
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}  # type: ignore[arg-type]
    parameters = {
        name: _plain(name, value, depth)
        for name, value in values.items()
        if name not in functions and name not in cls.costs
    }
    if isinstance(kernel, Custom):  # a declaration comes with the function, which is not saved
        parameters["is_mercer"] = kernel.is_mercer is not False
    facts: dict[str, Any] = {"name": cls.__name__, "parameters": parameters}
    if functions:
        facts["functions"] = {
            name: {"label": function_label(values[name]), "is_compiled": _is_compiled(values[name])}
            for name in functions
            if values[name] is not None
        }
    return facts


def _plain(name: str, value: Any, depth: int) -> Any:
    """Return the value of a parameter as a JSON value; floats stay exact."""
    match value:
        case Kernel():
            return _facts(value, depth + 1)
        case Substitution():
            letters, scores = _text("letters", value.letters), [list(row) for row in value.scores]
            return {"letters": letters, "scores": scores}
        case tuple():
            return [_plain(name, item, depth) for item in value]
        case str():
            return _text(name, value)
        case None | bool() | int() | float():
            return value
    raise InvalidArgument(f"{name} must be a plain value to be saved; got {value!r}.")


def _text(name: str, text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} must have no lone surrogates: {text!r}.") from None
    return text


def _is_compiled(function: Any) -> bool:
    if isinstance(function, _StandIn):
        return function.is_compiled
    return find_compiled(function) is not None


class _StandIn:
    """A placeholder of a function that is not in the file. Kernels show its name."""

    def __init__(self, label: str, is_compiled: bool) -> None:
        self.__qualname__ = label
        self.is_compiled = is_compiled

    def __call__(self, *_: Any) -> Any:
        raise InvalidArgument(f"{self.__qualname__} must be given again: files hold no functions.")


def _complete(stored: Kernel, given: Any) -> Kernel:
    """Return the given kernel, or the stored one with the given function."""
    names = stored.functions
    is_one = [name for name in names if getattr(stored, name) is not None] == ["function"]
    is_function = callable(given) and not isinstance(given, (Kernel, type))
    if is_one and (is_function or find_compiled(given) is not None):
        return replace(stored, function=given)  # type: ignore[type-var]
    return as_kernel(given)


def _without_labels(facts: Any) -> Any:
    match facts:
        case dict():
            return {key: _without_labels(facts[key]) for key in facts if key != "label"}
        case list():
            return [_without_labels(item) for item in facts]
    return facts


def _restore(facts: Any, depth: int) -> Kernel:
    if depth > _MOST_DEPTH:
        raise IndexFileError(f"kernels in files must be nested at most {_MOST_DEPTH} deep.")
    name = facts.get("name") if isinstance(facts, Mapping) else None
    if not isinstance(name, str) or name not in known_kernels():
        raise IndexFileError(
            f"the kernel in the file is of no class that is known: {reprlib.repr(name)}."
        )
    cls = known_kernels()[name]
    parameters, functions = facts.get("parameters"), facts.get("functions", {})
    if not isinstance(parameters, Mapping) or not isinstance(functions, Mapping):
        raise IndexFileError(f"{name} in the file must have its parameters by name.")
    _check_names(cls, parameters, functions)
    arguments = {key: _value(value, depth) for key, value in parameters.items()}
    if cls is Custom and arguments.get("is_mercer") is True:
        arguments["is_mercer"] = None
    arguments |= {key: _stand_in(value) for key, value in functions.items()}
    return _make(cls, arguments)  # type: ignore[no-any-return]


def _check_names(cls: type[Kernel], parameters: Mapping[str, Any], functions: Any) -> None:
    """Refuse parameters that this version does not know; those with defaults may be missing."""
    names = cls.functions
    unsaved = (*names, *cls.costs)
    known = {field.name: field for field in fields(cls) if field.name not in unsaved}  # type: ignore[arg-type]
    needed = {name for name, field in known.items() if field.default is MISSING}
    if not needed <= parameters.keys() <= known.keys() or not functions.keys() <= set(names):
        got = ", ".join([*parameters, *functions])
        raise IndexFileError(
            f"{cls.__name__} in the file must have the parameters "
            f"{', '.join([*known, *names]) or 'none'}; it has {got!s:.80}."
        )


def _value(value: Any, depth: int) -> Any:
    match value:
        case Mapping() if value.keys() == {"letters", "scores"}:
            return _make(Substitution, value)
        case Mapping():
            return _restore(value, depth + 1)
        case list():
            return tuple(_item(item, depth) for item in value)
    return value


def _item(value: Any, depth: int) -> Any:
    """Return an entry of a list, which must not be a list."""
    if isinstance(value, list):
        raise IndexFileError(
            f"a kernel in the file has a list within a list: {reprlib.repr(value)}."
        )
    return _value(value, depth)


def _stand_in(facts: Any) -> _StandIn:
    match facts:
        case {"label": str(label), "is_compiled": bool(is_compiled)}:
            return _StandIn(label, is_compiled)
    raise IndexFileError(f"a function in the file must have its label: {reprlib.repr(facts)}.")


def _make(cls: Any, arguments: Mapping[str, Any]) -> Any:
    """Call a class with arguments that it may refuse."""
    try:
        return cls(**arguments)
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise IndexFileError(f"{cls.__name__} in the file cannot be restored: {error}") from error
