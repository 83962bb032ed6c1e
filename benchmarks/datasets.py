"""The problems of the benchmarks: generated, shipped with scikit-learn, or from a folder."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

COUNTS_FILES = {"20 newsgroups": "newsgroups20_counts.npz", "blog posts": "blogposts_counts.npz"}
_N_QUERIES = 1000  # held out of sets that come without queries of their own


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Objects and queries as given: two arrays, two CSR matrices, or two lists of any objects.

    An array of uint64 holds fingerprints, 64 bits in each number.
    """

    name: str
    origin: str  # how to get the same rows again
    objects: Any
    queries: Any
    width: int | None = None  # of objects in a list: the columns that a vector of theirs would have
    vectors: tuple[Any, Any] | None = None  # objects and queries of lists, for vector-only peers

    @property
    def kind(self) -> str:
        """The kind of rows: "dense", "sparse", "bits", or "objects" that are no vectors."""
        if isinstance(self.objects, list):
            return "objects" if self.vectors is None else "sparse"
        if not isinstance(self.objects, np.ndarray):
            return "sparse"
        return "bits" if self.objects.dtype == np.uint64 else "dense"

    @property
    def has_rows(self) -> bool:
        """Whether the objects are vectors, one per row."""
        return not isinstance(self.objects, list)

    @property
    def n_bytes(self) -> int:
        """Memory of the objects in bytes; of lists that have vectors, that of the vectors."""
        rows = self.objects if self.vectors is None else self.vectors[0]
        if isinstance(rows, list):
            return sum(len(one) for one in rows)
        return bytes_of(rows)

    @property
    def n_objects(self) -> int:
        """How many objects are searched."""
        return count_rows(self.objects)

    @property
    def n_queries(self) -> int:
        """How many queries are asked."""
        return count_rows(self.queries)

    @property
    def n_columns(self) -> int:
        """The length of every vector."""
        if not self.has_rows:
            return self.width or 0
        return int(self.objects.shape[1]) * (64 if self.kind == "bits" else 1)

    def cast(self, dtype: str) -> "Problem":
        """Return the problem with its rows stored as `dtype`, rounded where necessary."""
        if not self.has_rows or self.kind == "bits":
            return self
        return self.changed(
            *(rows.astype(dtype, copy=False) for rows in (self.objects, self.queries))
        )

    def first_queries(self, n_queries: int) -> "Problem":
        """Return the problem with fewer queries."""
        if n_queries >= self.n_queries:
            return self
        note = f"the first {self.n_objects} objects and {n_queries} queries"
        return self.changed(self.objects, self.queries[:n_queries], note)

    def sample(self, n_objects: int, n_queries: int) -> "Problem":
        """Return at most this many rows of each, drawn without replacement.

        A larger draw contains every smaller one.

        Rows keep their order. What is small enough already stays as it is.
        """
        random = np.random.default_rng(0)
        parts = []
        for rows, most in ((self.objects, n_objects), (self.queries, n_queries)):
            mixed = random.permutation(rows.shape[0])
            parts.append(rows if rows.shape[0] <= most else rows[np.sort(mixed[:most])])
        objects, queries = parts
        if (objects.shape[0], queries.shape[0]) == (self.n_objects, self.n_queries):
            return self
        note = f"a sample of {objects.shape[0]} objects and {queries.shape[0]} queries (seed 0)"
        return self.changed(objects, queries, note)

    def within_unit_ball(self) -> "Problem":
        """Return the rows divided by a power of two, so that no row is longer than 1.

        High powers of products stay in range, and no entry is rounded.
        """
        longest = max(float(squares_of(rows).max()) for rows in (self.objects, self.queries)) ** 0.5
        scale = 2.0 ** -np.ceil(np.log2(longest)) if longest > 0.0 else 1.0
        if scale == 1.0:
            return self
        exact = self.cast("float64")
        return exact.changed(
            exact.objects * scale, exact.queries * scale, f"times 2^{int(np.log2(scale))}"
        )

    def changed(self, objects: Any, queries: Any, note: str = "") -> "Problem":
        """Return the problem with other objects and queries, and one more note."""
        origin = f"{self.origin}; {note}" if note else self.origin
        return replace(self, origin=origin, objects=objects, queries=queries)


def count_rows(rows: Any) -> int:
    """Return the number of rows, or of objects; a sparse matrix has no len()."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def bytes_of(rows: Any) -> int:
    """Return the memory of an array or a CSR matrix."""
    parts = (rows,) if isinstance(rows, np.ndarray) else (rows.data, rows.indices, rows.indptr)
    return sum(int(part.nbytes) for part in parts)


def squares_of(rows: Any) -> NDArray[np.float64]:
    """Return the squared length of each row, of an array or a CSR matrix."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def _generated(
    name: str, draw: Callable[..., Any], n_objects: int, n_columns: int, *, n_queries: int
) -> Problem:
    """Return independent entries, float64."""
    random = np.random.default_rng(0)
    return Problem(
        name=f"{name} {n_objects} x {n_columns}",
        origin="generated, seed 0",
        objects=draw(random, (n_objects, n_columns)),
        queries=draw(random, (n_queries, n_columns)),
    )


normal = partial(_generated, "normal", np.random.Generator.standard_normal)
uniform = partial(_generated, "uniform", np.random.Generator.random)  # between 0 and 1


def decaying(n_objects: int, n_columns: int, *, n_queries: int, is_turned: bool) -> Problem:
    """Return normal rows of which axis i is scaled by 1 / i, then turned at random or not."""
    found = normal(n_objects, n_columns, n_queries=n_queries)
    weights = 1.0 / np.arange(1.0, n_columns + 1.0)
    objects, queries = (
        turned(rows * weights) if is_turned else rows * weights
        for rows in (found.objects, found.queries)
    )
    note = f"axis i scaled by 1 / i{', then rotated' * is_turned}"
    return found.changed(objects, queries, note)


