"""The outermost layer of the app: it checks host, site and token, and refuses at shutdown.

It also sets the headers of answers and counts requests.
"""

import base64
import binascii
import hashlib
import hmac
import ipaddress
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fastmks.errors import InvalidArgument
from fastmks.service.json import to_json
from fastmks.service.metrics import Metrics
from fastmks.service.refusals import RefusalError

_SHORTEST = 16  # characters of a token
OPEN = "/health"  # needs no token
ROUTE = "fastmks.route"  # where the scope of a request has its route, for the metrics
_GUARDED = ("/page/", "/v1/")  # refused to pages of other sites
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, seen from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_token(token: str | None) -> str | None:
    """Return a token that clients can send and that is hard to guess; None stands for none."""
    is_fine = isinstance(token, str) and len(token) >= _SHORTEST and token == token.strip()
    if token is None or (is_fine and token.isascii() and token.isprintable()):
        return token
    raise InvalidArgument(
        f"token must have at least {_SHORTEST} ASCII characters, no control characters, and no "
        f"blanks around them; got {len(token)}. Python's secrets.token_urlsafe() makes one; omit "
        "it, or leave FASTMKS_TOKEN unset, for none."
    )


def answer_refusal(refusal: RefusalError) -> Response:
    """Return the answer for a refusal."""
    return Response(
        to_json(refusal.as_json()),
        status_code=refusal.status,
        media_type="application/json",
        headers=refusal.headers,
    )


class Guard:
    """The outermost layer of the app.

    Without a token, requests must name this machine as their host: a page of another site whose
    name resolves to this machine would send its own name (DNS rebinding). In both cases, searches
    and changes are refused to pages of other sites, whose requests a browser marks.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | None,
        metrics: Metrics,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._app, self._metrics, self._is_stopping = app, metrics, is_stopping
        self._digest = None if token is None else _digest(token.encode("utf-8"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        is_unread = _has_body(Headers(scope=scope))

        async def receive_guarded() -> Message:
            nonlocal is_unread
            message = await receive()
            is_unread = is_unread and message.get("more_body", False)
            return message

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if is_unread:  # the server would read it to its end, to come to the next request
                    headers["connection"] = "close"
            await send(message)

        self._metrics.n_in_flight += 1
        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, receive_guarded, send_guarded)
            else:
                self._metrics.add("fastmks_refused_total", type=refusal.kind)
                await answer_refusal(refusal)(scope, receive, send_guarded)
        finally:
            self._metrics.n_in_flight -= 1
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = scope.get(ROUTE, "other")
            seconds = time.perf_counter() - started
            self._metrics.add_request(route, method, status, seconds)

    def _refusal(self, scope: Scope) -> RefusalError | None:
        headers = Headers(scope=scope)
        if self._is_stopping():
            return RefusalError(
                503,
                "Stopping",
                "the service is shutting down.",
                headers={"retry-after": "5", "connection": "close"},
            )
        if self._digest is None:
            return _foreign_host(headers) or _foreign_site(scope["path"], headers)
        if scope["path"] == OPEN or _has_token(headers, self._digest):
            return _foreign_site(scope["path"], headers)
        return RefusalError(
            401,
            "Unauthorized",
            "pass the token: 'Authorization: Bearer TOKEN', or as the password of any user.",
            # Basic first: Chromium reads one scheme of a header, and asks for no password otherwise
            headers={"www-authenticate": 'Basic realm="fastmks", Bearer realm="fastmks"'},
        )


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _foreign_site(path: str, headers: Headers) -> RefusalError | None:
    if not path.startswith(_GUARDED) or _is_own_site(headers):
        return None
    return RefusalError(
        403,
        "ForeignSite",
        "the request is from a page of another site, which may not search here. Open the page of "
        "this service, or ask from outside a browser.",
    )


def _is_own_site(headers: Headers) -> bool:
    """Whether a request is from this site, from the user of a browser, or not from a browser.

    Browsers that send Sec-Fetch-Site compare the origins themselves, with the address that their
    user sees; a proxy may change Host afterwards.
    """
    sites = headers.getlist("sec-fetch-site")
    if sites:
        return len(sites) == 1 and sites[0] in ("same-origin", "none")
    origins = headers.getlist("origin")
    if not origins:
        return True
    _, _, place = origins[0].partition("://")
    return len(origins) == 1 and place.lower() == headers.get("host", "").lower()


def _foreign_host(headers: Headers) -> RefusalError | None:
    host = headers.get("host", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and ":" in host else host
    if len(headers.getlist("host")) == 1 and is_loopback(name):
        return None
    return RefusalError(
        403,
        "ForeignHost",
        "a service without a token answers to localhost, 127.0.0.1 or the like, and [::1] only. "
        "Use one of these names, or start it with a token.",
    )


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()  # of one length, whatever is sent


def _has_token(headers: Headers, digest: bytes) -> bool:
    """Whether a request has the token; the time of the check is independent of the token."""
    given = headers.getlist("authorization")
    scheme, _, value = (given[0] if len(given) == 1 else "").partition(" ")
    if scheme.lower() == "basic":
        try:
            value_bytes = base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
    elif scheme.lower() == "bearer":
        value_bytes = value.strip().encode("latin-1")
    else:
        return False
    return hmac.compare_digest(_digest(value_bytes), digest)
