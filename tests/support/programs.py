"""Programs in processes of their own."""

import signal
import subprocess
import sys
import textwrap

from support.waiting import PATIENCE


def run_program(command, **options):
    """Return how a program ended, and what it printed."""
    return subprocess.run(
        command,
        **{"capture_output": True, "text": True, "timeout": PATIENCE, "check": False, **options},
    )


def run_python(code, *arguments, **options):
    """Return how a Python program ended, and what it printed."""
    return run_program([sys.executable, "-c", textwrap.dedent(code), *arguments], **options)


def heed_interrupts():
    """Undo what a shell that runs the tests in the background may have set."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
