"""The bodies of requests: read up to a limit, within a time, and never unpacked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.requests import ClientDisconnect, Request

from fastmks.service.limits import Limits
from fastmks.service.refusals import RefusalError


class Bodies:
    """Reads bodies, and counts the bytes of all bodies in memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._n_held = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a request; its bytes count until the block ends."""
        _check_kind(request)
        self._check_length(request)
        parts: list[bytes] = []
        held = 0
        try:
            try:
                with anyio.fail_after(self._limits.body_seconds):
                    async for part in request.stream():
                        held += len(part)
                        self._n_held += len(part)
                        self._check_room(held)
                        parts.append(part)
            except TimeoutError:
                raise RefusalError(
                    408,
                    "TimeOut",
                    f"the body must arrive within {self._limits.body_seconds:g} s.",
                    headers={"connection": "close"},
                ) from None
            except ClientDisconnect:
                raise RefusalError(400, "Disconnected", "the body ended early.") from None
            yield b"".join(parts)
        finally:
            self._n_held -= held

    def _check_length(self, request: Request) -> None:
        length = request.headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and len(length) < 19:
            self._check_room(int(length))
        else:
            raise self._too_large()

    def _check_room(self, length: int) -> None:
        if length > self._limits.body_bytes:
            raise self._too_large()
        if self._n_held > self._limits.bodies_bytes:
            raise RefusalError(
                429,
                "TooMany",
                "too many bytes of other requests are being worked on; try again soon.",
                headers={"retry-after": "1", "connection": "close"},
            )

    def _too_large(self) -> RefusalError:
        return RefusalError(
            413,
            "TooLarge",
            f"a body has at most {self._limits.body_bytes} bytes; send fewer objects at once.",
            headers={"connection": "close"},
        )


def _check_kind(request: Request) -> None:
    """Refuse bodies that are not JSON: pages of other sites can send those without a preflight."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.lower().partition("charset=")[2].strip(' "')
    if kind.strip().lower() != "application/json" or charset not in ("", "utf-8"):
        raise RefusalError(415, "NotJson", "the body must be application/json in UTF-8.")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RefusalError(415, "NotJson", "the body must not be compressed.")
