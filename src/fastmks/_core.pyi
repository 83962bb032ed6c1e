"""The compiled core of fastmks: private, and free to change."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


version: str = '0.1.0'

class VectorStore:
    """Vectors, over arrays that are not copied."""

@overload
def first_not_finite(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int: ...

@overload
def first_not_finite(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
    """Position of the first NaN or infinity, or -1."""

@overload
def dense_store(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> VectorStore: ...

@overload
def dense_store(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> VectorStore: ...

@overload
def sparse_store(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int) -> VectorStore: ...

@overload
def sparse_store(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int) -> VectorStore: ...

class ValueFault(ArithmeticError):
    pass

class SelfValueFault(ArithmeticError):
    pass

class Space:
    """Objects under one kernel."""

    def __len__(self) -> int: ...

    @property
    def rounding(self) -> tuple[float, float]:
        """
        (relative, absolute): |value - exact| <= relative * sqrt(K(x,x) K(y,y)) + absolute.
        """

    @property
    def isa(self) -> str: ...

    def self_values(self) -> NDArray[numpy.float64]:
        """K(x, x) of every object."""

def available_isas() -> list[str]: ...

def vector_space(store: VectorStore, isa: str, form: str, degree: int, scale: float, offset: float, bandwidth: float) -> Space: ...

def sum_space(terms: Sequence[Space]) -> Space: ...

def product_space(factors: Sequence[Space]) -> Space: ...

def scaled_space(space: Space, factor: float) -> Space: ...

def normalized_space(space: Space, is_mercer: bool) -> Space: ...

def scan_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip_self: bool, k: int, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

def scan_above(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, progress: object | None) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]: ...

def scan_matrix(objects: Space, queries: Space, threads: int) -> NDArray[numpy.float64]: ...
