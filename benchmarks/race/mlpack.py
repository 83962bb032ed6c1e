"""mlpack as an entrant: its trees in one thread, float64 rows, a process of its own.

It may hang, crash or print. What it counts it only prints, from C++, so the process keeps its
output in a file. A model that has served one search is not right in another with another k, so
each search runs in a fork of the process that has built the tree.
"""

import contextlib
import ctypes
import importlib
import multiprocessing
import os
import pickle
import re
import select
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from statistics import median
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Answer, timed
from benchmarks.race.entrant import Entrant, PeerError, Ready, RefusedError, Task
from benchmarks.race.names import MLPACK, MLPACK_DUAL
from benchmarks.race.ours import BASE, MOST_BUILDS, SHORT_SECONDS
from benchmarks.suite import EVERYTHING

_START_SECONDS = 120.0  # a process may take so long to import and to take the data


@dataclass(frozen=True, eq=False)
class Cost:
    """The cost of building a tree or of a search, and the ids that a search found."""

    evaluations: int  # of pairs of objects; self-kernels are not among them
    seconds: float
    cpu_seconds: float
    indices: NDArray[np.int64] | None = None


class MlpackTree:
    """A tree over the objects of a problem, of dense rows. Close it after use.

    A search that hangs or crashes leaves the tree as it was; a build that does ends it all.
    """

    def __init__(self, task: Task, *, base: float = BASE) -> None:
        self._problem = problem = task.problem.cast("float64")
        if problem.kind != "dense":
            raise RefusedError("takes dense rows only")
        if not task.case.mlpack:
            raise RefusedError(f"knows no kernel {task.case.name}")
        self.cpu_seconds = 0.0  # of all builds and searches
        self._patience = task.patience
        self._failure: str | None = None
        self._is_closed = False
        context = multiprocessing.get_context("spawn")
        self._connection, far_end = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(far_end,), daemon=True)
        self._process.start()
        far_end.close()
        arguments = {**task.case.mlpack, "base": base}
        self._ask(_START_SECONDS, "load", problem.objects, problem.queries, arguments)

    def ready(self, *, is_single: bool = True) -> Ready:
        """Return the search as an entrant: always of all queries at once."""
        built = self._built

        def search(_: Any, k: int) -> Answer:
            found = self.search(k, is_single=is_single)
            return Answer(found.indices, found.evaluations, seconds=found.seconds)

        return Ready(
            search=search,
            queries=self._problem.queries,
            build_seconds=built.seconds,
            build_evaluations=built.evaluations,
            n_fixed=self._problem.n_queries,
            cpu_elsewhere=lambda: self.cpu_seconds if is_single else 0.0,  # one process, once
            close=self.close,
        )

    @cached_property
    def _built(self) -> Cost:
        try:
            builds = [self.build()]
            while len(builds) < MOST_BUILDS and sum(one.seconds for one in builds) < SHORT_SECONDS:
                builds.append(self.build())
        except BaseException:
            self.close()
            raise
        return replace(builds[-1], seconds=median(one.seconds for one in builds))

    def build(self) -> Cost:
        """Build the tree."""
        return self._ask(self._patience, "build")

    def search(self, k: int, *, is_single: bool = True) -> Cost:
        """Search all queries with one tree, or with another one over the queries."""
        return self._ask(self._patience + _START_SECONDS, "search", k, is_single, self._patience)

    def close(self) -> None:
        """End the process and its forks."""
        if not self._is_closed:
            assert self._process.pid is not None
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._is_closed = True

    def _ask(self, patience: float, *request: Any) -> Cost:
        if self._failure is not None:
            raise PeerError(self._failure)
        answer: Cost | PeerError | str
        try:
            self._connection.send(request)
            if self._connection.poll(patience):
                answer = self._connection.recv()
            else:
                answer = f"no answer within {patience:g} s"
        except (EOFError, ConnectionError):
            self._process.join()
            answer = f"ended with exit code {self._process.exitcode}"
        if isinstance(answer, str):
            self._failure = answer
            self.close()
            raise PeerError(answer)
        if isinstance(answer, PeerError):  # of a search alone
            raise answer
        self.cpu_seconds += answer.cpu_seconds
        return answer


