"""Objects under one kernel. This is the only place where a kernel is evaluated."""

import os
from typing import Any, NamedTuple, cast

import numpy as np

from fastmks import _core
from fastmks._util.arrays import Floats, Int64s
from fastmks._util.validation import check_threads
from fastmks.data import DenseStore, Store
from fastmks.engines.faults import Namer, named_faults
from fastmks.errors import InvalidArgument
from fastmks.kernels.base import Kernel, Normalized, OnField, Product, Scaled, Sum
from fastmks.kernels.object_kernel import ObjectKernel, leaves
from fastmks.kernels.objects import Objects, read_objects, read_one, read_queries


class Rounding(NamedTuple):
    """|value - exact value| <= relative * sqrt(K(x, x) K(y, y)) + absolute, for every pair."""

    relative: float
    absolute: float

    def joined(self, other: "Rounding") -> "Rounding":
        """Return the rounding of values between the objects of two spaces."""
        return Rounding(max(self.relative, other.relative), max(self.absolute, other.absolute))


class Space:
    """Objects under one kernel. Queries are objects of another Space with the same kernel.

    An engine may keep its objects in an order of its own: `order[place]` is then the slot of the
    object at a place. None means that places are slots.
    """

    def __init__(
        self,
        objects: Objects,
        kernel: Kernel,
        *,
        name: Namer = "objects[{}]".format,
        order: Int64s | None = None,
        isa: str | None = None,
    ) -> None:
        self.objects = objects
        self.kernel = kernel
        self.order = order
        self._size = len(objects)
        with named_faults(kernel, name, name):
            self.core = _build(kernel, objects, (), chosen_isa() if isa is None else isa)

    def __len__(self) -> int:
        return self._size

    def queries(self, queries: Any) -> "Space":
        """Return queries as a space that can be compared with this one."""
        read = read_queries(queries, self.kernel, self.objects)
        return Space(read, self.kernel, name="queries[{}]".format, isa=self.isa)

    def ordered(self, order: Int64s) -> "Space":
        """Return the same objects, copied, with the one at order[place] at each place."""
        before = order if self.order is None else self.order[order]
        return Space(self.objects.take(order), self.kernel, order=before)

    def part(self, places: Int64s) -> "Space":
        """Return some of the objects, copied, as a space of their own."""
        return Space(self.objects.take(places), self.kernel)

    def places(self, slots: Int64s | None) -> Int64s | None:
        """Return the places of the objects in these slots, increasing; None for all."""
        if slots is None or self.order is None:
            return slots
        is_wanted = np.zeros(len(self), dtype=bool)
        is_wanted[slots] = True
        return np.flatnonzero(is_wanted[self.order]).astype(np.int64)

    def places_of(self, slots: Int64s) -> Int64s:
        """Return the place of the object in each of these slots, in their order."""
        if self.order is None:
            return slots
        place_of = np.empty(len(self), dtype=np.int64)
        place_of[self.order] = np.arange(len(self))
        return place_of[slots]

    def in_first_order(self) -> Objects:
        """Return the objects by slot: as they are, or copied."""
        if self.order is None:
            return self.objects
        return self.objects.take(self.places_of(np.arange(len(self))))

    def slot(self, place: int) -> int:
        """Return the slot of the object at a place."""
        return place if self.order is None else int(self.order[place])

    @property
    def is_mercer(self) -> bool:
        """Whether the kernel is Mercer on these objects, as far as anybody said."""
        return _is_mercer(self.kernel, self.objects, ())

    @property
    def is_trusted(self) -> bool:
        """Whether "auto" may rely on the kernel being Mercer on these objects."""
        return self.is_mercer and all(leaf.is_trusted for _, leaf in leaves(self.kernel))

    @property
    def has_bounds(self) -> bool:
        """Whether the kernel has upper bounds of its own, which cost much less than its values."""
        return self.core.has_bounds

    @property
    def has_dense_scores(self) -> bool:
        """Whether a score of dense vectors orders the values (docs/how-it-works/scores.md)."""
        return self.core.score is not None and isinstance(self._first_store, DenseStore)

    @property
    def n_columns(self) -> int:
        """Length of the vectors whose scores order the values."""
        return cast(DenseStore, self._first_store).n_columns

    @property
    def _first_store(self) -> Store:
        fields, leaf = next(leaves(self.kernel))
        return self.objects.store(fields, leaf)

    @property
    def compares_queries(self) -> bool:
        """Whether two queries have a value; a query and an object always do."""
        return all(leaf.compares_queries for _, leaf in leaves(self.kernel))

    def threads(self, wanted: int) -> int:
        """Return how many threads may evaluate at once: one where Python does it."""
        return wanted if self.core.is_parallel else 1

    @property
    def rounding(self) -> Rounding:
        """The most that a value may differ from the exact one, among the objects of this space.

        Infinite where no such bound holds. For queries, join it with that of their space.
        """
        return Rounding(*self.core.rounding)

    @property
    def isa(self) -> str:
        """The instruction set that evaluates; it changes the speed, never a value."""
        return self.core.isa

    @property
    def n_self_evaluations(self) -> int:
        """Evaluations of some K(x, x) that preparing the objects cost."""
        return self.core.build_self_evaluations

    def self_values(self) -> Floats:
        """Return K(x, x) of every object."""
        return self.core.self_values()


