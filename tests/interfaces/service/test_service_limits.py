"""Limits of a service: requests too large, too slow or too many are refused."""

import asyncio
import gc
import json
import select
import socket
import threading
import time
import weakref
from contextlib import suppress

import httpx
import pytest

import fastmks
from fastmks import kernels
from fastmks.service import Limits
from fastmks.service import json_answers as answers
from fastmks.service.page import page_routes
from fastmks.service.refusals import RefusalError
from fastmks.service.workers import Deadline, Workers
from support.serving import Process, error_of, send, serving
from support.waiting import PATIENCE, wait_until

QUERY = {"query": [1.0, 2.0]}


class Overlap:
    """A kernel that counts its calls, and stops in one until it may go on if it is held."""

    def __init__(self, seconds=0.0):
        self.n_calls, self.begun, self.may_go_on = 0, threading.Event(), threading.Event()
        self.may_go_on.set()
        self._seconds = seconds

    def __call__(self, x, y):
        self.n_calls += 1
        self.begun.set()
        assert self.may_go_on.wait(PATIENCE)
        time.sleep(self._seconds)
        return float(len(set(x) & set(y)))

    def hold(self):
        self.begun.clear()
        self.may_go_on.clear()


@pytest.fixture
def words_path(tmp_path):
    path = tmp_path / "words.fmks"
    fastmks.Index(["abc", "bcd"] * 200, Overlap()).save(path, encode=str.encode)
    return path


def test_sizes(path):
    limits = Limits(k=5, queries=3, objects=2, hits=12, body_bytes=400)
    with serving(path, limits=limits, writable=True) as client:
        assert client.post("/v1/search", json={**QUERY, "k": 5}).is_success
        assert error_of(client.post("/v1/search", json={**QUERY, "k": 6})) == (
            400,
            "InvalidArgument",
        )
        four = {"queries": [[1, 2]] * 4, "k": 1}
        assert error_of(client.post("/v1/batch", json=four)) == (400, "InvalidArgument")
        many_hits = {"queries": [[1, 2]] * 3, "k": 5}
        assert error_of(client.post("/v1/batch", json=many_hits)) == (400, "InvalidArgument")
        everything = {**QUERY, "threshold": -1e9}
        answer = client.post("/v1/search", json=everything)
        assert error_of(answer) == (400, "InvalidArgument")
        assert "at least 50 objects reach the threshold" in answer.json()["error"]["message"]
        three = {"objects": [[1, 2]] * 3}
        assert error_of(client.post("/v1/objects", json=three)) == (400, "InvalidArgument")
        long = {**QUERY, "only": list(range(200))}
        assert error_of(client.post("/v1/search", json=long)) == (413, "TooLarge")


LONG = {  # of each kind: objects, a kernel, what is too long in JSON, and what is not
    "letters": (["abc", "bcd"], kernels.Spectrum(2), "a" * 9, "a" * 8),
    "letters of bytes": ([b"abc", b"bcd"], kernels.Spectrum(2), "a" * 9, "a" * 8),
    "members": ([{1}, {"a"}], kernels.Jaccard(), list(range(9)), list(range(8))),
    "members that are bits": ([{1}, {2}], kernels.Tanimoto(), list(range(9)), list(range(8))),
    "steps": ([[1.0], [2.0]], kernels.GlobalAlignment(1.0), [1.0] * 9, [1.0] * 8),
    "steps of rows": (
        [[[1.0, 2.0]], [[2.0, 1.0]]],
        kernels.GlobalAlignment(1.0),
        [[1.0, 0.0]] * 9,
        [[1.0, 0.0]] * 8,
    ),
    "nodes": (
        [([(0, 1)], ["C", "O"])] * 2,
        kernels.ShortestPath(),
        {"nodes": ["C"] * 9, "edges": []},
        {"nodes": ["C"] * 8, "edges": []},
    ),
    "edges": (
        [([(0, 1)], ["C", "O"])] * 2,
        kernels.WeisfeilerLehman(1),
        {"nodes": ["C", "O"], "edges": [[0, 1]] * 9},
        {"nodes": ["C", "O"], "edges": [[0, 1]] * 8},
    ),
    "letters of a field": (
        [("abc", [1.0]), ("bcd", [2.0])],
        kernels.OnField(0, kernels.Spectrum(2)) + kernels.OnField(1, kernels.Linear()),
        ["a" * 9, [1.0]],
        ["a" * 8, [1.0]],
    ),
}


