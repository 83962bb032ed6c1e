"""The program of living indexes: its counting, its judgement, its files; never its times."""

import json
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.living import __main__ as program
from benchmarks.living import files, moving, sides
from benchmarks.living.cell import Cell, Figure, Key, Measure, Trial, key_of, run_cell, trials_of
from benchmarks.living.changes import AddCase, Ground, Writer, add_trials, remove_trials
from benchmarks.living.memory import page_share, rollup, synchronize
from benchmarks.living.stage import Stage, decaying
from benchmarks.living.tables import all_tables, checks
from benchmarks.race.judge import Exactness
from benchmarks.suite import Kept

import fastmks
from support.inside import snapshot_of
from support.paths import ROOT

SMALL = decaying(200, 20, 6)
TINY = ["--quick", "--objects", "300", "--queries", "5", "--seconds", "0.02"]
KEY = Key(
    section="adding", case="one by one", problem="small", dtype="float64", n_objects=9, threads=1
)


@pytest.fixture
def no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but fastmks is installed."""
    monkeypatch.setattr(sides, "is_installed", lambda name: name == "fastmks")


def ours() -> sides.Contestant:
    return sides.find_contestant(sides.FASTMKS)


def cell(*figures: Figure, **more) -> Cell:
    facts = {"n_columns": 5, "origin": "", "commit": "none", "others": 0.25, "seconds": 1.0}
    return Cell(**KEY.__dict__ | facts | more, figures=figures)


def kept_of(*cells: Cell) -> Kept[Cell]:
    kept = Kept("living", None, Cell)
    for one in cells:
        kept.add(one)
    return kept


def ground(**more) -> Ground:
    return Ground(stage=SMALL, threads=1, **more)


def run_once(trials):
    return run_cell(key_of(SMALL, "adding", "", 1), SMALL, trials, rounds=2)


@pytest.mark.usefixtures("no_peer")
def test_the_smallest_run_needs_no_data_and_no_peer(tmp_path, capsys):
    file = tmp_path / "figures.json"
    sections = [one for one in program.SECTIONS if one != "files"]  # has a test of its own
    options = [*TINY, "--out", str(file), "--folder", str(tmp_path), "--sections", *sections]
    assert program.SUITE.main(options) == 0
    stored = json.loads(file.read_text())
    assert stored["name"] == "living"
    assert {one["section"] for one in stored["cells"]} == set(sections)
    assert {one["dtype"] for one in stored["cells"]} == {"float32", "float64"}
    figures = [one for cell in stored["cells"] for one in cell["figures"]]
    mine = [one for one in figures if one["contestant"].startswith("fastmks")]
    assert not any("failure" in one for one in mine)
    assert sum(one.get("wrong", 0) for one in mine) == 0
    assert sum(one.get("checked", 0) for one in mine) > 0
    failures = {one["contestant"]: one["failure"] for one in figures if "failure" in one}
    assert failures == {
        "faiss flat": "not installed: faiss",
        "usearch, smallest graph": "not installed: usearch.index",
        "usearch": "not installed: usearch.index",
    }
    shown = capsys.readouterr().out
    assert "| one by one | faiss flat | not installed: faiss |" in shown
    assert "holds: wrong answers of ours" in shown
    assert list(tmp_path.iterdir()) == [file]  # indexes are removed again


@pytest.mark.usefixtures("no_peer")
def test_nothing_is_measured_twice(tmp_path, monkeypatch):
    options = [*TINY, "--out", str(tmp_path / "figures.json"), "--sections", "mixing"]
    assert program.SUITE.main(options) == 0
    cells = json.loads((tmp_path / "figures.json").read_text())["cells"]
    assert len(cells) == 3

    def measure_nothing(*_: object, **more: object) -> None:
        raise AssertionError("everything is there")

    monkeypatch.setattr(program, "run_cell", measure_nothing)
    assert program.SUITE.main(options) == 0
    assert program.SUITE.main([*options, "--show"]) == 0


def test_the_truth_follows_who_comes_and_goes():
    rows, ids = np.array([[3.0], [5.0], [4.0], [1.0]]), np.array([30, 50, 40, 10])
    stage = Stage(name="", origin="", rows=rows, n_first=4, queries=np.array([[1.0]]))
    assert stage.judge(np.array([[40, 30]]), rows, ids, removed=[50]) == Exactness(1, 0, 0)
    for wrong in ([50, 40], [30, 40], [40, 99], [40, 40], [40, -1]):
        assert stage.judge(np.array([wrong]), rows, ids, removed=[50]) == Exactness(1, 1, 0)
    assert stage.judge(np.array([[1, 2]])) == stage.judge(np.array([[2, 0]]), removed=[1])


@pytest.mark.parametrize("own_ids", [False, True])
@pytest.mark.parametrize("batch", [1, 7])
def test_what_is_added_is_found(batch, own_ids):
    case = AddCase(batch=batch, own_ids=own_ids, searches=True)
    (figure,) = run_once(add_trials(ground(), case, ours())).figures
    assert (figure.failure, figure.checked, figure.wrong, figure.notes) == (None, 6, 0, ())
    assert len(figure.measures["seconds"].rounds) == 2


@pytest.mark.parametrize("kind", ["add", "remove"])
def test_who_is_too_slow_is_extrapolated_and_judged_by_what_it_did(kind):
    one = replace(ours(), is_ours=False)
    hasty = ground(lap_seconds=0.0)
    trials = (
        add_trials(hasty, AddCase(batch=1), one) if kind == "add" else remove_trials(hasty, 1, one)
    )
    (figure,) = run_once(trials).figures
    assert figure.wrong == 0
    assert "1 of 20" in figure.notes[0]
    rates, seconds = (figure.measures[name].rounds for name in ("objects_per_second", "seconds"))
    assert [rate * all_of_it for rate, all_of_it in zip(rates, seconds, strict=True)] == (
        pytest.approx([20.0, 20.0])
    )


def test_a_planted_wrong_answer_is_found():
    class Forgetful(sides.Side):
        def remove(self, ids):
            pass

    def build(rows, ids, threads):
        return Forgetful(fastmks.Index(rows, algorithm="scan"), threads)

    trials = remove_trials(ground(), 20, replace(ours(), build=build))
    (figure,) = run_once(trials).figures
    assert figure.wrong


def test_a_failure_ends_a_contestant_and_not_the_cell():
    def fail():
        raise MemoryError("no room")

    found = run_once([Trial("failing", fail), Trial("right", lambda: {"seconds": 1.0})])
    assert [one.failure for one in found.figures] == ["MemoryError: no room", None]
    assert found.figures[1].measures["seconds"].rounds == (1.0, 1.0)


def test_moves_and_evaluations_are_counted():
    stage = moving.uniform(1, 3000, 4)
    for searches in (False, True):
        index = fastmks.Index(stage.rows[:1], algorithm="tree")
        moved = moving.count_moves(index, stage, searches=searches)
        assert len(index) == 3001
        assert 2000 <= moved.n_moved <= 3001 * np.log2(3001)
        built = [segment for segment in snapshot_of(index).segments if not segment.data.is_small]
        assert moved.evaluations >= sum(
            segment.data.engines.built_tree.build_evaluations for segment in built
        )


def test_a_writer_knows_who_is_left():
    stage = decaying(10, 3, 2)
    side = ours().build(stage.first, None, 1)
    with Writer(stage, side, threading.Lock(), float("inf")) as writer:
        while writer.n_pairs < 35:  # all that were there have left, and more
            pass
    assert len(side.index) == 10
    assert writer.judge(3).differ == 0


def test_a_writer_that_fails_says_so():
    stage = decaying(10, 3, 2)
    side = ours().build(stage.first, None, 1)
    side.remove(np.arange(10))
    with (
        pytest.raises(fastmks.InvalidArgument, match="is not one"),
        Writer(stage, side, ours().guard(), float("inf")),
    ):
        pass


def test_pages_of_a_file(tmp_path):
    file = tmp_path / "pages"
    file.write_bytes(bytes(2**20))
    file.read_bytes()
    assert page_share(file) in (None, 1.0)
    synchronize(file, drops_pages=True)  # whether it helps depends on the file system
    share = page_share(file)
    assert share is None or 0.0 <= share <= 1.0
    assert rollup().keys() == {"rss_mb", "pss_mb", "anonymous_mb"}


def test_files_are_loaded_by_fresh_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FRESH_PROCESSES", 2)
    one = replace(ours(), loads=dict.fromkeys(["load, verify=False"]))  # looked up over there
    found = {}
    for case, make in files.files(ground(folder=tmp_path)):
        key = key_of(SMALL, "files", case, 1)
        trials = trials_of([one], SMALL, make)
        (found[case],) = run_cell(key, SMALL, trials, rounds=1).figures
    assert {one.failure for one in found.values()} == {None}
    assert {case: one.wrong for case, one in found.items() if one.wrong is not None} == {
        "cold": 0,
        "warm": 0,
        "four processes": 0,
        "90 % removed": 0,
    }
    assert found["cold"].contestant == "fastmks filter: load, verify=False"
    assert found["saving"].get("file_mb") >= SMALL.first.nbytes / 1e6
    text = all_tables(
        kept_of(*(cell(one, section="files", case=case) for case, one in found.items()))
    )
    assert "| to first answer ms |" in text
    assert "| pss mb |" in text


def test_a_fresh_process_imports_the_library_before_it_loads_a_file():
    """Otherwise the import would be timed, and its memory counted as that of the index."""
    script = """
