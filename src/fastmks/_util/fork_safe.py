"""A lock that is safe after a fork and for its own holder, and a cache without a lock."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar, overload

from fastmks.errors import InvalidArgument

_T = TypeVar("_T")
_PAUSE = 0.05  # seconds between two checks of a waiting thread


class Lock:
    """A lock for one thread at a time: ``with lock.alone(): ...``.

    A child of a fork has none of the threads that could release a lock of the parent, so the child
    gets a new lock. A user's kernel may call the index that is calling it: that is an error, which
    names the kernel and the call, instead of a deadlock. Only C code runs between acquiring the
    lock and entering the block, so Ctrl-C cannot leave it locked. A thread that waits with a check,
    such as that of `Progress`, waits until the check raises.
    """

    def __init__(self, who: object, does: str) -> None:
        self._who, self._does = who, does
        self._locks = {os.getpid(): threading.RLock()}

    def alone(self, check: Callable[[], None] | None = None) -> AbstractContextManager[bool]:
        """Return the context manager that holds the lock."""
        process = os.getpid()
        lock = self._locks.get(process)
        if lock is None:  # the first of several threads in a child creates it for all
            lock = self._locks.setdefault(process, threading.RLock())
        if lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001
            raise InvalidArgument(f"{self._who!r} {self._does}")
        return lock if check is None else _entered(lock, check)


@contextmanager
def _entered(lock: Any, check: Callable[[], None]) -> Iterator[bool]:
    """Acquire a lock with repeated calls of the check, whose error ends the wait."""
    while not lock.acquire(timeout=_PAUSE):
        check()
    try:
        yield True
    finally:
        lock.release()


class cached_property(Generic[_T]):  # noqa: N801, as in functools
    """A property that is computed once, as in functools, but without a lock.

    Before Python 3.12 that of functools has one lock for all instances: after a fork while a thread
    computes, the child waits for ever. Here threads may compute at the same time; all of them get
    the value that the first has stored.
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
