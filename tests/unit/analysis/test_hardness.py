"""Hardness as a whole: odd data, samples, the forecast, errors, words and pictures."""

import collections
import importlib
import math
import re
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from scipy import sparse

import fastmks
from fastmks import kernels
from fastmks.analysis import dimension as estimates
from fastmks.analysis import forecast
from fastmks.kernels.object_kernel import leaves
from support.functions import line, normal

matplotlib.use("Agg")
module = importlib.import_module(
    "fastmks.analysis.hardness"
)  # fastmks.hardness itself is the function


# --- odd data ------------------------------------------------------------------------------------


def assert_same(found, expected):
    for name in ("expansion_samples", "directional_samples", "positions"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    for name in ("forecast", "forecast_points", "forecast_exponent", "advice"):
        assert repr(getattr(found, name)) == repr(getattr(expected, name))


@pytest.mark.parametrize(
    "objects",
    [
        np.ones((40, 3)),
        np.zeros((40, 3)),
        np.tile(normal(1, 5), (40, 1)),
        [[2.0, 1.0]],
        [[0.0]],
        1000.0 + 1e-9 * normal(40, 3),
    ],
    ids=["ones", "zeros", "duplicates", "one", "one zero", "apart by less than rounding"],
)
@pytest.mark.parametrize("kernel", ["linear", "cosine", "gaussian"])
def test_objects_that_are_all_one(objects, kernel):
    found = fastmks.hardness(objects, kernels.Gaussian(1e5) if kernel == "gaussian" else kernel)
    assert found.expansion_constant == 2.0
    assert found.directional_concentration == 1.0
    assert set(found.expansion_samples) == {1.0}
    assert 0.0 < found.forecast <= 1.0
    assert str(found)


def test_two_objects():
    found = fastmks.hardness([[1.0, 0.0], [0.0, 1.0]])
    assert found.expansion_samples.tolist() == [2.0, 2.0]
    assert found.directional_concentration == 2.0
    assert found.forecast_points == ((2, pytest.approx(found.forecast * 2)),)
    assert math.isnan(found.forecast_exponent)


def test_zero_objects_have_no_direction():
    found = fastmks.hardness(np.vstack([np.zeros((10, 2)), [[1.0, 0.0]]]))
    assert found.directional_samples.tolist() == [1.0] * 4
    assert len(fastmks.hardness(np.zeros((10, 2))).directional_samples) == 0


@pytest.mark.parametrize(
    "kernel",
    ["linear", "cosine", "gaussian", kernels.Normalized(kernels.Linear() + kernels.Gaussian())],
)
def test_sparse_equals_dense(kernel):
    objects = normal(120, 9) * (np.random.default_rng(1).random((120, 9)) < 0.4)
    queries = normal(15, 9, seed=2)
    dense = fastmks.hardness(objects, kernel, queries=queries)
    assert_same(fastmks.hardness(sparse.csr_matrix(objects), kernel, queries=queries), dense)
    assert_same(fastmks.hardness(objects, kernel, queries=sparse.csr_matrix(queries)), dense)


# --- samples, seeds, threads ---------------------------------------------------------------------


def test_the_same_seed_gives_the_same_result():
    objects = normal(300, 4)
    first = fastmks.hardness(objects, sample=100, seed=3, threads=1)
    assert_same(fastmks.hardness(objects, sample=100, seed=3, threads=2), first)
    other = fastmks.hardness(objects, sample=100, seed=4)
    assert other.positions.tolist() != first.positions.tolist()


def test_sample_caps_what_is_looked_at():
    found = fastmks.hardness(normal(300, 4), sample=50, queries=normal(80, 4, seed=1))
    assert len(found.positions) == len(found.expansion_samples) == len(set(found.positions)) == 50
    assert found.expansion_constant <= 50
    assert max(size for size, _ in found.forecast_points) == 50
    assert found.n_objects == 300


def test_covers_are_taken_among_few(monkeypatch):
    monkeypatch.setattr(module, "_MOST_COVERED", 40)
    found = fastmks.hardness(np.eye(60))
    assert found.expansion_constant == 60.0
    assert found.directional_concentration == 40.0


# --- the forecast --------------------------------------------------------------------------------


def measured_share(objects, queries, kernel="linear"):
    index = fastmks.Index(objects, kernel, algorithm="tree")
    return index.search(queries, traversal=fastmks.Traversal(block=1)).stats.scan_share


@pytest.mark.parametrize("d", [2, 4, 12])
def test_forecast_is_the_share_where_the_sample_is_all(d):
    objects, queries = normal(700, d), normal(100, d, seed=1)
    found = fastmks.hardness(objects, queries=queries)
    assert found.forecast == pytest.approx(measured_share(objects, queries))
    assert [size for size, _ in found.forecast_points] == [87, 175, 350, 700]


@pytest.mark.parametrize("d", [2, 4, 12])
def test_forecast_is_near_the_share_of_held_out_queries(d):
    objects, queries = normal(4000, d), normal(300, d, seed=1)
    found = fastmks.hardness(objects, sample=1000)
    share = measured_share(objects, queries)
    assert share / 2 < found.forecast < share * 2


def test_small_trees_are_the_mean_of_disjoint_parts():
    positions = np.arange(100)
    for halvings, sizes in ((0, [100]), (1, [50] * 2), (2, [25] * 4), (3, [])):
        parts = forecast.parts_of(positions, halvings)
        assert [len(part) for part in parts] == sizes
        assert len(set(np.concatenate([*parts, []]))) == sum(sizes)


def test_extrapolation_of_a_power():
    points = tuple((n, 3.0 * n**0.5) for n in (100, 200, 400))
    exponent, share = forecast.extrapolate(points, 10_000)
    assert exponent == pytest.approx(0.5)
    assert share == pytest.approx(3.0 * 10_000**0.5 / 10_000)


@pytest.mark.parametrize(
    ("points", "n", "share"),
    [
        (((10, 10.0),), 1000, 1.0),  # one point: the same share of all
        (((10, 2.0), (20, 40.0)), 1000, 1.0),  # never more than a scan
        (((10, 9.0), (20, 8.0)), 800, 0.01),  # never fewer than for fewer objects
        (((10, 0.5), (20, 0.5)), 100, 0.01),  # never less than one object
    ],
)
def test_extrapolation_stays_possible(points, n, share):
    assert forecast.extrapolate(points, n)[1] == pytest.approx(share)


def test_advice_names_the_figures():
    easy, dear, hard = (
        module._advise({"scan": 1.0, "tree": share}, 500, is_expensive=False)
        for share in (0.004, 0.3, 0.93)
    )
    assert easy == "A tree pays: it needs about 2 kernel evaluations a query, a scan 500."
    assert "about 150 kernel evaluations" in dear
    assert hard.startswith("A scan is as good: a tree needs about 465")


# --- kernels that take long ----------------------------------------------------------------------


def shared(x, y):
    return float(sum(a * b for a, b in zip(x, y, strict=True)))


@pytest.mark.parametrize("wrap", [lambda k: k, kernels.Normalized, lambda k: 2.0 * k + k])
@pytest.mark.parametrize("queries", [None, normal(30, 3, seed=5).tolist()], ids=["own", "given"])
def test_each_pair_is_evaluated_once(wrap, queries):
    asked = collections.Counter()

    def counted(x, y):
        asked[tuple(x), tuple(y)] += 1
        return shared(x, y)

    objects = normal(120, 3).tolist()
    kernel = wrap(kernels.Custom(counted))
    fastmks.hardness(objects, kernel, queries=queries, budget=100_000)
    n_leaves = len(list(leaves(kernel)))
    selves = [n for (x, y), n in asked.items() if x == y]
    others = [n for (x, y), n in asked.items() if x != y]
    assert max(others) == n_leaves
    assert max(selves) <= 2 * n_leaves  # in the row of the object, and for all of them
    n_pairs = 120 * 119 / 2
    in_blocks = 120 * 32 / 2  # the other half of the blocks on the diagonal
    n_asked = 0 if queries is None else 30 * 120
    assert len(others) <= n_pairs + in_blocks + n_asked


@pytest.mark.parametrize("queries", [None, normal(30, 3, seed=5)], ids=["own", "given"])
@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Custom(shared),
        kernels.Normalized(kernels.Custom(shared)),
        kernels.Normalized(kernels.GlobalAlignment(bandwidth=2.0)),
    ],
    ids=["function", "normalised function", "alignments"],
)
def test_remembered_values_change_nothing(kernel, queries, monkeypatch):
    objects = normal(150, 3)
    found = fastmks.hardness(objects, kernel, queries=queries, sample=140, budget=100_000)
    monkeypatch.setattr(estimates, "_MOST_EXPENSIVE", 0)
    assert_same(
        found, fastmks.hardness(objects, kernel, queries=queries, sample=140, budget=100_000)
    )


