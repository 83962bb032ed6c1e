"""The JSON format of the objects of an index, for its kernel."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastmks.data.json_vectors import SparseRow
from fastmks.data.kinds import ANYTHING, JsonFormat, Schema, refuse
from fastmks.data.object_lists import is_sparse
from fastmks.errors import InvalidArgument
from fastmks.index.index import Index
from fastmks.index.view import view_of
from fastmks.kernels.object_kernel import leaves
from fastmks.service.limits import Limits


def form_of(index: Index, limits: Limits | None = None) -> JsonFormat:
    """Return the JSON format of the objects of an index; it refuses objects above the limits."""
    like = view_of(index).like
    forms: dict[tuple[int, ...], JsonFormat] = {}
    for fields, leaf in leaves(index.kernel):
        form = leaf.kind.json(like.store(fields, leaf))
        form = form if limits is None else _limited(form, limits)
        known = forms.get(fields)
        if known is None or known.name == "any":
            forms[fields] = form
    return _nested(forms)


def _nested(forms: Mapping[tuple[int, ...], JsonFormat]) -> JsonFormat:
    """Return the format of tuples from those of their fields; that of no tuple as it is."""
    if () in forms:
        return forms[()]
    inner: dict[int, dict[tuple[int, ...], JsonFormat]] = {}
    for (field, *more), form in forms.items():
        inner.setdefault(field, {})[tuple(more)] = form
    return _tuples({field: _nested(parts) for field, parts in inner.items()})


def _limited(form: JsonFormat, limits: Limits) -> JsonFormat:
    """Return a format that refuses longer objects before they are read."""
    most = {what: getattr(limits, what) for what in form.sizes}

    def read(value: Any, name: str) -> Any:
        for what, allowed in most.items():
            counted = value.get(what) if isinstance(value, dict) else value
            if isinstance(counted, (str, list)) and len(counted) > allowed:
                raise InvalidArgument(
                    f"{name} must have at most {allowed} {what} here; got {len(counted)}."
                )
        return form.read(value, name)

    return replace(form, schema=_limited_schema(form.schema, most), read=read) if most else form


def _limited_schema(schema: Schema, most: Mapping[str, int]) -> Schema:
    if "oneOf" in schema:
        return {**schema, "oneOf": [_limited_schema(one, most) for one in schema["oneOf"]]}
    if "properties" in schema:
        parts = {
            name: {**part, "maxItems": most[name]} for name, part in schema["properties"].items()
        }
        return {**schema, "properties": parts}
    (allowed,) = most.values()
    return {**schema, "maxLength" if schema["type"] == "string" else "maxItems": allowed}


def _tuples(fields: Mapping[int, JsonFormat]) -> JsonFormat:
    length = max(fields) + 1
    forms = [fields.get(i, ANYTHING.json(None)) for i in range(length)]

    def read(value: Any, name: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != length:
            raise refuse(name, f"an array of {length} fields", value)
        parts = enumerate(zip(forms, value, strict=True))
        return tuple(_alone(form, part, f"field {i} of {name}") for i, (form, part) in parts)

    schema = {
        "type": "array",
        "prefixItems": [form.schema for form in forms],
        "minItems": length,
        "maxItems": length,
    }

    def show(one: Any) -> list[Any]:
        return [
            None if part is None else form.show(part) for form, part in zip(forms, one, strict=True)
        ]

    return JsonFormat("tuple", schema, read, show)


def _alone(form: JsonFormat, value: Any, name: str) -> Any:
    """Return a field of a tuple: a row is one of an array, not a matrix of one row."""
    read = form.read(value, name)
    if not isinstance(read, SparseRow):
        return read
    row = form.gather([read])
    return (row.toarray() if is_sparse(row) else row)[0]
