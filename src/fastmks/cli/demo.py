"""The command that shows what this is about."""

import typer

__all__ = ["demo"]


def demo() -> None:
    """Search handwritten digits with four kernels, every answer verified by brute force."""
    from fastmks.cli.digits import search_digits

    for line in search_digits():
        typer.echo(line)
