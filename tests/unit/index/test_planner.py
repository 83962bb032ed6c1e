"""The planner chooses by what it measured, and never changes an answer."""

import itertools
import json
import math
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from fastmks import Index, KernelValueError, NotMercerError, Plan
from fastmks import kernels as K
from fastmks._util.progress import Progress, TooLong, limited_work
from fastmks.index import planner
from fastmks.index.plan import Forecast
from fastmks.index.planner import CANNOT, Planner
from support.comparing import assert_identical
from support.inside import data_of


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch):
    """Others at work make every search take longer, but none compute longer."""
    for module in ("fastmks.index.segment", "fastmks.index.planner", "fastmks._util.progress"):
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(perf_counter=time.process_time))


def clustered(n=6000, d=16):
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((12, d))
    return centres[rng.integers(12, size=n)] + 0.1 * rng.standard_normal((n, d))


def test_few_queries_are_scanned_and_many_are_worth_a_filter():
    rows = clustered()
    index = Index(rows, threads=1)
    assert index.search(rows[:1], k=3).stats.algorithm == "scan"
    expected = Index(rows, algorithm="scan").search(rows, k=3)
    used = set()
    for _ in range(4):
        hits = index.search(rows, k=3)
        used.add(hits.stats.algorithm)
        assert_identical(hits, expected)
    assert "filter" in used
    assert index.search(rows, k=3).stats.algorithm == "filter"


def test_single_queries_get_an_engine_once_scans_have_cost_as_much():
    rows = clustered(40_000)
    index = Index(rows, threads=1)
    used = [index.search(rows[i], k=1).stats.algorithm for i in range(1500)]
    assert used[0] == "scan"
    assert used[-1] in ("filter", "tree")


def test_few_objects_are_always_scanned():
    rows = clustered(500)
    index = Index(rows)
    assert {index.search(rows, k=2).stats.algorithm for _ in range(5)} == {"scan"}


def test_many_hits_are_scanned():
    rows = clustered(2000)
    plan = Index(rows).explain(rows, k=1000)
    assert plan.algorithm == "scan"
    assert plan.reason == "bounding all objects would save few evaluations"


def test_a_filter_that_loses_is_left_alone():
    rows = clustered(3000)
    index = Index(rows, threads=1)
    planner = data_of(index).planner
    index.search(rows[:2], k=1, algorithm="filter")  # now there is one
    search = index.explain(rows, k=1)  # races both
    assert all("queries before" in search.forecasts[name].basis for name in ("scan", "filter"))
    for key, known in planner.measured.items():
        known.seconds = 1.0 if key[0] == "filter" else 1e-9
        known.n_searches = 3
    plan = index.explain(rows, k=1)
    assert (plan.algorithm, plan.reason) == ("scan", "it is the fastest one")
    assert plan.forecasts["filter"].reason == "it was slower"
    assert index.search(rows, k=1).stats.algorithm == "scan"


def test_one_slow_search_does_not_decide():
    rows = clustered(3000)
    index = Index(rows, threads=1)
    index.search(rows[:2], k=1, algorithm="filter")
    index.explain(rows, k=1)
    for key, known in data_of(index).planner.measured.items():
        known.seconds = 2e-3 if key[0] == "filter" else 1e-3
    assert index.explain(rows, k=1).reason == "it may be the faster one"
    index.search(rows, k=1, algorithm="filter")
    index.search(rows, k=1, algorithm="filter")
    assert data_of(index).planner.measured["filter", 6, 1].seconds < 2e-3


def test_the_first_single_queries_do_not_decide():
    rows = clustered(3000)
    index = Index(rows, threads=1)
    index.search(rows[:1], k=1, algorithm="scan")
    for i in range(5):
        index.search(rows[i], k=1, algorithm="filter")
    for key, known in data_of(index).planner.measured.items():
        known.seconds = 2e-3 if key[0] == "filter" else 1e-3
    assert index.explain(rows[:1], k=1).algorithm == "filter"
    data_of(index).planner.measured["filter", 1, 1].n_queries = 64
    data_of(index).planner.measured["filter", 1, 1].n_searches = 64
    assert index.explain(rows[:1], k=1).algorithm == "scan"


