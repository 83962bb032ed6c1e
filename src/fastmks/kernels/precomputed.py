"""The kernel whose values were computed before."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from fastmks import _core
from fastmks.data import Store
from fastmks.data.precomputed import (
    VALUES,
    PrecomputedStore,
    join_values,
    read_gram_matrix,
    read_more_values,
    read_value_rows,
    restore_values,
)
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.base import Kernel
from fastmks.kernels.object_kernel import ObjectKernel
from fastmks.kernels.own import check_rtol


@dataclass(frozen=True, kw_only=True)
class _MatrixKernel(ObjectKernel):
    """The base of kernels whose values were computed before: how they are read and found."""

    is_mercer: bool = True
    rtol: float = 1e-10

    kind = VALUES
    is_normalized = False
    value_range = (-math.inf, math.inf)
    compares_queries = False
    joins_at_once = True
    finite_advice = "Pass a matrix of finite numbers."

    @property
    def is_trusted(self) -> bool:
        """Never: `is_mercer` is True unless the caller says otherwise, and a scan only reads."""
        return False

    @property
    def store_key(self) -> Hashable:
        """Equal for all; a greater `rtol` lets more matrices pass for symmetric."""
        return "values", self.rtol

    def read(self, objects: Any, *, name: str) -> Store:
        """Return the matrix as a store."""
        return read_gram_matrix(objects, rtol=self.rtol, name=name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> Store:
        """Return rows of values as a store."""
        return read_value_rows(queries, cast(PrecomputedStore, like), name=name)

    def read_one(self, one: Any, like: Store | None, *, name: str) -> Store:
        """Refuse a single object: its values are in the matrix."""
        raise InvalidArgument(
            "Precomputed() has no K(x, y) of two objects by themselves: its values are the entries "
            "of your matrix."
        )

    def read_more(self, objects: Any, like: Store, *, name: str) -> Store:
        """Return rows of values with the objects of `like` and then among themselves."""
        table = cast(PrecomputedStore, like)
        return read_more_values(objects, table, rtol=self.rtol, name=name)

    def join(self, stores: Sequence[Store]) -> Store:
        """Return the matrix of a store's objects and of those that were read to be added."""
        return join_values(cast("Sequence[PrecomputedStore]", stores))

    def restore(self, record: Record) -> Store:
        """Return the matrix that was recorded."""
        return restore_values(record)

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the space that looks values up."""
        table = cast(PrecomputedStore, store)
        values = table.values.view()
        values.flags.writeable = False
        return _core.precomputed_space(
            values,
            table.places,
            table.has_columns,
            table.n_columns,
            table.self_values,
            self.rtol if self.is_mercer else math.inf,
            isa,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Remembered(_MatrixKernel):
    """The values of another kernel, once they are known. Errors name that kernel."""

    kernel: Kernel

    mercer_columns = math.inf

    def __repr__(self) -> str:
        return repr(self.kernel)


@dataclass(frozen=True, kw_only=True)
class Precomputed(_MatrixKernel):
    """Values from a Gram matrix.

    The objects of an index are an n x n symmetric matrix, K(i, j) among n objects. A query is a
    row of n values, K(query, object) for each of them, or of n + 1, where the last is
    K(query, query): trees need it, scans do not. The matrix is not copied, also not by a tree.

    Parameters
    ----------
    is_mercer : bool, default True
        Whether the matrix is positive semidefinite, and stays so with each query. Trees need that;
        values that contradict it are a `NotMercerError`.
    rtol : float, default 1e-10
        Each value is off from that of an exact Mercer kernel by at most
        ``rtol * sqrt(K(x, x) * K(y, y))``. At most 0.01; for arithmetic in float32 use 1e-5.

    Examples
    --------
    >>> import fastmks
    >>> gram = [[4.0, 1.0, 0.0], [1.0, 9.0, 2.0], [0.0, 2.0, 1.0]]
    >>> index = fastmks.Index(gram, Precomputed())
    >>> index.search([[0.5, 3.0, 0.2]], k=2).indices
    array([[1, 0]])
    >>> index.search_self().indices
    array([[1],
           [2],
           [1]])
    """

    def __new__(cls, *matrix: Any, **options: Any) -> "Precomputed":
        """Refuse a matrix passed here, and say where it belongs."""
        if matrix:
            raise InvalidArgument(
                "Precomputed() takes no matrix: an index takes it as its objects, "
                "Index(matrix, Precomputed())."
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rtol", check_rtol(self.rtol))
        if not isinstance(self.is_mercer, bool):
            raise InvalidArgument(f"is_mercer must be True or False; got {self.is_mercer!r}.")

    @property
    def mercer_columns(self) -> float:
        """The user's `is_mercer`: always or never."""
        return math.inf if self.is_mercer else 0.0
