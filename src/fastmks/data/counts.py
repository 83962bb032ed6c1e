"""Counts of features, as sparse vectors whose columns are numbered as features appear."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Array, Bytes, Int32s, Int64s
from fastmks.data.base import Store
from fastmks.data.graphs import Graphs, restore_graphs
from fastmks.data.object_lists import is_equal_to_itself
from fastmks.data.ragged import offsets_of
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.data.vectors import MOST_COLUMNS, SparseStore, restore_sparse
from fastmks.data.vocabulary import Vocabulary
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record, nest
from fastmks.files.values import from_plain, to_plain

_MOST_IN_FLOAT32 = 2**24  # float32 holds every whole number up to here
_MOST_EXACT = 2.0**53  # and float64 up to here


@dataclass(frozen=True, eq=False)
class CountStore(Store):
    """Counts of each feature in each object, and the column of each feature."""

    numbers_features = True

    counts: SparseStore
    vocabulary: Vocabulary
    noun: str  # the objects, in words
    graphs: Graphs | None = None  # what was counted; queries are counted and forgotten

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def kind(self) -> str:
        """The objects, in words."""
        return self.noun

    @property
    def core(self) -> _core.VectorStore:
        """The counts, as a store of the core."""
        return self.counts.core

    @property
    def n_bytes(self) -> int:
        """The memory of the counts and of the graphs; that of their labels is not known."""
        return self.counts.n_bytes + (0 if self.graphs is None else self.graphs.n_bytes)

    @property
    def kept(self) -> Graphs:
        """The graphs that were counted."""
        if self.graphs is None:
            raise InvalidArgument("queries are counted, and not kept.")
        return self.graphs

    def copy(self) -> "CountStore":
        """A store of the same counts, in memory of its own; vocabularies in stores never change."""
        return replace(self, counts=self.counts.copy())

    def take(self, positions: Int64s) -> "CountStore":
        """The objects at these positions, in this order, in memory of their own."""
        graphs = None if self.graphs is None else self.graphs.take(positions)
        return replace(self, counts=self.counts.take(positions), graphs=graphs)

    def get(self, positions: Int64s) -> list[tuple[Int64s, list[Any]]]:
        """The graphs at these positions as pairs (edges, node_labels)."""
        graphs = self.kept.take(positions)
        features = self.vocabulary.first(int(graphs.labels.max(initial=-1)) + 1)
        labels = [features[column][0] for column in graphs.labels.tolist()]
        nodes = pairwise(graphs.graphs.tolist())
        return [
            (edges, labels[begin:end])
            for edges, (begin, end) in zip(graphs.edges(), nodes, strict=True)
        ]

    def record(self) -> Record:
        """The graphs, their counts, and the feature of each column, as far as labels are plain.

        Labels have the first columns: graphs are read before anything of them is counted.
        """
        features = self.vocabulary.first()
        labels = [feature[0] for feature in features if isinstance(feature, tuple)]
        others = features[len(labels) :]
        parts = {
            "counts": self.counts.record(),
            "graphs": self.kept.record(),
            "labels": to_plain(labels, name="labels"),
        }
        nested = nest(parts, {"kind": "counts", "noun": self.noun, "n_labels": len(labels)})
        arrays: dict[str, Array] = {
            "features": np.frombuffer(b"".join(others), dtype=np.uint8),
            "offsets": offsets_of([len(feature) for feature in others]),
        }
        return Record(nested.facts, {**nested.arrays, **arrays})


def restore_counts(record: Record) -> CountStore:
    """Return the store of a record; features are read at the first query."""
    check_kind(record, "counts")
    counts, graphs = restore_sparse(record.part("counts")), restore_graphs(record.part("graphs"))
    content = restored(record, "features", np.uint8)
    offsets = restored_offsets(record, "offsets", len(content))
    n_labels = record.count("n_labels", most=MOST_COLUMNS)
    n_features = n_labels + len(offsets) - 1
    if counts.n_columns != max(1, n_features) or len(counts) != len(graphs):
        raise IndexFileError("the graphs, their features and their counts do not fit together.")
    labels = graphs.labels
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_labels:
        raise IndexFileError(f"the labels of nodes must be below {n_labels}.")
    plain = record.part("labels")

    def read() -> list[Hashable]:
        return _read_features(plain, n_labels, content, offsets)

    vocabulary = Vocabulary.stored(read, n_features)
    return CountStore(counts, vocabulary, record.fact("noun", str), graphs)


def _read_features(plain: Record, n_labels: int, content: Bytes, offsets: Int64s) -> list[Hashable]:
    labels = from_plain(plain)
    if len(labels) != n_labels or not all(map(is_equal_to_itself, labels)):
        raise IndexFileError(f"there must be {n_labels} labels, equal to themselves.")
    text = content.tobytes()
    others = (text[begin:end] for begin, end in pairwise(offsets.tolist()))
    return [*((label,) for label in labels), *others]


def make_counts(
    objects: Int64s,
    columns: Int32s,
    counts: Int64s,
    *,
    n_objects: int,
    vocabulary: Vocabulary,
    noun: str,
    name: Callable[[int], str],
) -> CountStore:
    """Return the store in which `objects[i]` has the feature of `columns[i]` `counts[i]` times.

    Counts of the same feature of the same object add up. Products of counts are exact in float64
    while their sums stay below 2**53; an object beyond that is refused, as `name` calls it.
    """
    n_columns = max(1, len(vocabulary))
    entries = objects * n_columns + columns
    order = np.argsort(entries, kind="stable")
    entries = entries[order]
    begins = np.flatnonzero(np.diff(entries, prepend=-1))
    totals = np.add.reduceat(counts[order], begins) if len(begins) else np.zeros(0, np.int64)
    rows, kept = np.divmod(entries[begins], n_columns)
    _check_exact(rows, totals, n_objects, name)
    offsets = np.zeros(n_objects + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n_objects), out=offsets[1:])
    largest = int(totals.max(initial=0))
    values = totals.astype(np.float32 if largest <= _MOST_IN_FLOAT32 else np.float64)
    store = SparseStore(offsets, kept.astype(np.int32), values, n_columns)
    return CountStore(store, vocabulary, noun)


def _check_exact(rows: Int64s, totals: Int64s, n_objects: int, name: Callable[[int], str]) -> None:
    """Refuse objects whose K(x, x) is not surely exact.

    Sums of squares below 2**53 are exact, and rounding is monotone: a sum that is not below 2**53
    does not come out below it. By Cauchy and Schwarz no K(x, y) of two others reaches 2**53 then.
    """
    with own_arithmetic():
        squares = np.bincount(rows, totals.astype(np.float64) ** 2, minlength=n_objects)
    for row in np.flatnonzero(squares >= _MOST_EXACT):
        raise InvalidArgument(
            f"{name(int(row))} is too large: K(x, x) is {squares[row]:.3g}, and values are exact "
            "below 2**53 = 9.01e+15 only. Split it, or give its parts more labels."
        )