@pytest.mark.parametrize("winner", ["filter", "scan"])
def test_a_clear_choice_lasts_for_a_while(winner, monkeypatch):
    rows = clustered(3000)
    index = Index(rows, threads=1)
    for algorithm in ("filter", "scan"):
        index.search(rows, k=1, algorithm=algorithm)
    planner = data_of(index).planner
    for key, known in planner.measured.items():
        known.seconds = 1e-9 if key[0] == winner else 1e-3
        known.n_searches = 3
    assert index.search(rows, k=1).stats.algorithm == winner
    calls = []
    monkeypatch.setattr(
        planner, "plan", lambda *args: calls.append(args) or Planner.plan(planner, *args)
    )
    for _ in range(64):
        assert index.search(rows[:40], k=1).stats.algorithm == winner
    assert not calls
    index.search(rows[:40], k=1)
    index.search(rows[:40], k=1, only=np.arange(2000))
    assert len(calls) == 2


def test_forecasts_follow_what_searches_take(monkeypatch):
    rows = clustered(3000)
    now = itertools.count(step=0.25)  # of a clock that is read before and after each search
    monkeypatch.setattr(
        "fastmks.index.segment.time", SimpleNamespace(perf_counter=lambda: next(now))
    )
    index = Index(rows, threads=1)
    for _ in range(3):
        index.search(rows, k=2, algorithm="scan")
    forecast = index.explain(rows, k=2).forecasts["scan"]
    assert forecast.basis.endswith("queries before")
    assert forecast.seconds(len(rows)) == pytest.approx(0.25)


def test_plans_print_and_turn_into_plain_values():
    lines = {
        "scan": Forecast(0.5, 0.0, "a guess", evaluations=9.0),
        "tree": Forecast(None, None, "", "it was slower"),
    }
    plan = Plan("scan", "it is the fastest one", lines, 4, 9, 2)
    assert str(plan).splitlines() == [
        "4 queries, k = 2, among 9 objects: scan, since it is the fastest one.",
        "engine       seconds   per query  evaluations    to build  why",
        "scan               2         0.5            9           0  a guess",
        "tree               -           -            -           -  it was slower",
        "Decided in 0 s.",
    ]
    assert plan.as_dict()["forecasts"]["scan"]["seconds_per_query"] == 0.5
    assert json.loads(json.dumps(plan.as_dict()))["forecasts"]["tree"]["build_seconds"] is None


def test_a_plan_without_forecasts_prints_no_table():
    assert str(Plan("scan", "so it was asked", {}, 4, 9, 2)).splitlines() == [
        "4 queries, k = 2, among 9 objects: scan, since so it was asked.",
        "Decided in 0 s.",
    ]


def test_own_bounds_need_no_building():
    rng = np.random.default_rng(0)
    bits = rng.random((3000, 64)) < 0.2
    plan = Index(bits, K.Tanimoto()).explain(bits[:100], k=3)
    assert plan.forecasts["filter"].build_seconds == 0.0


def test_planning_never_calls_a_function_in_python():
    calls = []

    def overlap(x, y):
        calls.append((x, y))
        return float(len(set(x) & set(y)))

    words = ["search", "match", "tree", "leaf"] * 500
    index = Index(words, overlap)
    assert index.explain(words[:100], k=2).algorithm == "scan"
    assert not calls
    hits = index.search(words[:3], k=2)
    assert len(calls) == hits.stats.kernel_evaluations
    assert index.explain(words[:100], k=2).reason == "the kernel is not declared to be Mercer"
    index.search(words[:3], k=2, algorithm="filter")  # pivots are for those who ask
    assert index.search(words[:3], k=2).stats.algorithm == "scan"
    bounded = Index(words, K.Similarity(overlap, upper_bound=lambda x, y: float(len(x))))
    calls.clear()
    assert bounded.explain(words[:100], k=2).algorithm == "filter"
    assert not calls


def test_values_that_are_not_finite_are_named_by_the_search_itself():
    rows = 1e200 * clustered(3000)
    index = Index(rows, K.Polynomial(degree=2))
    for _ in range(3):
        with pytest.raises(KernelValueError, match="gives queries"):
            index.search(rows, k=1)


def test_only_a_few_objects_are_scanned():
    rows = clustered(3000)
    index = Index(rows)
    assert index.explain(rows, k=1, only=[1, 2, 3]).algorithm == "scan"


def test_many_threads_may_plan_at_once():
    rows = clustered(5000)
    index = Index(rows, threads=1)
    expected = Index(rows, algorithm="scan").search(rows[:500], k=2)
    with ThreadPoolExecutor(4) as pool:
        for hits in pool.map(lambda queries: index.search(queries, k=2), [rows[:500]] * 20):
            assert_identical(hits, expected)