@pytest.mark.parametrize("what", LONG)
def test_objects_are_not_longer_than_allowed(what, tmp_path):
    """As queries, and as what is added; the description says so, and indexed ones may be longer."""
    objects, kernel, long, fine = LONG[what]
    counted = what.partition(" ")[0]
    path = tmp_path / "index.fmks"
    fastmks.Index(objects, kernel).save(path)
    with serving(path, writable=True) as client:
        added = client.post("/v1/objects", json={"objects": [long]})
        assert added.json()["ids"] == [2]
    limits = Limits(letters=8, members=8, nodes=8, edges=8, steps=8)
    with serving(path, limits=limits, writable=True) as client:
        for route, body in [
            ("/v1/search", {"query": long, "k": 1}),
            ("/v1/batch", {"queries": [fine, long], "k": 1}),
            ("/v1/explain", {"queries": [long]}),
            ("/v1/objects", {"objects": [fine, long]}),
        ]:
            answer = client.post(route, json=body)
            assert error_of(answer) == (400, "InvalidArgument")
            message = answer.json()["error"]["message"]
            assert f"must have at most 8 {counted} here; got 9." in message
        assert client.post("/v1/search", json={"query": fine, "k": 1}).is_success
        assert client.post("/v1/objects", json={"objects": [fine]}).is_success
        assert client.get("/v1/objects/2").is_success
        assert client.get("/v1/index").json()["limits"][counted] == 8
        paths = client.get("/openapi.json").json()["paths"]
        body = json.dumps(paths["/v1/search"]["post"]["requestBody"])
        assert '"maxLength": 8' in body or '"maxItems": 8' in body
        answer = json.dumps(paths["/v1/objects/{id}"]["get"]["responses"]["200"])
        assert '"maxLength": 8' not in answer
        assert '"maxItems": 8' not in answer


def test_the_page_keeps_to_the_limits():
    with serving(
        fastmks.Index(["abc", "bcd"], kernels.Spectrum(2)),
        limits=Limits(letters=8),
        make_routes=page_routes,
    ) as client:
        kernel = client.get("/page/about").json()["kernels"][0]["text"]
        for n_letters, status in [(8, 200), (9, 400)]:
            body = {"object": "a" * n_letters, "kernel": kernel, "k": 1}
            assert client.post("/page/compare", json=body).status_code == status


