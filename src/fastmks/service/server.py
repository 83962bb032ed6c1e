"""Run a service in this process until a signal stops it."""

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from numbers import Integral
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from fastmks.errors import InvalidArgument
from fastmks.kernels import Kernel
from fastmks.service.app import make_app
from fastmks.service.guards import check_token, is_loopback
from fastmks.service.limits import Limits
from fastmks.service.open import open_served
from fastmks.service.served import Served
from fastmks.service.workers import GRACE, Run

try:
    import resource
except ImportError:  # Windows, where connections are not files
    resource = None  # type: ignore[assignment]

TOKEN = "FASTMKS_TOKEN"  # the variable of the environment that may hold the token
_DEFAULTS = Limits()
_OTHER_FILES = 64  # open besides connections
_HEADER_BYTES = 64 << 10  # of the first line and the headers of a request
_INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended
_LOG = logging.getLogger("fastmks.service")


def serve(
    path: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    token: str | None = None,
    writable: bool = False,
    limits: Limits = _DEFAULTS,
    kernel: Kernel | Callable[[Any, Any], float] | None = None,
    encode: Callable[[Any], bytes] | None = None,
    decode: Callable[[bytes], Any] | None = None,
    make_routes: Callable[[Served, Run], Sequence[BaseRoute]] | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve the index of a file over HTTP until SIGTERM or Ctrl-C.

    Then running requests are finished, new ones are refused, and a changed index is saved. Requests
    that run five seconds past their time are not waited for: the process ends at once, with a line
    in the log. A second Ctrl-C stops waiting for requests, a third ends the process at once.
    An index that could not be saved is an error.

    Parameters
    ----------
    path : path-like
        A file that `Index.save` wrote.
    host, port : str and int
        Where to listen; port 0 is any free one. Other hosts than this machine's own need a token.
    token : str, optional
        The token of requests; from the environment, FASTMKS_TOKEN, when not given.
    writable : bool, default False
        Accept additions and removals, each on disk before it is acknowledged.
    limits : Limits, optional
        The limits of requests.
    kernel, encode, decode
        As for `open_served`.
    make_routes : callable (Served, run) -> routes, optional
        More routes, such as a page; see `make_app`.
    announce : callable (str), optional
        Called with the address once requests are answered and signals handled.

    Examples
    --------
    >>> from fastmks.service import serve
    >>> serve("arrows.fmks", host="0.0.0.0")
    Traceback (most recent call last):
    fastmks.errors.InvalidArgument: host '0.0.0.0' can be reached from other machines: ...
    """
    checked = check_token(os.environ.get(TOKEN) if token is None else token)
    if not is_loopback(host) and checked is None:
        raise InvalidArgument(
            f"host {host!r} can be reached from other machines: pass token=, or set {TOKEN}. "
            "127.0.0.1 needs none."
        )
    _check_port(port)
    _allow_connections(limits.connections)
    listening = _listen(host, port)
    try:
        served = open_served(
            path,
            writable=writable,
            kernel=kernel,
            encode=encode,
            decode=decode,
            most_waiting=limits.waiting,
            most_bytes=limits.journal_bytes,
        )
        try:
            app = make_app(served, limits, checked, make_routes=make_routes)
            shown = f"[{host}]" if ":" in host else host
            address = f"http://{shown}:{listening.getsockname()[1]}"
            server = _Server(_configure(app, limits), app, address, announce)
        except BaseException:
            served.close()
            raise
        with _left_in_time(app):
            try:
                server.run(sockets=[listening])
            finally:
                served.close(GRACE)
    finally:
        listening.close()


@contextmanager
def _left_in_time(app: Starlette) -> Iterator[None]:
    """End the process at the end where a request still runs: Python would wait for it."""
    try:
        yield
    except BaseException as error:
        if not app.state.is_idle():
            _leave(_INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1, str(error))
        raise
    if not app.state.is_idle():
        _leave(0, "requests that cannot be stopped")


def _leave(code: int, why: str) -> None:
    """End the process at once, with a line that says so.

    Acknowledged changes are on disk by then, in the file or in its journal.
    """
    try:
        with suppress(Exception):  # such as a nested write to standard error
            _LOG.warning("ended without waiting for what still runs: %s", why or "interrupted")
            logging.shutdown()
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code)


def _check_port(port: Any) -> None:
    is_number = isinstance(port, Integral) and not isinstance(port, bool)
    if not is_number or not 0 <= port <= 65535:
        raise InvalidArgument(
            f"port must be a whole number from 1 to 65535, or 0 for any free one; got {port!r}."
        )


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens: an address in use is known before the index is read."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise InvalidArgument(f"host {host!r} is not known: {error.strerror}.") from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        # On Windows, SO_REUSEADDR shares the address; elsewhere it lets a service restart at once.
        alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        listening.setsockopt(socket.SOL_SOCKET, alone, 1)
        listening.bind(address)
        listening.listen()  # clients wait until the server is ready
    except OSError as error:
        listening.close()
        raise InvalidArgument(f"{host}:{port} cannot be listened on: {error.strerror}.") from None
    return listening


def _allow_connections(n_connections: int) -> None:
    """Raise the limit of open files to what connections need, if the system allows it."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n_connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _configure(app: Starlette, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        access_log=False,
        backlog=limits.connections,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        http="h11",  # httptools has no such limit
        limit_concurrency=limits.connections,
        lifespan="on",
        log_level="warning",
        proxy_headers=False,  # nothing here depends on the address of the client
        server_header=False,
        timeout_graceful_shutdown=int(limits.seconds + GRACE),
        timeout_keep_alive=30,
        ws="none",
    )


class _Server(uvicorn.Server):
    """A server that announces its address, and refuses new requests after a signal to stop."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: Starlette,
        address: str,
        announce: Callable[[str], None] | None,
    ) -> None:
        super().__init__(config)
        self._app, self._address, self._announce = app, address, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and announce the address once signals are handled."""
        await super().startup(sockets)
        if self.started and self._announce is not None:
            self._announce(self._address)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop soon; at a second Ctrl-C without waiting for requests; at a third at once."""
        self._app.state.stopping.set()
        if self.force_exit and sig == signal.SIGINT:
            _leave(_INTERRUPTED, "interrupted again; the journal has all changes")
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True
