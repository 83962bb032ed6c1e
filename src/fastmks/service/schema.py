"""The bodies of requests: the schema and the reader of each field, in one place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastmks._util.validation import check_count, check_number, check_seed
from fastmks.data.kinds import JsonFormat, Schema
from fastmks.engines.approximation import OPTIONS
from fastmks.errors import InvalidArgument
from fastmks.index.algorithms import ALGORITHMS, check_algorithm
from fastmks.index.ids import LONGEST
from fastmks.service.limits import Limits
from fastmks.service.served import Change

_WITH_THRESHOLD = {"only", "algorithm"}
_INT64 = 2**63
FEW = 10  # hits of a query without k


@dataclass(frozen=True)
class HttpSearch:
    """The search of an HTTP request: queries, how many hits of each, and its other arguments."""

    queries: Any
    n_queries: int
    k: int | None = None  # 10, or all where there are fewer, when not given
    threshold: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Field:
    """A field of a body: its schema, and the function that reads it."""

    schema: Schema
    read: Callable[[str, Any], Any]


class Reader:
    """Reads the bodies of requests to one index, and describes them."""

    def __init__(self, form: JsonFormat, limits: Limits, *, has_text_ids: bool) -> None:
        self._form, self._limits, self._has_text_ids = form, limits, has_text_ids
        ids = self.id_schema
        self._options = {
            "k": _Field(
                {"type": "integer", "minimum": 1, "maximum": limits.k},
                lambda name, value: check_count(name, _whole(value), most=limits.k),
            ),
            **{
                option.name: _Field({"type": option.kind, **option.bounds}, _READERS[option.kind])
                for option in OPTIONS.values()
            },
            "seconds": _Field(
                {"type": "number", **OPTIONS["seconds"].bounds, "maximum": limits.seconds},
                self._read_seconds,
            ),
            "seed": _Field(
                {"type": "integer", "minimum": 0, "default": 0},
                lambda name, value: check_seed(_whole(value)),
            ),
            "only": _Field({"type": "array", "items": ids}, self.read_ids),
            "algorithm": _Field(
                {"type": "string", "enum": list(ALGORITHMS)},
                lambda name, value: check_algorithm(value),
            ),
            "threshold": _Field({"type": "number"}, check_number),
        }

    # Schemas of bodies.

    @property
    def id_schema(self) -> Schema:
        """JSON schema of an id."""
        if self._has_text_ids:
            return {"type": "string"}
        return {"type": "integer", "minimum": -_INT64, "maximum": _INT64 - 1}

    @property
    def _new_id_schema(self) -> Schema:
        """JSON schema of the id of an object that is added."""
        text: Schema = {"maxLength": LONGEST, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}
        return {**self.id_schema, **(text if self._has_text_ids else {})}

    def describe_search(self) -> Schema:
        """Return the JSON schema of a search for one query."""
        return self._object({"query": self._form.schema, **self._described()}, ["query"])

    def describe_batch(self) -> Schema:
        """Return the JSON schema of a search for several queries."""
        queries = self._array(self._form.schema, self._limits.queries)
        return self._object({"queries": queries, **self._described()}, ["queries"])

    def describe_explain(self) -> Schema:
        """Return the JSON schema of a search to explain."""
        queries = self._array(self._form.schema, self._limits.queries)
        options = {name: self._options[name].schema for name in ("k", "only")}
        return self._object({"queries": queries, **options}, ["queries"])

    def describe_addition(self) -> Schema:
        """Return the JSON schema of an addition."""
        objects = self._array(self._form.schema, self._limits.objects)
        ids = self._array(self._new_id_schema, self._limits.objects)
        required = ["objects", "ids"] if self._has_text_ids else ["objects"]
        return self._object({"objects": objects, "ids": ids}, required)

    def describe_removal(self) -> Schema:
        """Return the JSON schema of a removal."""
        return self._object({"ids": self._array(self.id_schema, self._limits.objects)}, ["ids"])

    def _described(self) -> dict[str, Schema]:
        return {name: field.schema for name, field in self._options.items()}

    @staticmethod
    def _array(items: Schema, most: int) -> Schema:
        return {"type": "array", "items": items, "minItems": 1, "maxItems": most}

    @staticmethod
    def _object(properties: dict[str, Schema], required: list[str]) -> Schema:
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    # Readers of bodies.

    def read_search(self, body: Any) -> HttpSearch:
        """Return a search for one query."""
        fields = self._fields(body, {"query"}, set(self._options))
        query = self._form.gather([self._form.read(fields.pop("query"), "query")])
        return self._search(query, 1, fields)

    def read_batch(self, body: Any) -> HttpSearch:
        """Return a search for several queries."""
        fields = self._fields(body, {"queries"}, set(self._options))
        queries = self._listed("queries", fields.pop("queries"), self._limits.queries)
        return self._search(self._form.read_all(queries, "queries"), len(queries), fields)

    def read_explain(self, body: Any) -> HttpSearch:
        """Return a search to explain; it is not run."""
        fields = self._fields(body, {"queries"}, {"k", "only"})
        queries = self._listed("queries", fields.pop("queries"), self._limits.queries)
        return self._search(self._form.read_all(queries, "queries"), len(queries), fields)

    def read_addition(self, body: Any) -> Change:
        """Return objects to add."""
        fields = self._fields(body, {"objects"}, {"ids"})
        objects = self._listed("objects", fields["objects"], self._limits.objects)
        ids = None
        if "ids" in fields:
            ids = self.read_ids("ids", fields["ids"])
        return Change(ids, objects, self._form.read_all(objects, "objects"))

    def read_removal(self, body: Any) -> Change:
        """Return ids to remove."""
        ids = self._listed("ids", self._fields(body, {"ids"}, set())["ids"], self._limits.objects)
        return Change(self.read_ids("ids", ids))

    def read_ids(self, name: str, value: Any) -> list[Any]:
        """Return ids of the kind that the index has."""
        kind = str if self._has_text_ids else int
        items = value if isinstance(value, list) else None
        if items is not None and not self._has_text_ids:
            items = [_whole(item) for item in items]
        if items is None or not all(type(item) is kind for item in items):
            wanted = "strings" if self._has_text_ids else "whole numbers"
            raise InvalidArgument(f"{name} must be an array of {wanted}, as the ids of the index.")
        return items

    def read_id(self, text: str) -> Any:
        """Return the id in an address."""
        if self._has_text_ids:
            return text
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
            raise InvalidArgument(f"ids of the index are whole numbers; got {text[:40]!r}.")
        return int(text)

    def _search(self, queries: Any, n_queries: int, fields: dict[str, Any]) -> HttpSearch:
        read = {name: self._options[name].read(name, value) for name, value in fields.items()}
        if "threshold" in read:
            others = sorted(set(read) - {"threshold"} - _WITH_THRESHOLD)
            if others:
                raise InvalidArgument(f"threshold cannot be combined with {', '.join(others)}.")
            return HttpSearch(queries, n_queries, threshold=read.pop("threshold"), options=read)
        k = read.pop("k", None)
        if (k or FEW) * n_queries > self._limits.hits:
            raise InvalidArgument(
                f"an answer has at most {self._limits.hits} hits; got k={k or FEW} for "
                f"{n_queries} queries."
            )
        return HttpSearch(queries, n_queries, k=k, options=read)

    def _read_seconds(self, name: str, value: Any) -> float:
        seconds = check_number(name, value, positive=True)
        if seconds > self._limits.seconds:
            raise InvalidArgument(
                f"seconds must be at most {self._limits.seconds:g} here; got {seconds:g}."
            )
        return seconds

    @staticmethod
    def _listed(name: str, value: Any, most: int) -> list[Any]:
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            seen = f"{len(value)} of them" if isinstance(value, list) else type(value).__name__
            raise InvalidArgument(f"{name} must be an array of 1 to {most}; got {seen}.")
        return value

    @staticmethod
    def _fields(body: Any, required: set[str], others: set[str]) -> dict[str, Any]:
        """Return the fields of a body; optional fields must be omitted instead of null."""
        if not isinstance(body, dict):
            raise InvalidArgument(f"the body must be a JSON object; got {type(body).__name__}.")
        unknown = sorted(set(body) - required - others)
        if unknown:
            known = ", ".join(sorted(required | others))
            raise InvalidArgument(f"the body may have {known}; got {unknown[0]!r:.80}.")
        missing = sorted(required - set(body))
        if missing:
            raise InvalidArgument(f"the body must have {missing[0]!r}.")
        for name in others:
            if name in body and body[name] is None:
                raise InvalidArgument(f"{name} must not be null; omit it.")
        return dict(body)


def _whole(value: Any) -> Any:
    """Return 3 for 3.0, which are the same in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _count(name: str, value: Any) -> int:
    return check_count(name, _whole(value))


_READERS: dict[str, Callable[[str, Any], Any]] = {"number": check_number, "integer": _count}
