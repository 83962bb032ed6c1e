"""The problems of the benchmarks: generated, shipped with scikit-learn, or from a folder."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "COUNTS_FILES",
    "Problem",
    "Table",
    "count_rows",
    "digits",
    "file_of",
    "normal",
    "read_counts",
    "read_dense",
    "read_real",
    "uniform",
    "weigh_texts",
    "zipf_counts",
]

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
    vectors: tuple[Any, Any] | None = None  # objects and queries of lists, for who knows rows only

    @property
    def has_rows(self) -> bool:
        """Whether the objects are vectors, one per row."""
        return not isinstance(self.objects, list)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return self.has_rows and not isinstance(self.objects, np.ndarray)

    @property
    def is_bits(self) -> bool:
        """Whether the rows are fingerprints."""
        return self.has_rows and self.dtype == "uint64"

    @property
    def kind(self) -> str:
        """What everybody searches: "dense", "sparse", "bits", or "objects" that are no vectors."""
        if not self.has_rows:
            return "objects" if self.vectors is None else "sparse"
        if self.is_bits:
            return "bits"
        return "sparse" if self.is_sparse else "dense"

    @property
    def n_bytes(self) -> int:
        """Memory of the objects, as rows where they are lists with such."""
        rows = self.objects if self.vectors is None else self.vectors[0]
        if isinstance(rows, list):
            return sum(len(one) for one in rows)
        if isinstance(rows, np.ndarray):
            return int(rows.nbytes)
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)

    @property
    def dtype(self) -> str:
        """The type of the numbers as given."""
        return str(self.objects.dtype) if self.has_rows else "object"

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
        return int(self.objects.shape[1]) * (64 if self.is_bits else 1)

    def cast(self, dtype: str) -> "Problem":
        """The same rows for a contestant that stores `dtype`: rounded where they must be."""
        if not self.has_rows or self.is_bits:
            return self
        objects = self.objects.astype(dtype, copy=False)
        return replace(self, objects=objects, queries=self.queries.astype(dtype, copy=False))

    def head(self, n_objects: int, n_queries: int) -> "Problem":
        """A smaller problem for a quick run."""
        if n_objects >= self.n_objects and n_queries >= self.n_queries:
            return self
        objects, queries = self.objects[:n_objects], self.queries[:n_queries]
        part = f"the first {count_rows(objects)} objects and {count_rows(queries)} queries"
        return replace(self, origin=f"{self.origin}; {part}", objects=objects, queries=queries)

    def sample(self, n_objects: int, n_queries: int, *, seed: int = 0) -> "Problem":
        """At most so many rows of each, drawn without replacement; a larger draw holds a smaller.

        Rows keep their order. What is small enough already stays as it is.
        """
        random = np.random.default_rng(seed)
        parts = []
        for rows, most in ((self.objects, n_objects), (self.queries, n_queries)):
            mixed = random.permutation(rows.shape[0])
            parts.append(rows if rows.shape[0] <= most else rows[np.sort(mixed[:most])])
        objects, queries = parts
        if (objects.shape[0], queries.shape[0]) == (self.n_objects, self.n_queries):
            return self
        part = f"a sample of {objects.shape[0]} objects and {queries.shape[0]} queries"
        origin = f"{self.origin}; {part} (seed {seed})"
        return replace(self, origin=origin, objects=objects, queries=queries)

    def within_unit_ball(self) -> "Problem":
        """The same rows divided by a power of two, so that no row is longer than 1.

        High powers of products stay in range, and no entry is rounded.
        """
        longest = max(_longest(self.objects), _longest(self.queries))
        scale = 2.0 ** -np.ceil(np.log2(longest)) if longest > 0.0 else 1.0
        if scale == 1.0:
            return self
        origin = f"{self.origin}; times 2^{int(np.log2(scale))}"
        exact = self.cast("float64")
        return replace(
            self, origin=origin, objects=exact.objects * scale, queries=exact.queries * scale
        )


def count_rows(rows: Any) -> int:
    """Return how many rows, or objects, there are; a sparse matrix has no len()."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def normal(n_objects: int, n_columns: int, *, n_queries: int, seed: int = 0) -> Problem:
    """Return independent standard normal entries, float64."""
    random = np.random.default_rng(seed)
    return Problem(
        name=f"normal {n_objects} x {n_columns}",
        origin=f"generated, seed {seed}",
        objects=random.standard_normal((n_objects, n_columns)),
        queries=random.standard_normal((n_queries, n_columns)),
    )


