"""Processes that evaluate a function of the user: block by block, with the same answers.

Each worker is an executor of one process, so that a block goes to a process that is known to have
its objects. The executors are loky's where it is installed, else those of concurrent.futures.
"""

import itertools
import os
import pickle
import signal
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
)
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import numpy as np

from fastmks._util.arrays import Bools, Floats, Int64s
from fastmks._util.fork_safe import Lock
from fastmks.data.worker_process import Part, Row, Task, Values, run, start, take_functions
from fastmks.errors import InvalidArgument

_ADVICE = (
    "Install cloudpickle, which takes functions from anywhere (pip install cloudpickle), or define "
    "the function at the top level of a module that can be imported; or leave workers out."
)


class _ShutDownError(Exception):
    """The processes were ended by another thread."""


@dataclass
class _Worker:
    """A process, and which objects of which stores it has."""

    executor: Executor
    is_ready: "Future[tuple[int, str]]"
    sent: dict[int, Bools] = field(default_factory=dict)


@dataclass
class _Workers:
    """Processes that started together, and end together."""

    owner: int
    each: list[_Worker]
    are_ended: bool = False

    def end(self) -> None:
        """End the processes now, whatever they are doing; not from a fork of their owner."""
        if self.are_ended or os.getpid() != self.owner:
            return
        self.are_ended = True
        for worker in self.each:
            if worker.is_ready.done() and not _has_failed(worker.is_ready):
                _kill(worker.is_ready.result()[0])
            worker.executor.shutdown(wait=False)


class WorkerPool:
    """Worker processes for two functions, of pairs and of blocks; started when first needed.

    Any number of threads may use it at once. A copy, or one from a pickle, has its own processes.
    """

    def __init__(
        self,
        value: Callable[[Any, Any], Any] | None,
        value_block: Callable[[Any, Any], Any] | None,
        n_workers: int,
    ) -> None:
        self.n_workers = n_workers
        self._functions = value, value_block
        self._pickled = _pickle_functions(self._functions)
        self._workers: _Workers | None = None
        self._lock = Lock(self, "has objects whose pickling evaluates the kernel itself.")
        self._numbers = itertools.count()
        # The number of each store, by the object that holds it for the core.
        self._stores: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerPool, (*self._functions, self.n_workers)

    def close(self) -> None:
        """End the processes; they start again when they are needed."""
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.end()

    @property
    def has_started(self) -> bool:
        """Whether processes were started, and not ended since."""
        return self._workers is not None and not self._workers.are_ended

    @property
    def process_ids(self) -> list[int]:
        """The ids of the processes that are ready for work."""
        workers = self._workers
        if workers is None or workers.are_ended:
            return []
        return [one.is_ready.result()[0] for one in workers.each if one.is_ready.done()]

    def evaluate(self, *block: Any) -> Values | None:
        """Return the values of a block, given as `_submitted` takes it.

        None while the processes start: the caller then evaluates the block itself. An error of the
        function arrives as it is. Any error ends the processes, and so does Ctrl-C.
        """
        workers = self._started()
        if workers is None:
            return None
        try:
            return _joined([future.result() for future in self._submitted(workers, *block)])
        except BaseException as error:
            was_ended = workers.are_ended  # by another thread, whose search was stopped
            workers.end()
            if not isinstance(error, (BrokenExecutor, CancelledError, _ShutDownError)):
                raise
            if was_ended:
                return None
            raise RuntimeError(
                "a worker process ended while it evaluated the kernel: it may have run out of "
                "memory, or the function crashed. Without workers the function runs in this "
                "process."
            ) from error

    def _submitted(
        self,
        workers: _Workers,
        queries: Any,
        first: int,
        n_queries: int,
        objects: Any,
        columns: Int64s,
    ) -> "list[Future[Values]]":
        """Ask for the values of some queries and of the objects at `columns`, both as `Calls`."""
        shares = _shares(first, n_queries, len(columns), self.n_workers)
        with self._lock.alone():
            tasks = [
                self._task(worker, queries, objects, columns, rows)
                for worker, rows in zip(workers.each, shares, strict=False)
            ]
            if workers.are_ended:
                raise _ShutDownError
            return [
                worker.executor.submit(run, task)
                for worker, task in zip(workers.each, tasks, strict=False)
            ]

    def _started(self) -> _Workers | None:
        """Return the processes once all are ready."""
        with self._lock.alone():
            workers = self._workers
            if workers is None or workers.are_ended or workers.owner != os.getpid():
                self._workers = workers = _start(self._pickled, self.n_workers)
                weakref.finalize(self, workers.end)
        if not all(worker.is_ready.done() for worker in workers.each):
            return None
        for worker in workers.each:
            if _has_failed(worker.is_ready):
                workers.end()
                raise InvalidArgument(
                    "the worker processes ended while they started. A script that uses workers "
                    'must begin its work below `if __name__ == "__main__":`, since each process '
                    "imports the script; with loky installed it need not (pip install loky)."
                ) from worker.is_ready.exception()
            if problem := worker.is_ready.result()[1]:
                workers.end()
                raise InvalidArgument(
                    f"the function cannot be unpickled in a worker process: {problem}. {_ADVICE}"
                )
        return workers

    def _task(
        self, worker: _Worker, queries: Any, objects: Any, columns: Int64s, rows: list[Row]
    ) -> bytes:
        """Return a task for a worker, with the objects that it does not have yet."""
        numbers = self._number(queries), self._number(objects)
        live = set(self._stores.values())
        dropped = [number for number in worker.sent if number not in live]
        for number in dropped:
            del worker.sent[number]
        asked = np.array([row.query for row in rows], dtype=np.int64)
        begin, end = min(row.begin for row in rows), max(row.end for row in rows)
        wanted = zip(numbers, (queries, objects), (asked, columns[begin:end]), strict=True)
        new = [
            part
            for number, store, positions in wanted
            if (part := _missing(worker, number, store.objects, positions)) is not None
        ]
        try:
            return _dumps(Task(*numbers, columns, rows, new, dropped))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise InvalidArgument(
                f"workers needs objects that can be pickled for other processes: "
                f"{type(error).__name__}: {error}. Leave workers out for such objects."
            ) from error

    def _number(self, store: Any) -> int:
        number = self._stores.get(store)
        if number is None:
            number = self._stores[store] = next(self._numbers)
        return number


