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

GRACE = 5.0  # seconds beyond the time of a request, for running functions to end at shutdown

_T = TypeVar("_T")


class Run(Protocol):
    """Runs functions in threads; the progress passed to them stops searches when time is over."""

    limits: Limits  # of the requests that functions are run for

    async def __call__(self, function: Callable[[Progress], _T], /) -> _T:
        """Return the result of a function, or refuse."""

    async def with_body(self, request: Request, function: Callable[[bytes, Progress], _T], /) -> _T:
        """Return the result of a function of the body of a request, which is read first."""


class Deadline:
    """The time by which a request must be answered. Work checks it and ends when it is over."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until it is over; 0 after."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise the refusal when the time of the request is over."""
        if time.monotonic() > self._end:
            raise self.refusal()

    def refusal(self) -> RefusalError:
        """Return the refusal of a request whose time is over."""
        return RefusalError(
            408,
            "TimeOut",
            f"the answer took longer than {self._seconds:g} s, waiting included, and was given up. "
            "Ask for fewer queries at once, or for an approximate answer; a tree or filter that is "
            "missing is best built before the index is saved.",
        )

    def progress(self) -> Progress:
        """Return the progress that stops a search."""
        return Progress(False, self.check)


class Workers:
    """Runs functions in threads.

    A request whose time is over is refused at once. Its thread runs until the function checks the
    deadline, and counts as busy until then: there are never more threads than `workers`.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="fastmks-worker")
        self._called: set[Future[Any]] = set()
        self.n_admitted = 0  # running or waiting
        self.n_overdue = 0  # refused, and still running

    @property
    def are_overdue(self) -> bool:
        """Whether no worker is free: all run functions whose time is over."""
        return self.n_overdue >= self._limits.workers

    @property
    def are_idle(self) -> bool:
        """Whether no function runs."""
        return not any(future.running() for future in list(self._called))

    async def run(self, function: Callable[[Deadline], _T], deadline: Deadline) -> _T:
        """Return the result of a function, or refuse."""
        if self.n_admitted >= self._limits.workers + self._limits.waiting:
            raise RefusalError(
                429,
                "TooMany",
                f"{self._limits.waiting} requests are waiting; try again soon.",
                headers={"retry-after": "1"},
            )

        held = [function]  # it refers to all data of the request, such as its body

        def call() -> _T:
            deadline.check()
            try:
                begun = held.pop()
            except IndexError:  # timed out at this moment
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
            held.pop()  # not begun: its place in the queue holds no memory now
        except IndexError:
            self.n_overdue += 1
            future.add_done_callback(self._no_longer_overdue)
        future.add_done_callback(_fetch_error)
        raise deadline.refusal()

    def _ended(self, future: "asyncio.Future[_T]") -> None:
        self.n_admitted -= 1

    def _no_longer_overdue(self, future: "asyncio.Future[_T]") -> None:
        self.n_overdue -= 1

    def close(self, seconds: float | None = None) -> None:
        """Begin no more functions, and wait for the running ones, at most this many seconds."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        wait(list(self._called), seconds)


def _fetch_error(future: "asyncio.Future[_T]") -> None:
    """Fetch the error of a function without a waiter, so that asyncio does not warn."""
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
        """Call a function of the body; the time counts from the last byte of the body."""
        async with self._bodies.read(request) as text:
            return await self(lambda progress: function(text, progress))
