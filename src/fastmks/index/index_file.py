"""An index as a record, for a file, and back: its kernel, segments and engines."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats, Int64s
from fastmks._util.validation import check_function, check_threads
from fastmks.data.object_lists import list_objects
from fastmks.engines.faults import named_faults
from fastmks.engines.space import Space
from fastmks.engines.traversal import check_base
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.container import from_bytes, to_bytes, write_record
from fastmks.files.record import Record, nest, restoring
from fastmks.index.algorithms import check_algorithm
from fastmks.index.built_engines import BuiltEngines, HandedBack, restore_engines
from fastmks.index.ids import Ids, restore_ids
from fastmks.index.index import Index
from fastmks.index.segment import Segment, SegmentData, Settings
from fastmks.index.snapshot import Snapshot
from fastmks.index.view import current_of
from fastmks.kernels import Kernel
from fastmks.kernels.objects import Objects, restore_objects
from fastmks.kernels.own import has_functions
from fastmks.kernels.serialise import kernel_facts, kernel_from_facts

_MOST_SEGMENTS, _MOST_OBJECTS = 1000, 2**48
_N_PROBES = 5  # objects whose values with each other identify a function
_LEAST_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True)
class Source:
    """A record to restore an index from, and the user's kernel, objects and decoder."""

    record: Record
    check: Callable[[], None]  # raises an error unless every byte is what was written
    kernel: Kernel | None = None
    objects: Any = None
    decode: Callable[[bytes], Any] | None = None
    threads: int = 1


def write_index(
    index: Index,
    path: str | os.PathLike[str],
    *,
    encode: Callable[[Any], bytes] | None = None,
    mode: int | None = None,
) -> None:
    """Write an index to a file that no other process changes; its mode stays if not given."""
    check_function("encode", encode)
    write_record(path, record_snapshot(current_of(index).snapshot, encode=encode), mode=mode)


def index_to_bytes(index: Index, encode: Callable[[Any], bytes] | None = None) -> bytes:
    """Return the bytes that `write_index` would write to a file."""
    return to_bytes(record_snapshot(current_of(index).snapshot, encode=encode))


def record_index(snapshot: Snapshot, *, encode: Callable[[Any], bytes] | None) -> Record:
    """Return an index as a record. Objects of small segments are joined for it."""
    settings = snapshot.settings
    records = {f"part {i}": _record_segment(one, encode) for i, one in enumerate(snapshot.segments)}
    records["none"] = snapshot.like.record(encode=encode)
    if snapshot.segments and has_functions(settings.kernel):
        records["probes"] = _record_probes(snapshot)
    return nest(
        records,
        {
            "algorithm": settings.algorithm,
            "base": settings.base,
            "has_text_ids": settings.has_text_ids,
            "kernel": kernel_facts(settings.kernel),
            "n_parts": len(snapshot.segments),
            "next_id": snapshot.next_id,
        },
    )


def record_snapshot(snapshot: Snapshot, *, encode: Callable[[Any], bytes] | None = None) -> Record:
    """Return a snapshot as a record, without removed objects where they cannot be saved."""
    if lacks_objects(snapshot.like.record(encode=encode)):
        snapshot = snapshot.compacted()  # load could not be given the removed ones
    try:
        return record_index(snapshot, encode=encode)
    except Exception:
        if not any(len(segment.removed) for segment in snapshot.segments):
            raise
    return record_index(snapshot.compacted(), encode=encode)  # removed ones may be the cause


def snapshot_to_bytes(snapshot: Snapshot) -> tuple[bytes, Kernel | None, Any]:
    """Return the bytes of a file, and what they lack: kernels with functions, Python objects."""
    record, kernel = record_snapshot(snapshot), snapshot.settings.kernel
    is_lacking = lacks_objects(record.part("none"))
    return (
        to_bytes(record),
        kernel if has_functions(kernel) else None,
        snapshot.get(snapshot.ids) if is_lacking else None,
    )