def test_limits_on_the_command_line(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(["abc", "bcd"], kernels.Spectrum(2)).save(path)
    options = [("letters", 3), ("members", 4), ("nodes", 5), ("edges", 6), ("steps", 7)]
    words = [word for name, most in options for word in (f"--most-{name}", str(most))]
    process = Process(path, *words)
    try:
        assert process.client.post("/v1/search", json={"query": "abcd"}).status_code == 400
        limits = process.client.get("/v1/index").json()["limits"]
        assert {name: limits[name] for name, _ in options} == dict(options)
    finally:
        assert process.stop() == 0


def test_a_threshold_that_all_reach_is_noticed_early(path, monkeypatch):
    """Before the hits of all queries are in memory."""
    index = fastmks.load(path)
    queries = [[1.0, i] for i in range(9)]
    with serving(path) as client:
        wanted = client.post("/v1/batch", json={"queries": queries, "threshold": 0.5}).json()
        monkeypatch.setattr(answers, "_BYTES", 2 * 64 * len(index))
        found = client.post("/v1/batch", json={"queries": queries, "threshold": 0.5}).json()
        assert found["answers"] == wanted["answers"]
        assert found["stats"]["scan_share"] <= 1.0
        asked = []
        search_above = fastmks.Index.search_above

        def watched(self, queries, *arguments, **options):
            asked.append(len(queries))
            return search_above(self, queries, *arguments, **options)

        monkeypatch.setattr(fastmks.Index, "search_above", watched)
        assert client.post("/v1/batch", json={"queries": queries, "threshold": 0.5}).is_success
        assert asked == [2, 2, 2, 2, 1]
    asked.clear()
    with serving(path, limits=Limits(hits=len(index) * 3)) as client:
        every = {"queries": queries, "threshold": -1e9}
        assert error_of(client.post("/v1/batch", json=every)) == (400, "InvalidArgument")
        assert asked == [2, 2]


def test_a_body_is_never_read_beyond_the_limit(path):
    """Whether its length is said beforehand, or it comes in chunks without an end."""
    with serving(path, limits=Limits(body_bytes=1000)) as client:
        head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        said = send(client, head + b"Content-Length: 1000000000000\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 413 ")
        chunk = b"190\r\n" + b" " * 400 + b"\r\n"
        endless = send(client, head + b"Transfer-Encoding: chunked\r\n\r\n" + 4 * chunk)
        assert endless.startswith(b"HTTP/1.1 413 ")
        odd = send(client, head + b"Content-Length: 9" + b"9" * 40 + b"\r\n\r\n")
        assert odd.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 "))
        assert client.get("/health").is_success


def test_bytes_of_all_bodies_together(path):
    limits = Limits(bodies_bytes=3000, body_bytes=2000, body_seconds=PATIENCE)
    with serving(path, limits=limits) as client:
        address = (client.base_url.host, client.base_url.port)
        head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection(address) as one, socket.create_connection(address) as other:
            for connection in (one, other):
                connection.sendall(head + b"Content-Length: 1900\r\n\r\n" + b" " * 1800)
            answered, _, _ = select.select([one, other], [], [], PATIENCE)
            assert len(answered) == 1
            assert answered[0].recv(1000).startswith(b"HTTP/1.1 429 ")
        wait_until(lambda: client.post("/v1/search", json=QUERY).is_success)


def test_a_slow_body_is_given_up(path):
    with serving(path, limits=Limits(body_seconds=0.2)) as client:
        head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        said = send(client, head + b'Content-Length: 20\r\n\r\n{"query')
        assert said.startswith(b"HTTP/1.1 408 ")
        assert b"within 0.2 s" in said


def test_a_search_that_takes_too_long_is_stopped(words_path):
    """It is answered for in time, and its thread is free soon after: both long before its end."""
    limits, slow = Limits(seconds=0.3, workers=1), Overlap(0.002)
    with serving(words_path, limits=limits, kernel=slow, decode=bytes.decode) as client:
        answer = client.post("/v1/batch", json={"queries": ["abc", "d"] * 50, "k": 1})
        assert error_of(answer) == (408, "TimeOut")
        wait_until(lambda: "\nfastmks_overdue 0\n" in client.get("/metrics").text)
        wait_until(lambda: "\nfastmks_working 0\n" in client.get("/metrics").text)
        assert slow.n_calls < 10_000  # of 40 000; 0.3 s are 150


def test_who_was_given_up_in_line_leaves_nothing_there():
    """The body of a request counts until it is answered, so nothing else may keep it."""

    class Body:
        pass

    async def ask():
        workers, refs = Workers(Limits(workers=1)), []
        begun, busy = threading.Event(), threading.Event()

        def work(deadline):
            begun.set()
            busy.wait()

        first = asyncio.create_task(workers.run(work, Deadline(PATIENCE)))
        assert await asyncio.to_thread(begun.wait, PATIENCE)

        async def wait_in_line():
            body = Body()
            refs.append(weakref.ref(body))
            with pytest.raises(RefusalError, match="took longer"):
                await workers.run(lambda deadline, body=body: body, Deadline(0.05))

        try:
            await wait_in_line()
            gc.collect()
            assert workers.n_admitted == 2
            assert refs[0]() is None
        finally:
            busy.set()
            await first
            await asyncio.to_thread(workers.close)

    asyncio.run(ask())


def test_who_waits_in_line_is_not_overdue():
    """Only functions that run are: a long line says nothing about the workers."""
    begun, busy = threading.Event(), threading.Event()

    def stay(deadline):
        begun.set()
        return busy.wait()

    class OverOnceBegun(Deadline):
        @property
        def seconds_left(self):
            begun.wait()
            return 0.0

    async def ask():
        workers = Workers(Limits(workers=1))
        first = asyncio.create_task(workers.run(stay, Deadline(600.0)))
        await asyncio.to_thread(begun.wait)
        try:
            with pytest.raises(RefusalError, match="took longer"):
                await workers.run(lambda deadline: None, Deadline(0.05))
            assert not workers.are_overdue
            assert not workers.are_idle
        finally:
            busy.set()
            await first
        busy.clear()
        begun.clear()
        with pytest.raises(RefusalError, match="took longer"):
            await workers.run(stay, OverOnceBegun(600.0))
        assert workers.are_overdue
        workers.close(0.0)  # does not wait for ever
        assert not workers.are_idle
        busy.set()
        workers.close()
        assert workers.are_idle

    asyncio.run(ask())


def test_more_than_may_wait_are_told_to_come_again(words_path):
    limits, kernel = Limits(workers=1, waiting=2, seconds=PATIENCE), Overlap()
    with serving(words_path, limits=limits, kernel=kernel, decode=bytes.decode) as client:
        answers = []
        kernel.hold()

        def ask():
            answers.append(client.post("/v1/search", json={"query": "abc", "only": [0], "k": 1}))

        threads = [threading.Thread(target=ask) for _ in range(12)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answers) == 9)  # one is worked on, and two wait
        kernel.may_go_on.set()
        for thread in threads:
            thread.join()
        statuses = [answer.status_code for answer in answers]
        assert statuses == [429] * 9 + [200] * 3
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.headers["retry-after"] == "1"
        assert client.get("/health").is_success  # needs no worker
        assert client.post("/v1/search", json={"query": "abc", "only": [0], "k": 1}).is_success


