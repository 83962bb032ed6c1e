"""Strings of letters that a substitution matrix scores, as numbers from 0, one after the other."""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from fastmks import _core
from fastmks.errors import InvalidArgument
from fastmks.stores.base import Store
from fastmks.stores.strings import read_strings

__all__ = ["ResidueStore", "make_residues"]

_RARE_RESIDUES, _NEAREST_RESIDUES = "UO", "CK"  # no published matrix scores the former


@dataclass(frozen=True, eq=False)
class ResidueStore(Store):
    """Letters offsets[i] to offsets[i + 1] of `residues` are those of string i."""

    residues: np.ndarray[Any, np.dtype[np.uint8]]
    offsets: np.ndarray[Any, np.dtype[np.int64]]
    core: _core.ResidueStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", _core.residue_store(self.residues, self.offsets))

    def __len__(self) -> int:
        return int(self.offsets.shape[0]) - 1

    @property
    def kind(self) -> str:
        """What the objects are."""
        return "strings"

    def copy(self) -> "ResidueStore":
        """The same: it shares no memory with what it was read from."""
        return ResidueStore(self.residues, self.offsets)

    def take(self, positions: np.ndarray[Any, np.dtype[np.int64]]) -> "ResidueStore":
        """The strings at these positions, in this order."""
        parts = [self.residues[self.offsets[i] : self.offsets[i + 1]] for i in positions]
        lengths = [len(part) for part in parts]
        return ResidueStore(np.concatenate([*parts, self.residues[:0]]), _offsets(lengths))


def make_residues(
    strings: Any, letters: str, *, name: str, matrix: str, single: bool = False
) -> ResidueStore:
    """Return the store of strings over `letters`; errors call those scores `matrix`."""
    read = read_strings(strings, name=name, single=single)
    offsets = _offsets([len(string) for string in read])
    if read and isinstance(read[0], bytes):
        codes = np.frombuffer(b"".join(read), dtype=np.uint8)
    else:
        text = "".join(cast("list[str]", read))
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    unknown = len(letters)
    table = np.full(max(map(ord, letters)) + 2, unknown, dtype=np.uint8)
    table[[ord(letter) for letter in letters]] = np.arange(unknown)
    residues = table[np.minimum(codes, len(table) - 1)]
    bad = np.flatnonzero(residues == unknown)
    if len(bad):
        raise InvalidArgument(_unknown_letter(int(bad[0]), codes, offsets, letters, name, matrix))
    return ResidueStore(residues, offsets)


def _unknown_letter(
    at: int,
    codes: np.ndarray[Any, Any],
    offsets: np.ndarray[Any, np.dtype[np.int64]],
    letters: str,
    name: str,
    matrix: str,
) -> str:
    i = int(np.searchsorted(offsets, at, side="right")) - 1
    letter = chr(int(codes[at]))
    advice = _letter_advice(letter, letters, is_bytes=codes.dtype == np.uint8)
    return (
        f"{name} must consist of the letters {letters} of {matrix}; {name}[{i}] has {letter!r} at "
        f"position {at - int(offsets[i])}. {advice}"
    )


def _letter_advice(letter: str, letters: str, *, is_bytes: bool) -> str:
    if letter.upper() in letters:
        return "Convert the strings with .upper()."
    if letter.upper() in _RARE_RESIDUES and set(_NEAREST_RESIDUES) <= set(letters):
        upper = "" if letter.isupper() else ".upper()"
        kind, b = ("bytes", "b") if is_bytes else ("str", "")
        table = f"{kind}.maketrans({b}{_RARE_RESIDUES!r}, {b}{_NEAREST_RESIDUES!r})"
        return (
            "Replace selenocysteine and pyrrolysine by cysteine and lysine first: "
            f"s{upper}.translate({table})."
        )
    return "Replace such letters first, or pass a Substitution that scores them."


def _offsets(lengths: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
