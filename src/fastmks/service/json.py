"""JSON for a service: finite numbers, each key once, and limited nesting."""

import json
import math
from collections import Counter
from typing import Any

from fastmks.errors import InvalidArgument
from fastmks.service.limits import DEPTH


def read_json(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Refused are NaN, Infinity and numbers beyond float64, an object that has a key twice, and
    arrays and objects nested too deeply. Whole numbers keep all their digits.
    """
    try:
        value = json.loads(
            text.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_read_object
        )
    except InvalidArgument:
        raise
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidArgument(f"the body must be JSON in UTF-8: {why}.") from None
    _check(value, DEPTH)
    return value


def to_json(value: Any) -> bytes:
    """Return a value as JSON; floats are written so that they are read back bit-identical."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def _refuse_constant(name: str) -> Any:
    raise InvalidArgument(f"numbers in the body must be finite; got {name}.")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise InvalidArgument(f"an object in the body must have each key once; {twice!r} has more.")
    return value


def _check(value: Any, depth: int) -> None:
    """Refuse values nested too deeply, and numbers such as 1e999, which Python reads as inf."""
    is_nested = isinstance(value, (list, dict))
    items = value.values() if isinstance(value, dict) else value if is_nested else [value]
    if math.inf in items or -math.inf in items:
        raise InvalidArgument("numbers in the body must be within float64; one is not.")
    if not is_nested:
        return
    if depth == 0:
        raise InvalidArgument(f"the body must be nested at most {DEPTH} deep.")
    for item in items:
        if type(item) is list or type(item) is dict:
            _check(item, depth - 1)
