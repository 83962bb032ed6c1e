"""What every store is: the objects of one kind, kept as one kind of kernel wants them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, TypeVar

import numpy as np

from fastmks.files.record import Record

__all__ = ["Store"]

_Self = TypeVar("_Self", bound="Store")


class Store(ABC):
    """Objects of one kind, checked once, in memory that the index owns or shares. Never changed."""

    # Whether queries must be read for this very store, since it numbers what its objects have.
    numbers_features: ClassVar[bool] = False

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def kind(self) -> str:
        """What the objects are, in words: "vectors of 3 columns"."""

    @property
    def form(self) -> Hashable:
        """The same for stores whose objects can be in one store."""
        return type(self), self.kind

    @abstractmethod
    def copy(self: _Self) -> _Self:
        """The same objects in memory of their own."""

    @abstractmethod
    def take(self: _Self, positions: np.ndarray[Any, np.dtype[np.int64]]) -> _Self:
        """The objects at these positions, in this order, in memory of their own."""

    @abstractmethod
    def get(self, positions: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
        """The objects at these positions, as something that their kernel reads."""

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """The memory that the objects take, theirs and what is shared with the caller."""

    @abstractmethod
    def record(self) -> Record:
        """What the store is made of, for a file."""
