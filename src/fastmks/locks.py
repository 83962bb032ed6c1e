"""A lock that neither a fork nor its own holder can wait for in vain."""

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from fastmks.errors import InvalidArgument

__all__ = ["Lock"]


class Lock:
    """Lets one thread in at a time: ``with lock.alone(): ...``.

    A child of a fork has none of the threads that could release what they held in the parent, so
    there it is a new lock. A kernel written by the user may come back to the index that is calling
    it, and is told so instead of waiting for itself: `refusal` says what. Only what is written in C
    happens between getting the lock and entering the block, so Ctrl-C cannot leave it locked.
    """

    def __init__(self, refusal: Callable[[], str]) -> None:
        self._refusal = refusal
        self._renew()

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    def alone(self) -> AbstractContextManager[bool]:
        """Return what to enter."""
        if self._process != os.getpid():
            self._renew()
        if self._lock._is_owned():  # type: ignore[attr-defined]
            raise InvalidArgument(self._refusal())
        return self._lock
