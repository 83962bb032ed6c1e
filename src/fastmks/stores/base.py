"""What every store is: the objects of one kind, kept as one kind of kernel wants them."""

from abc import ABC, abstractmethod
from typing import Any, TypeVar

import numpy as np

__all__ = ["Store"]

_Self = TypeVar("_Self", bound="Store")


class Store(ABC):
    """Objects of one kind, checked once, in memory that the index owns or shares. Never changed."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def kind(self) -> str:
        """What the objects are, in words: "vectors of 3 columns"."""

    @abstractmethod
    def copy(self: _Self) -> _Self:
        """The same objects in memory of their own."""

    @abstractmethod
    def take(self: _Self, positions: np.ndarray[Any, np.dtype[np.int64]]) -> _Self:
        """The objects at these positions, in this order, in memory of their own."""