def uniform(n_objects: int, n_columns: int, *, n_queries: int, seed: int = 0) -> Problem:
    """Return independent entries, uniform between 0 and 1, float64."""
    random = np.random.default_rng(seed)
    return Problem(
        name=f"uniform {n_objects} x {n_columns}",
        origin=f"generated, seed {seed}",
        objects=random.random((n_objects, n_columns)),
        queries=random.random((n_queries, n_columns)),
    )


def digits() -> Problem:
    """Return scikit-learn's digits as in the paper: 1347 objects, 450 queries, integers."""
    from sklearn.datasets import load_digits

    rows = load_digits().data
    return Problem(
        name="digits",
        origin="ships with scikit-learn; the last 450 rows are queries",
        objects=np.ascontiguousarray(rows[:1347]),
        queries=np.ascontiguousarray(rows[1347:]),
    )


def zipf_counts(n_objects: int, n_columns: int, *, n_queries: int, seed: int = 0) -> Problem:
    """Return word counts of generated texts: word r is drawn as often as 1 / (r + 10)."""
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(seed)
    lengths = np.ceil(random.lognormal(4.5, 0.8, n_objects + n_queries)).astype(np.int64)
    weights = 1.0 / (np.arange(n_columns) + 10.0)
    words = random.choice(n_columns, size=int(lengths.sum()), p=weights / weights.sum())
    texts = np.repeat(np.arange(len(lengths)), lengths)
    counts = csr_matrix((np.ones(len(words)), (texts, words)), shape=(len(lengths), n_columns))
    return Problem(
        name=f"zipf text {n_objects} x {n_columns}",
        origin=f"generated, seed {seed}",
        objects=counts[:n_objects],
        queries=counts[n_objects:],
    )


def read_dense(folder: Path) -> list[Problem]:
    """Return those of the dense sets that lie in `folder`."""
    return [read(folder / file) for file, read in _DENSE.items() if (folder / file).exists()]


def read_real(folder: Path, name: str) -> Problem | None:
    """Return a table by its name, or nothing where its file is not in `folder`."""
    return _TABLES[name].read(folder) if (folder / file_of(name)).exists() else None


def read_counts(folder: Path, name: str) -> Problem | None:
    """Return a text set as word counts, or nothing where its file is not in `folder`."""
    file = folder / COUNTS_FILES[name]
    return _counts(file, name) if file.exists() else None


def weigh_texts(folder: Path, file: str, name: str, *, n_held_out: int) -> Problem:
    """Return word counts of a file as tf-idf, some of the texts held out as queries."""
    counts = _counts(folder / file, name, n_held_out)
    return _tf_idf(replace(counts, origin=f"{file}: {counts.origin}"))


def file_of(name: str) -> str:
    """Return the name of the file that holds a table."""
    return _TABLES[name].file


def _mnist(file: Path) -> Problem:
    with np.load(file) as arrays:
        objects, queries = arrays["train"], arrays["test"][:_N_QUERIES]
    return Problem(
        name="MNIST",
        origin=f"train, and the first {_N_QUERIES} of test; pixels 0 ... 255",
        objects=objects.astype(np.float32),
        queries=queries.astype(np.float32),
    )


def _glove(file: Path) -> Problem:
    with np.load(file) as arrays:
        rows = arrays["X"]
    objects, queries = _held_out(len(rows))
    return Problem(
        name="GloVe 100",
        origin=f"the first 50000 words, {_N_QUERIES} of them held out as queries (seed 0)",
        objects=rows[objects],
        queries=rows[queries],
    )