def snapshot_from_bytes(data: bytes, kernel: Kernel | None, objects: Any) -> Snapshot:
    """Return the snapshot of such bytes, which are verified."""
    threads = check_threads(None)
    record = from_bytes(data)
    source = Source(
        record=record, check=_is_checked, kernel=kernel, objects=objects, threads=threads
    )
    return restore_index(source)


def lacks_objects(objects: Record) -> bool:
    """Whether a record of objects omits those that only Python knows."""
    n_stores = len(objects.fact("fields", list))
    stores = [objects.part(f"store {i}") for i in range(n_stores)]
    return any(store.facts.get("form") == "left out" for store in stores)


def restore_index(source: Source) -> Snapshot:
    """Return the snapshot of an index from a record that is not trusted.

    Parts are restored when they are first searched, unless a function has to be proven.
    """
    record = source.record
    stored = record.fact("kernel", dict)
    kernel = kernel_from_facts(stored, source.kernel)
    with restoring("the index"):
        base = check_base(record.number("base"))
        algorithm = check_algorithm(record.fact("algorithm", str))
    settings = Settings(
        kernel=kernel,
        algorithm=algorithm,
        base=base,
        threads=source.threads,
        has_text_ids=record.fact("has_text_ids", bool),
    )
    is_lacking = lacks_objects(record.part("none"))
    given = _given_objects(source, is_lacking)
    like = restore_objects(
        record.part("none"), kernel, objects=[] if is_lacking else None, decode=source.decode
    )
    segments: list[Segment] = []
    for i in range(record.count("n_parts", most=_MOST_SEGMENTS)):
        part = record.part(f"part {i}")
        n_objects = part.count("n_objects", least=1, most=_MOST_OBJECTS)
        mine = None if given is None else given[:n_objects]
        given = None if given is None else given[n_objects:]
        segments.append(_restore_segment(part, settings, source, n_objects, like, mine))
    if given:
        raise _wrong_number(source, sum(map(len, segments)))
    snapshot = Snapshot(settings, segments, like, record.count("next_id", most=2**63))
    if segments and has_functions(kernel):
        source.check()
        _check_probes(snapshot, record.part("probes"))
    return snapshot


class _StoredData(SegmentData):
    """Segment data of a file, restored when it is first needed."""

    def __init__(
        self,
        settings: Settings,
        record: Record,
        n_objects: int,
        source: Source,
        like: Objects,
        given: Any,
    ) -> None:
        super().__init__(settings, (), Ids(), is_small=record.fact("is_fresh", bool))
        self._record = record
        self._n_objects = n_objects
        self._check = source.check
        self._next_id = source.record.count("next_id", most=2**63)
        self._like = like
        self._returned = HandedBack(objects=given, decode=source.decode)

    def __len__(self) -> int:
        return self._n_objects

    @property
    def ids(self) -> Ids:
        """The ids of the objects."""
        self._make()
        return self._ids

    def _restore_ids(self) -> Ids:
        is_text = self.settings.has_text_ids
        ids = restore_ids(self._record.part("ids"), self._n_objects, is_text=is_text)
        if ids.next_number > self._next_id:
            raise IndexFileError("the next id must be greater than all ids.")
        return ids

    @property
    def n_bytes(self) -> int:
        """The memory of objects, ids and engines, mapped or not."""
        record = self._record
        if self._made is not None:
            return super().n_bytes
        return sum(array.nbytes for array in record.arrays.values())

    @property
    def has_built(self) -> tuple[bool, bool]:
        """Whether a tree is built, and whether a filter is."""
        record = self._record
        if self._made is not None:
            return super().has_built
        engines = record.fact("engines", dict)
        return "tree" in engines, "filter" in engines

    @property
    def chunks(self) -> tuple[Any, ...]:
        """The objects."""
        self._make()
        return super().chunks

    def _make_engines(self) -> BuiltEngines:
        self._check()
        settings, record = self.settings, self._record
        self._ids = self._restore_ids()
        return restore_engines(
            record.part("engines"),
            settings.kernel,
            n_objects=self._n_objects,
            base=settings.base,
            threads=settings.threads,
            name=self._ids.name,
            like=self._like,
            handed_back=self._returned,
        )

    def _forget(self) -> None:
        self._record, self._returned = Record(), HandedBack()
        self._check = _is_checked


