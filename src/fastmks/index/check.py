"""Prove the figures that searches rely on: all built structures, from the objects."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from fastmks._util.progress import Progress
from fastmks.engines.faults import named_faults
from fastmks.engines.filters.base import Report
from fastmks.engines.space import Space
from fastmks.errors import IndexFileError
from fastmks.index.segment import SegmentData
from fastmks.index.snapshot import Snapshot
from fastmks.kernels.object_kernel import leaves


@dataclass(frozen=True)
class _Part:
    """A part of a segment that can be proven; `find_fault` takes a callback for its steps."""

    name: str
    space: Space
    n_steps: int
    find_fault: Callable[[Report], str]


def check_snapshot(snapshot: Snapshot, progress: Progress) -> None:
    """Raise an error at the first part of a segment that does not follow from its objects."""
    snapshot.find(snapshot.ids, name="ids")  # an error unless they are unique
    segments = [list(_parts(segment.data)) for segment in snapshot.segments]
    done = 0
    total = sum(part.n_steps for parts in segments for part in parts)
    with progress.bar(total, unit=" steps") as report:
        for i, (segment, parts) in enumerate(zip(snapshot.segments, segments, strict=True)):
            for part in parts:
                fault = _fault(part, segment.data, None if report is None else _from(done, report))
                if fault:
                    raise IndexFileError(
                        f"the {part.name} of segment {i} cannot be trusted: {fault}. Build the "
                        "index again from its objects."
                    )
                done += part.n_steps


def _parts(data: SegmentData) -> Iterator[_Part]:
    engines, threads = data.engines, data.settings.threads
    space, tree, built = engines.space, engines.built_tree, engines.built_filter
    yield _Part("objects", space, 0, lambda _: _objects_fault(space))
    if tree is not None:
        find_fault = partial(tree.core.find_false_figure, tree.space.core)
        yield _Part("tree", tree.space, len(tree), find_fault)
    if built is not None:
        name = f"filter ({built.record().fact('kind', str)})"
        yield _Part(name, built.space, built.check_steps, partial(built.find_fault, threads))


def _fault(part: _Part, data: SegmentData, report: Report) -> str:
    def name(place: int) -> str:
        return data.ids.name(part.space.slot(place))

    with named_faults(part.space.kernel, name, name):
        return part.find_fault(report)


def _objects_fault(space: Space) -> str:
    for fields, leaf in leaves(space.kernel):
        fault = leaf.find_fault(space.objects.store(fields, leaf), space.isa)
        if fault:
            return fault
    return ""


def _from(begin: int, report: Callable[[int], None]) -> Callable[[int], None]:
    return lambda done: report(begin + done)
