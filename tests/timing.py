"""How much longer one program takes than another, whoever else is at work."""

import resource
import subprocess
import sys

__all__ = ["seconds_more"]


def seconds_more(words, others):
    """Return by how much the words of one Python process cost more CPU time than other words do.

    The best of several of each, in turns: others at work make all of them slower.
    """
    runs = [(_seconds(words), _seconds(others)) for _ in range(5)]
    one, other = (min(times) for times in zip(*runs, strict=True))
    return one - other


def _seconds(words):
    before = _spent()
    subprocess.run([sys.executable, *words], capture_output=True, check=True)
    return _spent() - before


def _spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
