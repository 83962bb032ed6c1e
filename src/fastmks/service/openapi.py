"""The OpenAPI description of a service: its routes, bodies and answers, for this very index."""

from typing import Any

from fastmks._core import version
from fastmks.data.kinds import JsonFormat, Schema
from fastmks.service.schema import Reader

_ERROR: Schema = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
            "required": ["type", "message"],
        }
    },
    "required": ["error"],
}
_REASONS = {
    400: "an argument cannot be used",
    401: "the token is missing or wrong",
    403: "another host's name, a page of another site, or a service without --writable",
    404: "there is no such object",
    408: "the body came too slowly, or the answer took too long",
    409: "an id is in use",
    413: "the body is too large",
    415: "the body is not application/json, or is compressed",
    422: "the object has no form in JSON",
    429: "too many requests are waiting",
    503: "shutting down, out of memory, all workers overdue, or a change cannot be written",
}
_WITH_BODY = (400, 408, 413, 415, 429)


def describe(reader: Reader, form: JsonFormat, *, has_token: bool) -> dict[str, Any]:
    """Return the description as data."""
    paths = {
        "/health": {"get": _operation("Whether the service answers; needs no token", _HEALTH)},
        "/metrics": {"get": _text_operation()},
        "/openapi.json": {"get": _operation("This description", {"type": "object"})},
        "/v1/index": {"get": _operation("The served index, and the limits", _INDEX)},
        "/v1/search": {
            "post": _operation(
                "The objects with the greatest kernel values for one query",
                _with_stats(_answer(reader)),
                reader.describe_search(),
            )
        },
        "/v1/batch": {
            "post": _operation(
                "The objects with the greatest kernel values for each query",
                _with_stats({"answers": {"type": "array", "items": _object(_answer(reader))}}),
                reader.describe_batch(),
            )
        },
        "/v1/explain": {
            "post": _operation(
                'The plan of algorithm="auto", and its reason', _PLAN, reader.describe_explain()
            )
        },
        "/v1/objects": {
            "post": _operation(
                "Add objects", _ids(reader), reader.describe_addition(), others=(403, 409, 503)
            )
        },
        "/v1/objects/remove": {
            "post": _operation(
                "Remove objects", _ids(reader), reader.describe_removal(), others=(403, 404, 503)
            )
        },
        "/v1/objects/{id}": {
            "get": _get_operation(reader, form),
        },
    }
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "fastmks", "version": version, "description": "Exact max-kernel search."},
        "paths": paths,
    }
    if has_token:
        described["components"] = {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}
        }
        for path, operations in paths.items():
            for operation in operations.values():
                operation["security"] = [] if path == "/health" else [{"token": []}]
                if path != "/health":
                    operation["responses"]["401"] = _error(401)
    return described


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


_HEALTH = _object({"status": {"type": "string"}})
_COUNT: Schema = {"type": "integer", "minimum": 0}
_INDEX = _object(
    {
        "size": _COUNT,
        "kind": {"type": "string"},
        "kernel": {"type": "string"},
        "algorithm": {"type": "string"},
        "form": {"type": "string"},
        "writable": {"type": "boolean"},
        "limits": {"type": "object"},
    }
)
_STATS = _object(
    {
        "evaluations": _COUNT,
        "scan_share": {"type": "number"},
        "algorithm": {"type": "string"},
        "seconds": {"type": "number"},
    }
)
_PLAN = _object(
    {
        "algorithm": {"type": "string"},
        "reason": {"type": "string"},
        "forecasts": {"type": "object"},
        "text": {"type": "string"},
    }
)


def _answer(reader: Reader) -> dict[str, Schema]:
    hit = _object({"id": reader.id_schema, "value": {"type": "number"}})
    return {
        "hits": {"type": "array", "items": hit},
        "gap": {"type": ["number", "null"], "minimum": 0},
        "n_proven": _COUNT,
    }


def _with_stats(properties: dict[str, Schema]) -> Schema:
    return _object({**properties, "stats": _STATS})


def _ids(reader: Reader) -> Schema:
    return _object({"ids": {"type": "array", "items": reader.id_schema}, "size": _COUNT})


def _error(status: int) -> dict[str, Any]:
    return {
        "description": _REASONS[status],
        "content": {"application/json": {"schema": _ERROR}},
    }


def _operation(
    about: str, answer: Schema, body: Schema | None = None, *, others: tuple[int, ...] = ()
) -> dict[str, Any]:
    statuses = {*others, 403, 503, *(() if body is None else _WITH_BODY)}
    operation: dict[str, Any] = {
        "summary": about,
        "responses": {
            "200": {"description": about, "content": {"application/json": {"schema": answer}}},
            **{str(status): _error(status) for status in sorted(statuses)},
        },
    }
    if body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": body}},
        }
    return operation


def _text_operation() -> dict[str, Any]:
    operation = _operation("Counts and times of requests, for Prometheus", {"type": "string"})
    operation["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    return operation


def _get_operation(reader: Reader, form: JsonFormat) -> dict[str, Any]:
    # Tuples are described as arrays: tools that check answers fail at prefixItems.
    one = {"type": "array"} if "prefixItems" in form.schema else form.schema
    answer = _object({"id": reader.id_schema, "object": one})
    operation = _operation("One object", answer, others=(400, 404, 408, 422, 429))
    operation["parameters"] = [
        {"name": "id", "in": "path", "required": True, "schema": reader.id_schema}
    ]
    return operation
