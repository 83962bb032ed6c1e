"""The command that demonstrates fastmks."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from fastmks.cli.messages import say
from fastmks.cli.serve import PortOption, serve_file

__all__ = ["demo"]


def demo(
    page: Annotated[
        bool, typer.Option("--page", help="Serve the digits with the page to explore them.")
    ] = False,
    port: PortOption = 8080,
) -> None:
    """Search digits with four kernels and a Python function. Brute force verifies all."""
    if page:
        _show_page(port)
        return
    from fastmks.cli.digits import search_digits

    for line in search_digits():
        say(line)


def _show_page(port: int) -> None:
    from fastmks.service.page import demo_index

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "digits.fmks")
        demo_index().save(file)
        serve_file(file, {}, port=port)
