"""The program about growth: its laws, its series, its file, its tables; never its times."""

import argparse
import json
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from benchmarks.growth import __main__ as program
from benchmarks.growth.__main__ import find_failure
from benchmarks.growth.curves import (
    DIMENSION,
    SIZE,
    cells_at,
    fit_exponential,
    fit_power,
    greatest_k,
    places_of,
    upper_half,
)
from benchmarks.growth.series import all_series, make_cube
from benchmarks.growth.tables import all_tables
from benchmarks.harness import Answer
from benchmarks.kernels import LINEAR
from benchmarks.race import ours
from benchmarks.race.cell import Cell, Figure, exactness_checks
from benchmarks.race.names import AUTO, FILTER, MLPACK, SCAN, TREE, TREE_OF_ONE
from benchmarks.suite import Collector, Kept
from scipy.stats import linregress, t

TINY = ["--quick", "--rounds", "1", "--queries", "3", "--sizes", "20", "40", "80"]
ONE = [*TINY, "--sections", "n", "--only", "uniform 3-d", "--objects", "80"]
FIGURES = {f"growth_{name}.png" for name in ("evaluations", "time", "build", "dimension")}


@pytest.fixture
def no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """mlpack is not installed."""
    monkeypatch.setattr("benchmarks.race.entrant.is_installed", lambda name: False)


def figure(name: str, evaluations: float, microseconds: float, **more) -> Figure:
    known = {"is_ours": name != MLPACK, "in_bar": True, "is_brute": False}
    return Figure(
        name=name, evaluations=evaluations, median_us=microseconds, rounds=1, **known | more
    )


def cell(*figures: Figure, n_objects: int, dimension: int | None = None, **more) -> Cell:
    section = {"section": SIZE} if dimension is None else {"section": DIMENSION}
    known = {"problem": "points", "kernel": "linear", "k": 10, "n_queries": 5}
    return Cell(
        **known | more,
        n_objects=n_objects,
        batch=5,
        threads=1,
        n_columns=3,
        origin="",
        commit="none",
        seconds=1.0,
        figures=figures,
        facts=section | ({} if dimension is None else {"dimension": dimension}),
    )


def kept_of(cells: list[Cell]) -> Kept[Cell]:
    kept = Kept("growth", None, Cell)
    for one in cells:
        kept.add(one)
    return kept


def sizes_of_a_root() -> list[Cell]:
    """A tree that costs the square root of n up to 1000 objects, and nothing more beyond."""
    cells = []
    for n in (10, 100, 1000, 10_000, 100_000):
        tree = figure(
            TREE,
            min(n, 1000) ** 0.5,
            2.0 * n,
            build_seconds=1e-6 * n,
            build_evaluations=7 * n,
            n_bytes=50 * n,
        )
        auto = figure(AUTO, n, 3.0 * n, engine="scan" if n < 1000 else "filter")
        cells.append(cell(figure(SCAN, n, 4.0 * n), tree, auto, n_objects=n))
    return cells


def test_powers_and_exponentials_are_found():
    points = [(n, 3.0 * n**0.5) for n in (10.0, 100.0, 1000.0, 10_000.0)]
    law = fit_power(points)
    assert law
    assert (law.exponent, law.factor) == (pytest.approx(0.5), pytest.approx(3.0))
    assert law.standard_error == pytest.approx(0.0, abs=1e-12)
    assert (law.r_squared, law.n_points) == (pytest.approx(1.0), 4)
    law = fit_exponential([(d, 2.0 * np.exp(0.25 * d)) for d in (1.0, 2.0, 3.0, 8.0)])
    assert law
    assert (law.exponent, law.factor) == (pytest.approx(0.25), pytest.approx(2.0))
    assert law.r_squared == pytest.approx(1.0)


@pytest.mark.parametrize("n_points", [3, 4, 7, 12])
def test_errors_and_intervals_are_those_of_a_regression(n_points):
    random = np.random.default_rng(n_points)
    x = np.geomspace(10.0, 1e6, n_points)
    costs = 5.0 * x**0.3 * np.exp(0.1 * random.standard_normal(n_points))
    law = fit_power(list(zip(x, costs, strict=True)))
    expected = linregress(np.log(x), np.log(costs))
    assert law
    assert law.exponent == pytest.approx(expected.slope)
    assert law.standard_error == pytest.approx(expected.stderr)
    assert law.r_squared == pytest.approx(expected.rvalue**2)
    reach = t.ppf(0.975, n_points - 2) * expected.stderr
    assert law.interval == pytest.approx((law.exponent - reach, law.exponent + reach), rel=1e-3)


