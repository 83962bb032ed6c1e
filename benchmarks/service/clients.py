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

_HEAD = (
    "POST {} HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n"
)


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

    async def client(
        number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while (asked := time.perf_counter()) < started + job.seconds:
            body = job.bodies[number % len(job.bodies)]
            writer.write(_HEAD.format(job.route, len(body)).encode("ascii") + body.encode("ascii"))
            status, answer = await _receive(reader)
            outcome.latencies.append(time.perf_counter() - asked)
            outcome.statuses[status] = outcome.statuses.get(status, 0) + 1
            if job.keeps_answers and status == "200":
                value = json.loads(answer)
                del value["stats"]
                known = outcome.answers.setdefault(str(number % len(job.bodies)), [])
                known += [] if value in known else [value]
            number += 1
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client(i, *ends) for i, ends in enumerate(connections)))
    outcome.seconds = time.perf_counter() - started
    return outcome


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
