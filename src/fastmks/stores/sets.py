"""Python sets of hashable members, which a vocabulary numbers."""

import reprlib
from collections.abc import Callable, Hashable, KeysView, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from fastmks import _core
from fastmks.errors import InvalidArgument
from fastmks.stores.base import Store
from fastmks.stores.listing import is_equal_to_itself, list_objects

__all__ = ["MemberStore", "check_member", "is_set", "number_members", "read_sets"]

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


def read_sets(sets: Any, *, name: str, single: bool, way_out: str = "") -> list[Any]:
    """Return a list of sets. One set is one query where `single`."""
    if is_set(sets):
        if not single:
            raise InvalidArgument(
                f"{name} must be a sequence of sets; got one set. Put it in a list."
            )
        return [sets]
    read = list_objects(sets, name=name, wanted="a sequence of sets", way_out=way_out)
    for i, one in enumerate(read):
        if not is_set(one):
            if not way_out and isinstance(one, (list, tuple, KeysView)):
                way_out = "Make it one: set(...)."
            raise InvalidArgument(
                f"{name} must all be sets; {name}[{i}] is {reprlib.repr(one)}. {way_out}".rstrip()
            )
    return read


def check_member(member: Hashable, name: str) -> None:
    """Refuse NaN and its like: whether two sets have it in common would depend on its address."""
    if not is_equal_to_itself(member):
        raise InvalidArgument(
            f"members of sets must be equal to themselves; {name} has {member!r}. Leave missing "
            "members out, or give them a value of their own, such as None."
        )


def number_members(
    sets: list[Any], like: MemberStore | None, *, name: str, check: MemberCheck
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
