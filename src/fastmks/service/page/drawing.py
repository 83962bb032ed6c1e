"""The form of the objects of an index, and their drawings, as plain values."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fastmks.data.kinds import ANYTHING, ObjectKind
from fastmks.data.precomputed import VALUES
from fastmks.errors import InvalidArgument
from fastmks.kernels import Kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.service.limits import Limits

__all__ = ["Form", "find_form"]

_MOST_NUMBERS = 256  # of a row that is no image
_MOST_LETTERS = 2000
_MOST_WRITTEN = 10_000  # letters or members of a query that is given
_MOST_MEMBERS = 100  # of a set
_SIDES = range(5, 65)  # of an image


@dataclass(frozen=True)
class Form:
    """The form in which the page draws and reads the objects of an index.

    Attributes
    ----------
    name : str
        "image", "row", "bits", "sequence", "text", "set", "graph", "values" (of a matrix) or
        "other".
    n_columns : int
        Of rows, images and bits; 0 for others.
    greatest : float
        The value of the darkest pixel; 0 where nothing is an image.
    has_numbers : bool
        Whether the members of sets are whole numbers.
    kind : ObjectKind
        Describes objects that have no other drawing.
    limits : Limits
        Limits of a query; the page accepts at most 10 000 letters or members in any case.
    """

    name: str
    n_columns: int = 0
    greatest: float = 0.0
    has_numbers: bool = False
    kind: ObjectKind = ANYTHING
    limits: Limits = field(default_factory=Limits)

    @property
    def is_vector(self) -> bool:
        """Whether objects are rows of numbers."""
        return self.name in ("image", "row")

    def draw(self, thing: Any) -> dict[str, Any]:
        """Return an object as plain values, cut to what the page can show."""
        if self.name in ("image", "row", "bits"):
            return self._draw_numbers(_dense(thing))
        if self.name in ("sequence", "text"):
            text = thing if isinstance(thing, str) else repr(thing)
            return {"text": text[:_MOST_LETTERS], "length": len(text)}
        if self.name == "set":
            members = sorted(map(str, thing))
            shown = ", ".join(members[:_MOST_MEMBERS])
            return {"text": shown[:_MOST_LETTERS], "length": len(members)}
        text, length = self.kind.describe(thing)
        return {"text": text[:_MOST_LETTERS], "length": length}

    def _draw_numbers(self, row: np.ndarray[Any, Any]) -> dict[str, Any]:
        if self.name == "bits":
            return {"numbers": row.astype(int).tolist(), "length": len(row)}
        if self.name == "image":
            shades = np.clip(np.rint(255.0 * row / self.greatest), 0, 255)
            return {"numbers": shades.astype(int).tolist(), "length": len(row)}
        return {"numbers": row[:_MOST_NUMBERS].astype(float).tolist(), "length": len(row)}

    def read(self, given: Any) -> Any:
        """Return a query from its JSON value; the index checks the rest."""
        if self.name in ("image", "row", "bits"):
            return self._read_numbers(given)
        if self.name in ("sequence", "text"):
            most = min(_MOST_WRITTEN, self.limits.letters)
            if isinstance(given, str) and len(given) <= most:
                return given
            raise InvalidArgument(f"object must be a string of at most {most:,} letters.")
        if self.name == "set":
            return self._read_set(given)
        raise InvalidArgument(
            "object cannot be given here for objects of this kind: give the id of an indexed one."
        )

    def _read_set(self, given: Any) -> set[Any]:
        kinds = (str, int)
        most = min(_MOST_WRITTEN, self.limits.members)
        is_list = isinstance(given, list) and len(given) <= most
        if not is_list or not all(isinstance(one, kinds) for one in given):
            raise InvalidArgument(
                f"object must be a list of at most {most:,} members, strings or numbers."
            )
        if not self.has_numbers:
            return set(given)
        try:
            return {int(one) for one in given}
        except ValueError:
            raise InvalidArgument("object must have whole numbers as its members.") from None

    def _read_numbers(self, given: Any) -> np.ndarray[Any, Any]:
        is_list = isinstance(given, list) and len(given) == self.n_columns
        numbers = (int, float)
        if not is_list or not all(isinstance(x, numbers) and _is_finite(x) for x in given):
            raise InvalidArgument(f"object must be a list of {self.n_columns} finite numbers.")
        return np.array(given, dtype=bool if self.name == "bits" else np.float64)


def find_form(sample: Any, kernel: Kernel) -> Form:
    """Return the form of objects, from a few of them as `Index.get` returns them."""
    if len_of(sample) == 0:
        return Form("other")
    parts = list(leaves(kernel))
    if any(leaf.kind is VALUES for _, leaf in parts):
        return Form("values", kind=VALUES)
    if hasattr(sample, "shape") and len(sample.shape) == 2:
        return _form_of_rows(sample)
    first = sample[0]
    if isinstance(first, str):
        is_sequence = all(isinstance(text, str) and _is_sequence(text) for text in sample)
        return Form("sequence" if is_sequence else "text")
    if isinstance(first, (set, frozenset)):
        members = (member for one in sample for member in one)
        return Form("set", has_numbers=all(isinstance(member, int) for member in members))
    kinds = (leaf.kind for fields, leaf in parts if not fields)
    kind = next((one for one in kinds if one.describe is not ANYTHING.describe), ANYTHING)
    return Form(kind.drawing, kind=kind)


def len_of(things: Any) -> int:
    """Return the number of objects; sparse arrays have no len."""
    return int(things.shape[0]) if hasattr(things, "shape") else len(things)


def _form_of_rows(rows: Any) -> Form:
    n_columns = int(rows.shape[1])
    if rows.dtype == np.bool_:
        return Form("bits", n_columns)
    if rows.dtype.kind not in "iuf":
        return Form("other")
    side = math.isqrt(n_columns)
    least, greatest = float(rows.min()), float(rows.max())
    if side * side == n_columns and side in _SIDES and least >= 0.0 and greatest > 0.0:
        return Form("image", n_columns, greatest)
    return Form("row", n_columns)


def _is_sequence(text: str) -> bool:
    return text.isascii() and text.replace("*", "A").replace("-", "A").isalpha() and text.isupper()


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _dense(row: Any) -> np.ndarray[Any, Any]:
    """Return a row as a 1-D array, also one of a sparse array."""
    array = row.toarray() if hasattr(row, "toarray") else row
    return np.asarray(array).reshape(-1)
