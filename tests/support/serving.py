"""Services for tests: in a thread of this process, or in a process that can be killed."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import uvicorn

from fastmks import Index
from fastmks.service import Limits, make_app, open_served
from support.waiting import PATIENCE


@contextmanager
def serving(path, *, limits=None, token=None, make_routes=None, **options):
    """Serve a file, or an index from a file of its own, in a thread; gives a client of httpx."""
    limits = limits or Limits()
    if isinstance(path, Index):
        options |= {"limits": limits, "token": token, "make_routes": make_routes}
        with TemporaryDirectory() as folder:
            path.save(file := Path(folder, "index.fmks"))
            with serving(file, **options) as client:
                yield client
        return
    served = open_served(
        path, most_waiting=limits.waiting, most_bytes=limits.journal_bytes, **options
    )
    app = make_app(served, limits, token, make_routes=make_routes)
    # Of no protocol in particular, asyncio would not set TCP_NODELAY: 40 ms for each answer.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none", http="h11"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        with httpx.Client(
            base_url=address, headers=headers, timeout=PATIENCE, trust_env=False
        ) as client:
            client.served, client.app = served, app
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


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


class Process:
    """A service in a process of its own."""

    def __init__(self, path, *options, code=None, **environment):
        """Run the command, or some code that gets the path and says the address."""
        program = ["-m", "fastmks", "serve"] if code is None else ["-c", code]
        kept = {name: value for name, value in os.environ.items() if name != "FASTMKS_TOKEN"}
        self._process = subprocess.Popen(
            [sys.executable, *program, str(path), "--port", "0", *options],
            stderr=subprocess.PIPE,
            text=True,
            env={**kept, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        )
        self.said = self._process.stderr.readline()
        self.address = self.said.rpartition(" ")[2].strip()
        self.client = httpx.Client(
            base_url=self.address or "http://x", timeout=PATIENCE, trust_env=False
        )

    def kill(self):
        """End it as a power failure would, as far as a process can tell."""
        self._process.kill()
        self._close()

    def stop(self, number=signal.SIGTERM):
        """End it in peace; returns its exit code."""
        self._process.send_signal(number)
        return self._close()

    def signal(self, number):
        """Send a signal, and do not wait."""
        self._process.send_signal(number)

    def end(self):
        """Wait for its end; returns its exit code."""
        return self._close()

    def _close(self):
        self.said += self._process.stderr.read()
        self._process.stderr.close()
        self.client.close()
        return self._process.wait(timeout=PATIENCE)
