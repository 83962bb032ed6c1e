"""Evaluate blocks of pairs in a worker process of `fastmks.data.worker_pool`."""

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fastmks._util.arrays import Array, Floats, Int64s, read_only
from fastmks.data.function_results import read_returned

_WATCH_SECONDS = 0.2


class Part(NamedTuple):
    """Objects of a store that a worker does not have yet: some of a list, or a whole array."""

    store: int
    positions: list[int]
    objects: list[Any] | Array


class Row(NamedTuple):
    """A query, and the columns of the block that it is compared with."""

    query: int
    begin: int
    end: int


class Task(NamedTuple):
    """Pairs to evaluate: rows of queries against columns, which are positions of objects."""

    queries: int
    objects: int
    columns: Int64s
    rows: list[Row]
    new: list[Part]
    dropped: list[int]


class Values(NamedTuple):
    """Values of the pairs of a task, row by row, and the seconds that they took.

    Where a function returned no number, `problem` says so, and `at` which pair it was.
    """

    values: Floats
    seconds: float
    at: int = -1
    problem: str = ""


@dataclass
class _State:
    """The functions and the objects of this process."""

    value: Callable[[Any, Any], Any] | None = None
    value_block: Callable[[Any, Any], Any] | None = None
    stores: dict[int, Any] = field(default_factory=dict)


_state = _State()


def start(parent: int) -> None:
    """Prepare a new process: it ends with its parent, which alone handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def take_functions(pickled: bytes) -> tuple[int, str]:
    """Return the id of this process, and what is wrong with the functions; empty if nothing is."""
    try:
        _state.value, _state.value_block = pickle.loads(pickled)
    except Exception as error:
        return os.getpid(), f"{type(error).__name__}: {error}"
    return os.getpid(), ""


def run(pickled: bytes) -> Values:
    """Evaluate the pairs of a task."""
    task: Task = pickle.loads(pickled)
    for store in task.dropped:
        _state.stores.pop(store, None)
    for part in task.new:
        if isinstance(part.objects, np.ndarray):
            _state.stores[part.store] = read_only(part.objects)
        else:
            held = _state.stores.setdefault(part.store, {})
            held.update(zip(part.positions, part.objects, strict=True))
    started = time.perf_counter()
    try:
        found = _evaluate(task)
    except BaseException as error:
        raise _portable(error)  # noqa: B904, an error that is portable is raised as it is
    return found._replace(seconds=time.perf_counter() - started)


def _evaluate(task: Task) -> Values:
    queries, objects = _state.stores[task.queries], _state.stores[task.objects]
    values = np.empty(sum(row.end - row.begin for row in task.rows))
    done = 0
    for row in task.rows:
        x, columns = queries[row.query], task.columns[row.begin : row.end]
        n = len(columns)
        if _state.value_block is not None:
            returned = read_returned(_state.value_block(x, _taken(objects, columns)), n)
            if isinstance(returned, str):
                return Values(values, 0.0, done, returned)
            values[done : done + n] = returned
        else:
            assert _state.value is not None
            for at, position in enumerate(columns.tolist(), start=done):
                number = _state.value(x, objects[position])
                if type(number) is not float:
                    number = read_returned(number, None)
                if isinstance(number, str):
                    return Values(values, 0.0, at, number)
                values[at] = number
        done += n
    return Values(values, 0.0)


def _taken(objects: Any, columns: Int64s) -> list[Any] | Array:
    """Return the objects at some positions, as the core gives them to a block function."""
    if not isinstance(objects, np.ndarray):
        return [objects[position] for position in columns.tolist()]
    first, last = int(columns[0]), int(columns[-1])
    if last - first + 1 == len(columns) and (np.diff(columns) == 1).all():
        return objects[first : last + 1]
    return read_only(objects[columns])


def _portable(error: BaseException) -> BaseException:
    """Return an error that can be sent to another process: itself, or its text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
