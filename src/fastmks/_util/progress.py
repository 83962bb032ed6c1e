"""Progress bars for long work, only where asked for, and a way to stop the work."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from fastmks import _core

_Report: TypeAlias = Callable[[int], None]
_HIDDEN: AbstractContextManager[_Report | None] = nullcontext()


@dataclass(frozen=True)
class Progress:
    """A bar on standard error, or nothing.

    `check` is called about twenty times a second during the work; an error that it raises ends the
    work and reaches the caller. With a check, no bar is shown.
    """

    shown: bool
    check: Callable[[], None] | None = None

    def bar(
        self, total: int | None, *, unit: str = " evaluations"
    ) -> AbstractContextManager[_Report | None]:
        """Yield a callback for the amount of work done so far; None when nothing is shown.

        A total of None is unknown.
        """
        if self.check is not None:
            return _checked(self.check)
        return _bar(total, unit) if self.shown else _HIDDEN

    def check_now(self) -> None:
        """Call `check`, if given: for work that shows no bar."""
        if self.check is not None:
            self.check()

    def hidden(self) -> "Progress":
        """Return the progress without a bar, for work beside the one that is shown."""
        return replace(self, shown=False)


def as_progress(progress: "bool | Progress") -> Progress:
    """Return the user's ``progress=`` as a Progress."""
    return progress if isinstance(progress, Progress) else Progress(bool(progress))


@contextmanager
def checked_work(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` about twenty times a second during the core's long work on this thread.

    Also within a single evaluation, and where objects are read and prepared. An error that it
    raises ends the work.
    """
    before = _core.set_check(check)
    try:
        yield
    finally:
        _core.set_check(before)


class TooLong(Exception):  # noqa: N818, no error: nobody sees it
    """Work took longer than it was allowed."""


@contextmanager
def limited_work(progress: Progress, seconds: float) -> Iterator[Progress]:
    """Yield a progress without a bar for work that may take this long; raise `TooLong` after it.

    The checks of the progress, and of work around this, go on.
    """
    ends = time.perf_counter() + seconds
    before: Any = None

    def check() -> None:
        progress.check_now()
        if before is not None:
            before()
        if time.perf_counter() > ends:
            raise TooLong

    before = _core.set_check(check)
    try:
        yield Progress(False, check)
    finally:
        _core.set_check(before)


@contextmanager
def _checked(check: Callable[[], None]) -> Iterator[_Report]:
    check()
    with checked_work(check):
        yield lambda done: None


@contextmanager
def _bar(total: int | None, unit: str) -> Iterator[_Report]:
    from tqdm import tqdm  # here, since few need it and the import takes time

    with tqdm(total=total, unit=unit, unit_scale=True) as bar:
        yield lambda done: (bar.update(done - bar.n), None)[1]
        if total is not None:
            bar.update(total - bar.n)
