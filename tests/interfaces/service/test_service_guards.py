"""Who may ask a service and how, and what nobody is told or can keep open."""

import gzip
import json
import socket
from contextlib import closing, suppress

import pytest

import fastmks
from fastmks.service import make_app, open_served, serve
from fastmks.service.guards import is_loopback
from fastmks.service.page import page_routes
from fastmks.service.server import _listen
from support.programs import run_python
from support.serving import Process, error_of, send, serving

TOKEN = "a token of some length"
QUERY = {"query": [1.0, 2.0]}
MUCH = 64 << 20  # bytes: what buffers of the system hold of a connection is far less


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
        assert far.is_success  # the token is right


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


def test_answers_are_not_held_back():
    """asyncio sets TCP_NODELAY only on sockets that say their protocol."""
    with closing(_listen("127.0.0.1", 0)) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_loopback():
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", "example.org", "", "localhost."]))


def test_an_app_needs_no_server(path):
    """It is an ASGI app as any other."""
    app = make_app(open_served(path))
    assert {route.path for route in app.routes} >= {"/health", "/v1/search", "/openapi.json"}


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_what_is_missing_is_named(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; import fastmks.service"
    run = run_python(code)
    assert run.returncode == 1
    assert 'pip install ".[service]"' in run.stderr
