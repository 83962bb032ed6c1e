"""Ctrl-C while the program `fastmks` is still importing: exit code 130, without a trace."""

import os
import signal
import sys

_INTERRUPTED = 130
_SCRIPTS = ("fastmks", "fastmks.exe", "fastmks-script.py")


def heed_early_interrupts() -> None:
    """End the program at once at Ctrl-C, until `main` sets up its signals: no work has begun.

    Programs that only import the package are not changed.
    """
    if _is_program() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))


def _is_program() -> bool:
    """Whether this process is the script `fastmks` or ``python -m fastmks``."""
    given = getattr(sys, "argv", [])
    if given[:1] == ["-m"]:  # while Python searches for the module to run
        module = sys.orig_argv[-len(given)]
        return module == "fastmks" or (module.startswith("-") and module.endswith("mfastmks"))
    return bool(given) and os.path.basename(given[0]) in _SCRIPTS  # noqa: PTH119, for speed
