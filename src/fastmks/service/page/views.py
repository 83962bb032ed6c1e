"""An index at one moment, as the page sees it: under every kernel that it can be compared under."""

import itertools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fastmks.errors import InvalidArgument
from fastmks.index import Index
from fastmks.kernels.object_kernel import leaves
from fastmks.service.page.choices import OWN, Choice, list_choices
from fastmks.service.page.forms import Form, find_form
from fastmks.service.page.pictures import Icicle, Map, make_icicle, make_map

__all__ = ["MOST_HITS", "View", "Views"]

MOST_HITS = 50  # that the page shows
_BYTES_EACH = 1000  # of an object of an index that is not large
_N_SAMPLE = 64  # objects that are looked at to know what all are like
_MOST_POINTS, _MOST_DEAR_POINTS = 4000, 400  # of a map; the latter where evaluations take long
_MOST_COLUMNS = 1024  # of rows whose principal axes are computed
_T = TypeVar("_T")


class View:
    """The objects of an index at one moment. What is made of them is made once, when asked for.

    `version` tells views apart. A large index is searched under its own kernel only.
    """

    def __init__(self, index: Index, version: int, *, most_objects: int) -> None:
        self.index = index.copy()  # changes elsewhere do not reach it
        self.version = version
        is_heavy = index.nbytes > _BYTES_EACH * most_objects
        self.is_large = len(index) > most_objects or is_heavy
        self._made: dict[tuple[str, str], Any] = {}
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        settings = self.index._forest.settings
        self.has_text_ids = settings.has_text_ids
        sample = self.index.get(self.index.ids[self._spread(_N_SAMPLE)])
        self.form: Form = find_form(sample, settings.kernel)
        is_dense = isinstance(sample, np.ndarray) and self.form.n_columns <= _MOST_COLUMNS
        self._has_axes = self.form.is_vector and is_dense
        has_tree = settings.algorithm in ("tree", "dual-tree") and self.index._forest.is_whole
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

    def under(self, choice: Choice) -> Index:
        """Return the index of the same objects under a kernel."""
        if choice.text == OWN:
            return self.index
        return self._make("index", choice.text, lambda: self._build(choice))

    def map(self, choice: Choice) -> Map | None:
        """Return where objects are drawn; None where the kernel gives no places."""
        if self.form.name == "values":  # a row of the matrix says nothing without the others
            return None
        is_dear = any(leaf.is_dear for _, leaf in leaves(choice.kernel))
        # Rows lie where they lie, whatever the kernel.
        key, kernel = ("", None) if self._has_axes else (choice.text, choice.kernel)
        positions = self._spread(_MOST_DEAR_POINTS if is_dear else _MOST_POINTS)
        return self._make("map", key, lambda: make_map(self.index, kernel, positions))

    def icicle(self, choice: Choice) -> Icicle:
        """Return the tree of a kernel as it is drawn."""
        return self._make("icicle", choice.text, lambda: make_icicle(self.under(choice).tree))

    def read_id(self, given: Any) -> Any:
        """Return the id that a request names; numbers may come as text, since some are long."""
        is_number = isinstance(given, int) and not isinstance(given, bool)
        if self.has_text_ids and isinstance(given, str):
            return given
        if not self.has_text_ids and is_number:
            return given
        if not self.has_text_ids and isinstance(given, str) and len(given) <= 20:
            try:
                return int(given)
            except ValueError:
                pass
        raise InvalidArgument(f"id must be the id of an indexed object; got {given!r}.")

    def query(self, name: Any) -> Any:
        """Return an indexed object as a query, in a batch of its own."""
        if self.form.name != "values":
            return self.index.get([name])
        if self.is_large:
            raise InvalidArgument("id cannot be searched for in so large a matrix of values.")
        self.index.get([name])  # so that an id that is not there is known
        at = np.flatnonzero(self.index.ids == name)
        values = self._objects()
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
        """Return all positions, or as many as allowed, drawn at random and in order."""
        n_objects = len(self.index)
        if n_objects <= most:
            return np.arange(n_objects, dtype=np.int64)
        rng = np.random.default_rng(0)
        return np.sort(rng.choice(n_objects, size=most, replace=False, shuffle=False))

    def _build(self, choice: Choice) -> Index:
        return Index(self._objects(), choice.kernel, ids=self.index.ids)

    def _objects(self) -> Any:
        return self._make("objects", "", lambda: self.index.get(self.index.ids))

    def _make(self, what: str, text: str, make: Callable[[], _T]) -> _T:
        """Return what was made before, or make it: once, whoever asks meanwhile waits."""
        key = what, text
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._made:
                self._made[key] = make()
            made: _T = self._made[key]
            return made


class Views:
    """The view of an index that others may change: another one once it has changed."""

    def __init__(self, find_index: Callable[[], Index], *, most_objects: int) -> None:
        self._find_index = find_index
        self._most_objects = most_objects
        self._versions = itertools.count(1)
        self._lock = threading.Lock()
        self._seen: tuple[Any, View] | None = None

    def now(self) -> View:
        """Return the view of the index as it is."""
        with self._lock:
            index = self._find_index()
            forest = index._forest
            if self._seen is None or self._seen[0] is not forest:
                view = View(index, next(self._versions), most_objects=self._most_objects)
                self._seen = forest, view
            return self._seen[1]
