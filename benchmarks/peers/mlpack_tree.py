"""The single-tree search of mlpack, in a process of its own: it may hang, crash or print.

What mlpack counts it only prints, from C++, so the process keeps its output in a file.
"""

import contextlib
import ctypes
import importlib
import multiprocessing
import os
import re
import tempfile
import time
from importlib.util import find_spec
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Problem
from benchmarks.kernels import KernelCase
from benchmarks.trees import BASE, Built, Found

__all__ = ["MlpackTree"]

_START_SECONDS = 120.0  # a process may take so long to import and to take the data


class MlpackTree:
    """A tree over the objects of a problem. Close it after use, or use it in a `with`.

    Where mlpack crashes, hangs or is not there, `failure` says so and nothing more is returned.
    """

    def __init__(
        self,
        problem: Problem,
        case: KernelCase,
        *,
        base: float = BASE,
        patience: float = 300.0,
        failure: str | None = None,  # why it need not even try, from a smaller problem
    ) -> None:
        self.failure = failure
        self.cpu_seconds = 0.0  # of all builds and searches
        self._process: BaseProcess | None = None
        self._patience = patience
        if find_spec("mlpack") is None:
            self.failure = "not installed"
        elif problem.is_sparse:
            self.failure = "takes no sparse rows"
        if self.failure is None:
            self._start()
            arguments = {**case.mlpack, "base": base}
            self._ask("load", problem.objects, problem.queries, arguments)

    def __enter__(self) -> "MlpackTree":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def build(self) -> Built | None:
        """Build the tree anew."""
        costs = self._ask("build")
        return Built(**costs) if costs else None

    def search(self, k: int) -> Found | None:
        """Search all queries. A model that has served another k is built anew, untimed."""
        costs = self._ask("search", k)
        return Found(**costs) if costs else None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(far_end,), daemon=True)
        self._process.start()
        far_end.close()

    def _ask(self, *request: Any) -> dict[str, Any] | None:
        if self.failure is not None:
            return None
        answer: dict[str, Any] | str
        try:
            self._connection.send(request)
            patience = _START_SECONDS if request[0] == "load" else self._patience
            if self._connection.poll(patience):
                answer = self._connection.recv()
            else:
                answer = f"no answer within {patience:g} s"
        except (EOFError, ConnectionError):
            assert self._process is not None
            self._process.join()
            answer = f"ended with exit code {self._process.exitcode}"
        if isinstance(answer, str):
            self.failure = answer
            self.close()
            return None
        self.cpu_seconds += answer.get("cpu_seconds", 0.0)
        return answer


def _serve(connection: Connection) -> None:
    """Answer requests until killed. Runs in the other process."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        worker: _Worker | None = None
        with contextlib.suppress(EOFError):
            while True:
                request, *arguments = connection.recv()
                try:
                    if request == "load":
                        worker = _Worker(output, *arguments)
                        connection.send({})
                    else:
                        connection.send(getattr(worker, request)(*arguments))
                except Exception as error:
                    connection.send(f"{type(error).__name__}: {error}")


class _Worker:
    """mlpack itself. A model does not own its data, so the arrays live as long as it."""

    def __init__(
        self,
        output: IO[bytes],
        objects: NDArray[np.float64],
        queries: NDArray[np.float64],
        arguments: dict[str, Any],
    ) -> None:
        self._fastmks = importlib.import_module("mlpack").fastmks
        self._output = output
        self._objects, self._queries = objects, queries
        self._arguments = arguments
        self._model: Any = None
        self._k: int | None = None  # that the model has served

    def build(self) -> dict[str, Any]:
        self._model, self._k = None, None
        costs = self._run(reference=self._objects, **self._arguments)
        self._model = costs.pop("answer")["output_model"]
        return {**costs, "evaluations": self._count("distance computations")}

    def search(self, k: int) -> dict[str, Any]:
        if self._model is None or self._k not in (None, k):
            self.build()
        self._k = k
        costs = self._run(input_model=self._model, query=self._queries, k=k)
        answer = costs.pop("answer")
        return {
            **costs,
            "evaluations": self._count("base cases"),
            "values": np.asarray(answer["kernels"]),
            "indices": np.asarray(answer["indices"]).astype(np.int64),
        }

    def _run(self, **arguments: Any) -> dict[str, Any]:
        self._output.seek(0)
        self._output.truncate()
        started, cpu_started = time.perf_counter(), time.process_time()
        answer = self._fastmks(single=True, verbose=True, **arguments)
        return {
            "seconds": time.perf_counter() - started,
            "cpu_seconds": time.process_time() - cpu_started,
            "answer": answer,
        }

    def _count(self, what: str) -> int:
        ctypes.CDLL(None).fflush(None)
        self._output.seek(0)
        text = self._output.read().decode(errors="replace")
        found = re.search(rf"(\d+) {what}", text)
        if found is None:
            raise RuntimeError(f"mlpack printed no {what!r}: {text[-200:]!r}")
        return int(found.group(1))