def _is_checked() -> None:
    """Do nothing: the bytes were checked."""


def _record_segment(segment: Segment, encode: Callable[[Any], bytes] | None) -> Record:
    data = segment.data
    return nest(
        {
            "ids": data.ids.record(),
            "dead": Record({}, {"positions": segment.removed}),
            "engines": data.engines.record(encode=encode),
        },
        {"n_objects": len(data), "is_fresh": data.is_small},
    )


def _restore_segment(
    record: Record, settings: Settings, source: Source, n_objects: int, like: Objects, given: Any
) -> Segment:
    if given is not None and len(given) != n_objects:
        raise InvalidArgument("objects must be all those of the index, in the order of its ids.")
    removed = record.part("dead").array("positions", np.int64)
    is_sorted = len(removed) == 0 or (
        removed[0] >= 0 and removed[-1] < n_objects and bool((np.diff(removed) > 0).all())
    )
    if not is_sorted or len(removed) >= n_objects:
        raise IndexFileError("the removed objects are not among the objects of the segment.")
    data = _StoredData(settings, record, n_objects, source, like, given)
    return Segment(data, removed)


def _given_objects(source: Source, is_lacking: bool) -> list[Any] | None:
    if not is_lacking:
        if source.objects is not None:
            raise InvalidArgument("objects must not be given: the file holds them.")
        return None
    if source.objects is None:
        raise InvalidArgument(
            "objects must be given: the file holds none of those that only Python knows. Pass all "
            "objects of the index, in the order of its ids, or save it with encode=."
        )
    return list_objects(source.objects, name="objects", wanted="a sequence of objects")


def _wrong_number(source: Source, n_objects: int) -> InvalidArgument:
    return InvalidArgument(
        f"objects must be the {n_objects} of the index, in the order of its ids; "
        f"got {len(source.objects)}."
    )


def _record_probes(snapshot: Snapshot) -> Record:
    segment = max(snapshot.segments, key=len)
    spread = np.linspace(0, len(segment) - 1, min(len(segment), _N_PROBES)).astype(np.int64)
    slots = segment.slots_of(np.unique(spread))
    return Record({}, {"positions": slots, "values": _probe(segment, slots)})


def _probe(segment: Segment, slots: Int64s) -> Floats:
    """Return the values of some objects with each other, evaluated again."""
    space = segment.space

    def name(place: int) -> str:
        return segment.data.ids.name(int(slots[place]))

    some = Space(segment.data.objects(slots), space.kernel, name=name)
    with named_faults(space.kernel, name, name):
        values: Floats = _core.scan_matrix(some.core, some.core, 1)
    return values


def _check_probes(snapshot: Snapshot, record: Record) -> None:
    """Refuse a function that gives some of the objects other values than the saved one."""
    segment = max(snapshot.segments, key=len)
    slots = record.array("positions", np.int64)
    wanted = record.array("values", np.float64, ndim=2)
    n = len(slots)
    _ = segment.space  # restores the objects, so that their number is checked
    is_right = wanted.shape == (n, n) and np.isin(slots, segment.kept).all()
    if not is_right or n == 0 or n > _N_PROBES:
        raise IndexFileError("the values that prove a function are not those of objects.")
    got = _probe(segment, slots)
    rounding = segment.space.rounding.relative
    tolerance = max(_LEAST_TOLERANCE, rounding if np.isfinite(rounding) else 0.0)
    with own_arithmetic():
        lengths = np.sqrt(np.abs(wanted.diagonal()))
        allowed = 2.0 * tolerance * np.maximum(np.outer(lengths, lengths), np.abs(wanted))
        is_apart = np.abs(got - wanted) > allowed
    if is_apart.any():
        i, j = np.argwhere(is_apart)[0]
        first, second = (segment.data.ids.name(int(slots[at])) for at in (i, j))
        raise InvalidArgument(
            f"kernel must be the function that the index was saved with: {segment.space.kernel!r} "
            f"gives {first} and {second} the value {got[i, j]}; it was {wanted[i, j]}."
        )