def test_errors_about_remembered_values_name_the_kernel_and_the_objects():
    def apart(x, y):
        return float(abs(x - y)) + 1.0

    with pytest.raises(fastmks.NotMercerError, match=r"apart\) gives objects\[\d+\] and objects\["):
        fastmks.hardness(list(range(40)), apart)

    def odd(x, y):  # within what Cauchy and Schwarz allow, but at distances that no space has
        return (1.0, 0.9, -0.5)[min(abs(x - y), 2)]

    with pytest.raises(fastmks.NotMercerError, match=r"odd\) puts object \d+, object \d+ and"):
        fastmks.hardness(list(range(40)), odd)


def test_progress_of_remembered_values(capsys):
    fastmks.hardness(normal(50, 2).tolist(), shared, budget=10_000, progress=True)
    assert "2500/2500" in capsys.readouterr().err.replace("2.50k/2.50k", "2500/2500")


# --- engines and the budget ----------------------------------------------------------------------


def clusters(n, d=5):
    rng = np.random.default_rng(3)
    return rng.normal(size=(12, d))[rng.integers(0, 12, size=n)] + 0.02 * rng.normal(size=(n, d))


@pytest.mark.parametrize("wrap", [kernels.Custom, lambda f: kernels.Normalized(kernels.Custom(f))])
@pytest.mark.parametrize("n_queries", [0, 1, 7, 200])
@pytest.mark.parametrize("budget", [None, 1000, 50, 5])
def test_a_budget_bounds_the_evaluations(wrap, n_queries, budget):
    n_calls = 0

    def counted(x, y):
        nonlocal n_calls
        n_calls += 1
        return float(x @ y)

    objects = clusters(300)
    queries = objects[:n_queries] + 0.01 if n_queries else None
    found = fastmks.hardness(objects, wrap(counted), queries=queries, budget=budget)
    assert n_calls <= (8 * 300 if budget is None else max(budget, 5))
    assert 1 <= len(found.positions) <= 300
    assert found.forecasts["tree"] == found.forecast