MILLION = "ARNDCQEGHI" * 100_000


@pytest.mark.parametrize(
    ("kernel", "objects", "query"),
    [
        (kernels.Normalized(kernels.LocalAlignment()), ["ARN", "NDC"], MILLION),
        (kernels.Normalized(kernels.GlobalAlignment(1.0)), [[1.0], [2.0]], [1.0] * 1_000_000),
        (kernels.SmithWaterman(), [MILLION, "NDC"], MILLION),
    ],
    ids=["local", "global", "best"],
)
def test_two_requests_of_a_million_letters_stop_no_service(kernel, objects, query, tmp_path):
    """Each of the two workers is free again soon after; a signal ends the service in the middle."""
    path = tmp_path / "index.fmks"
    fastmks.Index(objects, kernel).save(path)
    much = "5000000"
    options = ["--workers", "2", "--seconds", "1", "--most-letters", much, "--most-steps", much]
    process = Process(path, *options)
    body = {"query": query, "k": 1}

    def ask_on():
        with (
            httpx.Client(base_url=process.address, timeout=PATIENCE, trust_env=False) as client,
            suppress(httpx.HTTPError),
        ):
            while client.post("/v1/search", json=body).status_code == 408:
                pass

    try:
        for _ in range(2):
            assert process.client.post("/v1/search", json=body).status_code == 408
        wait_until(lambda: "\nfastmks_overdue 0\n" in process.client.get("/metrics").text)
        assert process.client.get("/health").is_success
        asking = threading.Thread(target=ask_on)
        asking.start()
        wait_until(lambda: "\nfastmks_working 1\n" in process.client.get("/metrics").text)
    finally:
        assert process.stop() == 0
    asking.join()


def test_a_stopping_service_finishes_what_runs_and_refuses_the_rest(words_path):
    limits, kernel = Limits(workers=2, seconds=PATIENCE), Overlap()
    with serving(words_path, limits=limits, kernel=kernel, decode=bytes.decode) as client:
        answers = []
        body = {"query": "abc", "k": 1}
        kernel.hold()
        thread = threading.Thread(
            target=lambda: answers.append(client.post("/v1/search", json=body))
        )
        thread.start()
        assert kernel.begun.wait(PATIENCE)
        assert "\nfastmks_working 1\n" in client.get("/metrics").text
        client.app.state.stopping.set()
        refused = client.post("/v1/search", json=body)
        assert error_of(refused) == (503, "Stopping")
        kernel.may_go_on.set()
        thread.join()
        assert answers[0].is_success


def test_limits_are_checked():
    for options in ({"k": 0}, {"seconds": 0.0}, {"workers": 1.5}, {"waiting": True}):
        with pytest.raises(fastmks.InvalidArgument, match=next(iter(options))):
            Limits(**options)


def test_a_deadline():
    over = Deadline(1e-9)
    time.sleep(0.01)
    with pytest.raises(fastmks.FastmksError, match="took longer"):
        over.check()
    assert over.seconds_left == 0.0
    Deadline(PATIENCE).check()