def test_about_19_in_20_intervals_hold_the_exponent():
    random = np.random.default_rng(0)
    x = np.geomspace(1e3, 1e6, 7)
    inside = 0
    for _ in range(400):
        law = fit_power([(n, n**0.2 * np.exp(0.2 * random.standard_normal())) for n in x])
        assert law
        assert law.interval
        inside += law.interval[0] <= 0.2 <= law.interval[1]
    assert 365 <= inside <= 395  # 380, within three and a half standard deviations


def test_too_few_points_have_no_law_or_no_error():
    assert fit_power([(10.0, 1.0)]) is None
    assert fit_power([(10.0, 1.0), (10.0, 2.0)]) is None
    assert fit_power([(10.0, 0.0), (20.0, 2.0)]) is None
    law = fit_power([(10.0, 1.0), (100.0, 10.0)])
    assert law
    assert (law.standard_error, law.interval, str(law)) == (None, None, "1.00 (2)")
    flat = fit_power([(10.0, 2.0), (100.0, 2.0), (1000.0, 2.0)])
    assert flat
    assert (flat.r_squared, str(flat)) == (None, "0.00 ± 0.00 (0.00 to 0.00; 3)")


def test_the_upper_half_has_the_middle():
    points = [(float(n), 1.0) for n in range(5)]
    assert upper_half(points) == points[2:]
    assert upper_half(points[:4]) == points[2:4]


def options_of(**more) -> argparse.Namespace:
    known = {"data": None, "only": None, "objects": None, "queries": 4}
    return argparse.Namespace(**known | more)


def test_generated_sets_hold_the_smaller_ones_and_keep_their_queries():
    collector = Collector(options_of())
    found = {one.name: one for one in all_series(collector, [20, 50], n_queries=9, most=50)}
    assert set(found) == {"uniform 3-d", "normal 10-d", "decaying 64-d"}
    for series in found.values():
        few, more = series.problem(20), series.problem(50)
        assert np.allclose(more.objects[:20], few.objects, rtol=0.0, atol=1e-12)
        assert np.array_equal(more.queries, few.queries)
        assert (more.n_objects, more.n_queries, more.name) == (50, 4, series.name)
    spread = found["decaying 64-d"].problem(50).objects
    assert np.linalg.norm(spread, axis=1).max() < 10.0


def test_a_real_set_ends_with_all_of_it(tmp_path):
    rows = np.random.default_rng(0).random((1060, 3))
    np.savez(tmp_path / "lcdm_mock_galaxies_mr19.npz", X=rows)
    collector = Collector(options_of(data=tmp_path, only=["galaxies", "covertype"]))
    (series,) = all_series(collector, [20, 50, 100], n_queries=9, most=10**9)
    assert series.sizes == (20, 50, 60)
    few, more = ({*map(bytes, series.problem(size).objects)} for size in (20, 60))
    assert few < more
    assert collector.notes == ["not in the folder: covertype.npz"]


@pytest.mark.parametrize("dimension", [1, 3, 32])
def test_cubes_have_their_dimension_and_all_columns(dimension):
    cube = make_cube(dimension, 100, 5)
    assert cube.objects.shape == (100, 32)
    assert np.linalg.matrix_rank(cube.objects) == dimension
    assert np.linalg.norm(cube.objects, axis=1).max() <= 0.5 * dimension**0.5 + 1e-12
    assert cube.name == f"cube {dimension}-d"


