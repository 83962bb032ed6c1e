"""The program about the service measures, compares, keeps and shows."""

import asyncio
import json
from contextlib import suppress

from benchmarks.service.__main__ import SUITE
from benchmarks.service.clients import Job, ask

from support.waiting import PATIENCE


def test_it_runs_and_goes_on(tmp_path, capsys):
    out = tmp_path / "service.json"
    assert SUITE.main(["--quick", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "holds: answers other than those of the index: 0.00" in shown
    assert "holds: requests without an answer: 0.00" in shown
    assert "| search, 10 queries | 8 |" in shown
    before = out.read_text()
    cells = json.loads(before)["cells"]
    assert len(cells) == 6
    assert all(0 < cell["facts"]["p50"] <= cell["facts"]["p99"] for cell in cells)
    assert SUITE.main(["--quick", "--out", str(out)]) == 0  # nothing is measured again
    assert out.read_text().partition('"cells"')[2] == before.partition('"cells"')[2]


def test_clients_tell_what_they_were_told():
    """A server that is slow, wrong and refusing is seen to be so."""

    open_ends = []

    async def answer(reader, writer):
        turn = 0
        open_ends.append(writer)
        with suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"}"):
                turn += 1
                body = json.dumps({"hits": [turn % 2], "stats": turn}).encode()
                status = b"429 Too Many" if turn % 3 == 0 else b"200 OK"
                head = b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
                await asyncio.sleep(0.005)
                writer.write(head + body)
        writer.close()
        await writer.wait_closed()
        open_ends.remove(writer)

    async def run(seconds):
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        job = Job(
            port=server.sockets[0].getsockname()[1],
            route="/",
            bodies=["{}"],
            n_clients=3,
            seconds=seconds,
            keeps_answers=True,
        )
        outcome = await ask(job)
        server.close()
        while open_ends:
            await asyncio.sleep(0.005)
        return outcome

    outcome, seconds = asyncio.run(run(0.3)), 0.3
    while set(outcome.statuses) != {"200", "429"} and seconds < PATIENCE:  # three turns of each
        seconds *= 4
        outcome = asyncio.run(run(seconds))
    assert set(outcome.statuses) == {"200", "429"}
    assert sum(outcome.statuses.values()) == len(outcome.latencies)
    assert min(outcome.latencies) >= 0.005
    assert sorted(one["hits"][0] for one in outcome.answers["0"]) == [0, 1]
