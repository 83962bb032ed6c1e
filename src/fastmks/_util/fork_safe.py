"""A lock that neither a fork nor its own holder can wait for in vain, and a cache without any."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar, overload

from fastmks.errors import InvalidArgument

__all__ = ["Lock", "cached_property"]

_T = TypeVar("_T")
_PAUSE = 0.05  # seconds between two checks of who waits


class Lock:
    """Lets one thread in at a time: ``with lock.alone(): ...``.

    A child of a fork has none of the threads that could release what they held in the parent, so
    there it is a new lock. A kernel written by the user may come back to the index that is calling
    it, and is told so instead of waiting for itself: who, and what it does. Only what is written in
    C happens between getting the lock and entering the block, so Ctrl-C cannot leave it locked.
    A thread that waits with a check, as `Progress` has it, waits until that raises.
    """

    def __init__(self, who: object, does: str) -> None:
        self._who, self._does = who, does
        self._locks = {os.getpid(): threading.RLock()}

    def alone(self, check: Callable[[], None] | None = None) -> AbstractContextManager[bool]:
        """Return what to enter."""
        process = os.getpid()
        lock = self._locks.get(process)
        if lock is None:  # the first of several threads in a child makes it for all
            lock = self._locks.setdefault(process, threading.RLock())
        if lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001
            raise InvalidArgument(f"{self._who!r} {self._does}")
        return lock if check is None else _entered(lock, check)


@contextmanager
def _entered(lock: Any, check: Callable[[], None]) -> Iterator[bool]:
    """Enter a lock, or raise what the check raises: it comes from services, not from Ctrl-C."""
    while not lock.acquire(timeout=_PAUSE):
        check()
    try:
        yield True
    finally:
        lock.release()


class cached_property(Generic[_T]):  # noqa: N801, as the one of functools
    """A property that is computed once, as that of functools, but without a lock.

    Before Python 3.12 that one has a lock, one for all instances: a fork while some thread
    computes leaves a child that waits for ever. Here threads may compute at the same time; all of
    them get what the first has stored.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "cached_property[_T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...

    def __get__(self, instance: object | None, owner: type) -> "cached_property[_T] | _T":
        if instance is None:
            return self
        value: _T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value