def turned(rows: NDArray[Any], n_axes: int | None = None) -> NDArray[Any]:
    """Return rows turned by one fixed random rotation; the rows may have fewer axes."""
    square = np.random.default_rng(1).standard_normal(2 * (n_axes or rows.shape[1],))
    return np.asarray(rows @ np.linalg.qr(square)[0][: rows.shape[1]])


def digits() -> Problem:
    """Return scikit-learn's digits as in the paper: 1347 objects, 450 queries, integers."""
    from sklearn.datasets import load_digits

    rows = np.ascontiguousarray(load_digits().data)
    origin = "ships with scikit-learn; the last 450 rows are queries"
    return Problem(name="digits", origin=origin, objects=rows[:1347], queries=rows[1347:])


def zipf_counts(n_objects: int, n_columns: int, *, n_queries: int) -> Problem:
    """Return word counts of generated texts: word r is drawn as often as 1 / (r + 10)."""
    from scipy.sparse import csr_matrix

    random, n_texts = np.random.default_rng(0), n_objects + n_queries
    lengths = np.ceil(random.lognormal(4.5, 0.8, n_texts)).astype(np.int64)
    weights = 1.0 / (np.arange(n_columns) + 10.0)
    words = random.choice(n_columns, size=int(lengths.sum()), p=weights / weights.sum())
    texts = np.repeat(np.arange(n_texts), lengths)
    counts = csr_matrix((np.ones(len(words)), (texts, words)), shape=(n_texts, n_columns))
    objects, queries = counts[:n_objects], counts[n_objects:]
    return Problem(name="zipf text", origin="generated, seed 0", objects=objects, queries=queries)


def read_counts(folder: Path, name: str, n_held_out: int = _N_QUERIES) -> Problem:
    """Return a text set as word counts, some of the texts held out as queries."""
    from scipy.sparse import load_npz

    stored: Any = load_npz(folder / COUNTS_FILES[name])
    counts = stored.tocsr().astype(np.float64)
    objects, queries = _held_out(counts.shape[0], n_held_out)
    return Problem(
        name=name,
        origin=f"word counts, {n_held_out} texts held out as queries (seed 0)",
        objects=counts[objects],
        queries=counts[queries],
    )


def weigh_texts(counted: Problem) -> Problem:
    """Weigh counts by tf-idf and make rows unit vectors, so that linear is the cosine of texts."""
    objects = counted.objects
    n_with_word = np.bincount(objects.indices, minlength=objects.shape[1])
    weights = 1.0 + np.log((1.0 + objects.shape[0]) / (1.0 + n_with_word))

    def weigh(counts: Any) -> Any:
        rows = counts.copy()
        rows.data = (1.0 + np.log(rows.data)) * weights[rows.indices]
        rows = unit_rows(rows)
        rows.sort_indices()
        return rows

    return counted.changed(weigh(objects), weigh(counted.queries), "tf-idf, unit rows")


def unit_rows(rows: Any) -> Any:
    """Return rows of an array or a CSR matrix, divided by their lengths."""
    squares = squares_of(rows)
    norms = np.sqrt(np.where(squares > 0.0, squares, 1.0))
    if isinstance(rows, np.ndarray):
        return (rows / norms[:, None]).astype(rows.dtype)
    unit = rows.copy()
    unit.data = rows.data / np.repeat(norms, np.diff(rows.indptr))
    return unit


_ARRAYS = (("train", "test"), ("items", "users"), ("X",))  # of objects and queries, in files


@dataclass(frozen=True, kw_only=True)
class Table:
    """A file of arrays: one with the objects, and one with the queries, if any."""

    name: str
    file: str
    n_held_out: int = _N_QUERIES  # where the file has no queries of their own
    last_column: str | None = None  # of numbers, one for each row, after the others
    scale: float | str = 1.0  # or the array whose number multiplies all

    def read(self, folder: Path, dtype: str = "float64") -> Problem:
        """Return the rows of the file."""
        with np.load(folder / self.file) as arrays:
            names = [one for one in _ARRAYS if {*one} <= {*arrays.files}]
            objects, *rest = (arrays[name] for name in names[0])
            if self.last_column is not None:
                objects = np.column_stack([objects, arrays[self.last_column]])
            scale = float(arrays[self.scale] if isinstance(self.scale, str) else self.scale)
        origin = ", and ".join(names[0]) + " as queries"
        if not rest:
            kept, held_out = _held_out(len(objects), self.n_held_out)
            objects, rest = objects[kept], [objects[held_out]]
            origin = f"{names[0][0]}, {self.n_held_out} rows held out as queries (seed 0)"
        origin += f"; {self.last_column} as the last column" if self.last_column else ""
        origin += f"; times {scale:.6g}" if scale != 1.0 else ""
        objects, queries = (
            np.ascontiguousarray(rows * scale if scale != 1.0 else rows, dtype=dtype)
            for rows in (objects, *rest)
        )
        origin = f"{self.file}: {origin}"
        return Problem(name=self.name, origin=origin, objects=objects, queries=queries)


def _held_out(n_rows: int, n_queries: int) -> tuple[Any, Any]:
    """Return the rows that are objects and the rows that are queries, both increasing."""
    mixed = np.random.default_rng(0).permutation(n_rows)
    return np.sort(mixed[n_queries:]), np.sort(mixed[:n_queries])
