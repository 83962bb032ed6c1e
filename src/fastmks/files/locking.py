"""Locks on files, which end with their process, and a check that a path is the locked file."""

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None


def lock_at_once(file: int, *, is_shared: bool = False) -> bool:
    """Lock an open file, and return whether it succeeded: not while another process has it locked.

    A shared lock succeeds while others are shared too. Where the system has no such locks it always
    succeeds, and blocks no other process.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_at(file: int, path: Path) -> bool:
    """Whether a path still names an open file: not where that was removed, moved or replaced."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