def chosen_isa() -> str:
    """Return the instruction set to use: FASTMKS_ISA, or the best this CPU has."""
    available = _core.available_isas()
    wanted = os.environ.get("FASTMKS_ISA")
    if not wanted:
        return available[-1]
    if wanted not in available:
        raise InvalidArgument(
            f"the environment variable FASTMKS_ISA must be one of {', '.join(available)} on this "
            f"CPU; got {wanted!r}."
        )
    return wanted


def _build(kernel: Kernel, objects: Objects, fields: tuple[int, ...], isa: str) -> _core.Space:
    def build(part: Kernel) -> _core.Space:
        return _build(part, objects, fields, isa)

    match kernel:
        case ObjectKernel():
            return kernel.make_space(objects.store(fields, kernel), isa)
        case OnField():
            return _build(kernel.kernel, objects, (*fields, kernel.field), isa)
        case Sum():
            return _core.sum_space([build(term) for term in kernel.terms])
        case Product():
            return _core.product_space([build(factor) for factor in kernel.factors])
        case Scaled():
            return _core.scaled_space(build(kernel.kernel), kernel.factor)
        case Normalized():
            inner = kernel.kernel
            if isinstance(inner, ObjectKernel):
                own = inner.make_normalized_space(objects.store(fields, inner), isa)
                if own is not None:
                    return own
            return _core.normalized_space(build(inner), _is_mercer(inner, objects, fields))
    raise InvalidArgument(f"kernel must be one from fastmks.kernels; got {kernel!r}.")


def _is_mercer(kernel: Kernel, objects: Objects, fields: tuple[int, ...]) -> bool:
    return all(
        leaf.is_mercer_on(objects.store((*fields, *more), leaf)) for more, leaf in leaves(kernel)
    )


def has_normalization(kernel: Kernel) -> bool:
    """Whether preparing objects evaluates K(x, x), so that a wrong value is an error then."""
    return _count_normalizations(kernel) > 0


def _count_normalizations(kernel: Kernel) -> int:
    match kernel:
        case ObjectKernel():
            return 0
        case Normalized():
            return 1 + _count_normalizations(kernel.kernel)
        case Scaled() | OnField():
            return _count_normalizations(kernel.kernel)
        case Sum():
            return sum(map(_count_normalizations, kernel.terms))
        case Product():
            return sum(map(_count_normalizations, kernel.factors))
    return 0


def evaluate_matrix(kernel: Kernel, A: Any, B: Any = None, *, threads: int | None = None) -> Floats:
    """Return K(a, b) for every a in A and b in B, or in A where B is None."""
    name_row, name_column = "A[{}]".format, ("A[{}]" if B is None else "B[{}]").format
    columns = Space(
        read_objects(A if B is None else B, kernel, name="A" if B is None else "B"),
        kernel,
        name=name_column,
    )
    rows = columns
    if B is not None:
        rows = Space(read_queries(A, kernel, columns.objects, name="A"), kernel, name=name_row)
    n_threads = columns.threads(check_threads(threads))
    with named_faults(kernel, name_row, name_column):
        return _core.scan_matrix(columns.core, rows.core, n_threads)


def evaluate_pair(kernel: Kernel, x: Any, y: Any) -> float:
    """Return K(x, y) for two objects."""
    objects = Space(read_one(y, kernel, None, name="y"), kernel, name=lambda _: "y")
    query = Space(read_one(x, kernel, objects.objects, name="x"), kernel, name=lambda _: "x")
    if len(objects) != 1 or len(query) != 1:
        raise InvalidArgument("x and y must be one object each; for more, use kernel.matrix(A, B).")
    with named_faults(kernel, lambda _: "x", lambda _: "y"):
        return float(_core.scan_matrix(objects.core, query.core, 1)[0, 0])
