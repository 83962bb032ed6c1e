"""search(trace=True) notes whose values were evaluated, and changes nothing else."""

import numpy as np
import pytest

from fastmks import Index, kernels

RNG = np.random.default_rng(11)
VECTORS = (RNG.normal(size=(3000, 12)) * 0.7 ** np.arange(12)).astype(np.float32)
QUERY = VECTORS[:1] + 0.01
ALGORITHMS = ("auto", "scan", "filter", "tree", "dual-tree")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kernel", ["linear", "cosine", "gaussian"])
def test_as_many_objects_are_marked_as_were_evaluated(algorithm, kernel):
    index = Index(VECTORS, kernel, algorithm=algorithm)
    plain = index.search(QUERY, k=5)
    traced = index.search(QUERY, k=5, trace=True, algorithm=plain.stats.algorithm)
    assert plain.evaluated is None
    assert np.array_equal(plain.values, traced.values)
    assert np.array_equal(plain.indices, traced.indices)
    assert traced.evaluated.shape == (len(VECTORS),)
    assert traced.evaluated.sum() == traced.stats.kernel_evaluations
    assert traced.evaluated[traced.indices].all()


def test_trees_and_filters_leave_some_out():
    for algorithm in ("tree", "filter"):
        hits = Index(VECTORS, algorithm=algorithm).search(QUERY, k=5, trace=True)
        assert 5 <= hits.evaluated.sum() < len(VECTORS) / 2


def test_marks_are_by_position_also_after_changes():
    index = Index(VECTORS[:2000], algorithm="tree")
    index.add(VECTORS[2000:])
    index.remove(np.arange(0, 400))
    hits = index.search(QUERY, k=5, trace=True)
    assert hits.evaluated.shape == (len(index),)
    assert hits.evaluated[hits.indices].all()
    assert not hits.evaluated.all()


def test_only_what_is_searched_among_is_marked():
    index = Index(VECTORS)
    for algorithm in ("scan", "filter"):
        hits = index.search(QUERY, k=3, only=np.arange(100, 200), algorithm=algorithm, trace=True)
        assert not hits.evaluated[:100].any()
        assert not hits.evaluated[200:].any()
    # A tree looks at the points of its nodes, whoever they are.
    hits = index.search(QUERY, k=3, only=np.arange(100, 200), algorithm="tree", trace=True)
    assert hits.evaluated.sum() == hits.stats.kernel_evaluations


@pytest.mark.parametrize("algorithm", ["scan", "filter", "tree"])
def test_any_object_can_be_traced(algorithm):
    words = ["".join(RNG.choice(list("ACGT"), 20)) for _ in range(300)]
    index = Index(words, kernels.Normalized(kernels.Spectrum(3)), algorithm=algorithm)
    hits = index.search(words[7], k=2, trace=True)
    assert hits.evaluated[hits.indices].all()
    assert hits.evaluated.sum() <= hits.stats.kernel_evaluations


def test_a_function_of_the_users_is_traced():
    calls = []

    def product(x, y):
        calls.append(1)
        return x * y

    index = Index([1.0, 2.0, 3.0, 4.0], kernels.Custom(product), algorithm="scan")
    calls.clear()
    hits = index.search([2.0], k=1, trace=True)
    assert hits.evaluated.tolist() == [True] * 4
    assert len(calls) >= 4


def test_many_queries_share_their_marks():
    index = Index(VECTORS, algorithm="tree")
    both = index.search(VECTORS[:2], k=3, trace=True).evaluated
    each = [index.search(VECTORS[i : i + 1], k=3, trace=True).evaluated for i in range(2)]
    assert np.array_equal(both, each[0] | each[1])
