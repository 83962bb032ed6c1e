"""Recognise functions compiled elsewhere: numba's cfunc and scipy's LowLevelCallable."""

import re
import sys
from dataclasses import dataclass
from typing import Any

from fastmks import _core
from fastmks.errors import InvalidArgument

_WANTED = "double(const double*, const double*, intp)"
# The integers of the size of a pointer, by the names that C, numpy and numba have for them.
_INTP = {
    "intp", "npy_intp", "intptr_t", "Py_ssize_t", "ssize_t", "ptrdiff_t", "int64", "int64_t",
    "long", "longlong", "longint", "longlongint", "signedlong", "signedlonglong",
}  # fmt: skip


@dataclass(frozen=True)
class Compiled:
    """The address of a function double(const double*, const double*, intp), and its owner."""

    address: int
    owner: Any


def find_compiled(function: Any) -> Compiled | None:
    """Return a compiled function; None for others. Another signature is an error."""
    scipy = sys.modules.get("scipy")  # imported wherever a LowLevelCallable exists
    low_level = getattr(scipy, "LowLevelCallable", None)
    if low_level is not None and isinstance(function, low_level):
        return _from_scipy(function)
    if isinstance(getattr(function, "address", None), int) and hasattr(function, "_sig"):
        return _from_numba(function)
    return None


def _from_scipy(function: Any) -> Compiled:
    signature = str(function.signature)
    plain = re.sub(r"\bconst\b|\s|\(\*\)", "", signature)
    match = re.fullmatch(r"double\(double\*,double\*,(\w+)\)", plain)
    if match is None or match[1] not in _INTP:
        raise _wrong_signature(signature)
    if function.user_data is not None:
        raise InvalidArgument("function must be a LowLevelCallable without user_data.")
    capsule = tuple.__getitem__(function, 0)
    return Compiled(_core.capsule_address(capsule), function)


def _from_numba(function: Any) -> Compiled:
    signature = str(function._sig)  # noqa: SLF001, numba has no public one
    plain = re.sub(r"\s", "", signature)
    if re.fullmatch(r"\(float64\*,float64\*,(int64|intp)\)->float64", plain) is None:
        raise _wrong_signature(signature)
    return Compiled(function.address, function)


def _wrong_signature(signature: str) -> InvalidArgument:
    return InvalidArgument(
        f"a compiled function must have the signature {_WANTED}, for two rows and their length; "
        f"got {signature}."
    )
