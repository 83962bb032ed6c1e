"""The program of the bars: its cells, its arithmetic, its file; never its times."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.datasets import Problem
from benchmarks.pages import replace_block
from benchmarks.peers.__main__ import SUITE, contests_of, serves
from benchmarks.peers.bars import Bar, checks, find_bars, scan_share, work_share
from benchmarks.peers.entrants import entrants
from benchmarks.peers.sets import Given, find_sources
from benchmarks.peers.tables import all_tables
from benchmarks.race import contest
from benchmarks.race.cell import Cell, Figure, Key
from benchmarks.race.contest import keys_of
from benchmarks.suite import Collector, Kept, Run

from support.paths import ROOT

KEY = Key(problem="mnist", n_objects=60, n_queries=7, kernel="linear", k=3, batch=7, threads=1)
TINY = ["--quick", "--rounds", "1", "--objects", "80", "--queries", "5", "--k", "3"]
NORMAL = ["--sets", "normal", "--kernels", "cosine"]


@pytest.fixture
def no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but numpy is installed."""
    monkeypatch.setattr("benchmarks.race.entrant.is_installed", lambda name: False)


def run(*more: str) -> int:
    return SUITE.main([*TINY, *more])


def kept_in(file: Path | None, **more) -> Kept[Cell]:
    return Kept(SUITE.name, file, Cell, **more)


def figure(name: str, microseconds: float | None, **more) -> Figure:
    known = {"is_ours": name.startswith("fastmks"), "in_bar": True, "is_brute": True}
    return Figure(name=name, median_us=microseconds, best_us=microseconds, **known | more)


def cell(*figures: Figure, **more) -> Cell:
    known = {"n_columns": 5, "origin": "", "commit": "none", "others": 0.25, "seconds": 1.0}
    return Cell(**KEY.__dict__ | known | more, figures=figures)


def is_met(bar: Bar) -> bool:
    return bar.meets(bar.decisive)


def sources(*options: str):
    collector = Collector(SUITE.read_options(options))
    return find_sources(collector), collector.notes


@pytest.mark.usefixtures("no_peer")
def test_the_smallest_run_needs_no_data_and_no_peer(tmp_path, capsys, monkeypatch):
    file = tmp_path / "figures.json"
    expected: list[int] = []
    monkeypatch.setattr(Run, "expect", lambda self, n_cells: expected.append(n_cells))
    assert run("--out", str(file)) == 0
    stored = json.loads(file.read_text())
    assert stored["name"] == "peers_bars"
    assert stored["notes"][0].startswith("no --data")
    cells = kept_in(file).cells
    assert sum(expected) == len(cells)
    assert {(one.problem, one.facts["kind"]) for one in cells} == {
        ("decaying", "dense"),
        ("points 3-d", "dense"),
        ("normal", "dense"),
        ("zipf text", "sparse"),
        ("fingerprints", "bits"),
    }
    assert {one.batch for one in cells} == {1, 5}
    figures = [one for found in cells for one in found.figures]
    assert not any(one.differ or one.failure for one in figures if one.is_ours)
    failures = {one.name: one.failure for one in figures if one.failure}
    assert failures["faiss flat"] == "not installed: faiss.IndexFlatIP"
    peers = {one.name for one in entrants() if one.needs}
    sparse = {"scipy", "scipy float32", "sparse_dot_topn", "sparse_dot_topn float32"}
    assert set(failures) == peers | sparse | {"FPSim2"}
    assert all(one.is_refused for one in figures if one.failure)
    page = "before\n<!-- peers: begin -->\noutdated\n<!-- peers: end -->\nafter\n"
    text = replace_block(page, "peers", all_tables(kept_in(file)))
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "outdated" not in text
    assert "| not installed: faiss.IndexFlatIP |" in text
    assert "holds: queries with other ids than the truth, ours" in capsys.readouterr().out


@pytest.mark.usefixtures("no_peer")
def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch, capsys):
    file = str(tmp_path / "figures.json")
    sets = [*NORMAL, "--out", file]
    assert run(*sets, "--minutes", "0.0000001") == 0
    assert "stopped by --minutes" in capsys.readouterr().err
    first = json.loads(Path(file).read_text())["cells"]
    assert len(first) == 1
    assert run(*sets) == 0
    cells = json.loads(Path(file).read_text())["cells"]
    assert len(cells) == 2
    assert cells[0] == first[0]

    def measure_nothing(*_: object, **more: object) -> None:
        raise AssertionError("everything is there")

    monkeypatch.setattr(contest, "measure", measure_nothing)
    assert run(*sets) == 0
    assert run(*sets, "--show") == 0
    assert "### The bars" in capsys.readouterr().out


