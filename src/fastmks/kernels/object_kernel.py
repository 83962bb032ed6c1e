"""The kernels that compare objects themselves, and how to find them in an expression."""

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields
from typing import Any, ClassVar, cast

from fastmks import _core
from fastmks.data import Store
from fastmks.data.kinds import ANYTHING, ObjectKind
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.base import Kernel, Normalized, OnField, Product, Scaled, Sum


class ObjectKernel(Kernel):
    """A kernel that compares objects itself instead of combining other kernels.

    It defines how its objects are read into a store, and which space of the core evaluates them.
    """

    # The objects that it compares.
    kind: ClassVar[ObjectKind] = ANYTHING
    # Advice for values that are too large for float64.
    finite_advice: ClassVar[str] = "Rescale the objects, or use Normalized(...)."
    # Which kernels of the same objects are Mercer, as a sentence; empty where none is known.
    mercer_advice: ClassVar[str] = ""
    # Whether values are so expensive that it pays to store them.
    is_expensive: ClassVar[bool] = False
    # Whether two queries have a value; an object and a query always do.
    compares_queries: ClassVar[bool] = True
    # Whether added objects are values with those before them, so that all must be in one store
    # before anything is evaluated.
    joins_at_once: ClassVar[bool] = False

    def __repr__(self) -> str:
        """The expression that creates it, without optional parameters that were not given."""
        given = [(f.name, getattr(self, f.name)) for f in fields(cast(Any, self))]
        shown = (f"{name}={value!r}" for name, value in given if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def tree_advice(self) -> str:
        """Advice where the kernel is not Mercer, and has no bounds."""
        return "Pass algorithm='scan'."

    @property
    def is_trusted(self) -> bool:
        """Whether "auto" may rely on its being Mercer: it was proven, or the caller declared it."""
        return True

    @property
    @abstractmethod
    def store_key(self) -> Hashable:
        """The key of its stores: kernels with equal keys read objects into the same store."""

    @abstractmethod
    def read(self, objects: Any, *, name: str) -> Store:
        """Return the store of some objects; errors call them `name`."""

    @abstractmethod
    def read_queries(self, queries: Any, like: Store, *, name: str) -> Store:
        """Return the store of some queries, to be compared with the objects of `like`."""

    def read_one(self, one: Any, like: Store | None, *, name: str) -> Store:
        """Return the store of a single object, to be compared with those of `like` if given."""
        if like is None:
            return self.read([one], name=name)
        return self.read_queries([one], like, name=name)

    def read_more(self, objects: Any, like: Store, *, name: str) -> Store:
        """Return a store of objects to be added to those of `like`; one alone is accepted.

        They are checked against those, but compared with queries of their own where the store
        numbers features.
        """
        return self.read_queries(objects, like, name=name)

    @abstractmethod
    def join(self, stores: Sequence[Store]) -> Store:
        """Return the objects of several stores, in order, in one with memory of its own."""

    @abstractmethod
    def restore(self, record: Record) -> Store:
        """Return the store that was recorded, on the arrays of the record as they are.

        Evaluations stay within these arrays for any content; a wrong one is an IndexFileError.
        """

    def find_fault(self, store: Store, isa: str) -> str:
        """Return which figures of a store do not follow from its objects; empty if all do."""
        return ""

    @abstractmethod
    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the space of the core that evaluates this kernel on a store it has read."""

    def make_normalized_space(self, store: Store, isa: str) -> _core.Space | None:
        """Return the space of the normalised kernel where it has one of its own."""
        return None

    def is_mercer_on(self, store: Store) -> bool:
        """Whether the kernel is Mercer on the objects of this store and queries like them."""
        return self.is_mercer is not False


class NormalizedKernel(ObjectKernel):
    """A kernel whose core evaluates normalised values too, without those that overflow."""

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space."""
        return self._space(store, isa, is_normalized=False)

    def make_normalized_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space of normalised values."""
        return self._space(store, isa, is_normalized=True)

    @abstractmethod
    def _space(self, store: Store, isa: str, *, is_normalized: bool) -> _core.Space: ...


def leaves(kernel: Kernel) -> Iterator[tuple[tuple[int, ...], ObjectKernel]]:
    """Yield the kernels of an expression that compare objects themselves.

    Each comes with the fields to follow, from the outermost object, to those that it compares.
    """
    match kernel:
        case ObjectKernel():
            yield (), kernel
        case OnField():
            for more, leaf in leaves(kernel.kernel):
                yield (kernel.field, *more), leaf
        case Sum():
            for term in kernel.terms:
                yield from leaves(term)
        case Product():
            for factor in kernel.factors:
                yield from leaves(factor)
        case Scaled() | Normalized():
            yield from leaves(kernel.kernel)
        case _:
            raise InvalidArgument(f"kernel must be one from fastmks.kernels; got {kernel!r}.")
