"""Search problems for hypothesis: data that breaks searches, kernels around their defaults."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from fastmks import _core
from fastmks import kernels as K


def _normal(rng, n, d):
    return rng.normal(size=(n, d))


def _duplicates(rng, n, d):
    return rng.normal(size=(3, d))[rng.integers(0, 3, size=n)]


def _small_integers(rng, n, d):
    return rng.integers(-2, 3, size=(n, d)).astype(float)


def _all_equal(rng, n, d):
    return np.tile(rng.normal(size=(1, d)), (n, 1))


def _zero_first(rng, n, d):
    x = rng.normal(size=(n, d))
    x[0] = 0.0
    return x


def _mostly_zero(rng, n, d):
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)


def _all_products_negative(rng, n, d):
    return -np.abs(rng.normal(size=(n, d))) - 0.1


def _multiples(rng, n, d):
    return rng.normal(size=(1, d)) * rng.choice([1.0, 3.0, 7.0, -1.0], size=(n, 1))


def _near_duplicates_far_out(rng, n, d):
    return 1e4 / np.sqrt(d) + 1e-9 * rng.normal(size=(n, d))


def _spread_around_1000(rng, n, d):
    return 1000.0 + 1e-6 * rng.normal(size=(n, d))


def _tiny(rng, n, d):
    return 1e-150 * rng.normal(size=(n, d))


def _huge(rng, n, d):
    return 1e150 * rng.normal(size=(n, d))


def _subnormal(rng, n, d):
    return 5e-324 * rng.integers(-9, 10, size=(n, d))


def _norms_apart(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-19, 5, size=(n, 1))


def _rank_one(rng, n, d):
    return rng.normal(size=(n, 1)) * rng.normal(size=(1, d))


FAMILIES = (
    _normal,
    _duplicates,
    _small_integers,
    _all_equal,
    _zero_first,
    _mostly_zero,
    _all_products_negative,
    _multiples,
    _near_duplicates_far_out,
    _spread_around_1000,
    _tiny,
    _huge,
    _subnormal,
    _norms_apart,
    _rank_one,
)

# Parameters on both sides of every default.
LEAVES = (
    K.Linear(),
    K.Polynomial(),
    K.Polynomial(degree=1, offset=2.0),
    K.Polynomial(degree=3, offset=1.0, scale=0.5),
    K.Polynomial(degree=10, offset=0.5, scale=2.0),
    K.Polynomial(degree=3, offset=-1.0),
    K.Cosine(),
    K.Tanh(),
    K.Tanh(scale=0.1, offset=-0.5),
    K.Tanh(scale=50.0, offset=1.0),
    K.Gaussian(),
    K.Gaussian(bandwidth=0.2),
    K.Gaussian(bandwidth=30.0),
    K.Laplacian(),
    K.Laplacian(bandwidth=0.3),
    K.Epanechnikov(bandwidth=2.0),
    K.Triangular(bandwidth=3.0),
    K.Spherical(bandwidth=4.0),
    K.Exponential(scale=0.01),
    K.Exponential(scale=1.5),
)
COMBINED = (
    K.Linear() + K.Gaussian(bandwidth=2.0),
    0.5 * K.Cosine() + 2.0 * K.Laplacian(),
    K.Gaussian() * K.Polynomial(degree=2, offset=1.0),
    K.Normalized(K.Polynomial(degree=3, offset=1.0)),
    K.Normalized(K.Linear() + 3.0 * K.Gaussian()),
    2.0 * K.Cosine() + K.Normalized(K.Linear()),
    3.0 * (K.Cosine() + K.Linear()) * K.Triangular(bandwidth=5.0),
)
KERNELS = LEAVES + COMBINED
MERCER = tuple(kernel for kernel in KERNELS if kernel.is_mercer)


@dataclass(frozen=True)
class Problem:
    objects: np.ndarray
    queries: np.ndarray
    kernel: K.Kernel
    k: int
    layout: str
    query_layout: str
    threads: int
    isa: str

    def rows(self):
        """Objects and queries as lists of Python floats: exactly the numbers that are stored."""
        return self.objects.astype(float).tolist(), self.queries.astype(float).tolist()


@st.composite
def search_problems(draw, kernels=KERNELS):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    family = draw(st.sampled_from(FAMILIES))
    n = draw(st.integers(1, 40))
    d = draw(st.integers(1, 20))
    n_queries = draw(st.integers(1, 9))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    objects = family(rng, n, d)
    queries = family(rng, n_queries, d)
    how = draw(st.sampled_from(["own", "equal to an object", "opposite to an object"]))
    if how != "own":
        queries[0] = objects[draw(st.integers(0, n - 1))] * (1 if how.startswith("equal") else -1)
    if dtype is np.float32:  # keep within its range; subnormals become zeros
        objects, queries = (np.clip(a, -1e30, 1e30).astype(np.float32) for a in (objects, queries))
    return Problem(
        objects=objects,
        queries=queries,
        kernel=draw(st.sampled_from(kernels)),
        k=draw(st.sampled_from(sorted({1, min(3, n), n}))),
        layout=draw(st.sampled_from(["dense", "sparse"])),
        query_layout=draw(st.sampled_from(["dense", "sparse"])),
        threads=draw(st.sampled_from([1, 2, 5])),
        isa=draw(st.sampled_from(_core.available_isas())),
    )
