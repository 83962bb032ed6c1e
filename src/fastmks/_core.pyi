"""The compiled core of fastmks: private, and free to change."""

from collections.abc import Sequence, Set
from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray
from typing_extensions import CapsuleType


version: str = '0.1.0'

itself: int = 18446744073709551615

class ValueFault(ArithmeticError):
    pass

class SelfValueFault(ArithmeticError):
    pass

class MissingSelfValue(ArithmeticError):
    pass

class ReturnFault(ArithmeticError):
    pass

class NotMercerFault(ArithmeticError):
    pass

class TriangleFault(ArithmeticError):
    pass

class PivotFault(ArithmeticError):
    pass

class AsymmetryFault(ArithmeticError):
    pass

class BoundFault(ArithmeticError):
    pass

class CoordinateFault(ArithmeticError):
    pass

class DamageFault(ArithmeticError):
    pass

def set_check(check: object | None) -> object:
    """
    Make long work on this thread call a function a few times a second, or None. Returns the one before. The caller keeps the function alive while it is set.
    """

def eigenvectors(symmetric: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Eigenvalues, the greatest first, and eigenvectors as rows; NaN where the matrix is not finite.
    """

def gram(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """The products of all pairs of columns."""

class VectorStore:
    """Vectors, over arrays that are not copied."""

@overload
def first_not_finite(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int: ...

@overload
def first_not_finite(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
    """Position of the first NaN or infinity, or -1."""

@overload
def dense_store(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)]) -> VectorStore: ...

@overload
def dense_store(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)]) -> VectorStore: ...

@overload
def sparse_store(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, has_exact_products: bool = False) -> VectorStore: ...

@overload
def sparse_store(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, has_exact_products: bool = False) -> VectorStore: ...

class GramTable:
    """The grams of some sequences."""

    def arrays(self) -> dict[str, numpy.typing.NDArray[numpy.generic]]: ...

    @overload
    def count(self, letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], object, int, int]: ...

    @overload
    def count(self, letters: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], object, int, int]:
        """
        The counts of other sequences; new grams have columns after all others.
        """

def restore_gram_table(length: int, mismatches: int, alphabet: Sequence[int], arrays: dict[str, numpy.typing.NDArray[numpy.generic]]) -> GramTable: ...

@overload
def count_grams(letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, mismatches: int, alphabet: Sequence[int], threads: int) -> tuple[GramTable, tuple[NDArray[numpy.int64], NDArray[numpy.int32], object, int, int]]: ...

@overload
def count_grams(letters: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, mismatches: int, alphabet: Sequence[int], threads: int) -> tuple[GramTable, tuple[NDArray[numpy.int64], NDArray[numpy.int32], object, int, int]]:
    """
    The grams of some sequences and their counts: offsets, columns, counts, number of columns, and the first row whose inner product with itself exceeds 2**53.
    """

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

    @property
    def has_bounds(self) -> bool:
        """
        Whether it has upper bounds of its own, far less expensive than values.
        """

    @property
    def score(self) -> str | None:
        """The kind of score that orders the values, or None."""

    @property
    def is_parallel(self) -> bool:
        """Whether several threads may evaluate at once."""

    @property
    def halves_self_scan(self) -> bool:
        """
        Whether a search of all objects for all should evaluate each pair once.
        """

    def measure_cost(self) -> tuple[float, float]:
        """(seconds per call, seconds per value in it)"""

    @property
    def build_self_evaluations(self) -> int:
        """Evaluations of some K(x, x) that building it took."""

    def self_values(self) -> NDArray[numpy.float64]:
        """K(x, x) of every object."""

class TracedSpace(Space):
    """Another space, which records the objects evaluated."""

    def seen(self) -> NDArray[numpy.bool_]:
        """Whether each object was evaluated."""

def available_isas() -> list[str]: ...

def vector_space(store: VectorStore, isa: str, form: str, degree: int = 1, scale: float = 1.0, offset: float = 0.0, bandwidth: float = 1.0) -> Space: ...

def sum_space(terms: Sequence[Space]) -> Space: ...

def product_space(factors: Sequence[Space]) -> Space: ...

def scaled_space(space: Space, factor: float) -> Space: ...

def normalized_space(space: Space, is_mercer: bool) -> Space: ...

def traced_space(space: Space) -> TracedSpace: ...

def path_counts(graphs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]]:
    """
    (graph, low label, high label, length, count) of the pairs of nodes in each graph.
    """

class ResidueStore:
    """Strings, over arrays that are not copied."""

class SeriesStore:
    """Series, over arrays that are not copied."""

def residue_store(residues: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> ResidueStore: ...

def series_store(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_channels: int) -> SeriesStore: ...

def local_alignment_space(store: ResidueStore, isa: str, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gap_open: float, gap_extend: float, beta: float, is_normalized: bool, is_mercer: bool) -> Space: ...

def best_alignment_space(store: ResidueStore, isa: str, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gap_open: float, gap_extend: float, has_gaps: bool) -> Space: ...

def global_alignment_space(store: SeriesStore, isa: str, bandwidth: float, triangular: int, is_normalized: bool) -> Space: ...

def python_space(calls: object, relative: float, is_symmetric: bool, isa: str) -> Space:
    """The space does not keep `calls` alive."""

def function_space(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], owner: object, address: int, relative: float, is_symmetric: bool, isa: str) -> Space:
    """
    A function double(const double*, const double*, intp) that `owner` keeps alive.
    """

def precomputed_space(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], has_columns: bool, n_columns: int, self_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], relative: float, isa: str) -> Space: ...

def capsule_address(capsule: CapsuleType) -> int:
    """Where a capsule points."""

class SetStore:
    """Sets, over arrays that are not copied."""

def bit_store(words: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> SetStore: ...

def member_store(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_known: int) -> SetStore: ...

def tanimoto_space(store: SetStore, isa: str) -> Space: ...

def minmax_space(store: VectorStore, isa: str) -> Space: ...

def scan_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

def scan_self(objects: Space, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, k: int, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

def self_scan_evaluations(objects: Space) -> int: ...

def scan_above(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, progress: object | None) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]: ...

def scan_matrix(objects: Space, queries: Space, threads: int) -> NDArray[numpy.float64]: ...

def own_bounds_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], tuple[int, int, int, int, int]]: ...

def own_bounds_above(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, progress: object | None) -> tuple[tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]], tuple[int, int, int, int, int]]: ...

def own_bounds_approximate_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, epsilon: float, relative: float, budget: int | None, seconds: float | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.float64], tuple[int, int, int, int, int]]: ...

class Projection:
    """Puts objects into a few coordinates."""

    @property
    def dimension(self) -> int: ...

class AxisProjection(Projection):
    """Puts vectors on axes."""

    def rows(self) -> NDArray[numpy.float64]: ...

    def origin(self) -> NDArray[numpy.float64] | None: ...

class CodeTable:
    """Objects in 8-bit codes that bound their scores."""

    def __len__(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    def arrays(self) -> dict[str, numpy.typing.NDArray[numpy.generic]]: ...

    @property
    def dimension(self) -> int: ...

    @property
    def n_leaves(self) -> int: ...

    @property
    def axes(self) -> AxisProjection: ...

    def find_fault(self, objects: Space, threads: int, progress: object | None) -> str: ...

def axis_projection(objects: Space, axes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], origin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> AxisProjection: ...

def choose_axes(objects: Space, queries: Space | None, dimension: int | None, n_hits: float, threads: int, progress: object | None) -> tuple[AxisProjection, float, float]: ...

def guess_axes_seconds(n_objects: int, n_columns: int) -> float: ...

def code_table(objects: Space, projection: Projection, threads: int, progress: object | None) -> CodeTable: ...

def restore_codes(objects: Space, arrays: dict[str, numpy.typing.NDArray[numpy.generic]]) -> CodeTable: ...

def codes_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: CodeTable, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], tuple[int, int, int, int, int]]: ...

def codes_above(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: CodeTable, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, progress: object | None) -> tuple[tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]], tuple[int, int, int, int, int]]: ...

def codes_approximate_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: CodeTable, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, epsilon: float, relative: float, budget: int | None, seconds: float | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.float64], tuple[int, int, int, int, int]]: ...

class Postings:
    """Sparse vectors by columns."""

    def __len__(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    def arrays(self) -> dict[str, numpy.typing.NDArray[numpy.generic]]: ...

    @staticmethod
    def fits(objects: Space) -> bool: ...

    @property
    def n_planes(self) -> int: ...

    @property
    def n_postings(self) -> int: ...

def postings(objects: Space, progress: object | None) -> Postings: ...

def restore_postings(objects: Space, arrays: dict[str, numpy.typing.NDArray[numpy.generic]]) -> Postings: ...

def postings_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: Postings, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], tuple[int, int, int, int, int]]: ...

def postings_above(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: Postings, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, progress: object | None) -> tuple[tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]], tuple[int, int, int, int, int]]: ...

def postings_approximate_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: Postings, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, epsilon: float, relative: float, budget: int | None, seconds: float | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.float64], tuple[int, int, int, int, int]]: ...

class PivotProjection(Projection):
    """Objects on the span of a few."""

    @property
    def n_pivots(self) -> int: ...

    def pivots(self) -> NDArray[numpy.int64]: ...

    def project(self, objects: Space) -> dict[str, object]: ...

    @property
    def error_share(self) -> float: ...

    @property
    def build_evaluations(self) -> int: ...

    def find_fault(self) -> str: ...

class PivotTable:
    """All objects on the span of pivots."""

    def __len__(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    def arrays(self) -> dict[str, numpy.typing.NDArray[numpy.generic]]: ...

def pivot_projection(objects: Space, pivots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> PivotProjection: ...

def pivot_table(projection: PivotProjection, threads: int, progress: object | None) -> PivotTable: ...

def restore_pivots(objects: Space, arrays: dict[str, numpy.typing.NDArray[numpy.generic]]) -> tuple[PivotProjection, PivotTable]: ...

def pivots_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: PivotTable, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], tuple[int, int, int, int, int]]: ...

def pivots_above(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: PivotTable, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, progress: object | None) -> tuple[tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]], tuple[int, int, int, int, int]]: ...

def pivots_approximate_top_k(objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, structure: PivotTable, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, epsilon: float, relative: float, budget: int | None, seconds: float | None, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.float64], tuple[int, int, int, int, int]]: ...

class Traversal:
    """How a tree search goes about it."""

    def __init__(self, order: str, block: int, cheap: int, bounds: Set[str]) -> None: ...

class CoverTree:
    """A cover tree in the kernel's Hilbert space."""

    def __len__(self) -> int: ...

    @property
    def base(self) -> float: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    @property
    def build_evaluations(self) -> int: ...

    @property
    def build_self_evaluations(self) -> int: ...

    def order(self) -> NDArray[numpy.int64]: ...

    def leaf_distances(self) -> NDArray[numpy.float64]: ...

    def nodes(self) -> dict[str, object]: ...

    def arrays(self) -> dict[str, numpy.typing.NDArray[numpy.generic]]: ...

    def find_fault(self, space: Space, progress: object | None = None) -> str: ...

    def find_false_figure(self, space: Space, progress: object | None) -> str: ...

smallest_base: float = 1.000001

largest_self_value: float = 2.247116418577895e+307

def build_cover_tree(space: Space, base: float, threads: int, progress: object | None) -> CoverTree: ...

def restore_cover_tree(arrays: dict[str, numpy.typing.NDArray[numpy.generic]], n_objects: int) -> CoverTree: ...

def tree_top_k(tree: CoverTree, objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip_self: bool, k: int, floors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, traversal: Traversal, epsilon: float, relative: float, budget: int | None, seconds: float | None, sample_size: int, seed: int, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.float64], dict[str, int]]: ...

def dual_tree_top_k(tree: CoverTree, query_tree: CoverTree, objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip_self: bool, k: int, traversal: Traversal, epsilon: float, relative: float, threads: int, progress: object | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.float64], dict[str, int]]: ...

def tree_above(tree: CoverTree, objects: Space, queries: Space, among: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], traversal: Traversal, threads: int, progress: object | None) -> tuple[tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]], dict[str, int]]: ...
