"""Replace the arguments in the library's error messages by options of the program."""

import re

_NAMES = (
    *("algorithm", "budget", "columns", "delta", "epsilon", "form", "header", "id_column", "ids"),
    *("kernel", "only", "radius", "rank", "relative", "seconds", "threads", "token"),
)
# With a value or without. A name right after a letter or one of these signs is part of text that
# the user wrote: a path, or a kernel with its parameters.
_ARGUMENT = re.compile(
    rf"(?<![\w:,/.'\"-])({'|'.join(_NAMES)})=(?:'([^']*)'|\['([^']*)'\]|([\w.]*\w))?"
)


def as_options(text: str, **renamed: str) -> str:
    """Return the text of an error with options; `renamed` lists those with other names here.

    Examples
    --------
    >>> as_options("Choose others (columns=), or pass algorithm='scan'.")
    'Choose others (--columns), or pass --algorithm scan.'
    >>> as_options("Say the format with form=.", form="output_form")
    'Say the format with --output-form.'
    >>> as_options("Pass header=True or header=False.")
    'Pass --header or --no-header.'
    """

    def option(match: re.Match[str]) -> str:
        name, *values = match.groups()
        value = next((value for value in values if value is not None), None)
        shown = f"--{renamed.get(name, name).replace('_', '-')}"
        if value in ("True", "False"):  # a flag
            return shown if value == "True" else f"--no-{shown[2:]}"
        return shown if value is None else f"{shown} {value}"

    return _ARGUMENT.sub(option, text)