def test_an_index_has_one_planner_that_learns_only_from_whole_searches():
    rows = clustered(2000)
    index = Index(rows)
    planner = data_of(index).planner
    assert isinstance(planner, Planner)
    index.search(rows[:50], k=1, only=list(range(1000)), algorithm="scan")
    assert not planner.measured
    index.search(rows[:50], k=1, algorithm="scan")
    assert len(planner.measured) == 1


def nearness(x, y):
    return math.exp(-0.5 * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def points(n, d=2):
    return [tuple(row) for row in np.random.default_rng(5).standard_normal((n, d)).tolist()]


def test_a_declared_function_gets_bounds_and_an_undeclared_one_is_scanned():
    objects, queries = points(2000), points(150)
    calls = Counter()

    def counted(x, y):
        calls[is_mercer] += 1
        return nearness(x, y)

    expected = Index(objects, nearness, algorithm="scan").search(queries, k=5)
    for is_mercer in (None, True, False):
        index = Index(objects, K.Custom(counted, is_mercer=is_mercer))
        for i, query in enumerate(queries):
            hits = index.search([query], k=5)
            assert (hits.indices == expected.indices[i]).all()
            assert (hits.values == expected.values[i]).all()
    assert calls[None] == calls[False] == 2000 * len(queries)
    assert calls[True] < calls[None] / 3


def test_a_declaration_that_is_false_is_an_error_that_names_objects():
    def farness(x, y):
        return math.dist(x, y)

    index = Index(points(2000), K.Custom(farness, is_mercer=True))
    with pytest.raises(NotMercerError, match="objects|queries"):
        for query in points(60):
            index.search([query], k=5)


def test_an_engine_that_cannot_be_built_is_given_up():
    def only_of_queries(x, y):
        return nearness(x[:2], y) if len(x) == 3 else math.nan

    index = Index(points(600), K.Custom(only_of_queries, is_mercer=True))
    query = [(0.0, 0.0, 1.0)]
    assert {index.search(query, k=1).stats.algorithm for _ in range(100)} == {"scan"}
    assert index.explain(query).forecasts["tree"].reason == CANNOT


def test_an_engine_for_which_memory_does_not_suffice_is_given_up(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    scarce = tuple(replace(candidate, offer=fail) for candidate in planner.CANDIDATES)
    monkeypatch.setattr(planner, "CANDIDATES", scarce)
    index = Index(points(600), K.Custom(nearness, is_mercer=True))
    assert {index.search(points(1), k=1).stats.algorithm for _ in range(100)} == {"scan"}
    assert index.explain(points(1)).forecasts["tree"].reason == CANNOT


def test_a_tree_that_is_faster_is_used_and_kept():
    rows = np.random.default_rng(1).standard_normal((20_000, 4))
    queries = rows[:2000] + 0.01
    kernel = K.Gaussian(1.0) + K.Linear()
    index = Index(rows, kernel, threads=1)
    used = [index.search(query, k=1).stats.algorithm for query in queries]
    assert used[0] == "scan"
    assert used[-1] == "tree"
    scan = Index(rows, kernel, algorithm="scan", threads=1)
    assert_identical(index.search(queries, k=3), scan.search(queries, k=3))


def test_work_that_takes_too_long_is_stopped():
    def slow(x, y):
        return float(sum(range(200_000)) > 0)

    index = Index(list(range(200)), slow)
    with pytest.raises(TooLong), limited_work(Progress(False), 0.05):
        index.search([1], k=1)
    assert index.search([1], k=1).values.tolist() == [[1.0]]


def test_explain_tells_what_the_index_will_do():
    rows = clustered(1000)
    for algorithm in ("tree", "filter", "scan"):
        plan = Index(rows, algorithm=algorithm).explain(rows[:2])
        assert (plan.algorithm, plan.reason) == (algorithm, "the search or its index names it")
        assert set(plan.forecasts) == {"scan", "filter", "tree"}
        assert Index(rows).explain(rows[:2], algorithm=algorithm).algorithm == algorithm


def test_all_of_planning_and_building_costs_no_more_than_the_searches():
    rows = clustered(20_000)
    index = Index(rows, K.Gaussian(3.0) + K.Linear(), threads=1)
    planner = data_of(index).planner
    for query in rows[:600]:
        index.search(query, k=3)
        assert planner.explored <= planner.spent + 0.2