@dataclass(frozen=True, kw_only=True)
class Table:
    """A file of arrays: which hold the objects, and which the queries if there are any."""

    name: str
    file: str
    objects: str = "X"
    queries: str | None = None  # none: some rows are held out
    n_held_out: int = _N_QUERIES
    last_column: str | None = None  # of numbers, one for each row, put behind the others
    scale: float | str = 1.0  # or the array whose number multiplies all

    def read(self, folder: Path, dtype: str = "float64") -> Problem:
        """Return the rows of the file."""
        with np.load(folder / self.file) as arrays:
            objects = arrays[self.objects]
            queries = arrays[self.queries] if self.queries else None
            if self.last_column is not None:
                objects = np.column_stack([objects, arrays[self.last_column]])
            scale = arrays[self.scale] if isinstance(self.scale, str) else self.scale
        origin = f"{self.objects}, and {self.queries} as queries"
        if queries is None:
            kept, held_out = _held_out(len(objects), self.n_held_out)
            objects, queries = objects[kept], objects[held_out]
            origin = f"{self.objects}, {self.n_held_out} rows held out as queries (seed 0)"
        if self.last_column is not None:
            origin += f"; {self.last_column} as the last column"
        if float(scale) != 1.0:
            origin += f"; times {float(scale):.6g}"
        return Problem(
            name=self.name,
            origin=f"{self.file}: {origin}",
            objects=_scaled(objects, float(scale), dtype),
            queries=_scaled(queries, float(scale), dtype),
        )


def _scaled(rows: Any, scale: float, dtype: str) -> Any:
    return np.ascontiguousarray(rows * scale if scale != 1.0 else rows, dtype=dtype)


def _counts(file: Path, name: str, n_held_out: int = _N_QUERIES) -> Problem:
    from scipy.sparse import load_npz

    stored: Any = load_npz(file)
    counts = stored.tocsr().astype(np.float64)
    objects, queries = _held_out(counts.shape[0], n_held_out)
    return Problem(
        name=name,
        origin=f"word counts, {n_held_out} texts held out as queries (seed 0)",
        objects=counts[objects],
        queries=counts[queries],
    )


def _held_out(n_rows: int, n_queries: int = _N_QUERIES) -> tuple[Any, Any]:
    """Return the rows that are objects and the rows that are queries, both increasing."""
    mixed = np.random.default_rng(0).permutation(n_rows)
    return np.sort(mixed[n_queries:]), np.sort(mixed[:n_queries])


def _tf_idf(counted: Problem) -> Problem:
    """Weigh counts by tf-idf and make rows unit vectors, so that linear is the cosine of texts."""
    objects = counted.objects
    n_with_word = np.bincount(objects.indices, minlength=objects.shape[1])
    weights = 1.0 + np.log((1.0 + objects.shape[0]) / (1.0 + n_with_word))

    def weigh(counts: Any) -> Any:
        rows = counts.copy()
        rows.data = (1.0 + np.log(rows.data)) * weights[rows.indices]
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        lengths = np.sqrt(np.where(squares > 0.0, squares, 1.0))
        rows.data /= np.repeat(lengths, np.diff(rows.indptr))
        rows.sort_indices()
        return rows

    return replace(
        counted,
        origin=f"{counted.origin}; tf-idf, unit rows",
        objects=weigh(objects),
        queries=weigh(counted.queries),
    )


def _longest(rows: Any) -> float:
    squares = rows.multiply(rows) if not isinstance(rows, np.ndarray) else np.square(rows)
    return float(np.sqrt(squares.sum(axis=1, dtype=np.float64).max()))


_TABLES = {
    table.name: table
    for table in (
        Table(name="corel", file="corel_10k_hist32.npz"),
        Table(name="covertype", file="covertype.npz"),
        Table(name="bio", file="bio_kdd04_train.npz"),
        Table(name="movielens", file="movielens1m_mf50.npz", objects="items", queries="users"),
        Table(name="yahoo", file="yahoo_r3_mf50.npz", objects="items", queries="users"),
        Table(name="gowalla", file="gowalla_mf50.npz", objects="items", queries="users"),
        Table(name="magic", file="magic_gamma.npz"),
        Table(
            name="cifar gist",
            file="cifar10_gist384.npz",
            objects="train",
            queries="test",
            scale="scale",
        ),
        Table(name="galaxies", file="lcdm_mock_galaxies_mr19.npz"),
    )
}
_DENSE: dict[str, Callable[[Path], Problem]] = {"mnist.npz": _mnist, "glove100_50k.npz": _glove}
