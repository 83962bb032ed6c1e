"""Bounds from pivots: the scan's answers for every Mercer kernel, and promises that hold exactly.

What the coordinates promise is checked in rational arithmetic, for kernels whose exact values are
rational: z . z' is k^T G^-1 k' in any orthonormal basis of the pivots' span.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmks import (
    FastmksError,
    Index,
    InvalidArgument,
    NotMercerError,
    _core,
)
from fastmks import kernels as K
from fastmks._util.progress import Progress
from fastmks.engines.base import SearchRequest
from fastmks.engines.faults import named_faults
from fastmks.engines.filters.pivots import build_pivots
from fastmks.engines.scan import Scan
from support.comparing import assert_identical, assert_same_found
from support.inside import data_of
from support.kinds import KINDS
from support.strategies import search_problems

QUIET = Progress(False)


def space_of(objects, kernel):
    return data_of(Index(objects, kernel, algorithm="scan")).space


def ask(space, queries=None, *, among=None, threads=1):
    return SearchRequest(
        queries=space if queries is None else space.queries(queries),
        among=among,
        skip_self=queries is None,
        threads=threads,
        progress=QUIET,
    )


def assert_finds_what_the_scan_finds(space, queries, *, m=None, seed=0):
    pivots = build_pivots(space, threads=2, progress=QUIET, m=m, seed=seed)
    scan, n = Scan(space), len(space)
    searches = [ask(space, queries), ask(space, queries, threads=2)]
    if n > 2:
        searches += [ask(space), ask(space, queries, among=np.arange(0, n, 3))]
    for search in searches:
        n_among = n - search.skip_self if search.among is None else len(search.among)
        n_queries = len(search.queries)
        for k in sorted({1, min(3, n_among), n_among}):
            wanted = scan.top_k(search, k)
            found = pivots.top_k(search, k)
            assert_same_found(found, wanted)
            assert not found.gap.any()
            spare = 0 if search.among is None else n_queries * pivots.projection.n_pivots
            assert found.cost.evaluations <= n_queries * n_among + spare
        if not search.skip_self:
            thresholds = wanted.values[:, n_among // 2].copy()
            assert_same_found(pivots.above(search, thresholds), scan.above(search, thresholds))
    return pivots


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_pivots_find_what_the_scan_finds(kind):
    space = space_of(kind.objects, kind.kernel)
    if not space.is_mercer:
        with pytest.raises(NotMercerError, match="bounds from pivots hold for Mercer kernels only"):
            build_pivots(space, threads=1, progress=QUIET)
        return
    for m in (None, 1, 5, len(space)):
        assert_finds_what_the_scan_finds(space, kind.queries, m=m)


@given(problem=search_problems(), m=st.sampled_from([None, 1, 3, 100]), seed=st.integers(0, 9))
def test_pivots_lose_nothing(problem, m, seed):
    """Duplicates, zeros, scales of 1e-150 and 1e150, rank-deficient sets, saturated kernels."""
    try:
        scan = Index(problem.objects, problem.kernel, algorithm="scan")
        scan.search(problem.queries)
        if len(scan) > 1:
            scan.search_self()
    except FastmksError:  # whose own tests have it
        return
    space = space_of(problem.objects, problem.kernel)
    if not space.is_mercer:
        return
    assert_finds_what_the_scan_finds(space, problem.queries, m=m, seed=seed)


def test_sums_of_unlike_kernels_are_searched():
    rng = np.random.default_rng(3)
    objects, queries = rng.normal(size=(300, 4)), rng.normal(size=(7, 4))
    space = space_of(objects, K.Linear() + K.Gaussian(1.0))
    assert_finds_what_the_scan_finds(space, queries)


def test_one_object_is_enough():
    for x in ([0.0, 0.0], [1e-200, 0.0], [3.0, 4.0], [1e150, 0.0]):
        assert_finds_what_the_scan_finds(space_of([x], K.Linear()), [[1.0, 2.0], [0.0, 0.0]])


def test_zero_objects_leave_no_pivots():
    pivots = assert_finds_what_the_scan_finds(space_of(np.zeros((5, 2)), K.Linear()), [[1.0, 2.0]])
    assert pivots.projection.n_pivots == 0


def test_no_more_pivots_than_the_objects_span():
    rng = np.random.default_rng(0)
    for rank in (1, 3):
        objects = rng.integers(-3, 4, size=(60, rank)) @ rng.integers(-3, 4, size=(rank, 8))
        pivots = assert_finds_what_the_scan_finds(
            space_of(objects.astype(float), K.Linear()), rng.normal(size=(5, 8)), m=50
        )
        assert pivots.projection.n_pivots == rank
    space = space_of(np.tile([[1.0, 2.0]], (30, 1)), K.Linear())
    assert build_pivots(space, threads=1, progress=QUIET, m=9).projection.n_pivots == 1


def test_the_same_seed_gives_the_same_pivots():
    space = space_of(np.random.default_rng(0).normal(size=(500, 6)), K.Gaussian(2.0))
    chosen = [
        build_pivots(space, threads=threads, progress=QUIET, seed=seed).projection.pivots().tolist()
        for threads, seed in ((1, 0), (2, 0), (1, 1))
    ]
    assert chosen[0] == chosen[1] != chosen[2]


def test_evaluations_are_counted_and_few():
    """Counted by the kernel itself: building and searching, values with pivots included once."""
    rng = np.random.default_rng(5)
    objects, queries = list(rng.normal(size=(400, 3))), list(rng.normal(size=(20, 3)))
    counted = [0]

    def inner(x, y):
        counted[0] += 1
        return float(x @ y)

    space = space_of(objects, K.Custom(inner))
    pivots = build_pivots(space, threads=1, progress=QUIET)
    n_sampled = counted[0] - pivots.build_evaluations  # K(x, x)
    assert 400 <= n_sampled <= 2 * 400
    search = ask(space, queries)
    counted[0] = 0
    found = pivots.top_k(search, 1)
    assert counted[0] == found.cost.evaluations + found.cost.self_evaluations
    assert found.cost.self_evaluations == 20
    assert found.cost.evaluations < 20 * 400 / 20
    assert pivots.forecasts[pivots.projection.n_pivots - 1].evaluations < 400 / 20


def test_few_allowed_objects_are_scanned():
    space = space_of(np.random.default_rng(0).normal(size=(200, 4)), K.Linear())
    pivots = build_pivots(space, threads=1, progress=QUIET, m=4)
    few = ask(space, [[1.0, 2.0, 3.0, 4.0]], among=np.array([3, 5, 8, 13]))
    assert pivots.top_k(few, 2).cost.evaluations == 4
    assert pivots.above(few, np.array([0.0])).cost.evaluations == 4


def test_the_number_of_pivots_is_the_cheapest_forecast():
    space = space_of(np.random.default_rng(0).normal(size=(900, 5)), K.Linear())
    pivots = build_pivots(space, threads=1, progress=QUIET)
    least = min(forecast.evaluations for forecast in pivots.forecasts)
    assert pivots.forecasts[pivots.projection.n_pivots - 1].evaluations == least
    assert pivots.n_bytes > 900 * pivots.projection.n_pivots
    assert "900 objects on 5 pivots" in repr(pivots)


# --- as users ask for it -------------------------------------------------------------------------


def test_a_filter_of_strings_evaluates_few_and_changes_nothing():
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abc"), size=30)) for _ in range(600)]
    index = Index(words, K.Normalized(K.Spectrum(1) * K.Spectrum(1)), threads=1)
    wanted = index.search(words[:20], k=3, algorithm="scan")
    found = index.search(words[:20], k=3, algorithm="filter")
    assert_identical(found, wanted)
    assert found.stats.kernel_evaluations < wanted.stats.kernel_evaluations / 2
    assert found.stats.bounds == 20 * 600
    assert found.stats.bound_operations > found.stats.bounds
    assert_identical(index.search(words[:20], k=3), wanted)


def test_pivots_follow_the_order_of_a_tree():
    rng = np.random.default_rng(2)
    words = ["".join(rng.choice(list("ab"), size=size)) for size in rng.integers(1, 20, size=150)]
    index = Index(
        words, K.Normalized(K.Spectrum(2) * K.Spectrum(2)), ids=[f"word {i}" for i in range(150)]
    )
    wanted = index.search(words[:9], k=5, algorithm="scan")
    own = index.search_self(4, algorithm="scan")
    assert index.tree.space.order is not None
    only = [f"word {i}" for i in range(0, 150, 2)]
    some = index.search(words[:9], k=5, only=only, algorithm="scan")
    assert_identical(index.search(words[:9], k=5, algorithm="filter"), wanted)
    assert_identical(index.search(words[:9], k=5, only=only, algorithm="filter"), some)
    assert_identical(index.search_self(4, algorithm="filter"), own)


def test_contradictions_are_named_by_id_whatever_the_order():
    gram = np.full((4, 4), -0.4) + 1.4 * np.eye(4)
    ids = ["north", "south", "east", "west"]
    index = Index(gram, K.Precomputed(), ids=ids)
    for _ in range(2):
        with pytest.raises(NotMercerError) as error:
            index.search([[0.1, 0.2, 0.3, 0.4, 1.0]], algorithm="filter")
        assert all(name in str(error.value) for name in ids)
        assert len(index.tree) == 4  # whose order errors follow from now on


# --- promises, exactly ---------------------------------------------------------------------------


def solve(matrix, right):
    """Solve in rational numbers; `matrix` is positive definite."""
    rows = [list(row) + list(extra) for row, extra in zip(matrix, right, strict=True)]
    n = len(rows)
    for i in range(n):
        for j in range(n):
            if j != i and rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [[entry / rows[i][i] for entry in rows[i][n:]] for i in range(n)]


def exact_gram(a, b, degree, offset):
    exact = (
        [[Fraction(float(c)) for c in row] for row in a],
        [[Fraction(float(c)) for c in row] for row in b],
    )
    return [
        [
            (sum(p * q for p, q in zip(x, y, strict=True)) + Fraction(offset)) ** degree
            for y in exact[1]
        ]
        for x in exact[0]
    ]


def scaled(table, column):
    """A length of each object as a rational number."""
    return [
        Fraction(float(length)) * Fraction(2) ** int(exponent)
        for length, exponent in zip(table[column], table["exponents"], strict=True)
    ]


def assert_promises_hold(objects, queries, pivots, degree=1, offset=0.0):
    is_linear = degree == 1 and offset == 0.0
    kernel = K.Linear() if is_linear else K.Polynomial(degree=degree, offset=offset)
    space = space_of(objects, kernel)
    projection = _core.pivot_projection(space.core, np.asarray(pivots, dtype=np.int64))
    chosen = projection.pivots()
    gram = exact_gram(objects[chosen], objects[chosen], degree, offset)
    sides = []
    for vectors, here in ((objects, space), (queries, space.queries(queries))):
        table = projection.project(here.core)
        values = exact_gram(objects[chosen], vectors, degree, offset)
        rows = [
            [Fraction(float(z)) * Fraction(2) ** int(exponent) for z in row]
            for row, exponent in zip(table["rows"], table["exponents"], strict=True)
        ]
        lengths = {name: scaled(table, name) for name in ("errors", "tails", "norms")}
        lengths["least_tails"] = scaled(table, "least_tails")
        coefficients = solve(gram, values) if len(chosen) else []
        exact = exact_gram(vectors, vectors, degree, offset)
        for i in range(len(vectors)):
            inside = sum(values[j][i] * coefficients[j][i] for j in range(len(chosen)))
            assert exact[i][i] <= lengths["norms"][i] ** 2
            rest = exact[i][i] - inside
            assert lengths["least_tails"][i] ** 2 <= rest <= lengths["tails"][i] ** 2
        sides.append((rows, lengths, values, coefficients))
    (rows_x, at_x, values_x, _), (rows_y, at_y, _, coefficients_y) = sides
    exact = exact_gram(objects, queries, degree, offset)
    for i in range(len(objects)):
        for j in range(len(queries)):
            product = sum(a * b for a, b in zip(rows_x[i], rows_y[j], strict=True))
            inside = sum(values_x[c][i] * coefficients_y[c][j] for c in range(len(chosen)))
            error_x, error_y = at_x["errors"][i], at_y["errors"][j]
            slack = error_x * at_y["norms"][j] + at_x["norms"][i] * error_y + error_x * error_y
            assert abs(product - inside) <= slack
            assert exact[i][j] <= product + slack + at_x["tails"][i] * at_y["tails"][j]
    return projection


@st.composite
def vector_sets(draw):
    """Near-collinear vectors, multiples, duplicates and zeros, in scales far apart."""
    n_columns = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    base = rng.integers(-4, 5, size=(draw(st.integers(1, 4)), n_columns)).astype(float)
    scale = draw(st.sampled_from([0, 0, 60, 480]))
    sets = []
    for n in (draw(st.integers(2, 10)), 3):
        rows = base[rng.integers(len(base), size=n)]
        noise = 2.0 ** -rng.choice([1, 10, 20, 26, 40, 52], size=(n, 1))
        rows = rows + noise * rng.integers(-2, 3, size=(n, n_columns))
        rows *= 2.0 ** rng.integers(-scale, scale + 1, size=(n, 1))
        rows[rng.random(n) < 0.1] = 0.0
        sets.append(rows)
    return sets


@given(sets=vector_sets(), degree=st.sampled_from([1, 1, 2, 3]), offset=st.sampled_from([0.0, 1.0]))
def test_coordinates_keep_every_promise(sets, degree, offset):
    objects, queries = sets
    if degree > 1:  # powers must stay finite
        objects, queries = np.clip(objects, -1e40, 1e40), np.clip(queries, -1e40, 1e40)
    assert_promises_hold(objects, queries, range(len(objects)), degree, offset)


def test_pivots_that_amplify_rounding_are_left_out():
    """Of vectors that differ by 1e-9 only those whose errors stay small become pivots."""
    rng = np.random.default_rng(0)
    objects = 1.0 + 1e-9 * rng.integers(-9, 10, size=(6, 5))
    projection = assert_promises_hold(objects, rng.normal(size=(2, 5)), range(6))
    assert projection.n_pivots == 1
    assert projection.error_share < 1e-12
    objects = 1.0 + 1e-2 * rng.integers(-9, 10, size=(6, 5))
    assert assert_promises_hold(objects, rng.normal(size=(2, 5)), range(6)).n_pivots == 5


def test_underflow_is_covered():
    """Squares of 1e-170 are 0 in float64, of 1e-160 they have few digits."""
    objects = np.array([[1e-170, 1e-170], [1e-160, -2e-160], [1.0, 0.0], [3e-162, 1e-155]])
    queries = np.array([[1e-170, 0.0], [1e150, 1e150], [1e-161, 1e-161]])
    for order in ([0, 1, 2, 3], [2, 3, 1, 0]):
        assert_promises_hold(objects, queries, order)


def test_pivots_must_be_objects():
    space = space_of([[1.0], [2.0]], K.Linear())
    for wrong in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match="pivots must be positions"):
            _core.pivot_projection(space.core, np.array(wrong, dtype=np.int64))


# --- kernels that are not Mercer -----------------------------------------------------------------


def test_four_objects_that_no_hilbert_space_holds():
    """Every three of them have a Gram matrix that is positive definite."""
    gram = np.full((4, 4), -0.4) + 1.4 * np.eye(4)
    assert np.linalg.eigvalsh(gram[:3, :3])[0] > 0.1 > 0 > np.linalg.eigvalsh(gram)[0]
    space = space_of(gram, K.Precomputed())
    with pytest.raises(NotMercerError) as error:
        build_pivots(space, threads=1, progress=QUIET)
    words = str(error.value)
    assert "K(x, x) >= 2.4" in words
    assert sum(f"objects[{i}]" in words for i in range(4)) == 4
    # Three pivots do not contradict each other; the fourth object contradicts them.
    projection = _core.pivot_projection(space.core, np.arange(3))
    assert projection.n_pivots == 3
    with pytest.raises(_core.PivotFault) as fault:
        projection.project(space.core)
    assert fault.value.args[0] == 3
    assert fault.value.args[4] == [0, 1, 2]


def test_queries_that_no_hilbert_space_holds():
    space = space_of(np.eye(4), K.Precomputed())
    pivots = build_pivots(space, threads=1, progress=QUIET, m=4)
    search = ask(space, [[0.9, 0.9, 0.1, 0.0, 1.0]])  # the last one is K(q, q)
    with (
        pytest.raises(NotMercerError, match=r"queries\[0\] values with object \d") as error,
        named_faults(space.kernel, "queries[{}]".format, "object {}".format),
    ):
        pivots.top_k(search, 1)
    assert "pass algorithm='scan'" in str(error.value)


def test_values_beyond_their_bounds():
    """Object 1 is close to the only pivot, the query far from it, and yet close to object 1."""
    gram = np.array([[1.0, 0.9], [0.9, 1.0]])
    space = space_of(gram, K.Precomputed())
    pivots = build_pivots(space, threads=1, progress=QUIET, m=1)
    (pivot,) = pivots.projection.pivots()
    row = [0.9, 0.9, 1.0]
    row[pivot] = -0.9
    with (
        pytest.raises(NotMercerError, match="allow a Mercer kernel at most -0.6"),
        named_faults(space.kernel, "queries[{}]".format, "object {}".format),
    ):
        pivots.top_k(ask(space, [row]), 2)


def test_kernels_without_known_rounding_are_refused():
    with pytest.raises(InvalidArgument, match="known rounding error"):
        build_pivots(space_of([[1.0], [2.0]], K.Linear() * K.Linear()), threads=1, progress=QUIET)


def test_queries_need_their_own_value():
    space = space_of(np.eye(3), K.Precomputed())
    pivots = build_pivots(space, threads=1, progress=QUIET)
    with (
        pytest.raises(InvalidArgument, match=r"comes without K\(query, query\)"),
        named_faults(space.kernel, "queries[{}]".format, "object {}".format),
    ):
        pivots.top_k(ask(space, [[0.1, 0.2, 0.3]]), 1)


def test_negative_self_values_and_infinities_are_named():
    gram = np.diag([1.0, 1.0, -1.0])
    with pytest.raises(NotMercerError, match=r"objects\[2\] and itself the value -1"):
        build_pivots(space_of(gram, K.Precomputed()), threads=1, progress=QUIET)
    objects = np.array([[1.0], [1e200], [2.0]])
    space = space_of(objects, K.Linear())
    pivots = build_pivots(space, threads=1, progress=QUIET)  # infinity is no fault, and no pivot
    with (
        pytest.raises(ArithmeticError, match=r"queries\[0\] and objects\[1\] the value inf"),
        named_faults(space.kernel, "queries[{}]".format, "objects[{}]".format),
    ):
        pivots.top_k(ask(space, [[1e200]]), 1)
