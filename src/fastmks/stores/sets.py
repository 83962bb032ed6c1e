"""Python sets of hashable members, which a vocabulary numbers."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from fastmks import _core
from fastmks.errors import InvalidArgument
from fastmks.stores.base import Store

__all__ = ["MemberStore", "is_set", "number_members", "read_sets"]

_MOST_MEMBERS = 2**30 - 1
_Int64s: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Int32s: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]
# Told of each member that is new, with the name of its set: may refuse it.
MemberCheck: TypeAlias = Callable[[Hashable, str], None]


@dataclass(frozen=True, eq=False)
class MemberStore(Store):
    """Sets as increasing numbers of members, set after set.

    Members of queries that no object has are counted in `sizes` only.
    """

    offsets: _Int64s
    members: _Int32s
    sizes: _Int32s
    vocabulary: Mapping[Hashable, int] = field(repr=False)
    core: _core.SetStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for array in (self.offsets, self.members, self.sizes):
            array.flags.writeable = False
        core = _core.member_store(self.offsets, self.members, self.sizes, len(self.vocabulary))
        object.__setattr__(self, "core", core)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def kind(self) -> str:
        """What the objects are."""
        return "sets"

    def copy(self) -> "MemberStore":
        """The same sets: they are always in memory of their own, and never changed."""
        return self

    def take(self, positions: _Int64s) -> "MemberStore":
        """The sets at these positions, in this order."""
        lengths = np.diff(self.offsets)[positions]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        # Entry e of the result comes from e - (where its set begins) + (where it began).
        entries = np.arange(offsets[-1]) + np.repeat(
            self.offsets[positions] - offsets[:-1], lengths
        )
        return MemberStore(offsets, self.members[entries], self.sizes[positions], self.vocabulary)


def is_set(one: Any) -> bool:
    """Whether something is a Python set."""
    return isinstance(one, (set, frozenset))


def read_sets(sets: Any, *, name: str, single: bool) -> list[Any]:
    """Return a list of sets. One set is one query where `single`."""
    if is_set(sets):
        if not single:
            raise InvalidArgument(
                f"{name} must be a sequence of sets; got one set. Put it in a list."
            )
        return [sets]
    if isinstance(sets, (str, bytes)) or not isinstance(sets, Iterable):
        raise InvalidArgument(f"{name} must be a sequence of sets; got {sets!r}.")
    read = list(sets)
    for i, one in enumerate(read):
        if not is_set(one):
            raise InvalidArgument(f"{name} must all be sets; {name}[{i}] is {one!r}.")
    return read


def number_members(
    sets: list[Any], like: MemberStore | None, *, name: str, check: MemberCheck | None = None
) -> MemberStore:
    """Return the store of some sets, in the vocabulary of `like` or in a new one."""
    vocabulary: dict[Hashable, int] = {}
    known = vocabulary if like is None else like.vocabulary
    numbered: list[list[int]] = []
    for i, one in enumerate(sets):
        if len(one) > _MOST_MEMBERS:
            raise InvalidArgument(
                f"{name} must be sets of fewer than 2**30 members; {name}[{i}] has {len(one)}."
            )
        numbers = []
        for member in one:
            number = known.get(member)
            if number is None:
                if check is not None:
                    check(member, f"{name}[{i}]")
                if like is not None:
                    continue
                number = vocabulary[member] = len(vocabulary)
            numbers.append(number)
        numbers.sort()
        numbered.append(numbers)
    lengths = np.fromiter(map(len, numbered), dtype=np.int64, count=len(numbered))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    members = np.fromiter(
        (number for numbers in numbered for number in numbers), dtype=np.int32, count=offsets[-1]
    )
    sizes = np.fromiter(map(len, sets), dtype=np.int32, count=len(sets))
    return MemberStore(
        offsets, members, sizes, MappingProxyType(dict(known)) if like is None else known
    )
