"""What a service refuses: too much, too slow, too many, and whoever may not ask."""

import asyncio
import gc
import gzip
import json
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from contextlib import closing, suppress

import httpx
import numpy as np
import pytest

import fastmks
from fastmks import kernels
from fastmks.service import Limits, make_app, open_served, serve
from fastmks.service import json_answers as answers
from fastmks.service.guards import is_loopback
from fastmks.service.page import page_routes
from fastmks.service.refusals import RefusalError
from fastmks.service.server import _listen
from fastmks.service.workers import Deadline, Workers
from support.serving import Process, serving
from support.waiting import PATIENCE, wait_until

TOKEN = "a token of some length"
QUERY = {"query": [1.0, 2.0]}
MUCH = 64 << 20  # bytes: what buffers of the system hold of a connection is far less


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(np.random.default_rng(0).normal(size=(50, 2))).save(path)
    return path


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


def error_of(answer):
    return answer.status_code, answer.json()["error"]["type"]


def send(client, text):
    """Send bytes as they are; returns what came back until the other side closed."""
    with socket.create_connection(
        (client.base_url.host, client.base_url.port), PATIENCE
    ) as connection:
        connection.sendall(text)
        received = b""
        while more := connection.recv(65536):
            received += more
        return received


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


def test_the_page_keeps_to_the_limits(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(["abc", "bcd"], kernels.Spectrum(2)).save(path)
    with serving(path, limits=Limits(letters=8), make_routes=page_routes) as client:
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


def test_only_json_that_is_not_compressed(path):
    body = json.dumps(QUERY).encode()
    with serving(path) as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"):
            answer = client.post("/v1/search", content=body, headers={"content-type": kind})
            assert error_of(answer) == (415, "NotJson")
        bomb = gzip.compress(b" " * 50_000_000)
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        answer = client.post("/v1/search", content=bomb, headers=headers)
        assert error_of(answer) == (415, "NotJson")
        for kind in ("application/json; charset=utf-8", "Application/JSON"):
            answer = client.post("/v1/search", content=body, headers={"content-type": kind})
            assert answer.is_success
        latin = {"content-type": "application/json; charset=latin-1"}
        assert client.post("/v1/search", content=body, headers=latin).status_code == 415


def test_a_token_is_asked_for_everywhere_but_for_health(path):
    import base64

    with serving(path, token=TOKEN, writable=True) as client:
        assert client.post("/v1/search", json=QUERY).is_success
        basic = base64.b64encode(f"anyone:{TOKEN}".encode()).decode()
        assert client.get("/v1/index", headers={"authorization": f"Basic {basic}"}).is_success
        bad = ["", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Token {TOKEN}", TOKEN]
        bad += ["Basic !!!", f"Basic {TOKEN}", "Bearer \xe9", "Basic " + "=" * 9]
        for value in bad:
            headers = {"authorization": value.encode("latin-1")}
            for route in ("/metrics", "/openapi.json", "/v1/index", "/v1/objects/1", "/nix", "/"):
                answer = client.get(route, headers=headers)
                assert error_of(answer) == (401, "Unauthorized")
                schemes = answer.headers["www-authenticate"]  # Chromium reads the first one only
                assert schemes.startswith("Basic ")
                assert "Bearer" in schemes
            for route in ("search", "batch", "explain", "objects", "objects/remove"):
                answer = client.post(f"/v1/{route}", json=QUERY, headers=headers)
                assert error_of(answer) == (401, "Unauthorized")
            assert client.get("/health", headers=headers).is_success
            assert client.get("/health/", headers=headers).status_code == 401
        assert TOKEN not in client.get("/openapi.json").text
        far = client.get("/v1/index", headers={"host": "index.example.org"})
        assert far.is_success  # whoever has the token is welcome


def test_without_a_token_only_names_of_this_machine(path):
    """A page of another site whose name was made to point here cannot ask anything."""
    with serving(path) as client:
        port = client.base_url.port
        for host in ("localhost", f"localhost:{port}", "127.0.0.1:1", "[::1]:80", "LOCALHOST"):
            assert client.get("/health", headers={"host": host}).is_success
        for host in (
            "evil.example",
            f"evil.example:{port}",
            "localhost.evil.example",
            "10.0.0.1",
            "127.0.0.1.evil.example:80",
            "",
            "0.0.0.0",
            "localhost:80:80",
        ):
            answer = client.get("/v1/index", headers={"host": host})
            assert error_of(answer) == (403, "ForeignHost")
        twice = (
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nConnection: close\r\n\r\n"
        )
        assert not send(client, twice).startswith(b"HTTP/1.1 200")


def test_headers_and_no_cors(path):
    with serving(path) as client:
        for answer in (
            client.get("/health", headers={"origin": "https://evil.example"}),
            client.get("/nix"),
            client.post("/v1/search", json={}),
            client.request("OPTIONS", "/v1/search", headers={"origin": "https://evil.example"}),
        ):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert not any(name.startswith("access-control") for name in answer.headers)
        assert client.request("OPTIONS", "/v1/search").status_code == 405
        wrong = client.put("/v1/objects")
        assert error_of(wrong) == (405, "NotAllowed")
        assert "POST" in wrong.headers["allow"]


def test_nothing_is_written_without_being_asked_for(path):
    before = sorted(path.parent.iterdir())
    with serving(path) as client:
        answer = client.post("/v1/objects", json={"objects": [[1, 2]]})
        assert error_of(answer) == (403, "ReadOnly")
        assert error_of(client.post("/v1/objects/remove", json={"ids": [1]})) == (403, "ReadOnly")
    assert sorted(path.parent.iterdir()) == before


def test_a_fault_shows_no_trace(path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("secret detail")

    with serving(path) as client:
        monkeypatch.setattr(fastmks.Index, "search", fail)
        answer = client.post("/v1/search", json=QUERY)
        assert error_of(answer) == (500, "InternalError")
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_without_memory_a_request_is_to_come_again(path, monkeypatch):
    """Searches, changes and the page; the service goes on."""

    def fail(*_, **__):
        raise MemoryError("Unable to allocate 13.8 GiB")

    with serving(path, writable=True, make_routes=page_routes) as client:
        kernel = client.get("/page/about").json()["kernels"][0]["text"]
        compared = {"object": [1.0, 2.0], "kernel": kernel, "k": 1}
        with monkeypatch.context() as patched:
            patched.setattr(fastmks.Index, "search", fail)
            patched.setattr(fastmks.Index, "add", fail)
            for route, body in (
                ("/v1/search", QUERY),
                ("/v1/objects", {"objects": [[1, 2]]}),
                ("/page/compare", compared),
            ):
                answer = client.post(route, json=body)
                assert error_of(answer) == (503, "OutOfMemory")
                assert answer.headers["retry-after"] == "10"
        assert client.post("/v1/objects", json={"objects": [[1, 2]]}).is_success
        assert client.post("/v1/search", json=QUERY).is_success


def test_messages_are_short(path):
    with serving(path) as client:
        answer = client.post("/v1/search", json={**QUERY, "x" * 100_000: 1})
        assert answer.status_code == 400
        assert len(answer.content) < 1000
        answer = client.post("/v1/search", json={**QUERY, "seed": [[["x" * 100_000]]]})
        assert answer.status_code == 400
        assert len(answer.content) < 1000
        assert len(client.get("/" + "x" * 10_000).content) < 1000


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_a_public_address_needs_a_token(path, host, monkeypatch):
    monkeypatch.delenv("FASTMKS_TOKEN", raising=False)
    with pytest.raises(fastmks.InvalidArgument, match="token"):
        serve(path, host=host)


@pytest.mark.parametrize("port", [99999, -1, True, "80", 0.0])
def test_ports_that_are_none(path, port):
    words = "port must be a whole number from 1 to 65535, or 0 for any free one; got"
    with pytest.raises(fastmks.InvalidArgument, match=words):
        serve(path, port=port)


def test_tokens_that_are_soon_guessed_or_cannot_be_sent(path, monkeypatch):
    bad = ["", "short", "with blanks around ", "é" * 20, "日" * 20, b"bytes of some length"]
    bad += ["a line of its own\n", "two lines\nof some length", "a tab\tand some length", "\0" * 20]
    served = open_served(path)
    for token in bad:
        with pytest.raises(fastmks.InvalidArgument, match="16 ASCII characters"):
            serve(path, token=token)
        with pytest.raises(fastmks.InvalidArgument, match="16 ASCII characters"):
            make_app(served, token=token)
    monkeypatch.setenv("FASTMKS_TOKEN", "")  # as of $(cat token) without that file
    with pytest.raises(fastmks.InvalidArgument, match="16 ASCII characters"):
        serve(path)
    refused = Process(path, FASTMKS_TOKEN="")
    assert refused.end() == 1
    assert "16 ASCII characters" in refused.said


def endless(client, head, piece):
    """Send a piece over and over until the other side has closed; return how many bytes it took."""
    sent = 0
    address = client.base_url.host, client.base_url.port
    with socket.create_connection(address, 30) as connection, suppress(ConnectionError):
        connection.sendall(head)
        while sent < MUCH:
            connection.sendall(piece)
            sent += len(piece)
    return sent


def test_headers_without_an_end_are_not_read_on(path):
    """Nor many of them, nor a long first line; whatever else is installed."""
    process = Process(path, "--token", TOKEN)
    try:
        for head, piece in [
            (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"x" * 65536),
            (b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n" * 10_000),
            (b"GET /", b"x" * 65536),
        ]:
            assert endless(process.client, head, piece) < MUCH
        assert process.client.get("/health").is_success
    finally:
        assert process.stop() == 0


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_bodies_that_nobody_wants_are_not_read_on(path, framing):
    """After a refusal, and on a GET: the connection is closed instead."""
    length = b"Content-Length: 1000000000000\r\n\r\n"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n"
    framed = length if framing == "length" else chunks
    piece = b"x" * 65536 if framing == "length" else b"10000\r\n" + b"x" * 65536 + b"\r\n"
    right = b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
    with serving(path, token=TOKEN) as client:
        for first, more in [
            (b"POST /v1/search", b"Content-Type: application/json\r\n"),
            (b"GET /v1/index", b""),
            (b"GET /health", b""),
            (b"GET /v1/index", right),
            (b"GET /openapi.json", right),
            (b"POST /nix", right),
            (b"POST /v1/objects", right + b"Content-Type: application/json\r\n"),
            (b"POST /v1/search", right + b"Content-Type: text/plain\r\n"),
        ]:
            head = first + b" HTTP/1.1\r\nHost: localhost\r\n" + more + framed
            assert endless(client, head, piece) < MUCH
        kept = client.post("/v1/search", json=QUERY)
        assert "connection" not in kept.headers
        refused = client.post("/v1/search", json=QUERY, headers={"authorization": "Bearer no"})
        assert refused.status_code == 401
        assert refused.headers["connection"] == "close"


def test_the_command(path, tmp_path):
    process = Process(path, FASTMKS_TOKEN=TOKEN)
    try:
        assert process.said.startswith(f"serving {path} at http://127.0.0.1:")
        assert process.client.get("/v1/index").status_code == 401
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert process.client.get("/v1/index", headers=headers).json()["size"] == 50
    finally:
        assert process.stop() == 0
    for options, says in [
        (["--host", "0.0.0.0"], "needs none"),
        (["--token", "short"], "16 ASCII"),
        (["--workers", "0"], "workers must be"),
    ]:
        refused = Process(path, *options)
        assert refused.end() == 1
        assert says in refused.said
    missing = Process(tmp_path / "nix.fmks")
    assert missing.end() == 1
    assert "nix.fmks" in missing.said
    assert "Traceback" not in missing.said


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


def test_answers_are_not_held_back():
    """asyncio sets TCP_NODELAY only on sockets that say their protocol."""
    with closing(_listen("127.0.0.1", 0)) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_limits_are_checked():
    for options in ({"k": 0}, {"seconds": 0.0}, {"workers": 1.5}, {"waiting": True}):
        with pytest.raises(fastmks.InvalidArgument, match=next(iter(options))):
            Limits(**options)


def test_loopback():
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", "example.org", "", "localhost."]))


def test_a_deadline():
    over = Deadline(1e-9)
    time.sleep(0.01)
    with pytest.raises(fastmks.FastmksError, match="took longer"):
        over.check()
    assert over.seconds_left == 0.0
    Deadline(PATIENCE).check()


def test_an_app_needs_no_server(path):
    """It is an ASGI app as any other."""
    app = make_app(open_served(path))
    assert {route.path for route in app.routes} >= {"/health", "/v1/search", "/openapi.json"}


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_what_is_missing_is_named(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; import fastmks.service"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert 'pip install ".[service]"' in run.stderr
