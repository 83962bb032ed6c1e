"""A search that is told what is known already finds what is better, and ties, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmks import Index, kernels
from fastmks._util.progress import Progress
from fastmks.engines.base import SearchRequest
from fastmks.index.merge import NOWHERE
from support.inside import snapshot_of
from support.kinds import KINDS
from support.living import algorithms


def search(index, queries, k, floors, algorithm, *, only=None, threads=1):
    snapshot = snapshot_of(index)
    (space,) = snapshot.queries(queries)
    request = SearchRequest(
        queries=space,
        among=None if only is None else np.asarray(only, dtype=np.int64),
        algorithm=algorithm,
        threads=threads,
        progress=Progress(False),
        floors=floors,
    )
    found, _ = snapshot.segments[0].top_k(request, k)
    return found


def expected(index, queries, k, floors, *, only=None):
    """The k best of all true values and of k values of the floor that are nowhere."""
    ids = None if only is None else only
    n = len(index) if only is None else len(only)
    hits = index.search(queries, n, algorithm="scan", only=ids)
    fill = np.repeat(floors[:, None], k, axis=1)
    values = np.concatenate([hits.values, fill], axis=1)
    positions = np.concatenate([hits.indices, np.full(fill.shape, NOWHERE)], axis=1)
    best = np.lexsort((positions, -values), axis=1)[:, :k]
    return np.take_along_axis(values, best, 1), np.take_along_axis(positions, best, 1)


def assert_same(found, wanted):
    values, positions = wanted
    np.testing.assert_array_equal(found.positions, positions)
    np.testing.assert_array_equal(found.values.view(np.int64), values.view(np.int64))
    assert not found.gap.any()


def some_floors(index, queries, seed, among=None):
    """Values of objects, values between them, and values that no object reaches, or every one."""
    rng = np.random.default_rng(seed)
    values = index.search(queries, len(index), algorithm="scan").values
    at = rng.integers(0, among or values.shape[1], size=len(values))
    floors = values[np.arange(len(values)), at].copy()
    floors[1::4] = np.nextafter(floors[1::4], np.inf)
    floors[2::8] = -np.inf
    floors[3::8] = values[3::8, 0] + 1.0
    return floors


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_engine_on_every_kind(kind, threads):
    index = Index(kind.objects, kind.kernel)
    n = len(index)
    for seed, k in enumerate(sorted({1, min(3, n), n})):
        floors = some_floors(index, kind.queries, seed)
        wanted = expected(index, kind.queries, k, floors)
        for algorithm in algorithms(index):
            found = search(index, kind.queries, k, floors, algorithm, threads=threads)
            assert_same(found, wanted)
    only = index.ids[::2]
    floors = some_floors(index, kind.queries, 7)
    wanted = expected(index, kind.queries, 1, floors, only=only)
    for algorithm in algorithms(index):
        assert_same(search(index, kind.queries, 1, floors, algorithm, only=only), wanted)


@settings(max_examples=150)
@given(data=st.data())
@pytest.mark.parametrize("algorithm", ["scan", "tree", "filter"])
def test_ties_with_the_floor(algorithm, data):
    rows = st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=1, max_size=40)
    objects = np.array(data.draw(rows), dtype=data.draw(st.sampled_from([np.float32, np.float64])))
    queries = np.array(data.draw(rows), dtype=float)
    kernel = data.draw(st.sampled_from(["linear", "cosine", "gaussian"]))
    index = Index(objects, kernel)
    k = data.draw(st.integers(1, len(objects)))
    floors = some_floors(index, queries, data.draw(st.integers(0, 99)))
    wanted = expected(index, queries, k, floors)
    assert_same(search(index, queries, k, floors, algorithm), wanted)


@pytest.mark.parametrize("kernel", ["linear", "cosine", "gaussian", kernels.Polynomial(degree=2)])
@pytest.mark.parametrize("algorithm", ["tree", "filter"])
def test_many_objects(algorithm, kernel, isa):
    rng = np.random.default_rng(2)
    objects = (rng.normal(size=(5000, 8)) * np.linspace(1, 0.1, 8)).astype(np.float32)
    objects[2500:3000] = objects[:500]  # ties
    queries = rng.normal(size=(70, 8))
    index = Index(objects, kernel)
    for seed, k in enumerate((1, 10, 300)):
        floors = some_floors(index, queries, seed, among=3 * k)
        wanted = expected(index, queries, k, floors)
        assert_same(search(index, queries, k, floors, algorithm, threads=1 + seed % 2), wanted)


@pytest.mark.parametrize("algorithm", ["tree", "filter"])
def test_a_floor_saves_evaluations(algorithm):
    rng = np.random.default_rng(0)
    objects = rng.normal(size=(20_000, 8)) * np.linspace(1, 0.1, 8)
    queries = rng.normal(size=(50, 8))
    index = Index(objects, algorithm=algorithm)
    best = index.search(queries, k=10)
    without = search(index, queries, 10, None, algorithm).cost
    high = search(index, queries, 10, best.values[:, 0] + 1.0, algorithm).cost
    known = search(index, queries, 10, np.ascontiguousarray(best.values[:, -1]), algorithm).cost
    assert high.evaluations < 0.5 * without.evaluations
    assert high.evaluations <= known.evaluations <= without.evaluations


def test_the_core_wants_one_floor_per_query():
    index = Index(np.ones((4, 2)))
    with pytest.raises(ValueError, match="one floor per query"):
        search(index, np.ones((3, 2)), 1, np.zeros(2), "scan")
    with pytest.raises(ValueError, match="one floor per query"):
        search(index, np.ones((3, 2)), 1, np.zeros(2), "tree")
