"""A lock that neither a fork nor its own holder can wait for in vain, and a cache without any."""

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar, overload

from fastmks.errors import InvalidArgument

__all__ = ["Lock", "cached_property"]

_T = TypeVar("_T")


class Lock:
    """Lets one thread in at a time: ``with lock.alone(): ...``.

    A child of a fork has none of the threads that could release what they held in the parent, so
    there it is a new lock. A kernel written by the user may come back to the index that is calling
    it, and is told so instead of waiting for itself: who, and what it does. Only what is written in
    C happens between getting the lock and entering the block, so Ctrl-C cannot leave it locked.
    """

    def __init__(self, who: object, does: str) -> None:
        self._who, self._does = who, does
        self._locks = {os.getpid(): threading.RLock()}

    def alone(self) -> AbstractContextManager[bool]:
        """Return what to enter."""
        process = os.getpid()
        lock = self._locks.get(process)
        if lock is None:  # the first of several threads in a child makes it for all
            lock = self._locks.setdefault(process, threading.RLock())
        if lock._is_owned():  # type: ignore[attr-defined]
            raise InvalidArgument(f"{self._who!r} {self._does}")
        return lock


class cached_property(Generic[_T]):  # noqa: N801, as the one of functools
    """A property that is computed once, as that of functools, but without a lock.

    Before Python 3.12 that one has a lock, one for all instances: whoever forks while some thread
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
