"""Strings of letters that a substitution matrix scores, as numbers from 0, one after the other."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Array, Bytes, Int64s
from fastmks.data.base import Store
from fastmks.data.ragged import join_offsets, offsets_of, take_runs
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.data.strings import check_same_strings, cut_strings, read_strings
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record, restoring

_RARE_RESIDUES, _NEAREST_RESIDUES = "UO", "CK"  # no published matrix scores the former


@dataclass(frozen=True, eq=False)
class ResidueStore(Store):
    """Letters offsets[i] to offsets[i + 1] of `residues` are those of string i."""

    kind = "strings"

    residues: Bytes
    offsets: Int64s
    letters: str  # of the numbers
    has_bytes: bool
    core: _core.ResidueStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", _core.residue_store(self.residues, self.offsets))

    def __len__(self) -> int:
        return int(self.offsets.shape[0]) - 1

    @property
    def form(self) -> Hashable:
        """A key: the letters, and whether strings are str or bytes."""
        return ResidueStore, self.letters, self.has_bytes

    @property
    def n_bytes(self) -> int:
        """The memory of the letters and of where each string begins."""
        return self.residues.nbytes + self.offsets.nbytes

    def copy(self) -> "ResidueStore":
        """This store: it shares no memory with its input."""
        return replace(self)

    def take(self, positions: Int64s) -> "ResidueStore":
        """The strings at these positions, in this order."""
        offsets, residues = take_runs(self.residues, self.offsets, positions)
        return replace(self, residues=residues, offsets=offsets)

    def get(self, positions: Int64s) -> list[str] | list[bytes]:
        """The strings at these positions, of str or bytes as they were given."""
        offsets, residues = take_runs(self.residues, self.offsets, positions)
        codes = np.array([ord(letter) for letter in self.letters], dtype=np.uint32)[residues]
        return cut_strings(codes, offsets, has_bytes=self.has_bytes)

    def record(self) -> Record:
        """The numbers, and the letters of the numbers."""
        return Record(
            {"kind": "residues", "letters": self.letters, "has_bytes": self.has_bytes},
            {"residues": self.residues, "offsets": self.offsets},
        )


def join_residues(stores: Sequence[ResidueStore]) -> ResidueStore:
    """Return a store of the strings of several stores of the same letters."""
    return ResidueStore(
        np.concatenate([store.residues for store in stores]),
        join_offsets([store.offsets for store in stores]),
        stores[0].letters,
        any(store.has_bytes for store in stores),
    )


def restore_residues(record: Record, letters: str) -> ResidueStore:
    """Return the store of a record, whose letters must be these."""
    check_kind(record, "residues")
    if record.fact("letters", str) != letters:
        raise IndexFileError(f"the strings must consist of the letters {letters}.")
    residues = restored(record, "residues", np.uint8)
    if len(residues) and residues.max() >= len(letters):
        raise IndexFileError(f"the array 'residues' must be below {len(letters)}.")
    offsets = restored_offsets(record, "offsets", len(residues))
    has_bytes = record.fact("has_bytes", bool)
    if has_bytes and any(ord(letter) > 255 for letter in letters):
        raise IndexFileError(f"bytes do not have the letters {letters}.")
    with restoring("the objects"):
        return ResidueStore(residues, offsets, letters, has_bytes)


def make_more_residues(strings: Any, like: ResidueStore, *, name: str, matrix: str) -> ResidueStore:
    """Return strings, or one alone, to be added to those of `like`: str to str, bytes to bytes."""
    store = make_residues(strings, like.letters, name=name, matrix=matrix, single=True)
    if len(store):
        check_same_strings(store.has_bytes, like.has_bytes, name=name, done="added to")
    return store


def make_residues(
    strings: Any, letters: str, *, name: str, matrix: str, single: bool = False
) -> ResidueStore:
    """Return the store of strings over `letters`; errors call those scores `matrix`."""
    read = read_strings(strings, name=name, single=single)
    offsets = offsets_of([len(string) for string in read])
    has_bytes = bool(read) and isinstance(read[0], bytes)
    if has_bytes:
        codes = np.frombuffer(b"".join(cast("list[bytes]", read)), dtype=np.uint8)
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
    return ResidueStore(residues, offsets, letters, has_bytes)


def _unknown_letter(
    at: int, codes: Array, offsets: Int64s, letters: str, name: str, matrix: str
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
