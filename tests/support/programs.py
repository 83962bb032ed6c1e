"""Programs in a Python of their own."""

import subprocess
import sys
import textwrap


def run_python(code, **kwargs):
    """Return how a program ended, and what it printed."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        **{"capture_output": True, "text": True, "timeout": 600, "check": False, **kwargs},
    )
