"""The options of an approximate search: which are refused, and how many objects a rank needs."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from fastmks import Index, InvalidArgument
from fastmks.engines.approximation import _chance_of_fewer, sample_size
from support.comparing import assert_identical
from support.functions import normal


@pytest.mark.parametrize("n", [1, 2, 10, 300])
def test_sample_sizes_are_the_least_that_keep_the_promise(n):
    for rank in sorted({1, 2, max(1, n // 10), max(1, n // 2), n} & set(range(1, n + 1))):
        for k in sorted({1, 2, rank} & set(range(1, rank + 1))):
            for delta in (1e-9, 0.05, 0.5, 0.99):
                m = sample_size(n=n, rank=rank, k=k, delta=delta)
                assert k <= m <= n
                assert stats.hypergeom(n, rank, m).cdf(k - 1) <= delta * (1 + 1e-9)
                if m > k:
                    fewer = stats.hypergeom(n, rank, m - 1).cdf(k - 1)
                    assert fewer > delta * (1 - 1e-5)


@pytest.mark.parametrize("n", [10**9, 10**11, 10**13, 10**15, 10**18])
def test_chances_keep_their_digits_for_any_number_of_objects(n):
    """Against sums of 60 digits: differences of log-gammas had lost all of them from 1e11 on."""

    def exactly(rank, drawn, k):
        with mpmath.workdps(60):
            tables = (
                mpmath.binomial(rank, j) * mpmath.binomial(n - rank, drawn - j) for j in range(k)
            )
            return mpmath.fsum(tables) / mpmath.binomial(n, drawn)

    for rank, k in ((n // 100, 1), (1000, 10), (n // 2, 100), (3, 3)):
        for delta in (0.05, 1e-9):
            drawn = sample_size(n=n, rank=rank, k=k, delta=delta)
            chance = exactly(rank, drawn, k)
            assert chance <= delta < exactly(rank, drawn - 1, k) * (1 + 1e-5)
            computed = _chance_of_fewer(n=n, best=rank, drawn=drawn, k=k)
            assert computed == pytest.approx(float(chance), rel=1e-10)
    assert sample_size(n=n, rank=n // 100, k=1, delta=0.05) == 299


def test_sample_sizes_shrink_with_the_promise():
    def size(n=10_000, rank=100, k=1, delta=0.05):
        return sample_size(n=n, rank=rank, k=k, delta=delta)

    assert size(rank=50) > size(rank=100) > size(rank=500)
    assert size(delta=0.01) > size(delta=0.05) > size(delta=0.5)
    assert size(k=1) < size(k=2) < size(k=50) < size(k=100) <= 10_000
    assert size(n=1000) < size(n=10_000) < size(n=100_000)
    assert size(n=10**9, rank=10**7) < 400


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 1.0, "relative": 0.1}, "epsilon and relative cannot be combined"),
        ({"delta": 0.1}, "delta belongs to rank=: pass both, or neither"),
        ({"rank": 5, "epsilon": 1.0}, "rank cannot be combined with epsilon, relative, budget or"),
        ({"rank": 5, "relative": 0.0}, "rank cannot be combined"),
        ({"rank": 5, "budget": 9}, "rank cannot be combined"),
        ({"rank": 5, "seconds": 9}, "rank cannot be combined"),
        ({"budget": 9, "only": [1, 2, 3]}, "budget cannot be combined with only="),
        ({"epsilon": -0.1}, r"epsilon must be at least 0 \(0 is exact\); got -0.1"),
        ({"relative": -1}, r"relative must be at least 0 \(0 is exact\); got -1"),
        ({"epsilon": float("nan")}, "epsilon must be a finite number; got nan"),
        ({"epsilon": float("inf")}, "epsilon must be a finite number; got inf"),
        ({"relative": "0.1"}, "relative must be a finite number; got '0.1'"),
        ({"rank": 1}, "rank must be between k=2 and the 30 objects searched; got rank=1"),
        ({"rank": 31}, "rank must be between k=2 and the 30 objects searched; got rank=31"),
        ({"rank": 4, "only": [1, 2, 3]}, "between k=2 and the 3 objects searched; got rank=4"),
        ({"rank": 2.5}, "rank must be a whole number of at least 1; got 2.5"),
        ({"rank": 5, "delta": 0.0}, "delta must be between 0 and 1, both excluded; got 0.0"),
        ({"rank": 5, "delta": 1}, "delta must be between 0 and 1, both excluded; got 1"),
        ({"rank": 5, "seed": -1}, r"seed must be a whole number.*got (seed=)?-1"),
        ({"rank": 5, "seed": 0.5}, r"seed must be a whole number.*got 0.5"),
        ({"rank": 5, "seed": True}, r"seed must be a whole number.*got True"),
        ({"budget": 1}, "budget must be at least k=2 evaluations per query, one for each answer"),
        ({"budget": 0}, "budget must be a whole number of at least 1; got budget=0"),
        ({"budget": 3.0}, "budget must be a whole number of at least 1; got 3.0"),
        ({"seconds": 0}, "seconds must be a positive finite number; got 0"),
        ({"seconds": -1.0}, "seconds must be a positive finite number; got -1.0"),
        ({"seconds": float("inf")}, "seconds must be a positive finite number; got inf"),
        ({"budget": 9, "algorithm": "dual-tree"}, "budget needs algorithm='tree'"),
        ({"seconds": 9, "algorithm": "dual-tree"}, "seconds needs algorithm='tree'"),
        ({"rank": 9, "algorithm": "dual-tree"}, "rank needs algorithm='tree'"),
        ({"budget": 9, "algorithm": "scan"}, "budget needs algorithm='tree'"),
        ({"seconds": 9.0, "algorithm": "scan"}, "seconds needs algorithm='tree'"),
    ],
    ids=str,
)
def test_bad_options_are_named(options, message):
    index = Index(normal(30, 3), algorithm="tree")
    with pytest.raises(InvalidArgument, match=message):
        index.search(normal(2, 3), 2, **options)


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_seeds_of_numpy_are_seeds(seed):
    index = Index(normal(300, 3), algorithm="tree")
    wanted = index.search(normal(20, 3), rank=30, seed=seed)
    assert_identical(index.search(normal(20, 3), rank=30, seed=np.uint64(seed)), wanted)
