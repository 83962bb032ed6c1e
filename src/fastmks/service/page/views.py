"""The view of the page on an index at one moment, under every kernel that the page offers."""

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from fastmks._util.fork_safe import Lock
from fastmks._util.progress import Progress
from fastmks.errors import InvalidArgument
from fastmks.index.index import Index
from fastmks.index.view import IndexView, view_of
from fastmks.kernels import Kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.objects import Objects, join_objects, joins_at_once, read_more, read_objects
from fastmks.service.limits import Limits
from fastmks.service.page.drawing import Form, find_form
from fastmks.service.page.kernel_choices import OWN, Choice, list_choices
from fastmks.service.page.pictures import Icicle, Map, make_icicle, make_map

__all__ = ["MOST_HITS", "View", "Views"]

MOST_HITS = 50  # that the page shows
_DEFAULTS = Limits()
_BYTES_EACH = 1000  # of an object of an index that is not large
_N_SAMPLE = 64  # objects examined to find the form of all
_MOST_POINTS, _MOST_EXPENSIVE_POINTS = 4000, 400  # of a map; the latter if evaluation is slow
_MOST_COLUMNS = 1024  # of rows whose principal axes are computed
_N_READ = 2000  # strings or graphs read for another kernel between two checks of the time
_FROM_WITHIN = "asks the page, from its own function, for something that the page builds with it."
_T = TypeVar("_T")