def test_stored_figures_can_be_shown(capsys):
    """Whatever run they are of: older ones have fewer fields."""
    file = ROOT / "benchmarks" / "results" / "peers_bars.json"
    assert SUITE.main(["--show", "--out", str(file)]) == 0
    assert "### Exactness of the answers" in capsys.readouterr().out


def test_one_thread_has_every_batch_for_ten_and_no_bar_is_left_without_a_cell():
    outline = Problem(
        name="mnist", origin="", objects=np.empty((10**6, 0)), queries=np.empty((5000, 0))
    )
    (source,) = sources("--sets", "normal")[0]
    run = SUITE.start(SUITE.read_options([]), None)
    found = contests_of(run, source, Given(outline, list))
    places = {
        one.case.name: [(key.threads, key.k, key.batch) for key in keys_of(one)] for one in found
    }
    assert places["linear"] == places["cosine"]
    assert set(places["linear"]) == {
        *((1, 10, batch) for batch in (1, 100, 5000)),
        *((1, k, batch) for k in (1, 100) for batch in (1, 5000)),
        *((2, 10, batch) for batch in (1, 5000)),
    }
    assert places["polynomial 10"] == [(1, 10, 1), (1, 10, 5000)]
    run.options.kernels = ["tanimoto"]
    assert contests_of(run, source, Given(outline, list)) == []


def test_who_takes_part_where():
    def names(**more) -> set[str]:
        key = replace(KEY, **more)
        return {one.name for one in entrants() if serves(one, key)}

    usual = names()
    assert {"fastmks auto", "numpy float64", "hnswlib"} < usual
    assert not {"fastmks tree", "mlpack single-tree, base 2"} & usual
    low = names(problem="lcdm")
    assert {"fastmks tree", "mlpack single-tree, base 1.3", "mlpack single-tree, base 2"} < low
    assert usual - names(batch=1) == {"numpy float64"}
    assert usual - names(threads=2) == {"numpy float64", "hnswlib"}
    assert usual - names(problem="normal") == {"hnswlib"}
    power = names(problem="lcdm", kernel="polynomial 10", batch=1)
    assert power == usual


def test_bars_are_taken_from_the_best_engine_and_from_auto():
    peers = (figure("faiss flat, tuned", 40.0), figure("numpy", 60.0))
    slow = figure("fastmks auto", 20.0, times_less=2.0, n_bytes=0, evaluations=60.0)
    fast = figure("fastmks filter", 10.0, times_less=4.0, n_bytes=1200, evaluations=6.0)
    cells = [cell(slow, fast, *peers), cell(slow, fast, *peers, k=1, batch=1)]
    cells.append(cell(replace(fast, times_less=0.1), *peers, kernel="polynomial 10"))

    def bars(engine, *, has_tiles=False) -> dict[str, Bar]:
        found = find_bars(cells, engine=engine, has_tiles=has_tiles)
        return {bar.claim: bar for bar in found}

    best, auto = bars(None), bars("fastmks auto")
    assert is_met(best["structured sets, batches"])
    assert not is_met(bars(None, has_tiles=True)["structured sets, batches"])
    assert not is_met(auto["structured sets, batches"])
    assert best["structured sets, batches, peers as they come"].decisive == 6.0
    single = best["structured sets, single queries"]
    assert single.worst == ("mnist linear, k=1, batch 1, 1 thread", 4.0)
    assert not any(map(single.meets, single.values.values()))
    assert best["memory with the data, times the data"].decisive == 2.0
    assert auto["auto, times the best engine"].decisive == 2.0
    assert "auto, times the best engine" not in best
    assert scan_share(cells[0], fast) == pytest.approx(0.1)
    assert work_share(cells[0], replace(fast, operations=30.0)) == pytest.approx(0.2)


