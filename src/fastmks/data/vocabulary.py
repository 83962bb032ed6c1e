"""Columns for features, numbered as they appear."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from fastmks._util.arrays import Int32s
from fastmks._util.fork_safe import cached_property
from fastmks.errors import IndexFileError, InvalidArgument

_MOST_COLUMNS = 2**31 - 1


class Vocabulary:
    """Columns for features, numbered from 0 as they appear.

    A vocabulary that extends another does not change it: features of the other keep their columns,
    further ones get columns after them.
    """

    def __init__(self, known: "Vocabulary | None" = None) -> None:
        self.known = known
        self._begin = 0 if known is None else len(known)
        self._read: Callable[[], Sequence[Hashable]] = tuple
        self._n_read = 0

    @classmethod
    def stored(cls, read: Callable[[], Sequence[Hashable]], n_features: int) -> "Vocabulary":
        """Return a vocabulary of the features of a file, which are read when needed."""
        made = cls()
        made._read, made._n_read = read, n_features
        return made

    @cached_property
    def columns(self) -> dict[Hashable, int]:
        """The columns of the features that the extended vocabulary does not have."""
        columns = {feature: column for column, feature in enumerate(self._read())}
        if len(columns) != self._n_read:
            raise IndexFileError(f"there must be {self._n_read} different features.")
        return columns

    def __len__(self) -> int:
        columns = self.__dict__.get("columns")
        return self._begin + (self._n_read if columns is None else len(columns))

    def first(self, n_features: int | None = None) -> list[Any]:
        """Return the features of the first columns, or of all; the vocabulary extends no other."""
        return list(islice(self.columns, n_features))

    def find(self, feature: Hashable) -> int | None:
        """Return the column of a feature, or None where it has not appeared."""
        column = self.columns.get(feature)
        if column is None and self.known is not None:
            return self.known.find(feature)
        return column

    def number(self, features: Iterable[Hashable]) -> Int32s:
        """Return the columns of features, new ones where they have none yet."""
        columns, begin = self.columns, self._begin
        if self.known is None:
            found = [columns.setdefault(feature, len(columns)) for feature in features]
        else:
            is_last = self.known.known is None
            find = self.known.columns.get if is_last else self.known.find
            found = []
            for feature in features:
                column = find(feature)
                if column is None:
                    column = columns.setdefault(feature, begin + len(columns))
                found.append(column)
        if len(self) > _MOST_COLUMNS:
            raise InvalidArgument(
                f"the objects must have at most 2**31 - 1 different features; got {len(self)}."
            )
        return np.array(found, dtype=np.int32)