def _missing(worker: _Worker, number: int, objects: Any, positions: Int64s) -> Part | None:
    """Return those of the objects that a worker was not sent yet; an array is sent whole."""
    sent = worker.sent.get(number)
    if sent is None:
        sent = worker.sent[number] = np.zeros(len(objects), dtype=bool)
        if isinstance(objects, np.ndarray):
            sent[:] = True
            return Part(number, [], objects)
    lacking = positions[~sent[positions]]
    if len(lacking) == 0:
        return None
    sent[lacking] = True
    places = lacking.tolist()
    return Part(number, places, [objects[place] for place in places])


def _shares(first: int, n_queries: int, n_columns: int, n_workers: int) -> list[list[Row]]:
    """Return equal shares of the pairs of a block, in the order in which it is evaluated."""
    n_pairs = n_queries * n_columns
    shares = []
    for worker in range(n_workers):
        begin, end = n_pairs * worker // n_workers, n_pairs * (worker + 1) // n_workers
        rows = []
        for i in range(begin // n_columns, -(-end // n_columns)):
            start_column = max(begin - i * n_columns, 0)
            rows.append(Row(first + i, start_column, min(end - i * n_columns, n_columns)))
        if begin < end:
            shares.append(rows)
    return shares


def _joined(found: Sequence[Values]) -> Values:
    before, seconds = 0, sum(each.seconds for each in found)
    for each in found:
        if each.at >= 0:
            return Values(np.zeros(0), seconds, before + each.at, each.problem)
        before += len(each.values)
    values: Floats = np.concatenate([each.values for each in found])
    return Values(values, seconds)


def _start(pickled: bytes, n_workers: int) -> _Workers:
    options: dict[str, Any] = {"initializer": start, "initargs": (os.getpid(),), "max_workers": 1}
    make: Any = ProcessPoolExecutor
    try:
        make = import_module("loky").ProcessPoolExecutor
    except ImportError:
        options["mp_context"] = get_context("spawn")
    each = []
    for _ in range(n_workers):
        executor = make(**options)
        each.append(_Worker(executor, executor.submit(take_functions, pickled)))
    return _Workers(os.getpid(), each)


def _has_failed(future: "Future[Any]") -> bool:
    return future.cancelled() or future.exception() is not None


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _dumps(value: Any) -> bytes:
    """Return a pickle; by cloudpickle where it is installed."""
    try:
        module: Any = import_module("cloudpickle")
    except ImportError:
        module = pickle
    pickled: bytes = module.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return pickled


def _pickle_functions(functions: tuple[Any, ...]) -> bytes:
    try:
        return _dumps(functions)
    except Exception as error:
        raise InvalidArgument(
            f"workers needs a function that can be pickled for other processes: "
            f"{type(error).__name__}: {error}. {_ADVICE}"
        ) from error