class View:
    """The objects of an index at one moment. Indexes and pictures are built once, when needed.

    `version` tells views apart. A large index is searched under its own kernel only. A caller that
    builds something, or waits for another thread to build it, passes the progress that ends it.
    """

    def __init__(self, index: Index, version: int, *, most_objects: int, limits: Limits) -> None:
        self.index = index.copy()  # changes elsewhere do not reach it
        self.version = version
        is_heavy = index.nbytes > _BYTES_EACH * most_objects
        self.is_large = len(index) > most_objects or is_heavy
        self._made: dict[tuple[str, str], Any] = {}
        self._locks: dict[tuple[str, str], Lock] = {}
        seen = view_of(self.index)
        settings = seen.settings
        self.has_text_ids = settings.has_text_ids
        sample = self.index.get(self.index.ids[self._spread(_N_SAMPLE)])
        self.form: Form = replace(find_form(sample, settings.kernel), limits=limits)
        is_dense = isinstance(sample, np.ndarray) and self.form.n_columns <= _MOST_COLUMNS
        self._has_axes = self.form.is_vector and is_dense
        has_tree = seen.builds == "tree" and seen.is_single
        choices = list_choices(
            settings.kernel,
            self.form,
            sample,
            n_objects=len(self.index),
            is_large=self.is_large,
            has_tree=has_tree,
        )
        self.choices = {choice.text: choice for choice in choices if len(self.index)}

    def choice(self, text: Any) -> Choice:
        """Return one of the kernels that are offered; any other text is an error."""
        found = self.choices.get(text) if isinstance(text, str) else None
        if found is None:
            known = ", ".join(map(repr, self.choices))
            raise InvalidArgument(f"kernel must be one of {known or 'none: the index is empty'}.")
        return found

    def under(self, choice: Choice, progress: Progress, *, algorithm: str) -> Index:
        """Return the index of the same objects under a kernel; in one segment if for a tree."""
        if choice.text == OWN and (algorithm != "tree" or view_of(self.index).can_have_tree):
            return self.index
        return self._make("index", choice.text, progress, lambda: self._build(choice, progress))

    def map(self, choice: Choice, progress: Progress) -> Map | None:
        """Return the map of the objects; None where the kernel gives no places."""
        if self.form.name == "values":  # a row of the matrix says nothing without the others
            return None
        is_expensive = any(leaf.is_expensive for _, leaf in leaves(choice.kernel))
        # The places of rows do not depend on the kernel.
        kernel = None if self._has_axes else choice.kernel
        positions = self._spread(_MOST_EXPENSIVE_POINTS if is_expensive else _MOST_POINTS)
        return self._make(
            "map",
            self._map_text(choice),
            progress,
            lambda: make_map(self.index, kernel, positions, progress),
        )

    def icicle(self, choice: Choice, progress: Progress) -> Icicle:
        """Return the tree of a kernel as it is drawn."""
        index = self.under(choice, progress, algorithm="tree")
        return self._make(
            "icicle",
            choice.text,
            progress,
            lambda: make_icicle(view_of(index).tree(progress), progress),
        )

    def drawn_map(self, choice: Choice) -> Map | None:
        """Return the map if it is built by now."""
        found: Map | None = self._made.get(("map", self._map_text(choice)))
        return found

    def drawn_icicle(self, choice: Choice) -> Icicle | None:
        """Return the tree as it is drawn, if it is built by now."""
        found: Icicle | None = self._made.get(("icicle", choice.text))
        return found

    def read_id(self, given: Any) -> Any:
        """Return the id in a request; numbers may be text, since JavaScript rounds long ones."""
        is_number = isinstance(given, int) and not isinstance(given, bool)
        if self.has_text_ids and isinstance(given, str):
            return given
        if not self.has_text_ids and is_number:
            return given
        is_text = isinstance(given, str) and re.fullmatch("-?[0-9]{1,19}", given) is not None
        if not self.has_text_ids and is_text:
            return int(given)
        raise InvalidArgument(f"id must be the id of an indexed object; got {given!r}.")

    def query(self, name: Any, progress: Progress) -> Any:
        """Return an indexed object as a query, in a batch of its own."""
        if self.form.name != "values":
            return self.index.get([name])
        if self.is_large:
            raise InvalidArgument("id cannot be searched for in a matrix of values this large.")
        self.index.get([name])  # raises for an unknown id
        at = np.flatnonzero(self.index.ids == name)
        values = self._objects(progress)
        return np.concatenate([values[at], values[at, at][:, None]], axis=1)

    def drawn(self, ids: np.ndarray[Any, Any]) -> list[dict[str, Any]]:
        """Return objects with their ids, as the page draws them."""
        if len(ids) == 0:
            return []
        things = self.index.get(ids)
        return [
            {"id": str(name), **self.form.draw(things[i])} for i, name in enumerate(ids.tolist())
        ]

    def _spread(self, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return all positions, or `most` of them, drawn at random and in order."""
        n_objects = len(self.index)
        if n_objects <= most:
            return np.arange(n_objects, dtype=np.int64)
        rng = np.random.default_rng(0)
        return np.sort(rng.choice(n_objects, size=most, replace=False, shuffle=False))

    def _map_text(self, choice: Choice) -> str:
        return "" if self._has_axes else choice.text

    def _build(self, choice: Choice, progress: Progress) -> Index:
        objects = _read(self._objects(progress), choice.kernel, progress)
        return Index(objects, choice.kernel)  # in the same order: positions identify objects

    def _objects(self, progress: Progress) -> Any:
        return self._make("objects", "", progress, lambda: self.index.get(self.index.ids))

    def _make(self, what: str, text: str, progress: Progress, make: Callable[[], _T]) -> _T:
        """Return a result of `make`, called once for each key; other threads wait meanwhile."""
        key = what, text
        lock = self._locks.setdefault(key, Lock(self.index.kernel, _FROM_WITHIN))
        with lock.alone(progress.check):
            if key not in self._made:
                progress.check_now()
                self._made[key] = make()
            made: _T = self._made[key]
            return made


class Views:
    """The current view of an index that may change: a new view after each change."""

    def __init__(
        self, find_index: Callable[[], Index], *, most_objects: int, limits: Limits = _DEFAULTS
    ) -> None:
        self._find_index = find_index
        self._most_objects, self._limits = most_objects, limits
        self._versions = itertools.count(1)
        self._lock = Lock(self, _FROM_WITHIN)
        self._seen: tuple[IndexView, View] | None = None

    def now(self, progress: Progress) -> View:
        """Return the view of the index as it is."""
        with self._lock.alone(progress.check):
            index = self._find_index()
            seen = view_of(index)
            if self._seen is None or self._seen[0] != seen:
                view = View(
                    index,
                    next(self._versions),
                    most_objects=self._most_objects,
                    limits=self._limits,
                )
                self._seen = seen, view
            return self._seen[1]


def _read(objects: Any, kernel: Kernel, progress: Progress) -> Objects:
    """Return objects as a kernel reads them; graphs and strings in chunks, since that takes long.

    The chunks are joined like objects that are added to an index.
    """
    if hasattr(objects, "shape") or joins_at_once(kernel) or len(objects) <= _N_READ:
        return read_objects(objects, kernel)
    chunks = [read_objects(objects[:_N_READ], kernel)]
    like = join_objects(kernel, [chunks[0].take(np.zeros(0, np.int64))])
    for begin in range(_N_READ, len(objects), _N_READ):
        progress.check_now()
        chunks.append(read_more(objects[begin : begin + _N_READ], kernel, like))
    progress.check_now()
    return join_objects(kernel, chunks)