def test_the_budget_of_inexpensive_kernels_is_the_sample_unless_given():
    objects = normal(400, 3)
    assert len(fastmks.hardness(objects).positions) == 400
    assert len(fastmks.hardness(objects, budget=2000).positions) < 70


def test_forecasts_name_the_engine_that_evaluates_fewest():
    def product(x, y):
        return float(x @ y)

    objects = clusters(800)
    kernel = kernels.Normalized(kernels.Custom(product))
    found = fastmks.hardness(objects, kernel)
    index = fastmks.Index(objects, kernel)
    queries = clusters(840)[800:]
    for algorithm in ("tree", "filter"):
        hits = index.search(queries, algorithm=algorithm)
        share = hits.stats.kernel_evaluations / (len(queries) * len(objects))
        assert share / 3 < found.forecasts[algorithm] < share * 3
    assert found.forecasts["scan"] == 1.0
    assert found.forecasts["filter"] < 0.2
    assert re.fullmatch(
        r"Pivots pay: they need about [\d.]+ kernel evaluations a query, a tree about [\d.]+, "
        r"a scan 800\.",
        found.advice,
    )
    assert "scan 100 %, tree" in str(found)


def test_advice_of_expensive_kernels():
    def advice(tree, filter_):
        shares = {"scan": 1.0, "tree": tree, "filter": filter_}
        return module._advise(shares, 500, is_expensive=True)

    rest = "kernel evaluations a query"
    assert (
        advice(0.1, 0.02) == f"Pivots pay: they need about 10 {rest}, a tree about 50, a scan 500."
    )
    assert (
        advice(0.1, 0.2) == f"A tree pays: it needs about 50 {rest}, pivots about 100, a scan 500."
    )
    assert advice(0.7, 0.6) == (
        f"A scan is as good: it needs 500 {rest}, pivots about 300, a tree about 350."
    )


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sample": 0}, "sample must be a whole number of at least 1; got sample=0"),
        ({"sample": 2.5}, "sample must be a whole number of at least 1; got 2.5"),
        ({"budget": 0}, "budget must be a whole number of at least 1; got budget=0"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
        ({"seed": None}, "seed must be a whole number of at least 0; got None"),
        ({"seed": True}, "seed must be a whole number of at least 0; got True"),
        ({"threads": 0}, "threads must be"),
        ({"kernel": "liner"}, "Did you mean 'linear'"),
        ({"queries": [[1.0]]}, "queries must have 2 columns"),
        ({"queries": np.empty((0, 2))}, "queries must hold at least one object"),
        ({"queries": [[1.0, np.nan]]}, "queries must be finite"),
        ({"objects": np.empty((0, 2))}, "objects must hold at least one object"),
        ({"objects": [1.0, 2.0]}, "objects must be two-dimensional"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(fastmks.InvalidArgument) as error:
        fastmks.hardness(**{"objects": [[1.0, 2.0], [3.0, 4.0]], **arguments})
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (kernels.Tanh(), "Tanh(scale=1.0, offset=0.0) is not on vectors"),
        (kernels.Triangular(), "is not on vectors of 4 columns"),
        (kernels.Normalized(kernels.Epanechnikov()), "is not on"),
    ],
)
def test_kernels_that_are_not_mercer_are_refused(kernel, words):
    with pytest.raises(fastmks.NotMercerError) as error:
        fastmks.hardness(normal(20, 4), kernel)
    assert words in str(error.value)


