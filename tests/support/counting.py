"""How much work a program does, counted: the same however busy the machine is."""

import subprocess
import sys

_COUNT = """
import sys
{before}
n_calls = 0
def count(frame, event, argument):
    global n_calls
    n_calls += event == "call"
sys.setprofile(count)
try:
    {counted}
finally:
    sys.setprofile(None)
    print(n_calls, file=sys.stderr)
"""


def count_calls(counted, *, before):
    """Return how many Python functions are called by a statement in a new process."""
    code = _COUNT.format(counted=counted, before=before)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stderr)