def test_bars_of_sparse_rows_fingerprints_and_trees():
    ours = figure("fastmks filter", 10.0, times_less=6.0, evaluations=5.0)
    sparse = {"kind": "sparse", "data_bytes": 100}
    cells = [
        cell(ours, problem="blog posts", k=10, facts=sparse),
        cell(replace(ours, times_less=1.0), problem="blog posts", k=1, facts=sparse),
        cell(ours, figure("FPSim2", 30.0), problem="f", batch=1, facts={"kind": "bits"}),
        cell(ours, figure("numpy popcounts", 5.0), problem="f", facts={"kind": "bits"}),
        cell(
            ours,
            figure("mlpack single-tree, base 1.3", 500.0, evaluations=100.0),
            figure("mlpack single-tree, base 2", 200.0, evaluations=200.0),
            problem="lcdm",
        ),
    ]
    found = {bar.claim: bar for bar in find_bars(cells, engine=None, has_tiles=False)}
    assert found["sparse rows, k = 10"].decisive == 6.0
    assert is_met(found["sparse rows, k = 10"])
    assert list(found["fingerprints, FPSim2's time"].values.values()) == [3.0]
    assert found["low dimension, mlpack's time"].decisive == 20.0
    assert found["low dimension, mlpack's evaluations"].decisive == pytest.approx(20.0)
    assert work_share(cells[0], replace(ours, operations=1.0)) is None


def test_exactness_is_the_only_claim_that_is_required():
    wrong = cell(figure("fastmks filter", 1.0, differ=2, times_less=0.1), figure("numpy", 0.1))
    bars = {"best engine": find_bars([wrong], engine=None, has_tiles=False)}
    required = {claim.claim: claim for claim in checks([wrong], bars) if claim.is_required}
    assert not required["queries with other ids than the truth, ours"].holds
    assert required["searches that failed, ours"].holds
    missed = [claim for claim in checks([wrong], bars) if not claim.is_required]
    assert [claim.holds for claim in missed] == [False, False]


def test_a_mean_and_a_worst():
    bar = Bar(claim="", limit=3.0, values={"a": 2.0, "b": 8.0})
    assert (bar.worst, is_met(bar)) == (("a", 2.0), False)
    assert replace(bar, is_mean=True).decisive == pytest.approx(4.0)
    assert is_met(replace(bar, is_mean=True))
    assert replace(bar, is_most=True).worst == ("b", 8.0)


def test_real_sets_are_read_as_float32(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 255, (300, 6), dtype=np.uint8)
    np.savez(tmp_path / "mnist.npz", train=rows, test=rows[:20])
    np.savez(tmp_path / "cifar10_gist384.npz", train=rows, test=rows[:9], scale=np.float32(0.5))
    named = ["mnist", "cifar10_gist384", "lcdm", "proteins"]
    found, notes = sources("--data", str(tmp_path), "--sets", *named)
    assert notes == [
        "not in the folder: lcdm_mock_galaxies_mr19.npz",
        "not in the folder: swissprot_100k.fasta.gz",
    ]
    gist, mnist = (source.read(200, 12).problem for source in found)  # in the order of the run
    assert (mnist.n_objects, mnist.n_queries, mnist.objects.dtype) == (200, 12, "float32")
    assert mnist.objects.max() <= 1.0
    assert np.array_equal(gist.queries, rows[:9] * np.float32(0.5))


def test_tables_show_the_first_look_the_wrong_answers_and_who_approximates():
    kept = kept_in(None)
    found = cell(
        figure("fastmks auto", 2.0, times_less=3.0, checked=7, differ=0),
        figure("numpy", 6.0, rounds=1, checked=7, differ=2, ties=1),
        figure("hnswlib", 1.0, checked=7, differ=6, ties=0, in_bar=False, is_exact=False),
        figure("usearch", None, failure="knows no kernel x", is_refused=True),
        figure("faiss", None, failure="MemoryError: no room"),
    )
    kept.add(found)
    kept.write([], ())
    text = all_tables(kept)
    assert "3 (auto 2; numpy 6)" in text
    assert "~6 (1 of 7)" in text
    assert "| numpy | 1 of 7, 1 ties |" in text
    assert "| hnswlib (approximate) | 6 of 7 |" in text
    assert "1 (6 of 7)" in text
    line = found.line
    assert line.endswith("; faiss: MemoryError: no room; ours exact")
    with pytest.raises(ValueError, match="must have the lines"):
        replace_block("no markers", "peers", text)