import sys
from benchmarks.living import sides, visitor
assert "fastmks" not in sys.modules  # peers do not import it
assert sides.find_contestant(sides.FASTMKS).missing is None
assert "fastmks" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_a_process_that_fails_is_a_failure_of_its_own(tmp_path):
    one = replace(ours(), loads={"no such way": None})
    (trial,) = dict(files.files(ground(folder=tmp_path)))["warm"](one)
    trial.lap()
    assert "no such way" in trial.failure


def test_measures_come_back_with_their_median(tmp_path):
    file = tmp_path / "figures.json"
    kept = Kept("living", file, Cell)
    seconds = Measure.of(1.0, 3.0, 2.0)
    kept.add(cell(Figure(contestant="fastmks filter", measures={"seconds": seconds})))
    kept.write([])
    assert Kept("living", file, Cell).cells == kept.cells
    stored = json.loads(file.read_text())["cells"][0]["figures"][0]["measures"]["seconds"]
    assert stored == {"median": 2.0, "low": 1.0, "high": 3.0, "rounds": [1.0, 3.0, 2.0]}


def test_exactness_is_the_only_claim_that_is_required():
    slow = Figure(contestant=sides.FASTMKS, measures={"rebuilds": Measure.of(3.0)}, wrong=0)
    peer = Figure(contestant="faiss flat", measures={"rebuilds": Measure.of(9.0)}, wrong=4)
    exact, rebuilds = checks(kept_of(cell(slow, peer)))
    assert (exact.holds, exact.is_required) == (True, True)
    assert (rebuilds.value, rebuilds.holds, rebuilds.is_required) == (3.0, False, False)
    assert not checks(kept_of(cell(replace(slow, wrong=1))))[0].holds
    assert not checks(kept_of(cell(Figure(contestant=sides.FASTMKS, failure="none"))))[0].holds


def test_tables_mark_what_was_extrapolated():
    part = Figure(
        contestant="slow",
        measures={"seconds": Measure.of(1.0)},
        notes=("added 1 of 9 in 5 s: seconds are extrapolated",),
    )
    text = all_tables(kept_of(cell(part)))
    assert "| one by one | slow * | 1 | - |" in text
    assert "- * slow (adding, one by one: small 9 float64): added 1 of 9" in text
