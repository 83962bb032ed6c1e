"""The engines of one set of objects, each built when it is first needed."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

from fastmks._util.fork_safe import Lock
from fastmks._util.progress import Progress
from fastmks.engines.base import Offer, plain_int64
from fastmks.engines.faults import Namer
from fastmks.engines.filters.base import CoreFilter
from fastmks.engines.filters.choose import build_filter, has_filter, has_offer, restore_filter
from fastmks.engines.scan import Scan
from fastmks.engines.space import Space
from fastmks.engines.tree.tree import Tree, build_tree, record_tree, restore_tree, restore_tree_core
from fastmks.errors import IndexFileError
from fastmks.files.record import Record, nest, restoring
from fastmks.kernels import Kernel
from fastmks.kernels.objects import Objects, restore_objects
from fastmks.kernels.own import has_functions


@dataclass(frozen=True)
class _Built:
    """Engines built so far; replaced as a whole, so that a search keeps those it started with."""

    space: Space
    tree: Tree | None = None
    filter: CoreFilter | None = None
    # A tree beside a filter, until searches show which is faster. It has objects of its own.
    tried_tree: Tree | None = None


class BuiltEngines:
    """Scan, filter and tree of the same objects. Any number of threads may use it at once."""

    def __init__(
        self,
        space: Space,
        *,
        base: float,
        threads: int,
        name: Namer,
        tree: Tree | None = None,
        filter: CoreFilter | None = None,  # noqa: A002, as the method is called
    ) -> None:
        self._built = _Built(space, tree, filter)
        self.base = base
        self._threads = threads
        self._name = name
        self._building = Lock(
            space.kernel,
            "searches, from its own function, the index whose tree or filter is being built with "
            "it. Search with algorithm='scan' there, or another index.",
        )

    @property
    def space(self) -> Space:
        """The objects, in the order of the tree once it is built."""
        return self._built.space

    @property
    def scan(self) -> Scan:
        """The engine that evaluates every pair."""
        return Scan(self.space)

    @property
    def has_filter(self) -> bool:
        """Whether a filter can be built."""
        return has_filter(self.space)

    @property
    def has_offer(self) -> bool:
        """Whether the cost of a filter can be forecast without evaluations."""
        return has_offer(self.space)

    @property
    def has_built_filter(self) -> bool:
        """Whether a filter is built."""
        return self._built.filter is not None

    @property
    def built_filter(self) -> CoreFilter | None:
        """The filter; None where none is built."""
        return self._built.filter

    @property
    def built_tree(self) -> Tree | None:
        """The tree; None where none is built."""
        return self._built.tree

    @property
    def tree_to_search(self) -> Tree | None:
        """The tree, or the one that is tried; None where there is none."""
        built = self._built
        return built.tried_tree if built.tree is None else built.tree

    @property
    def has_tried_tree(self) -> bool:
        """Whether a tree beside a filter is tried."""
        return self._built.tried_tree is not None

    @property
    def has_built_tree(self) -> bool:
        """Whether a tree is built."""
        return self._built.tree is not None

    @property
    def has_built(self) -> tuple[bool, bool]:
        """Whether a tree is built, and whether a filter is."""
        return self.has_built_tree, self.has_built_filter

    @property
    def n_bytes(self) -> int:
        """The memory of the objects and of the engines built for them."""
        built = self._built
        n_bytes = built.space.objects.n_bytes
        if built.space.order is not None:
            n_bytes += built.space.order.nbytes
        if built.tree is not None:
            n_bytes += built.tree.n_bytes
        if built.tried_tree is not None:
            n_bytes += built.tried_tree.n_bytes + built.tried_tree.space.objects.n_bytes
        return n_bytes + (0 if built.filter is None else built.filter.n_bytes)

    def filter(
        self,
        progress: Progress,
        offer: Offer | None = None,
        like: CoreFilter | None = None,
    ) -> CoreFilter:
        """Return the filter; built now if it was not needed before, as offered, or like another."""
        built = self._built
        if built.filter is not None:
            return built.filter
        with self._building.alone(progress.check):
            built = self._built
            if built.filter is not None:
                return built.filter
            made: CoreFilter
            threads = built.space.threads(self._threads)
            if offer is not None and offer.build is not None and offer.space is built.space:
                made = offer.build(threads, progress)
            else:
                made = build_filter(
                    built.space,
                    threads=threads,
                    progress=progress,
                    name=self.name_place,
                    like=like,
                )
            self._built = replace(built, filter=made)
            return made

    def build(self, structure: Literal["tree", "filter"], progress: Progress) -> None:
        """Build the tree or the filter if it was not needed before."""
        if structure == "tree":
            self.tree(progress)
        else:
            self.filter(progress)

    def tree(self, progress: Progress) -> Tree:
        """Return the cover tree; built now if it was not needed before."""
        built = self._built
        if built.tree is not None:
            return built.tree
        with self._building.alone(progress.check):
            built = self._built
            if built.tree is not None:
                return built.tree
            tree = built.tried_tree
            if tree is None:
                tree = self._build_tree(built.space, progress)
            # A filter keeps the objects in their order before; the next search builds a new one.
            self._built = _Built(tree.space, tree=tree)
            return tree

    def try_tree(self, progress: Progress) -> Tree:
        """Return the cover tree; built now if there is none, beside the filter if there is one."""
        built = self._built
        if built.filter is None or self.tree_to_search is not None:
            return self.tree_to_search or self.tree(progress)
        with self._building.alone(progress.check):
            tree = self._build_tree(built.space, progress)
            self._built = replace(self._built, tried_tree=tree)
            return tree

    def end_trial(self, *, keep_tree: bool) -> None:
        """Keep the tree that was tried, without the filter, or drop it."""
        with self._building.alone():
            tree = self._built.tried_tree
            if tree is None:
                return
            kept = _Built(tree.space, tree=tree)
            self._built = kept if keep_tree else replace(self._built, tried_tree=None)

    def _build_tree(self, space: Space, progress: Progress) -> Tree:
        return build_tree(
            space, base=self.base, threads=self._threads, progress=progress, name=self._name
        )

    def name_place(self, place: int) -> str:
        """Return the text that errors use for the object at a place."""
        return self._name(self.space.slot(place))

    def record(self, *, encode: Callable[[Any], bytes] | None = None) -> Record:
        """Return the objects and the engines built for them, for a file; see `Objects.record`."""
        built = self._built
        parts = {"objects": built.space.objects.record(encode=encode)}
        if built.tree is not None:
            parts["tree"] = record_tree(built.tree)
        if built.filter is not None:
            parts["filter"] = built.filter.record()
        return nest(parts)


@dataclass(frozen=True, kw_only=True)
class HandedBack:
    """Objects that a file does not hold, in the order of their ids, or how to read them."""

    objects: list[Any] | None = None
    decode: Callable[[bytes], Any] | None = None


def restore_engines(
    record: Record,
    kernel: Kernel,
    *,
    n_objects: int,
    base: float,
    threads: int,
    name: Namer,
    like: Objects,
    handed_back: HandedBack,
) -> BuiltEngines:
    """Return the engines of a file, and the objects in them, which must be like those given."""
    core, order, given = None, None, handed_back.objects
    if "tree" in record.facts:
        core = restore_tree_core(record.part("tree"), n_objects)
        order = plain_int64(core.order())
        if given is not None:
            given = [given[position] for position in order.tolist()]
    objects = restore_objects(
        record.part("objects"), kernel, like=like, objects=given, decode=handed_back.decode
    )
    if len(objects) != n_objects:
        raise IndexFileError(f"there are {len(objects)} objects where {n_objects} should be.")
    with nullcontext() if has_functions(kernel) else restoring("the objects"):
        space = Space(
            objects,
            kernel,
            name=lambda place: name(place if order is None else int(order[place])),
            order=order,
        )
    tree = None
    if core is not None:
        tree = restore_tree(core, space, record.part("tree"), name=name)
    has_filter = "filter" in record.facts
    return BuiltEngines(
        space,
        base=base,
        threads=threads,
        name=name,
        tree=tree,
        filter=restore_filter(space, record.part("filter")) if has_filter else None,
    )
