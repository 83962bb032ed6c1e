"""Many clients at once, in a process of their own: `python -m benchmarks.service.clients`.

Reads a job as JSON from standard input, and writes its outcome to standard output. Each
client keeps one connection, and sends the next request when it has the answer to the last one.
"""

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Job:
    """The requests that the clients send, and for how long."""

    port: int
    route: str
    bodies: list[str]  # client i begins with body i, and goes round
    n_clients: int
    seconds: float
    keeps_answers: bool


@dataclass(kw_only=True)
class Outcome:
    """The latencies, statuses and answers of a job."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)  # seconds of each request
    statuses: dict[str, int] = field(default_factory=dict)
    # Of each body: the answers to it, each different one once, without what they cost.
    answers: dict[str, list[Any]] = field(default_factory=dict)


async def ask(job: Job) -> Outcome:
    """Let all clients ask until the time is over."""
    outcome = Outcome()
    connections = [
        await asyncio.open_connection("127.0.0.1", job.port, limit=1 << 24)
        for _ in range(job.n_clients)
    ]
    started = time.perf_counter()
    clients = [
        _Client(job, outcome, i, started + job.seconds).run(*connection)
        for i, connection in enumerate(connections)
    ]
    await asyncio.gather(*clients)
    outcome.seconds = time.perf_counter() - started
    for _, writer in connections:
        writer.close()
        await writer.wait_closed()
    return outcome


class _Client:
    def __init__(self, job: Job, outcome: Outcome, number: int, end: float) -> None:
        self._job, self._outcome, self._number, self._end = job, outcome, number, end

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Ask until the time is over."""
        number = self._number
        while time.perf_counter() < self._end:
            body = self._job.bodies[number % len(self._job.bodies)].encode("ascii")
            head = (
                f"POST {self._job.route} HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            started = time.perf_counter()
            writer.write(head.encode("ascii") + body)
            status, answer = await _receive(reader)
            self._outcome.latencies.append(time.perf_counter() - started)
            self._note(number % len(self._job.bodies), status, answer)
            number += 1

    def _note(self, number: int, status: str, answer: bytes) -> None:
        statuses = self._outcome.statuses
        statuses[status] = statuses.get(status, 0) + 1
        if self._job.keeps_answers and status == "200":
            value = json.loads(answer)
            del value["stats"]
            known = self._outcome.answers.setdefault(str(number), [])
            if value not in known:
                known.append(value)


async def _receive(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    status = head.split(b" ", 2)[1].decode("ascii")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    return status, await reader.readexactly(length)


def main() -> None:
    """Run the job on standard input."""
    job = Job(**json.load(sys.stdin))
    json.dump(asdict(asyncio.run(ask(job))), sys.stdout)


if __name__ == "__main__":
    main()