def test_values_that_no_mercer_kernel_has_are_named(monkeypatch):
    """A kernel that claims too much: the objects tell."""
    monkeypatch.setattr(kernels.Tanh, "mercer_columns", math.inf)
    with pytest.raises(fastmks.NotMercerError, match=r"objects\[\d\] and objects\[\d\] the value"):
        fastmks.hardness([[0.1, 0.0], [9.0, 0.0], [0.1, 0.1]], kernels.Tanh(offset=-0.005))
    with pytest.raises(fastmks.NotMercerError, match=r"objects\[1\] K\(x, x\) = -"):
        fastmks.hardness([[2.0], [0.1]], kernels.Tanh(offset=-1.0))
    with pytest.raises(fastmks.NotMercerError, match=r"queries\[0\] K\(x, x\) = -"):
        fastmks.hardness([[2.0], [1.1]], kernels.Tanh(offset=-1.0), queries=[[0.1]])


def test_values_that_are_not_finite_are_named():
    with pytest.raises(fastmks.KernelValueError, match=r"objects\[2\] K\(x, x\) = inf"):
        fastmks.hardness([[1.0], [2.0], [1e200]], kernels.Linear())
    with pytest.raises(fastmks.KernelValueError, match=r"queries\[1\] K\(x, x\) = inf"):
        fastmks.hardness([[1.0], [2.0]], kernels.Exponential(), queries=[[1.0], [100.0]])


# --- words and pictures --------------------------------------------------------------------------


def test_printing_gives_the_figures():
    found = fastmks.hardness(line(50))
    words = str(found)
    for part in ("50 objects under Linear()", "expansion constant", "directional", found.advice):
        assert part in words
    assert repr(found).startswith("<Hardness: expansion 3, directional concentration 1, forecast")


def test_quantiles_were_seen():
    found = fastmks.hardness(normal(50, 2)).quantiles([0.0, 0.5, 1.0])
    assert set(found) == {"expansion", "directional"}
    assert (np.diff(found["expansion"]) >= 0).all()
    assert np.isnan(fastmks.hardness([[0.0]]).quantiles()["directional"]).all()


def test_figure_is_drawn_and_saved(tmp_path):
    found = fastmks.hardness(normal(60, 2))
    figure = found.figure(tmp_path / "hardness.png")
    assert (tmp_path / "hardness.png").stat().st_size > 1000
    left, right = figure.axes
    assert [len(line.get_xdata()) for line in left.get_lines()] == [
        60,
        len(found.directional_samples),
    ]
    assert right.get_xlabel() == "objects"
    fastmks.hardness(np.zeros((3, 1))).figure()


def test_plot_draws_on_the_axes_given_or_the_current_ones():
    figure, axes = pyplot.subplots()
    found = fastmks.hardness(normal(30, 2))
    assert found.plot() is axes
    assert found.plot(axes) is axes
    pyplot.close(figure)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    found = fastmks.hardness([[1.0], [2.0]])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (found.plot, found.figure):
        with pytest.raises(ImportError, match="of the extra 'plot'"):
            draw()


def test_progress_is_shown_on_demand(capsys):
    fastmks.hardness(normal(30, 2), progress=True)
    shown = capsys.readouterr().err
    assert "900/900" in shown
    assert "trees" in shown
