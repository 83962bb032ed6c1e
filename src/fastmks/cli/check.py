"""The command that proves the bounds of an index file."""

from typing import Annotated

import typer

from fastmks.cli.messages import note, one_line, say
from fastmks.cli.options import ThreadsOption


def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Index files to check.")],
    threads: ThreadsOption = None,
) -> None:
    """Check the files of indexes: prove all bounds from the objects."""
    from fastmks.cli.object_files import is_terminal, load_index
    from fastmks.errors import FastmksError

    is_sound = True
    for file in files:
        try:
            load_index(file, threads=threads).check(progress=is_terminal())
        except (FastmksError, OSError) as error:
            is_sound = False
            fault = one_line(error)
            note(f"fastmks: error: {fault if file in fault else f'{file}: {fault}'}")
        else:
            say(f"{file}: sound")
    if not is_sound:
        raise typer.Exit(1)
