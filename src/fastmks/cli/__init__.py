"""The command line: ``fastmks build``, ``search`` and so on. Needs ``fastmks[cli]``.

Examples
--------
>>> from fastmks.cli import run
>>> run(["info", "no-such-file.fmks"])
1
"""

import sys
from collections.abc import Sequence

from fastmks.cli.signals import end_by_signals

__all__ = ["main", "run"]


def run(arguments: Sequence[str]) -> int:
    """Run the command in the arguments, and return the exit code: 0 fine, 1 failed, 2 wrong usage.

    130 is an interrupt, and 141 means that the reader of the output has closed it.

    Examples
    --------
    >>> from fastmks.cli import run
    >>> run(["search"])
    2
    """
    from fastmks._util.validation import import_extra

    try:
        for module in ("typer", "rich"):
            import_extra(module, extra="cli", needed_by="the command line")
    except ImportError as error:
        sys.stderr.write(f"fastmks: error: {error}\n")
        return 2
    from fastmks.cli.runner import run_app

    return run_app(arguments)


def main() -> None:
    """Run the program `fastmks` with the arguments it was called with."""
    try:
        with end_by_signals():
            code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are imported
        code = 130
    sys.exit(code)
