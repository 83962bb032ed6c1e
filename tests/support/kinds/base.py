"""What a kind of object is to the tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastmks.kernels import Kernel


@dataclass(frozen=True)
class Kind:
    """Some objects and queries, and a kernel for them.

    Make the objects hard: duplicates, ties at rank k, zero objects, one very long or very short.
    """

    name: str
    kernel: Kernel
    objects: Any
    queries: Any
    counterexample: Any = None  # objects whose Gram matrix is not, where the kernel is not Mercer
    bad: Sequence[tuple[Any, str]] = ()  # objects that are refused, and words of the error

    def __str__(self) -> str:
        return self.name
