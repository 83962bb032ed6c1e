"""Objects as JSON has them, for the kernel of an index: read, described, and shown again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fastmks.data import Store
from fastmks.data.bits import BitStore
from fastmks.data.object_lists import is_sparse
from fastmks.data.vectors import SparseStore
from fastmks.errors import InvalidArgument
from fastmks.index.index import Index
from fastmks.index.view import view_of
from fastmks.kernels import GlobalAlignment, Jaccard, MinMax, Precomputed, Tanimoto
from fastmks.kernels.graphs import GraphKernel
from fastmks.kernels.object_kernel import ObjectKernel, leaves
from fastmks.kernels.vectors import VectorKernel
from fastmks.service.json_format import Form, Schema, floats, is_of, refuse
from fastmks.service.json_vectors import SparseRow, vectors
from fastmks.service.limits import Limits
from fastmks.service.refusals import RefusalError

__all__ = ["form_of"]


def form_of(index: Index, limits: Limits | None = None) -> Form:
    """Return how the objects of an index are written; longer ones than allowed are refused."""
    like = view_of(index).like
    forms: dict[tuple[int, ...], Form] = {}
    for fields, leaf in leaves(index.kernel):
        form = _leaf_form(leaf, like.store(fields, leaf))
        form = form if limits is None else _limited(form, limits)
        known = forms.get(fields)
        if known is None or known.name == "any":
            forms[fields] = form
    return _nested(forms)


def _nested(forms: Mapping[tuple[int, ...], Form]) -> Form:
    """Return the form of tuples whose fields have these, or that of no tuple."""
    if () in forms:
        return forms[()]
    inner: dict[int, dict[tuple[int, ...], Form]] = {}
    for (field, *more), form in forms.items():
        inner.setdefault(field, {})[tuple(more)] = form
    return _tuples({field: _nested(parts) for field, parts in inner.items()})


def _leaf_form(leaf: ObjectKernel, store: Store) -> Form:
    n_columns = getattr(store, "n_columns", None)
    match leaf:
        case Precomputed():
            return vectors(None, is_filled=True)
        case VectorKernel() | MinMax():
            return vectors(n_columns, is_filled=not isinstance(store, SparseStore))
        case Tanimoto():
            return _bits(store.n_bits) if isinstance(store, BitStore) else _POSITIONS
        case Jaccard():
            return _SETS
        case GraphKernel():
            return _GRAPHS
        case GlobalAlignment():
            return _SERIES
        case ObjectKernel(compares="strings"):
            return _BYTES if getattr(store, "has_bytes", False) else _STRINGS
    return _ANYTHING


def _limited(form: Form, limits: Limits) -> Form:
    """Return a form that refuses longer objects before they are read."""
    schema = form.schema
    match form.name:
        case "string" | "bytes":
            most = {"letters": limits.letters}
            schema = {**schema, "maxLength": limits.letters}
        case "set" | "positions":
            most = {"members": limits.members}
            schema = {**schema, "maxItems": limits.members}
        case "series":
            most = {"steps": limits.steps}
            schema = {"oneOf": [{**one, "maxItems": limits.steps} for one in schema["oneOf"]]}
        case "graph":
            most = {"nodes": limits.nodes, "edges": limits.edges}
            parts = {
                part: {**about, "maxItems": most[part]}
                for part, about in schema["properties"].items()
            }
            schema = {**schema, "properties": parts}
        case _:
            return form

    def read(value: Any, name: str) -> Any:
        for what, allowed in most.items():
            counted = value.get(what) if isinstance(value, dict) else value
            if isinstance(counted, (str, list)) and len(counted) > allowed:
                raise InvalidArgument(
                    f"{name} must have at most {allowed} {what} here; got {len(counted)}."
                )
        return form.read(value, name)

    return replace(form, schema=schema, read=read)


# Fingerprints and sets.


def _bits(n_bits: int) -> Form:
    n_bytes = -(-n_bits // 8)
    hex_digits: Schema = {
        "type": "string",
        "pattern": f"^[0-9a-fA-F]{{{2 * n_bytes}}}$",
        "description": f"{n_bits} bits, hexadecimal, first bit highest",
    }
    bits: Schema = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 1}}
    bits |= {"minItems": n_bits, "maxItems": n_bits}
    rule = f"{n_bits} bits: an array of 0 and 1, or {2 * n_bytes} hexadecimal digits"

    def read(value: Any, name: str) -> Any:
        if isinstance(value, str) and len(value) == 2 * n_bytes and value.isascii():
            try:
                packed = np.frombuffer(bytes.fromhex(value), dtype=np.uint8)
            except ValueError:
                raise refuse(name, rule, value) from None
            row = np.unpackbits(packed).view(np.bool_)
            if len(packed) == n_bytes and not row[n_bits:].any():
                return row[:n_bits]
        elif is_of(value, int, float) and len(value) == n_bits and set(value) <= {0, 1}:
            return np.array(value, dtype=np.bool_)
        raise refuse(name, rule, value)

    def show(row: Any) -> str:
        return np.packbits(np.asarray(row, dtype=np.bool_)).tobytes().hex()

    def gather(rows: list[Any]) -> Any:
        return np.array(rows, dtype=np.bool_).reshape(len(rows), n_bits)

    return Form("fingerprint", {"oneOf": [hex_digits, bits]}, read, show, gather)


def _read_positions(value: Any, name: str) -> set[int]:
    is_counts = is_of(value, int, float) and all(x >= 0 and x == int(x) for x in value)
    if not is_counts:
        raise refuse(name, "an array of whole numbers from 0, the bits that are set", value)
    return set(map(int, value))


_POSITIONS = Form(
    "positions",
    {"type": "array", "items": {"type": "integer", "minimum": 0}},
    _read_positions,
    lambda one: sorted(int(member) for member in one),
)

_PLAIN: Schema = {"type": ["string", "number", "boolean", "null", "array"]}


def _hashable(value: Any, name: str) -> Any:
    """Return a member or a label: arrays become tuples, and objects are refused."""
    if isinstance(value, list):
        return tuple(_hashable(item, name) for item in value)
    if isinstance(value, dict):
        raise refuse(name, "a string, a number, a boolean, null, or an array of such", value)
    return value


def _shown_plain(value: Any) -> Any:
    """Return a member or a label as JSON, and refuse what JSON would make another one of."""
    if isinstance(value, tuple):
        return [_shown_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise RefusalError(422, "NotJson", f"JSON has no value for {value!r}.")


def _read_set(value: Any, name: str) -> set[Any]:
    if not isinstance(value, list):
        raise refuse(name, "an array of members", value)
    return {_hashable(member, f"a member of {name}") for member in value}


_SETS = Form(
    "set",
    {"type": "array", "items": _PLAIN},
    _read_set,
    lambda one: [_shown_plain(member) for member in sorted(one, key=repr)],
)

# Graphs, series, strings, anything.


def _read_graph(value: Any, name: str) -> tuple[Any, list[Any]]:
    rule = "{'nodes': [a label for each], 'edges': [[node, node], ...]}"
    if not isinstance(value, dict) or set(value) != {"nodes", "edges"}:
        raise refuse(name, rule, value)
    nodes, edges = value["nodes"], value["edges"]
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise refuse(name, rule, value)
    n_nodes = len(nodes)
    for edge in edges:
        is_pair = is_of(edge, int, float) and len(edge) == 2
        if not is_pair or not all(0 <= end < n_nodes and end == int(end) for end in edge):
            raise refuse(f"an edge of {name}", f"two nodes from 0 to {n_nodes - 1}", edge)
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return pairs, [_hashable(label, f"a label of {name}") for label in nodes]


def _show_graph(graph: Any) -> Any:
    edges, labels = graph
    nodes = [None] * labels if isinstance(labels, int) else [_shown_plain(one) for one in labels]
    return {"nodes": nodes, "edges": np.asarray(edges, dtype=np.int64).reshape(-1, 2).tolist()}


_NODE: Schema = {"type": "integer", "minimum": 0}
_GRAPHS = Form(
    "graph",
    {
        "type": "object",
        "properties": {
            "nodes": {"type": "array", "items": _PLAIN, "description": "a label for each node"},
            "edges": {
                "type": "array",
                "items": {"type": "array", "items": _NODE, "minItems": 2, "maxItems": 2},
            },
        },
        "required": ["nodes", "edges"],
        "additionalProperties": False,
    },
    _read_graph,
    _show_graph,
)


def _read_series(value: Any, name: str) -> Any:
    rule = "an array of numbers, or one of arrays of as many numbers each, a channel for each"
    if is_of(value, int, float) and value:
        return floats(value, name)
    is_rows = is_of(value, list) and value and all(is_of(row, int, float) for row in value)
    if is_rows and value[0] and len(set(map(len, value))) == 1:
        return floats(value, name)
    raise refuse(name, rule, value)


_NUMBERS: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 1}
_SERIES = Form(
    "series",
    {"oneOf": [_NUMBERS, {"type": "array", "items": _NUMBERS, "minItems": 1}]},
    _read_series,
    lambda one: np.asarray(one).tolist(),
)


def _read_string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise refuse(name, "a string", value)
    return value


def _read_bytes(value: Any, name: str) -> bytes:
    try:
        return _read_string(value, name).encode("latin-1")
    except UnicodeEncodeError:
        raise refuse(name, "a string of letters up to U+00FF, each a byte", value) from None


_STRINGS = Form("string", {"type": "string"}, _read_string, lambda one: one)
_BYTES = Form(
    "bytes",
    {"type": "string", "pattern": "^[\\u0000-\\u00ff]*$", "description": "a letter for each byte"},
    _read_bytes,
    lambda one: one.decode("latin-1"),
)


def _show_anything(one: Any) -> Any:
    if isinstance(one, np.ndarray | np.generic):
        return one.tolist()
    if isinstance(one, list):
        return [_show_anything(item) for item in one]
    if isinstance(one, dict) and all(isinstance(key, str) for key in one):
        return {key: _show_anything(item) for key, item in one.items()}
    return _shown_plain(one)


_ANYTHING = Form("any", {}, lambda value, name: value, _show_anything)


def _tuples(fields: Mapping[int, Form]) -> Form:
    length = max(fields) + 1
    forms = [fields.get(i, _ANYTHING) for i in range(length)]

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

    return Form("tuple", schema, read, show)


def _alone(form: Form, value: Any, name: str) -> Any:
    """Return a field of a tuple: a row is one of an array, not a matrix of one row."""
    read = form.read(value, name)
    if not isinstance(read, SparseRow):
        return read
    row = form.gather([read])
    return (row.toarray() if is_sparse(row) else row)[0]