@pytest.mark.usefixtures("no_peer")
def test_the_smallest_run_needs_no_data_and_no_peer(tmp_path, capsys):
    file, folder = tmp_path / "figures.json", tmp_path / "pictures"
    more = ["--objects", "80", "--dimensions", "1", "2", "3"]
    assert program.SUITE.main([*TINY, *more, "--out", str(file), "--figures", str(folder)]) == 0
    stored = json.loads(file.read_text())
    assert "no growth of galaxies and covertype: generated series only" in stored["notes"]
    sections = [one["facts"]["section"] for one in stored["cells"]]
    assert sections.count("n") == 3 * 3 * 2 * 2  # series, sizes, kernels, k
    assert sections.count("dimension") == 3 + 2  # a line has no cosines to speak of
    for one in stored["cells"]:
        names = [figure["name"] for figure in one["figures"]]
        assert names[:5] == [SCAN, TREE, TREE_OF_ONE, FILTER, AUTO]
        assert (MLPACK in names) == (one["facts"]["section"] == "n")
        assert all(figure["checked"] == 3 for figure in one["figures"][:5])
    out = capsys.readouterr().out
    assert "holds: queries with other ids than the scan's, ours: 0.00" in out
    assert "### Laws of the intrinsic dimension" in out
    assert {picture.name for picture in folder.iterdir()} == FIGURES
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in folder.iterdir())


@pytest.mark.usefixtures("no_peer")
def test_one_tree_serves_the_engines_that_share_it(tmp_path):
    file = tmp_path / "figures.json"
    assert program.SUITE.main([*ONE, "--sizes", "80", "--out", str(file)]) == 0
    figures = {one["name"]: one for one in json.loads(file.read_text())["cells"][0]["figures"]}
    assert figures[TREE]["build_evaluations"] > 0
    assert figures[TREE]["n_bytes"] == figures[TREE_OF_ONE]["n_bytes"] > 0
    assert (figures[TREE_OF_ONE]["build_seconds"], figures[SCAN]["n_bytes"]) == (0.0, 0)
    assert "build_evaluations" not in figures[TREE_OF_ONE]
    assert figures[TREE_OF_ONE]["evaluations"] <= figures[TREE]["evaluations"]
    assert figures[SCAN]["evaluations"] == 80
    assert figures[AUTO]["engine"] == "scan"


@pytest.mark.usefixtures("no_peer")
@pytest.mark.parametrize("fault", ["wrong", "none"])
def test_an_answer_that_is_not_the_scans_is_an_error(fault, monkeypatch, capsys):
    prepare = ours.prepare_engine

    def spoil(index, algorithm, task, **more):
        ready = prepare(index, algorithm, task, **more)

        def search(queries, k):
            if fault == "none":
                raise RuntimeError("no answer")
            answer = ready.search(queries, k)
            return Answer((answer.indices + 1) % len(index), answer.evaluations)

        return replace(ready, search=search) if algorithm == "filter" else ready

    monkeypatch.setattr(ours, "prepare_engine", spoil)
    assert program.SUITE.main([*ONE, "--sizes", "80"]) == 1
    out = capsys.readouterr().out
    claim = "queries with other ids" if fault == "wrong" else "searches that failed"
    assert f"FAILS: {claim}" in out


FAKE_MLPACK = """
import os
import numpy as np

def fastmks(*, reference=None, input_model=None, query=None, k=0, **more):
    if input_model is None:
        os.write(1, b"77 distance computations during tree construction.\\n")
        return {"output_model": reference}
    if len(input_model) >= 40:
        raise RuntimeError("too many")
    os.write(1, b"60 base cases.\\n")
    values = query @ input_model.T
    indices = np.argsort(-values, axis=1)[:, :k]
    return {"indices": indices, "kernels": np.take_along_axis(values, indices, axis=1)}
"""


def test_mlpack_is_left_out_above_a_size_that_failed(tmp_path, monkeypatch, capsys):
    (tmp_path / "mlpack.py").write_text(FAKE_MLPACK)
    monkeypatch.syspath_prepend(tmp_path)  # for its own process
    monkeypatch.setitem(sys.modules, "mlpack", ModuleType("mlpack"))
    monkeypatch.setattr(program, "_KERNELS", (LINEAR,))
    file = tmp_path / "figures.json"
    assert program.SUITE.main([*ONE, "--out", str(file)]) == 0
    cells = json.loads(file.read_text())["cells"]
    figures = [(one["n_objects"], one["k"], one["figures"][-1]) for one in cells]
    assert [found.get("evaluations") for n, _, found in figures if n == 20] == [20.0, 20.0]
    failures = [found["failure"] for n, _, found in figures if n > 20]
    own, left_out = "PeerError: RuntimeError: too many", "skipped; with 40 objects: "
    assert failures == [own, own, *2 * [f"{left_out}RuntimeError: too many"]]
    assert "mlpack, uniform 3-d, linear, 40 objects: " in capsys.readouterr().out


