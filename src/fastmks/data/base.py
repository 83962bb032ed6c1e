"""The interface of all stores: objects of one kind, held as their kernels read them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, TypeVar

from fastmks._util.arrays import Int64s
from fastmks.files.record import Record

_Self = TypeVar("_Self", bound="Store")


class Store(ABC):
    """Objects of one kind, checked once, in memory that the index owns or shares. Never changed."""

    # Whether queries are read for one store only, since the store numbers the features.
    numbers_features: ClassVar[bool] = False

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def kind(self) -> str:
        """The objects, in words: "vectors of 3 columns"."""

    @property
    def form(self) -> Hashable:
        """A key, equal for stores whose objects can be joined in one store."""
        return type(self), self.kind

    @abstractmethod
    def copy(self: _Self) -> _Self:
        """A store of the same objects, in memory of its own."""

    @abstractmethod
    def take(self: _Self, positions: Int64s) -> _Self:
        """The objects at these positions, in this order, in memory of their own."""

    @abstractmethod
    def get(self, positions: Int64s) -> Any:
        """The objects at these positions, as something that their kernel reads."""

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """The memory of the objects, including memory shared with the caller."""

    @abstractmethod
    def record(self) -> Record:
        """The arrays and facts of the store, for a file."""
