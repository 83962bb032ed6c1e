"""The model of a distributed search finds what made the times it is given, and what is best."""

import dask.array
import numpy as np
import pytest

from fastmks import InvalidArgument
from fastmks.dask import ShardedIndex
from fastmks.dask.advice import Advice, fit_line, fit_power
from support.sharding import cluster


def advice(*, c1=1e-3, c2=1e-8, c2_tree=1e-3, n_objects=10**6, n_queries=1, n_machines=1000):
    return Advice(
        overhead=fit_line([(m, 0.002 + c1 * m) for m in (1, 2, 4, 8)]),
        scan=fit_line([(n, c2 * n) for n in (1000, 2000, 4000)]),
        tree=fit_line([(np.log2(n), 1e-5 + c2_tree * np.log2(n)) for n in (1000, 2000, 4000)]),
        tree_exponent=0.2,
        n_objects=n_objects,
        n_queries=n_queries,
        k=1,
        n_machines=n_machines,
    )


def test_fits_find_what_made_the_points():
    law = fit_line([(1, 3.0), (2, 5.0), (4, 9.0)])
    assert law.slope == pytest.approx(2.0)
    assert law.at_zero == pytest.approx(1.0)
    assert law.misfit == pytest.approx(0.0, abs=1e-12)
    assert fit_power([(n, 7.0 * n**0.3) for n in (10, 100, 1000)]) == pytest.approx(0.3)


@pytest.mark.parametrize("algorithm", ["scan", "tree"])
@pytest.mark.parametrize("c1", [1e-6, 1e-4, 1e-2])
def test_the_best_number_is_the_best_of_all(algorithm, c1):
    model = advice(c1=c1)
    times = [model.seconds(algorithm, m) for m in range(1, 1001)]
    assert times[model.best(algorithm) - 1] == pytest.approx(min(times), rel=1e-9)


def test_the_paper_s_optima():
    model = advice(c1=1e-4, c2=1e-8, c2_tree=2e-3, n_objects=10**6)
    assert model.best("scan") == round(np.sqrt(1e-8 * 10**6 / 1e-4))
    assert model.best("tree") == pytest.approx(2e-3 / np.log(2) / 1e-4, abs=1)


def test_it_prints_as_a_table():
    lines = str(advice(n_machines=8)).splitlines()
    assert lines[0] == "1 query, k = 1, 1000000 objects"
    assert [line.split()[0] for line in lines[7:]] == ["1", "2", "3", "4", "8"]  # 3 is best
    assert sum("best for scan" in line for line in lines) == 1
    assert sum("best for tree" in line for line in lines) == 1


def test_on_a_cluster():
    with cluster() as client:
        array = dask.array.random.default_rng(0).normal(size=(2000, 5), chunks=(500, 5))
        sharded = ShardedIndex.build(array, "linear", client)
        model = sharded.advise(n_machines=16, k=2)
        assert model.n_objects == 2000
        assert model.overhead.slope > 0
        assert model.scan.slope > 0
        assert [size for size, _ in model.scan.points] == [62, 125, 250, 500]
        assert 1 <= model.best("tree") <= 16
        assert model.as_dict()["scan"]["slope"] == model.scan.slope
        larger = sharded.advise(n_machines=16, n_objects=10**9, queries=np.ones((3, 5)))
        assert (larger.n_objects, larger.n_queries) == (10**9, 3)
        with pytest.raises(InvalidArgument, match="n_machines"):
            sharded.advise(n_machines=0)
        with pytest.raises(InvalidArgument, match=r"at least 1600 objects .*\(k=100\).*holds 500"):
            sharded.advise(k=100)
