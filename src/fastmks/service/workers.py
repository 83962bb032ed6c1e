"""A bounded number of threads for requests, a bounded number that wait, and time for each."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar

from starlette.requests import Request

from fastmks._util.progress import Progress, checked_work
from fastmks.service.body import Bodies
from fastmks.service.limits import Limits
from fastmks.service.refusals import RefusalError

__all__ = ["GRACE", "Deadline", "LimitedRun", "Run", "Workers"]

GRACE = 5.0  # seconds, beyond those of a request, for what runs to end with the service

_T = TypeVar("_T")


class Run(Protocol):
    """Runs functions in threads; what they are given stops searches when time is over."""

    limits: Limits  # of the requests that functions are run for

    async def __call__(self, function: Callable[[Progress], _T], /) -> _T:
        """Return what the function returns, or refuse."""

    async def with_body(self, request: Request, function: Callable[[bytes, Progress], _T], /) -> _T:
        """Do the same with a function of the body of a request, which is read first."""


class Deadline:
    """When a request must be answered. Work asks it now and then, and ends when it is over."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Until it is over; 0 after."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise what the request is answered with when its time is over."""
        if time.monotonic() > self._end:
            raise self.refusal()

    def refusal(self) -> RefusalError:
        """Return what the request is answered with."""
        return RefusalError(
            408,
            "TimeOut",
            f"the answer took longer than {self._seconds:g} s, waiting included, and was given up. "
            "Ask for fewer queries at once, or for an approximate answer; a tree or filter that is "
            "missing is best built before the index is saved.",
        )

    def progress(self) -> Progress:
        """Return what stops a search."""
        return Progress(False, self.check)


class Workers:
    """Runs functions in threads.

    A function whose time is over is answered for at once. Its thread goes on until the function
    asks its deadline, and counts as busy until then: there are never more threads than `workers`.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="fastmks-worker")
        self._called: set[Future[Any]] = set()
        self.n_admitted = 0  # running or waiting
        self.n_overdue = 0  # answered for, and still running

    @property
    def are_overdue(self) -> bool:
        """Whether none is left for requests: all run functions whose time is over."""
        return self.n_overdue >= self._limits.workers

    @property
    def are_idle(self) -> bool:
        """Whether no function runs."""
        return not any(future.running() for future in list(self._called))

    async def run(self, function: Callable[[Deadline], _T], deadline: Deadline) -> _T:
        """Return what a function returns, or refuse."""
        if self.n_admitted >= self._limits.workers + self._limits.waiting:
            raise RefusalError(
                429,
                "TooMany",
                f"{self._limits.waiting} requests are waiting; try again soon.",
                headers={"retry-after": "1"},
            )

        held = [function]  # with all that belongs to the request, such as its body

        def call() -> _T:
            deadline.check()
            try:
                begun = held.pop()
            except IndexError:  # given up in this very moment
                raise deadline.refusal() from None
            with checked_work(deadline.check):
                return begun(deadline)

        called = self._pool.submit(call)
        self.n_admitted += 1
        self._called.add(called)
        called.add_done_callback(self._called.discard)
        future = asyncio.wrap_future(called)
        future.add_done_callback(self._ended)
        done, _ = await asyncio.wait([future], timeout=deadline.seconds_left)
        if done:
            return future.result()
        try:
            held.pop()  # not begun: its place in line holds nothing any more
        except IndexError:
            self.n_overdue += 1
            future.add_done_callback(self._no_longer_overdue)
        future.add_done_callback(_look_at)
        raise deadline.refusal()

    def _ended(self, future: "asyncio.Future[_T]") -> None:
        self.n_admitted -= 1

    def _no_longer_overdue(self, future: "asyncio.Future[_T]") -> None:
        self.n_overdue -= 1

    def close(self, seconds: float | None = None) -> None:
        """Begin with nothing more, and wait for what runs, at most this many seconds."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        wait(list(self._called), seconds)


def _look_at(future: "asyncio.Future[_T]") -> None:
    """Take the error of a function that nobody waits for, so that asyncio does not complain."""
    if not future.cancelled():
        future.exception()


class LimitedRun:
    """`Run` within the limits of a service: the time of a request, its workers, its bytes."""

    def __init__(self, limits: Limits, workers: Workers, bodies: Bodies) -> None:
        self.limits, self._workers, self._bodies = limits, workers, bodies

    async def __call__(self, function: Callable[[Progress], _T], /) -> _T:
        """Call a function in one of the workers, with the time that a request has."""
        deadline = Deadline(self.limits.seconds)
        return await self._workers.run(lambda deadline: function(deadline.progress()), deadline)

    async def with_body(self, request: Request, function: Callable[[bytes, Progress], _T], /) -> _T:
        """Do the same with the body; the time counts from when that is there as a whole."""
        async with self._bodies.read(request) as text:
            return await self(lambda progress: function(text, progress))
