"""The command that lists the kernels."""

import json
from dataclasses import asdict

from fastmks.cli.messages import say
from fastmks.cli.options import JsonOption

_BELOW = """
normalized: before a kernel divides by sqrt(K(x, x) K(y, y)): normalized:spectrum:p=3.
Where a parameter takes several numbers, + stands between them: spectrum:p=2+4 counts runs of 2 to 4
letters. Parameters without a default must be given. Case, hyphens and underscores in names make no
difference: smith-waterman."""


def kernels(as_json: JsonOption = False) -> None:
    """List the kernels that --kernel takes, with their parameters."""
    from fastmks.kernels.registry import list_text_forms

    forms = list_text_forms()
    if as_json:
        say(json.dumps([asdict(form) for form in forms]))
        return
    from fastmks.cli.terminal import show_texts

    show_texts(
        ("kernel", "parameters", "objects", "such as"),
        [(form.name, _shown(form.parameters), form.objects, form.example) for form in forms],
    )
    say(_BELOW)


def _shown(parameters: dict[str, str | None]) -> str:
    return ", ".join(
        name if default is None else f"{name}={default}" for name, default in parameters.items()
    )
