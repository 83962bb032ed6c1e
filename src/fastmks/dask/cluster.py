"""The cluster of this package: sends tasks, and returns results or clear errors."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cloudpickle
from distributed import Client, Future, KilledWorker, as_completed, default_client
from distributed.comm import CommClosedError

from fastmks._util.progress import Progress
from fastmks.errors import ClusterError, FastmksError, InvalidArgument, ShardError

FAN_IN = 8  # answers that one task merges
_SMALL = 2**16  # bytes that may go along with each task
_PIECE = 2**22  # bytes in one message
# Reasons of the scheduler to give up a task after the worker with its data was lost.
_LOST = ("lost dependencies", "already forgotten")


@dataclass(frozen=True)
class Packed:
    """A value in bytes, to be sent; `unpack` restores it."""

    data: bytes


class Cluster:
    """Dask's client, with names for tasks, tree reductions, and errors that say what to do."""

    def __init__(self, client: Client | None) -> None:
        self.client = _find_client(client)

    @property
    def n_slots(self) -> int:
        """The number of tasks that can run at the same time."""
        with self._lost_named():
            n_slots: int = sum(self.client.nthreads().values())
            return max(1, n_slots)

    @property
    def n_workers(self) -> int:
        """The number of workers."""
        with self._lost_named():
            return max(1, len(self.client.nthreads()))

    def who_has(self, futures: Sequence[Future]) -> list[Sequence[str]]:
        """Return the workers that hold the results of some tasks."""
        with self._lost_named():
            found = self.client.who_has(list(futures))
            return [found.get(future.key, ()) for future in futures]

    def map(
        self, function: Callable[..., Any], *arguments: Sequence[Any], name: str
    ) -> list[Future]:
        """Send a task for each of some arguments."""
        with self._lost_named():
            token = uuid.uuid4().hex
            n_tasks = len(arguments[0])
            keys = [f"fastmks-{name}-{token}-{i}" for i in range(n_tasks)]
            futures: list[Future] = self.client.map(function, *arguments, key=keys)
            return futures

    def submit(self, function: Callable[..., Any], *arguments: Any, name: str) -> Future:
        """Send one task."""
        with self._lost_named():
            key = f"fastmks-{name}-{uuid.uuid4().hex}"
            return self.client.submit(function, *arguments, key=key)

    def compute(self, tasks: Sequence[Any]) -> list[Future]:
        """Send delayed tasks with all that they depend on."""
        with self._lost_named():
            futures: list[Future] = self.client.compute(list(tasks))
            return futures

    def share(self, value: Any, n_tasks: int) -> "Packed | Future":
        """Return a value to be given to this many tasks: packed, and sent once where it is large.

        It is sent with the tasks, in pieces, and not into the memory of one worker: a task that is
        run again after a worker was lost gets it again.
        """
        packed = pack(value)
        data = packed.data
        if len(data) * n_tasks <= _SMALL:
            return packed
        pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]
        return self.submit(
            _join, [self.submit(_same, piece, name="send") for piece in pieces], name="send"
        )

    def reduce(
        self,
        futures: Sequence[Future],
        merge: Callable[..., Any],
        *arguments: Any,
        name: str,
        to: int = 1,
    ) -> list[Future]:
        """Merge answers in a tree until at most `to` remain.

        merge([answer, ...], *arguments) takes a few at a time.
        """
        level = list(futures)
        while len(level) > to:
            groups = [level[at : at + FAN_IN] for at in range(0, len(level), FAN_IN)]
            level = [
                group[0] if len(group) == 1 else self.submit(merge, group, *arguments, name=name)
                for group in groups
            ]
        return level

    def result(self, future: Future) -> Any:
        """Wait for one task and return its result."""
        with self._lost_named():
            return future.result()

    def results(
        self,
        futures: Sequence[Future],
        *,
        shards: Sequence[str] | None = None,
        progress: bool = False,
        unit: str = " shards",
    ) -> list[Any]:
        """Wait for all of some tasks; the first error of any of them is raised.

        With the names of `shards`, an error before the task, such as one of the user's own loading
        of a partition, names the shard.
        """
        with self._lost_named():
            with Progress(progress).bar(len(futures), unit=unit) as report:
                if report is not None:
                    for n_done, _ in enumerate(as_completed(futures), start=1):
                        report(n_done)
            try:
                gathered: list[Any] = self.client.gather(list(futures))
            except (FastmksError, KilledWorker, CancelledError, CommClosedError):
                raise
            except Exception as error:
                failed = [i for i, future in enumerate(futures) if future.status == "error"]
                if shards is None or not failed:
                    raise
                raise ShardError(f"{shards[failed[0]]}: {type(error).__name__}: {error}") from error
            return gathered

    @contextmanager
    def _lost_named(self) -> Iterator[None]:
        """Turn the errors of a lost cluster into ones that say what to do."""
        if self.client.status in ("closed", "closing"):
            raise ClusterError(
                "the client of this ShardedIndex is closed, and its shards are lost. Load the "
                "index from where it was saved, or build it again, with a new client."
            )
        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"several workers died, one after the other, at the same work: {error} Most often "
                "a shard is too large for their memory: use more, smaller partitions."
            ) from error
        except (CancelledError, CommClosedError, OSError, TimeoutError) as error:
            if any(words in str(error) for words in _LOST):
                raise ClusterError(
                    "data that were given as futures are lost with the worker that held them, and "
                    "cannot be computed again. Build from a dask collection, delayed objects or "
                    f"files instead ({error})."
                ) from error
            if self.client.status == "running" and isinstance(error, OSError):
                raise  # of the task itself
            raise ClusterError(
                f"the scheduler of the cluster is gone ({type(error).__name__}: {error}), and the "
                "shards are lost with it. Start another cluster, and load the index from where it "
                "was saved, or build it again."
            ) from error


def pack(value: Any) -> Packed:
    """Return a value as bytes that are fast to send."""
    return Packed(cloudpickle.dumps(value))


def unpack(packed: Packed) -> Any:
    """Return the value that was packed."""
    return cloudpickle.loads(packed.data)


def _same(piece: bytes) -> bytes:
    return piece


def _join(pieces: Iterable[bytes]) -> Packed:
    return Packed(b"".join(pieces))


def _find_client(client: Any) -> Client:
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise InvalidArgument(
                "client must be a dask.distributed.Client, and none exists yet. "
                "Client() starts a cluster on this machine; Client(address) joins another."
            ) from None
    if not isinstance(client, Client):
        raise InvalidArgument(f"client must be a dask.distributed.Client; got {client!r}.")
    if client.asynchronous:
        raise InvalidArgument("client must not be asynchronous: pass one that waits for answers.")
    return client
