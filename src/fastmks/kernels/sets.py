"""Kernels between sets, and between vectors of counts: the common part of two, as a share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks.data import DenseStore, Store, VectorStore
from fastmks.data.bits import BitStore
from fastmks.data.fingerprints import (
    FINGERPRINTS,
    join_fingerprints,
    read_fingerprint_queries,
    read_fingerprints,
    read_more_fingerprints,
    restore_fingerprints,
)
from fastmks.data.json_vectors import VECTORS
from fastmks.data.sets import (
    SETS,
    MemberStore,
    check_member,
    join_sets,
    number_members,
    read_sets,
    restore_sets,
)
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.object_kernel import ObjectKernel
from fastmks.kernels.vectors import VectorReader

_GREATEST_SUM = 2.0**1021  # sums of two must be finite, however they round


@dataclass(frozen=True)
class _ShareKernel(ObjectKernel):
    """The base of kernels whose values are shares: 1 for an object with itself, unless empty."""

    mercer_columns = math.inf
    is_normalized = True
    value_range = (0.0, 1.0)

    def make_normalized_space(self, store: Store, isa: str) -> _core.Space:
        """Return the same space: it is normalised."""
        return self.make_space(store, isa)


@dataclass(frozen=True)
class _SetKernel(_ShareKernel):
    """The base of kernels between Python sets."""

    kind = SETS
    store_key = "sets"

    def read(self, objects: Any, *, name: str) -> MemberStore:
        """Return sets as a store."""
        sets = read_sets(objects, name=name, single=False)
        return number_members(sets, None, name=name, check=check_member)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> MemberStore:
        """Return sets as a store; a set is one query."""
        sets = read_sets(queries, name=name, single=True)
        return number_members(sets, cast(MemberStore, like), name=name, check=check_member)

    def read_more(self, objects: Any, like: Store, *, name: str) -> MemberStore:
        """Return sets as a store that numbers their members itself; a set is one object."""
        sets = read_sets(objects, name=name, single=True)
        return number_members(sets, None, name=name, check=check_member)

    def join(self, stores: Sequence[Store]) -> MemberStore:
        """Return the sets of several stores in one."""
        return join_sets(cast("Sequence[MemberStore]", stores))

    def restore(self, record: Record) -> MemberStore:
        """Return the store of sets that was recorded."""
        return restore_sets(record, check=check_member)

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space of sets."""
        return _core.tanimoto_space(cast(MemberStore, store).core, isa)


@dataclass(frozen=True)
class Jaccard(_SetKernel):
    """The share of common members, |x & y| / (|x| + |y| - |x & y|), of sets. Mercer, normalised.

    Objects are Python sets or frozensets of anything hashable. Members of a query that no indexed
    object has count in its size. The empty set has 0 with everything, itself included.

    Examples
    --------
    >>> Jaccard()({"salt", "flour", "water"}, {"flour", "water", "yeast"})
    0.5
    """


