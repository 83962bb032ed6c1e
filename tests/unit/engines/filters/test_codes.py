"""The filter of vectors: 8-bit codes bound every value, and no answer differs from the scan's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument, KernelValueError, load
from fastmks import kernels as K
from fastmks._util.progress import Progress
from fastmks.engines.base import SearchRequest
from fastmks.engines.filters.axes import choose_axes
from fastmks.engines.filters.codes import build_codes
from fastmks.engines.scan import Scan
from support.comparing import assert_as_scan, assert_identical, assert_same_found
from support.inside import data_of
from support.programs import run_python

KERNELS = [
    K.Linear(),
    K.Cosine(),
    K.Polynomial(degree=1, offset=3.0),
    K.Polynomial(degree=2),
    K.Polynomial(degree=2, offset=-1.5, scale=0.7),
    K.Polynomial(degree=3, offset=1.0),
    K.Polynomial(degree=10, offset=0.5),
    K.Tanh(scale=0.01),
    K.Tanh(scale=30.0, offset=-1.0),  # saturated: most values are 1 or -1
    K.Exponential(scale=0.05),
    K.Gaussian(0.3),
    K.Gaussian(50.0),
    K.Laplacian(2.0),
    K.Epanechnikov(3.0),  # most values are 0
    K.Triangular(4.0),
    K.Spherical(5.0),
    K.Normalized(K.Linear()),
    0.5 * K.Cosine() + 2.0 * K.Normalized(K.Linear()),
    2.5 * K.Linear(),
    0.1 * K.Polynomial(degree=4, offset=-2.0),
    0.5 * K.Linear() + K.Polynomial(degree=3, offset=1.0),
    K.Gaussian(2.0) + 0.25 * K.Laplacian(3.0),
    K.Gaussian(2.0) * K.Laplacian(3.0),
    K.Exponential(0.01) * K.Exponential(0.02),
]


def rng():
    return np.random.default_rng(5)


def clustered(n, d):
    centres = rng().standard_normal((8, d))
    return centres[rng().integers(8, size=n)] + 0.1 * rng().standard_normal((n, d))


DATA = {
    "normal": lambda: rng().standard_normal((700, 9)),
    "clustered": lambda: clustered(1500, 20),
    "close": lambda: 1.0 + 0.02 * clustered(1500, 12),
    "one column": lambda: rng().standard_normal((300, 1)),
    "low rank": lambda: rng().standard_normal((600, 2)) @ rng().standard_normal((2, 40)),
    "ties": lambda: rng().integers(-2, 3, size=(900, 3)).astype(float),
    "duplicates": lambda: np.repeat(rng().standard_normal((5, 6)), 120, axis=0),
    "all zero": lambda: np.zeros((40, 4)),
    "some zero": lambda: rng().standard_normal((400, 5)) * (np.arange(400) % 3 == 0)[:, None],
    "far and close": lambda: 3e3 + 1e-7 * rng().standard_normal((500, 7)),
    "lengths from 1e-12 to 1e12": lambda: (
        rng().standard_normal((600, 6)) * 10.0 ** rng().uniform(-12, 12, size=(600, 1))
    ),
    "one object": lambda: np.array([[1.0, -2.0]]),
    "a leaf and one": lambda: rng().standard_normal((257, 4)),
}


def queries_for(rows):
    near = rows[rng().integers(len(rows), size=6)]
    noise = 0.01 * np.abs(near).max(initial=1e-300) * rng().standard_normal(near.shape)
    return np.concatenate([near, near + noise, -near[:2], np.zeros((1, rows.shape[1]))])


def exact_search(space, queries):
    return SearchRequest(
        queries=space.queries(queries),
        threads=1,
        progress=Progress(False),
    )


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_filter_gives_what_the_scan_gives(kernel, data):
    rows = DATA[data]()
    queries = queries_for(rows)
    index = Index(rows, kernel, threads=1)
    for k in {1, min(7, len(rows)), min(300, len(rows))}:
        try:
            expected = index.search(queries, k, algorithm="scan")
        except KernelValueError:  # this kernel overflows on these data: there is no answer
            return
        assert_identical(index.search(queries, k, algorithm="filter"), expected)
    thresholds = np.asarray(expected.values)[:, 0] * 0.9
    assert_as_scan(index.search_above, queries, thresholds)


@pytest.mark.parametrize("data", ["normal", "ties", "far and close", "lengths from 1e-12 to 1e12"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_no_bound_is_below_the_value_it_bounds(kernel, data):
    """Thresholds that are values themselves: a bound that is short by one bit loses an object."""
    rows = DATA[data]()[:300]
    index = Index(rows, kernel)
    queries = queries_for(rows)[4:9]
    try:
        values = kernel.matrix(queries, rows)
    except KernelValueError:
        return
    repeated = np.repeat(queries, len(rows), axis=0)
    assert_as_scan(index.search_above, repeated, values.ravel())


@pytest.mark.parametrize("kernel", [K.Linear(), K.Polynomial(2), K.Gaussian(1.0), K.Cosine()])
def test_every_instruction_set_gives_the_same(isa, kernel):
    rows = clustered(3000, 37).astype(np.float32)
    space = data_of(Index(rows, kernel)).space
    assert space.isa == isa
    search = exact_search(space, rows[:9] + 0.5)
    codes = build_codes(space, dimension=20, threads=1, progress=Progress(False))
    found, wanted = codes.top_k(search, 20), Scan(space).top_k(search, 20)
    assert_same_found(found, wanted)
    # The bounds are the same bits too, so the same objects are evaluated.
    assert found.cost == COSTS.setdefault(kernel, found.cost)
    assert found.cost.evaluations < wanted.cost.evaluations / 5


COSTS = {}


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-40, 1e40, 1e150])
@pytest.mark.parametrize("kernel", [K.Linear(), K.Cosine(), K.Polynomial(1, offset=1.0)])
def test_any_scale(scale, kernel):
    rows = scale * clustered(800, 5)
    index = Index(rows, kernel)
    queries = rows[::100] / scale  # so that products do not overflow
    assert_as_scan(index.search, queries, k=5)
    assert_as_scan(index.search, queries * 1e-3, k=5)


@pytest.mark.parametrize("scale", [1e-60, 1e-40, 1e40, 1e60])
def test_any_scale_of_distances(scale):
    rows = scale * clustered(800, 5)
    index = Index(rows, K.Gaussian(scale))
    for queries in (rows[::100], 1e30 * rows[:3], 1e-30 * rows[:3]):
        assert_as_scan(index.search, queries, k=5)


def test_vectors_too_long_for_bounds_are_an_error():
    index = Index([[1.7e308]] + [[-1.7e308]] * 9, K.Gaussian(1.0))
    index.search([0.0], algorithm="scan")
    with pytest.raises(InvalidArgument, match="leave the float64 range"):
        index.search([0.0], algorithm="filter")
    long_but_close = Index([[1.7e308, 1e308], [1.7e308, 1.0]], K.Gaussian(1.0))
    assert_as_scan(long_but_close.search, [1.7e308, 2.0], k=2)


def test_bandwidths_beyond_all_scale_have_no_scores():
    index = Index([[1.0], [2.0]], K.Gaussian(1e100))
    assert not data_of(index).engines.has_offer
    assert_as_scan(index.search, [1.0], k=2)


@pytest.mark.parametrize("kernel", [K.Linear(), K.Polynomial(2, offset=0.1), K.Laplacian(1.0)])
def test_only_self_and_threads(kernel):
    rows = clustered(1200, 6)
    index = Index(rows, kernel)
    only = np.arange(0, 1200, 7)
    for threads in (1, 3):
        assert_as_scan(index.search, rows[:70], k=9, only=only, threads=threads)
        assert_as_scan(index.search_self, k=4, threads=threads)
    assert_as_scan(index.search, rows[:3], k=1200)


def test_filter_after_a_tree_and_tree_after_a_filter():
    rows = clustered(600, 4)
    index = Index(rows, "linear")
    before = index.search(rows[:5], k=3, algorithm="filter")
    assert_identical(index.search(rows[:5], k=3, algorithm="tree"), before)
    assert_identical(index.search(rows[:5], k=3, algorithm="filter"), before)


def test_cost_is_counted():
    rows = clustered(5000, 12)
    hits = Index(rows, "linear").search(rows[:10], k=2, algorithm="filter")
    assert 0 < hits.stats.kernel_evaluations < 1000
    assert hits.stats.bounds > hits.stats.kernel_evaluations
    # Projecting 10 queries on at most 12 axes, then at most all codes and leaves.
    n_leaves = -(-5000 // 256)
    most = 10 * (12 * 12 + 5000 * 12 + 2 * 12 * 16 * -(-n_leaves // 16))
    assert 0 < hits.stats.bound_operations <= most


@pytest.mark.parametrize("data", ["normal", "ties", "lines"])
@pytest.mark.parametrize(
    "kernel", [K.Linear(), K.Cosine(), K.Polynomial(2, offset=0.3), K.Gaussian(0.05)], ids=repr
)
def test_many_leaves_are_looked_at_by_groups(kernel, data):
    n = 140_000  # 547 leaves: the last group is not full
    rows = {
        "normal": lambda: rng().standard_normal((n, 3)),
        "ties": lambda: rng().integers(-30, 31, size=(n, 3)).astype(float),
        "lines": lambda: rng().standard_normal((n, 1)) * np.array([1.0, 1e-3, 1e-6]) + 1e-9,
    }[data]()
    queries = queries_for(rows)
    index = Index(rows, kernel, algorithm="filter")
    for k in (1, 10, 600):
        hits = index.search(queries, k)
        assert_identical(hits, index.search(queries, k, algorithm="scan"))
        if k < 600 and data == "normal" and not isinstance(kernel, K.Polynomial):
            assert hits.stats.bounds < 0.2 * len(queries) * n
    few = np.flatnonzero(rng().random(n) < 0.001)
    some = index.search(queries, k=5, only=few)
    assert_identical(some, index.search(queries, k=5, only=few, algorithm="scan"))
    threshold = float(np.median(index.search(queries, k=20).values[:, -1]))
    above = index.search_above(queries, threshold)
    expected = index.search_above(queries, threshold, algorithm="scan")
    assert above.values.tobytes() == expected.values.tobytes()
    np.testing.assert_array_equal(above.indices, expected.indices)


@pytest.mark.parametrize("dimension", [1, 3, 4, 5, 30])
@pytest.mark.parametrize("kernel", [K.Linear(), K.Cosine(), K.Gaussian(2.0), K.Polynomial(2)])
def test_any_number_of_axes_gives_the_same(dimension, kernel):
    rows = clustered(1000, 30)
    space = data_of(Index(rows, kernel)).space
    search = exact_search(space, rows[:20] + 0.01)
    codes = build_codes(space, dimension=dimension, threads=1, progress=Progress(False))
    assert codes.dimension == dimension
    assert_same_found(codes.top_k(search, 6), Scan(space).top_k(search, 6))


def test_axes_are_orthonormal_and_as_many_as_pay():
    low_rank = rng().standard_normal((4000, 3)) @ rng().standard_normal((3, 60))
    axes = choose_axes(data_of(Index(low_rank + 1e-3 * rng().standard_normal((4000, 60)))).space)
    np.testing.assert_allclose(axes.rows @ axes.rows.T, np.eye(axes.dimension), atol=1e-13)
    assert 3 <= axes.dimension <= 12
    isotropic = choose_axes(data_of(Index(rng().standard_normal((4000, 60)))).space)
    assert isotropic.dimension == 60


def test_the_longest_vectors_come_first():
    rng = np.random.default_rng(5)
    lengths = 0.01 * np.exp(rng.normal(0.0, 1.5, 20_000))
    rows = (rng.normal(size=(20_000, 12)) + 1.0) * lengths[:, None]
    queries = rng.normal(size=(40, 12)) + 1.0
    counts = [
        Index(sign * rows, algorithm="filter").search(sign * queries, 10).stats for sign in (1, -1)
    ]
    assert len({(c.kernel_evaluations, c.bound_operations) for c in counts}) == 1
    assert counts[0].bound_operations < 0.022 * 40 * rows.size


@pytest.mark.parametrize(
    ("kernel", "tiny"),
    [
        (K.Cosine(), 1e-200),
        (K.Cosine() + K.Cosine(), 1e-200),
        (0.1 * (0.2 * K.Cosine() + K.Cosine()), 1e-200),
        (K.Normalized(K.Linear()), 1e-100),
        (0.5 * K.Cosine() + 0.5 * K.Normalized(K.Linear()), 1e-100),
    ],
    ids=repr,
)
def test_cosines_of_close_vectors_are_bounded_by_distances(kernel, tiny):
    rows = 1.0 + 0.02 * clustered(3000, 12)
    rows[::50] = 0.0  # zero vectors have cosine 0, whatever their distance
    index = Index(rows, kernel)
    assert choose_axes(data_of(index).space).origin is not None
    far_apart = rng().standard_normal((3000, 60))
    assert choose_axes(data_of(Index(far_apart, kernel)).space).origin is None
    queries = np.concatenate([rows[:40] + 1e-3, -rows[:5], np.zeros((1, 12)), tiny * rows[1:3]])
    for k in (1, 10, 3000):
        assert_as_scan(index.search, queries, k)
    few = index.search(rows[1:40], k=1, algorithm="filter").stats
    assert few.scan_share < 0.1
    values = kernel.matrix(queries[:12], rows)
    thresholds = values[:, ::10]
    repeated = np.repeat(queries[:12], thresholds.shape[1], axis=0)
    assert_as_scan(index.search_above, repeated, thresholds.ravel())


@pytest.mark.parametrize("columns", [1025, 7000, 15_000])
@pytest.mark.parametrize("kernel", [K.Linear(), K.Cosine(), K.Gaussian(40.0)], ids=repr)
def test_many_columns(kernel, columns):
    """From some 6900 columns on, the stated defect of axes was beyond its limit."""
    rows = clustered(400, columns).astype(np.float32)
    index = Index(rows, kernel)
    queries = np.concatenate([rows[:5] + 0.01, np.zeros((1, columns)), -rows[:2], 1e-30 * rows[:1]])
    assert_as_scan(index.search, queries, k=3)
    assert index.search(rows[:5] + 0.01, k=3, algorithm="filter").stats.scan_share < 0.5
    thresholds = kernel.matrix(queries[:5], rows)[:, ::40]
    repeated = np.repeat(queries[:5], thresholds.shape[1], axis=0)
    assert_as_scan(index.search_above, repeated, thresholds.ravel())


def test_many_columns_by_the_planner_and_in_files(tmp_path):
    rows = clustered(520, 15_000).astype(np.float32)
    index = Index(rows, algorithm="auto")
    for _ in range(400):
        hits = index.search(rows[:2], k=2)
        if any(data_of(index).has_built):
            break
    assert any(data_of(index).has_built)
    assert_identical(hits, index.search(rows[:2], k=2, algorithm="scan"))
    index.save(tmp_path / "wide.fmks")
    loaded = load(tmp_path / "wide.fmks")
    assert_identical(loaded.search(rows[:2], k=2, algorithm="filter"), hits)


def test_200_000_columns():
    rows = clustered(24, 200_000)
    index = Index(rows, algorithm="filter")
    queries = np.concatenate([rows[:3], 0.5 - rows[:2]])
    assert_identical(index.search(queries, k=4), index.search(queries, k=4, algorithm="scan"))


@pytest.mark.parametrize("shape", [(600, 30_000), (3000, 2000)])
def test_choosing_axes_takes_no_more_memory_than_the_objects(shape):
    """Columns x columns numbers were 7 GB and 32 MB, and copies of a sample came on top."""
    code = f"""
    import numpy as np, resource
    from fastmks import Index
    from fastmks.engines.filters.axes import choose_axes
    from fastmks.index.view import view_of
    def greatest():
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = np.random.default_rng(0).random({shape}, dtype=np.float32)
    space = view_of(Index(rows)).space
    choose_axes(view_of(Index(rows[:20, :50])).space)  # whatever is loaded for it
    before = greatest()
    choose_axes(space)
    print(greatest() - before, rows.nbytes)
    """
    result = run_python(code)
    taken, given = map(int, result.stdout.split())
    assert taken <= given


@given(data=st.data())
def test_filter_on_any_small_set(data):
    n = data.draw(st.integers(1, 40))
    d = data.draw(st.integers(1, 5))
    numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 1e-9, 1e9, -7.25]) | st.floats(-10, 10)
    rows = np.array(
        data.draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n))
    )
    queries = np.array(
        data.draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=1, max_size=3))
    )
    kernel = data.draw(
        st.sampled_from(
            [K.Linear(), K.Cosine(), K.Polynomial(2, offset=-1.0), K.Gaussian(1.0), K.Tanh()]
        )
    )
    k = data.draw(st.integers(1, n))
    index = Index(rows, kernel)
    assert_as_scan(index.search, queries, k)
