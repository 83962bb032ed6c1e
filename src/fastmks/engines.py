"""The engines of one set of objects, each built when it is first needed."""

import threading
from dataclasses import dataclass, replace

from fastmks.engine import Engine
from fastmks.errors import InvalidArgument
from fastmks.filter import FilterOffer, build_filter, has_filter, has_offer
from fastmks.progress import Progress
from fastmks.scan import Scan
from fastmks.spaces import Namer, Space
from fastmks.tree import Tree, build_tree

__all__ = ["Engines"]


@dataclass(frozen=True)
class _Built:
    """What there is; replaced as a whole, so that a search keeps what it started with."""

    space: Space
    tree: Tree | None = None
    filter: Engine | None = None


class Engines:
    """Scan, filter and tree of the same objects. Any number of threads may ask at once."""

    def __init__(self, space: Space, *, base: float, threads: int, name: Namer) -> None:
        self._built = _Built(space)
        self._base = base
        self._threads = threads
        self._name = name
        self._building = threading.Lock()
        self._builder: int | None = None  # the thread that builds now

    @property
    def space(self) -> Space:
        """The objects, in the order of the tree once there is one."""
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
        """Whether a filter can be offered, before it is built, for what it costs."""
        return has_offer(self.space)

    @property
    def has_built_filter(self) -> bool:
        """Whether there is one."""
        return self._built.filter is not None

    def filter(self, progress: Progress, offer: FilterOffer | None = None) -> Engine:
        """Return the filter; built now, as offered if it was, if it was not needed before."""
        built = self._built
        if built.filter is not None:
            return built.filter
        self._refuse_reentry("filter")
        with self._building:
            built = self._built
            if built.filter is not None:
                return built.filter
            threads = built.space.threads(self._threads)
            self._builder = threading.get_ident()
            try:
                if offer is not None and offer.space is built.space:
                    made = offer.build(threads, progress)
                else:
                    made = build_filter(
                        built.space,
                        threads=threads,
                        progress=progress,
                        name=lambda place: self._name(built.space.position(place)),
                    )
            finally:
                self._builder = None
            self._built = replace(built, filter=made)
            return made

    def tree(self, progress: Progress) -> Tree:
        """Return the cover tree; built now if it was not needed before."""
        built = self._built
        if built.tree is not None:
            return built.tree
        self._refuse_reentry("tree")
        with self._building:
            built = self._built
            if built.tree is not None:
                return built.tree
            self._builder = threading.get_ident()
            try:
                tree = build_tree(
                    built.space,
                    base=self._base,
                    threads=self._threads,
                    progress=progress,
                    name=self._name,
                )
            finally:
                self._builder = None
            # A filter keeps the objects in their order before; the next search makes a new one.
            self._built = _Built(tree.space, tree=tree)
            return tree

    def _refuse_reentry(self, what: str) -> None:
        if self._builder == threading.get_ident():  # it would wait for itself
            raise InvalidArgument(
                f"{self.space.kernel!r} searches, from its own function, the index whose {what} is "
                "being built with it. Search with algorithm='scan' there, or another index."
            )