def _serve(connection: Connection) -> None:
    """Answer requests until killed. Runs in the other process, which leads a group of its own."""
    os.setpgid(0, 0)
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        worker = _Worker(output)
        with contextlib.suppress(EOFError):
            while True:
                request, *arguments = connection.recv()
                try:
                    connection.send(getattr(worker, request)(*arguments))
                except Exception as error:
                    connection.send(f"{type(error).__name__}: {error}")


class _Worker:
    """mlpack itself. A model does not own its data, so the arrays live as long as it."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output
        self._model: Any = None

    def load(
        self,
        objects: NDArray[np.float64],
        queries: NDArray[np.float64],
        arguments: dict[str, Any],
    ) -> Cost:
        """Import mlpack, and keep what it searches."""
        self._fastmks = importlib.import_module("mlpack").fastmks
        self._objects, self._queries, self._arguments = objects, queries, arguments
        return Cost(0, 0.0, 0.0)

    def build(self) -> Cost:
        """Build the tree over the objects; it replaces an earlier one."""
        self._model = None
        built, cost = self._run(
            "distance computations", reference=self._objects, single=True, **self._arguments
        )
        self._model = built["output_model"]
        return cost

    def search(self, k: int, is_single: bool, patience: float) -> Cost | PeerError:
        """Fork, and let the fork search; the model stays as it was, even after a crash."""
        if self._model is None:
            self.build()
        near_end, far_end = os.pipe()
        child = os.fork()
        if child == 0:
            with os.fdopen(far_end, "wb") as stream:
                pickle.dump(self._search_or_say_why_not(k, is_single), stream)
            os._exit(0)
        os.close(far_end)
        with os.fdopen(near_end, "rb") as stream:
            is_late = not select.select([stream], [], [], patience)[0]
            if is_late:
                os.kill(child, signal.SIGKILL)
            answer = stream.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if is_late:
            return PeerError(f"no answer within {patience:g} s")
        if status != 0:
            return PeerError(f"ended with exit code {status}")
        found: Cost | PeerError = pickle.loads(answer)
        return found

    def _search_or_say_why_not(self, k: int, is_single: bool) -> Cost | PeerError:
        try:
            found, cost = self._run(
                "base cases", input_model=self._model, query=self._queries, k=k, single=is_single
            )
            return replace(cost, indices=np.asarray(found["indices"]).astype(np.int64))
        except Exception as error:
            return PeerError(f"{type(error).__name__}: {error}")

    def _run(self, counted: str, **arguments: Any) -> tuple[dict[str, Any], Cost]:
        """Call mlpack; return its answer, and what it cost by the number that it prints."""
        self._output.seek(0)
        self._output.truncate()
        cpu_started = time.process_time()
        answer, seconds = timed(partial(self._fastmks, verbose=True, **arguments))
        cpu_seconds = time.process_time() - cpu_started
        ctypes.CDLL(None).fflush(None)
        self._output.seek(0)
        text = self._output.read().decode(errors="replace")
        found = re.search(rf"(\d+) {counted}", text)
        if found is None:
            raise RuntimeError(f"mlpack printed no {counted!r}: {text[-200:]!r}")
        return answer, Cost(int(found.group(1)), seconds, cpu_seconds)


def mlpack_single_tree() -> Entrant:
    """Return the search of one tree, with the base of ours."""
    prepare = partial(prepare_mlpack, base=BASE)
    return Entrant(name=MLPACK, prepare=prepare, needs=("mlpack",), in_bar=False)


def prepare_mlpack(task: Task, *, base: float, n_queries: int = EVERYTHING) -> Ready:
    """Build a tree, and ask it at most this many queries."""
    asked = task.problem.first_queries(n_queries)
    return MlpackTree(replace(task, problem=asked), base=base).ready()


def mlpack_pair(task_for_peers: Callable[[Task], Task]) -> list[Entrant]:
    """Return the single-tree and the dual-tree search of one tree, built for the first of them.

    The tree lives until one of them is closed.
    """
    shared: list[MlpackTree] = []
    failures: list[str] = []

    def prepare(is_single: bool, task: Task) -> Ready:
        if failures:
            raise PeerError(failures[0])
        try:
            shared[:] = shared or [MlpackTree(task_for_peers(task))]
            return shared[0].ready(is_single=is_single)
        except PeerError as error:
            failures.append(str(error))
            raise

    return [
        Entrant(name=name, prepare=partial(prepare, is_single), needs=("mlpack",))
        for name, is_single in ((MLPACK, True), (MLPACK_DUAL, False))
    ]