def test_only_failures_on_fewer_objects_count():
    known = {"is_ours": False, "in_bar": False, "is_brute": False}
    missing = Figure(name=MLPACK, failure="not installed: mlpack", **known)
    failed = Figure(name=MLPACK, failure="PeerError: no answer within 1 s", **known)
    cells = [cell(missing, n_objects=10), cell(failed, n_objects=30), cell(failed, n_objects=50)]
    assert find_failure(cells, "points", "linear", 30) is None
    reason = "skipped; with 30 objects: no answer within 1 s"
    assert find_failure(cells, "points", "linear", 50) == reason
    assert find_failure(cells, "points", "linear", 90) == reason
    assert find_failure(cells, "points", "cosine", 90) is None
    assert find_failure(cells, "others", "linear", 90) is None


def test_tables_of_sizes():
    text = all_tables(kept_of(sizes_of_a_root()))
    lines = text.splitlines()
    whole = next(line for line in lines if line.startswith("| points | linear | 10 | all |"))
    upper = next(line for line in lines if line.startswith("| points | linear | 10 | upper half |"))
    law = fit_power([(n, min(n, 1000) ** 0.5) for n in (10, 100, 1000, 10_000, 100_000)])
    assert whole == f"| points | linear | 10 | all | {law} |  |  |  |"
    assert upper.endswith("| upper half | 0.00 ± 0.00 (0.00 to 0.00; 3) |  |  |  |")
    choices = "scan 1.50 | scan 1.50 | filter 1.50 | filter 1.50 | filter 1.50"
    assert f"| points | linear | 10 | {choices} |" in lines
    assert "| points | linear | 1000 | 7 |  | 1 |  |  | 50 |  |" in lines
    assert "1.00 ± 0.00 (1.00 to 1.00; 5)" in text
    assert "it proves nothing about others" in text
    assert "log n" not in text
    assert "intrinsic dimension" not in text


def test_tables_of_dimensions():
    cells = []
    for d in (1, 2, 3, 4, 8, 16):
        evaluations = min(1000.0, 10.0 * np.exp(d))
        tree = figure(TREE, evaluations, float(d**3), build_seconds=1.0, build_evaluations=5000)
        auto = figure(AUTO, 9.0, 2.0, engine="filter")
        cells.append(cell(tree, auto, n_objects=1000, dimension=d, problem=f"cube {d}-d"))
    text = all_tables(kept_of(cells))
    (evaluations,) = (
        line for line in text.splitlines() if "| evaluations | tree | 1 to 3 |" in line
    )
    assert evaluations.endswith("| 1.00 ± 0.00 (1.00 to 1.00; 3) | **1.000** |")
    (time,) = (line for line in text.splitlines() if "| time | tree | 1 to 16 |" in line)
    assert "| 3.00 ± 0.00 (3.00 to 3.00; 6) | **1.000** |" in time
    assert "| 1000 | linear | 10 | 16 | 1000 |  |  |  | 4096 |  | 2 | 1 | 5 | filter |" in text
    assert "as n^b" not in text


def test_of_two_cells_the_one_with_more_queries_counts():
    few, more = (
        cell(figure(SCAN, 10.0, us), n_objects=10, n_queries=n) for n, us in ((5, 1.0), (9, 2.0))
    )
    (place,) = places_of([more, few], SIZE)
    assert cells_at([more, few], place) == [more]
    other = cell(n_objects=10, k=1)
    assert greatest_k(places_of([few, other], SIZE)) == [place]


def test_a_cell_in_one_line():
    failed = Figure(
        name=MLPACK, is_ours=False, in_bar=False, is_brute=False, failure="PeerError: no"
    )
    auto = figure(AUTO, 1.0, 2.5, engine="tree", differ=2)
    line = "points linear, k=10, batch 5, 1 thread, 9 objects; fastmks auto (tree) 2.5 us"
    line += "; mlpack single-tree: PeerError: no; 2 of ours differ"
    assert cell(auto, failed, n_objects=9).line == line
    assert [check.holds for check in exactness_checks([cell(auto, failed, n_objects=9)], "")] == [
        False,
        True,
    ]
