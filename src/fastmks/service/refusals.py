"""Refusals of requests: a status, a type and a message; never a trace."""

from collections.abc import Mapping
from typing import Any

from fastmks.data.kinds import NotJsonError
from fastmks.errors import FastmksError, InvalidArgument, KernelValueError, NotMercerError

LONGEST = 600  # characters of a message: it may quote the request


class RefusalError(FastmksError):
    """The refusal of a request: an HTTP status, a type and a message."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.headers = status, kind, dict(headers or {})

    def as_json(self) -> dict[str, Any]:
        """The body of the answer."""
        message = str(self)
        if len(message) > LONGEST:
            message = f"{message[:LONGEST]} ..."
        return {"error": {"type": self.kind, "message": message}}


class ConflictError(InvalidArgument):
    """An id that is in use already."""


class UnwritableError(FastmksError):
    """A change that could not be written to disk."""


def refusal_of(error: BaseException) -> RefusalError | None:
    """Return the answer for an error that has one; None for those that should not happen."""
    if isinstance(error, RefusalError):
        return error
    if isinstance(error, ConflictError):
        return RefusalError(409, "Conflict", str(error))
    if isinstance(error, UnwritableError):
        return RefusalError(503, "Unwritable", str(error), headers={"retry-after": "10"})
    if isinstance(error, NotJsonError):
        return RefusalError(422, "NotJson", str(error))
    if isinstance(error, (InvalidArgument, KernelValueError, NotMercerError)):
        return RefusalError(400, type(error).__name__, str(error))
    if isinstance(error, MemoryError):
        return RefusalError(
            503,
            "OutOfMemory",
            "the request needs more memory than is free now; ask for less at once, or try again.",
            headers={"retry-after": "10"},
        )
    if isinstance(error, RecursionError):
        return RefusalError(400, "InvalidArgument", "the request is nested too deeply.")
    return None
