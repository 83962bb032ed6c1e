"""Searches of sparse vectors through postings, against the scan, bit for bit."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from fastmks import InvalidArgument, KernelValueError, _core
from fastmks import kernels as K
from fastmks._util.progress import Progress
from fastmks.engines.base import SearchRequest
from fastmks.engines.faults import named_faults
from fastmks.engines.filters.postings import build_postings, fits_postings
from fastmks.engines.scan import Scan
from fastmks.engines.space import Space
from fastmks.kernels.objects import read_objects
from support.comparing import assert_same_found
from support.inside import forced_isa
from support.strategies import search_problems

QUIET = Progress(shown=False)
GROWING = (
    K.Linear(),
    K.Cosine(),
    K.Polynomial(degree=1, offset=2.0),
    K.Polynomial(degree=3, offset=-1.0, scale=0.5),
    K.Tanh(),
    K.Tanh(scale=50.0, offset=1.0),
    K.Exponential(scale=0.01),
    3.0 * K.Linear(),
    0.5 * K.Cosine() + 2.0 * K.Cosine(),
    K.Normalized(K.Linear()),
    K.Cosine() + 3.0 * K.Normalized(K.Linear()),
    K.Linear() + K.Polynomial(degree=3, offset=1.0),
)

STRING_KERNELS = (
    K.Spectrum(3),
    2.0 * K.Spectrum(2),
    K.Mismatch(3, 1),
    K.Normalized(K.Spectrum(3)),
    0.5 * K.Normalized(K.Spectrum(1)),
    K.Normalized(K.Mismatch(3, 1)),
)
GRAPH_KERNELS = (
    K.WeisfeilerLehman(),
    K.ShortestPath(),
    K.Normalized(K.WeisfeilerLehman()),
    K.Normalized(K.ShortestPath()),
)


def make_space(objects, kernel):
    return Space(read_objects(objects, kernel), kernel)


def make_search(queries, *, among=None, skip_self=False, threads=1, **more):
    return SearchRequest(
        queries=queries,
        among=among,
        skip_self=skip_self,
        threads=threads,
        progress=QUIET,
        **more,
    )


def assert_same_top_k(postings, search, k):
    wanted = Scan(postings.space).top_k(search, k)
    found = postings.top_k(search, k)
    assert_same_found(found, wanted)
    np.testing.assert_array_equal(found.gap, wanted.gap)
    return found


def assert_same_above(postings, search, thresholds):
    wanted = Scan(postings.space).above(search, thresholds)
    assert_same_found(postings.above(search, thresholds), wanted)


def assert_same_answers(objects, queries, kernel, ks=(1, 10)):
    space = make_space(objects, kernel)
    postings = build_postings(space, progress=QUIET)
    asked = space.queries(queries)
    for k in (*ks, len(space)):
        found = assert_same_top_k(postings, make_search(asked, threads=1 + k % 2), k)
    middle = np.ascontiguousarray(found.values[:, len(space) // 5])
    assert_same_above(postings, make_search(asked), middle)
    assert_same_top_k(postings, make_search(space, skip_self=True), 3)
    some = np.arange(1, len(space), 3)
    assert_same_top_k(postings, make_search(asked, among=some), 2)


def texts(n, seed=0, *, n_words=60, largest=4):
    """Word counts: a few words are everywhere, most are rare, some rows are empty."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / (np.arange(n_words) + 1.0)
    counts = rng.integers(1, largest, size=(n, n_words)) * (rng.random((n, n_words)) < shares)
    counts[rng.integers(0, n, size=n // 20)] = 0
    counts[-1] = counts[0]
    return counts.astype(float)


@given(problem=search_problems(kernels=GROWING), data=st.data())
def test_postings_lose_nothing(problem, data):
    try:
        with forced_isa(problem.isa):
            space = make_space(sp.csr_array(problem.objects), problem.kernel)
            asked = space.queries(sp.csr_array(problem.queries))
    except KernelValueError:
        assume(False)
    assume(fits_postings(space))
    postings = build_postings(space, progress=QUIET)
    search = make_search(asked, threads=problem.threads)
    try:
        with named_faults(problem.kernel, str, str):
            found = Scan(space).top_k(search, len(space))
    except KernelValueError:
        assume(False)
    assert_same_top_k(postings, search, problem.k)
    rank = data.draw(st.integers(0, len(space) - 1))
    assert_same_above(postings, search, np.ascontiguousarray(found.values[:, rank]))


@pytest.mark.parametrize("kernel", GROWING, ids=repr)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_counts(kernel, dtype, scale):
    objects, queries = (sp.csr_array((scale * texts(n, n)).astype(dtype)) for n in (900, 12))
    assert_same_answers(objects, queries, kernel)


@pytest.mark.parametrize(
    ("kernel", "tiny"),
    [(K.Linear(), 1e-160), (K.Cosine(), 1e-160), (K.Normalized(K.Linear()), 1e-130)],
    ids=repr,
)
def test_weights_that_planes_cannot_add_up(kernel, tiny):
    """Negative, huge and fractional numbers, in queries and objects, beside small counts."""
    objects, queries = texts(700, 1, largest=40), texts(8, 2)
    queries[0] = -queries[0]
    queries[1] *= 0.37
    queries[2] *= 1e7
    queries[3, ::2] *= -1.0
    queries[4] = tiny * queries[0]
    for change in (lambda x: x, lambda x: -x, lambda x: x * 1e6, lambda x: x * 1e150):
        changed = change(objects)
        assert_same_answers(sp.csr_array(changed), sp.csr_array(queries), kernel)
        changed[::7] *= 1e-9
        assert_same_answers(sp.csr_array(changed), sp.csr_array(queries), kernel)


def test_stored_zeros_and_an_empty_query():
    objects = sp.csr_array(texts(300))
    objects.data[::5] = 0.0
    queries = sp.csr_array((3, objects.shape[1]))
    for kernel in (K.Linear(), K.Cosine(), K.Normalized(K.Linear()), K.Tanh()):
        assert_same_answers(objects, queries, kernel)


@pytest.mark.parametrize("kernel", STRING_KERNELS, ids=repr)
def test_strings(kernel):
    rng = np.random.default_rng(3)
    strings = ["".join(rng.choice(list("ACDEFG"), rng.integers(0, 90))) for _ in range(600)]
    strings += [*strings[:40], "", "A" * 500]
    queries = [strings[3], "", "ACDACDACDFF", "QRSQRS", "A" * 40]
    assert_same_answers(strings, queries, kernel)


@pytest.mark.parametrize("kernel", GRAPH_KERNELS, ids=repr)
def test_graphs(kernel):
    graphs = [nx.gnp_random_graph(3 + i % 11, 0.3, seed=i) for i in range(200)]
    queries = [nx.gnp_random_graph(9, 0.4, seed=i) for i in range(300, 304)]
    assert_same_answers(graphs, queries, kernel)


def test_objects_in_an_order_of_their_own():
    space = make_space(sp.csr_array(texts(400)), K.Linear())
    ordered = space.ordered(np.random.default_rng(0).permutation(400))
    asked = space.queries(sp.csr_array(texts(6, 9)))
    found = build_postings(ordered, progress=QUIET).top_k(make_search(asked), 20)
    wanted = Scan(space).top_k(make_search(asked), 20)
    assert_same_found(found, wanted)


def test_few_are_evaluated_and_little_is_stored():
    """Counts are added up exactly: hardly more than k objects need their true value."""
    n, k = 5000, 10
    counts = texts(n, 5, n_words=400)
    space = make_space(sp.csr_array(counts), K.Linear())
    postings = build_postings(space, progress=QUIET)
    queries = texts(50, 6, n_words=400)
    queries = queries[queries.any(axis=1)]  # an empty one ties with every object
    found = assert_same_top_k(postings, make_search(space.queries(sp.csr_array(queries))), k)
    assert found.cost.evaluations <= len(queries) * 4 * k
    assert 0 < found.cost.bounds <= len(queries) * n
    assert 0 < postings.n_bytes < 1.6 * 12 * np.count_nonzero(counts)


def test_what_does_not_fit_is_refused():
    objects = texts(30)
    for rows, kernel in (
        (objects, K.Linear()),  # dense
        (sp.csr_array(objects), K.Polynomial(degree=2)),
        (sp.csr_array(objects), K.Gaussian()),
        (sp.csr_array(objects), K.Linear() + K.Cosine()),
        (sp.csr_array(objects), K.Normalized(K.Polynomial(degree=3))),
    ):
        space = make_space(rows, kernel)
        assert not fits_postings(space)
        with pytest.raises(InvalidArgument, match="need sparse vectors and a kernel that grows"):
            build_postings(space, progress=QUIET)


def test_the_core_checks_what_it_is_given():
    space = make_space(sp.csr_array(texts(30)), K.Linear())
    other = make_space(sp.csr_array(texts(31)), K.Linear())
    core = build_postings(space, progress=QUIET).core
    assert len(core) == 30
    assert core.n_planes + core.n_postings > 0
    with pytest.raises(ValueError, match="of other objects"):
        _core.postings_top_k(other.core, other.core, None, None, core, False, 1, None, 1, None)
    with pytest.raises(ValueError, match="k must be between"):
        _core.postings_top_k(space.core, space.core, None, None, core, False, 31, None, 1, None)
    with pytest.raises(ValueError, match="one threshold per query"):
        _core.postings_above(space.core, space.core, None, None, core, np.zeros(3), 1, None)
    with pytest.raises(ValueError, match="sparse vectors"):
        _core.postings(make_space(texts(5), K.Linear()).core, None)


def test_progress_is_shown_where_asked(capsys):
    space = make_space(sp.csr_array(texts(30)), K.Linear())
    postings = build_postings(space, progress=Progress(shown=True))
    postings.top_k(replace(make_search(space), progress=Progress(shown=True)), 1)
    assert "queries" in capsys.readouterr().err
