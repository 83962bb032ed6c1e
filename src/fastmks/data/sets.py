"""Python sets of hashable members, which a vocabulary numbers."""

import reprlib
from collections.abc import Callable, Hashable, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Int32s, Int64s, read_only
from fastmks._util.fork_safe import cached_property
from fastmks.data.base import Store
from fastmks.data.kinds import PLAIN, JsonFormat, ObjectKind, hashable, refuse, shown_plain
from fastmks.data.object_lists import is_equal_to_itself, list_objects
from fastmks.data.ragged import join_offsets, offsets_of, take_entries
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record, nest, restoring
from fastmks.files.values import from_plain, to_plain

_MOST_MEMBERS = 2**30 - 1  # of one set
_MOST_NUMBERS = 2**31 - 1
# Called with each new member and the name of its set: may refuse it.
MemberCheck: TypeAlias = Callable[[Hashable, str], None]


class Members:
    """Members of sets and their numbers, from 0. Those of a file are read when needed."""

    def __init__(self, read: Callable[[], Sequence[Hashable]], n_members: int) -> None:
        self._read = read
        self._n_members = n_members

    @classmethod
    def numbered(cls, numbers: Mapping[Hashable, int]) -> "Members":
        """Return the members of a mapping to 0, 1, 2 ..., in this order."""
        made = cls(lambda: list(numbers), len(numbers))
        made.numbers = numbers
        return made

    def __len__(self) -> int:
        return self._n_members

    @cached_property
    def listed(self) -> Sequence[Hashable]:
        """The members in the order of their numbers."""
        listed = self._read()
        if len(listed) != len(self):
            raise IndexFileError(f"the sets must have {len(self)} members: {len(listed)}.")
        return listed

    @cached_property
    def numbers(self) -> Mapping[Hashable, int]:
        """The number of each member."""
        numbers = {member: number for number, member in enumerate(self.listed)}
        if len(numbers) != len(self):
            raise IndexFileError("members of sets must be unique.")
        return numbers


@dataclass(frozen=True, eq=False)
class MemberStore(Store):
    """Sets as increasing numbers of members, set after set.

    Members of queries that no object has are counted in `sizes` only.
    """

    numbers_features = True
    kind = "sets"

    offsets: Int64s
    members: Int32s
    sizes: Int32s
    known: Members = field(repr=False)
    core: _core.SetStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        core = _core.member_store(
            read_only(self.offsets),
            read_only(self.members),
            read_only(self.sizes),
            len(self.known),
        )
        object.__setattr__(self, "core", core)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def n_bytes(self) -> int:
        """The memory of the numbers; that of the members is not known."""
        return self.offsets.nbytes + self.members.nbytes + self.sizes.nbytes

    def copy(self) -> "MemberStore":
        """This store: its sets are in memory of their own and never change."""
        return self

    def take(self, positions: Int64s) -> "MemberStore":
        """The sets at these positions, in this order."""
        offsets, entries = take_entries(self.offsets, positions)
        return MemberStore(offsets, self.members[entries], self.sizes[positions], self.known)

    def get(self, positions: Int64s) -> list[set[Hashable]]:
        """The sets at these positions, with the members that are known."""
        listed = self.known.listed
        offsets, entries = take_entries(self.offsets, positions)
        members = [listed[number] for number in self.members[entries].tolist()]
        return [set(members[begin:end]) for begin, end in pairwise(offsets.tolist())]

    def record(self) -> Record:
        """The numbers, and the members with these numbers, as far as they are plain."""
        listed = to_plain(self.known.listed, name="members of sets")
        nested = nest({"listed": listed}, {"kind": "sets", "n_members": len(self.known)})
        arrays: dict[str, Any] = {"offsets": self.offsets, "members": self.members}
        return Record(nested.facts, {**nested.arrays, **arrays})


def join_sets(stores: Sequence[MemberStore]) -> MemberStore:
    """Return a store of the sets of several stores, with numbers for their members."""
    numbers: dict[Hashable, int] = {}
    parts = [np.zeros(0, np.int32)]
    for store in stores:
        listed = store.known.listed
        used, places = np.unique(store.members, return_inverse=True)
        renamed = [numbers.setdefault(listed[i], len(numbers)) for i in used.tolist()]
        if len(set(renamed)) < len(renamed):
            raise IndexFileError("members of sets must be unique.")
        parts.append(np.array(renamed, dtype=np.int32)[places])
    offsets = join_offsets([store.offsets for store in stores])
    members = np.concatenate(parts)
    sets = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return MemberStore(
        offsets,
        members[np.lexsort((members, sets))],
        np.concatenate([store.sizes for store in stores]),
        Members.numbered(numbers),
    )


def restore_sets(record: Record, *, check: MemberCheck) -> MemberStore:
    """Return the store of a record; members are read at the first query, and checked."""
    check_kind(record, "sets")
    n_members = record.count("n_members", most=_MOST_NUMBERS)
    plain = record.part("listed")

    def read() -> list[Hashable]:
        listed = from_plain(plain)
        try:
            for member in listed:
                check(member, "a set")
        except InvalidArgument as error:
            raise IndexFileError(str(error)) from error
        return listed

    members = restored(record, "members", np.int32)
    offsets = restored_offsets(record, "offsets", len(members))
    lengths = np.diff(offsets)
    if len(lengths) and lengths.max() > _MOST_MEMBERS:
        raise IndexFileError("sets must have fewer than 2**30 members.")
    with restoring("the objects"):
        return MemberStore(offsets, members, lengths.astype(np.int32), Members(read, n_members))


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
    """Refuse NaN and the like: whether two sets share one would depend on its address."""
    if not is_equal_to_itself(member):
        raise InvalidArgument(
            f"members of sets must be equal to themselves; {name} has {member!r}. Omit missing "
            "members, or give them a value of their own, such as None."
        )


def number_members(
    sets: list[Any], like: MemberStore | None, *, name: str, check: MemberCheck
) -> MemberStore:
    """Return the store of some sets, in the vocabulary of `like` or in a new one."""
    vocabulary: dict[Hashable, int] = {}
    known = vocabulary if like is None else like.known.numbers
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
    offsets = offsets_of(lengths)
    members = np.fromiter(
        (number for numbers in numbered for number in numbers), dtype=np.int32, count=offsets[-1]
    )
    sizes = np.fromiter(map(len, sets), dtype=np.int32, count=len(sets))
    return MemberStore(
        offsets, members, sizes, Members.numbered(vocabulary) if like is None else like.known
    )


def _read_set(value: Any, name: str) -> set[Any]:
    if not isinstance(value, list):
        raise refuse(name, "an array of members", value)
    return {hashable(member, f"a member of {name}") for member in value}


_JSON = JsonFormat(
    "set",
    {"type": "array", "items": PLAIN},
    _read_set,
    lambda one: [shown_plain(member) for member in sorted(one, key=repr)],
    sizes=("members",),
)
SETS = ObjectKind("sets", lambda _: _JSON)