@dataclass(frozen=True)
class _BitKernel(_ShareKernel):
    """The base of kernels between fingerprints, in any format."""

    kind = FINGERPRINTS
    store_key = "bits"

    def read(self, objects: Any, *, name: str) -> BitStore | MemberStore:
        """Return fingerprints as a store."""
        return read_fingerprints(objects, name=name, single=False)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> BitStore | MemberStore:
        """Return fingerprints of the same length as a store; one alone is one query."""
        return read_fingerprint_queries(queries, cast("BitStore | MemberStore", like), name=name)

    def read_one(self, one: Any, like: Store | None, *, name: str) -> BitStore | MemberStore:
        """Return one fingerprint as a store."""
        if like is None:
            return read_fingerprints(one, name=name, single=True)
        return self.read_queries(one, like, name=name)

    def read_more(self, objects: Any, like: Store, *, name: str) -> BitStore | MemberStore:
        """Return fingerprints of the same length as a store; one alone is one object."""
        return read_more_fingerprints(objects, cast("BitStore | MemberStore", like), name=name)

    def join(self, stores: Sequence[Store]) -> BitStore | MemberStore:
        """Return the fingerprints of several stores in one."""
        return join_fingerprints(cast("Sequence[BitStore | MemberStore]", stores))

    def restore(self, record: Record) -> BitStore | MemberStore:
        """Return the store of fingerprints that was recorded."""
        return restore_fingerprints(record)

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space of sets."""
        return _core.tanimoto_space(cast("BitStore | MemberStore", store).core, isa)


@dataclass(frozen=True)
class Tanimoto(_BitKernel):
    """The share of common bits, c / (a + b - c), of fingerprints. Mercer, normalised.

    a and b are the bits that are set in each, c those set in both. Fingerprints without any have
    0 with everything, themselves included. They may be given as

    - packed bits, a uint8 array (n, bytes) in the order of `numpy.packbits`: the highest bit of a
      byte comes first;
    - packed bits, a uint64 array (n, words): bit i is ``word[i // 64] >> i % 64 & 1``;
    - booleans (n, bits), or a DataFrame of them;
    - a scipy.sparse matrix (n, bits) of zeros and ones;
    - a list of RDKit's ``ExplicitBitVect`` of one length;
    - a list of Python sets of the positions set, whole numbers from 0 without a limit;
    - a list of such rows, all in one format. A pandas Series may replace any list.

    Queries may be in another of these formats, with the same number of bits; only an index of
    sets takes nothing but sets.

    Examples
    --------
    >>> import numpy as np
    >>> Tanimoto()({1, 5, 9}, {5, 9, 70})
    0.5
    >>> Tanimoto()(np.array([True, True, False]), np.array([True, True, True]))
    0.6666666666666666
    """


@dataclass(frozen=True)
class _CountKernel(_ShareKernel, VectorReader):
    """The base of kernels between vectors without negative entries."""

    kind = replace(VECTORS, words="vectors, none negative")
    store_key = "non-negative vectors"

    def read(self, objects: Any, *, name: str) -> VectorStore:
        """Return vectors as a store."""
        return _check_not_negative(super().read(objects, name=name), name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> VectorStore:
        """Return vectors of the same length as a store of the same kind; a 1-D one is one query."""
        return _check_not_negative(super().read_queries(queries, like, name=name), name)

    def read_one(self, one: Any, like: Store | None, *, name: str) -> VectorStore:
        """Return a vector, or a matrix of one row, as a store."""
        return _check_not_negative(super().read_one(one, like, name=name), name)

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space of non-negative vectors."""
        return _core.minmax_space(cast(VectorStore, store).core, isa)


@dataclass(frozen=True)
class MinMax(_CountKernel):
    """The common share sum min(x, y) / sum max(x, y) of non-negative vectors. Mercer, normalised.

    For counts, such as those of atom environments or words; of vectors of zeros and ones it is
    the Tanimoto kernel. Vectors are given as for `Linear`, dense or sparse. The zero vector has
    0 with everything, itself included.

    Examples
    --------
    >>> MinMax()([2.0, 1.0, 0.0], [1.0, 1.0, 2.0])
    0.4
    """


def _check_not_negative(store: VectorStore, name: str) -> VectorStore:
    is_dense = isinstance(store, DenseStore)
    values = store.array if isinstance(store, DenseStore) else store.values
    if values.size == 0:
        return store
    if values.min() < 0:
        at = np.argwhere(values < 0)[0]
        row, column = at if is_dense else _place(cast(Any, store), int(at[0]))
        raise InvalidArgument(
            f"{name} must not be negative under MinMax(); {name}[{row}, {column}] is "
            f"{values[tuple(at)]}."
        )
    if float(values.max()) * store.n_columns > _GREATEST_SUM:
        _check_sums(store, name)
    return store


def _place(store: Any, entry: int) -> tuple[int, int]:
    row = int(np.searchsorted(store.offsets, entry, side="right")) - 1
    return row, int(store.columns[entry])


def _check_sums(store: VectorStore, name: str) -> None:
    with own_arithmetic():
        if isinstance(store, DenseStore):
            sums = store.array.sum(axis=1, dtype=np.float64)
        else:
            rows = np.repeat(np.arange(len(store)), np.diff(store.offsets))
            sums = np.bincount(rows, weights=store.values, minlength=len(store))
    bad = np.flatnonzero(~(sums <= _GREATEST_SUM))
    if bad.size:
        raise InvalidArgument(
            f"{name} must have sums of at most 2**1021 under MinMax(); that of {name}[{bad[0]}] "
            f"is {sums[bad[0]]}. Scale all vectors by one power of two: that changes no value."
        )
