"""The harness of the benchmarks: its arithmetic, its judgement and its files; never its times."""

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # benchmarks are not installed

from benchmarks import units
from benchmarks.datasets import Problem, normal
from benchmarks.harness import (
    Answer,
    Contestant,
    Race,
    Search,
    find_truths,
    race,
    ratio,
    run_rounds,
)
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL
from benchmarks.noise import Moment, others_share
from benchmarks.paper import evaluations as paper_evaluations
from benchmarks.paper import grid as paper_grid
from benchmarks.paper.figure import plot_speedups
from benchmarks.peers import dense
from benchmarks.peers import postings as peers_postings
from benchmarks.peers import tree as peers_tree
from benchmarks.peers.mlpack_tree import MlpackTree
from benchmarks.peers.tree_bout import Bout, Side, build_table, checks, search_table
from benchmarks.report import Check, Report, describe_machine, read, table, versions, write
from benchmarks.truth import Verdict, find_truth, judge, judge_by_scan

import fastmks

SMALL = normal(60, 5, n_queries=7, seed=3)
TIED = Problem(  # values 3, 5, 5, 1 and 0, 2, 2, 2
    name="tied",
    origin="written here",
    objects=np.array([[3.0, 0.0], [5.0, 2.0], [5.0, 2.0], [1.0, 2.0]]),
    queries=np.array([[1.0, 0.0], [0.0, 1.0]]),
)


def prepare_right(problem: Problem, k: int, threads: int) -> Search:
    return lambda: Answer(find_truth(problem, k).indices, evaluations=threads)


def prepare_wrong(problem: Problem, k: int, threads: int) -> Search:
    indices = find_truth(problem, k).indices.copy()
    indices[2] = indices[2, ::-1]
    return lambda: Answer(indices)


def contestant(name, prepare=prepare_right, **more):
    return Contestant(name=name, dtype="float64", prepare=prepare, **more)


def small_race(*contestants: Contestant, baseline: str = "right") -> Race:
    truths = find_truths(SMALL, 4)
    return race(SMALL, contestants, truths, k=4, threads=1, baseline=baseline, rounds=2)


def test_a_ratio_is_taken_within_each_round():
    """A slow round slows both sides: the ratio of the medians would be 10 / 2 here."""
    assert ratio([1.0, 10.0, 30.0], [1.0, 10.0, 2.0]) == 1.0
    with pytest.raises(ValueError, match="shorter"):
        ratio([1.0, 2.0], [1.0])


def test_rounds_are_interleaved_and_warmups_dropped():
    called = []

    def runs(name):
        return lambda: called.append(name) or f"{name}{len(called)}"

    results = run_rounds([runs("a"), runs("b"), runs("c")], rounds=2, warmups=1)
    assert called == ["a", "b", "c", "b", "c", "a", "c", "a", "b"]
    assert results == [["a6", "a8"], ["b4", "b9"], ["c5", "c7"]]


def test_a_planted_wrong_answer_is_found():
    found = small_race(contestant("right"), contestant("wrong", prepare_wrong))
    assert [(f.wrong, f.wrong_as_stored, f.ties) for f in found.figures] == [(0, 0, 0), (1, 1, 0)]
    assert found.figure("right").evaluations == 1
    assert len(found.figure("wrong").seconds) == 2


def test_a_missing_contestant_is_a_line_of_the_table():
    missing = contestant("rare", needs=("no_module_has_this_name",))
    found = small_race(contestant("right"), missing)
    assert found.figure("rare").seconds == ()
    assert "not installed" in table(found)
    without_baseline = small_race(contestant("right"), missing, baseline="rare")
    assert without_baseline.figure("right").ratio is None
    assert "right" in table(without_baseline)


def test_an_answer_of_the_wrong_shape_is_refused():
    def prepare_short(problem: Problem, k: int, threads: int) -> Search:
        return lambda: Answer(find_truth(problem, k - 1).indices)

    with pytest.raises(ValueError, match="must answer 7 x 4"):
        small_race(contestant("right", prepare_short))


def test_a_contestant_may_have_its_own_k_or_keep_nothing():
    def prepare_nothing(problem: Problem, k: int, threads: int) -> Search:
        return lambda: Answer(None)

    found = small_race(contestant("right", k=2), contestant("none", prepare_nothing))
    assert found.figure("right").wrong == 0
    assert found.figure("none").wrong is None


def test_the_share_of_others(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    start = Moment(clock=10.0, mine=1.0, everyone=50.0)
    end = Moment(clock=20.0, mine=9.0, everyone=63.0)
    assert others_share(start, end) == 0.25  # 5 of 20 CPU seconds
    assert others_share(start, end._replace(everyone=None)) is None
    assert others_share(start, start) is None


def test_truth_ranks_ties_by_smaller_index():
    truth = find_truth(TIED, 3)
    assert truth.indices.tolist() == [[1, 2, 0], [1, 2, 3]]
    assert truth.values.tolist() == [[5.0, 5.0, 3.0], [2.0, 2.0, 2.0]]
    assert truth.tolerance.tolist() == [0.0, 0.0]  # integers: nothing is near without being equal


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ([[1, 2, 0], [1, 2, 3]], Verdict(wrong=0, ties=0)),
        ([[1, 2], [1, 2]], Verdict(wrong=0, ties=0)),
        ([[2, 1, 0], [3, 2, 1]], Verdict(wrong=0, ties=2)),
        ([[0, 1, 2], [1, 2, 3]], Verdict(wrong=1, ties=0)),  # order
        ([[1, 2, 3], [1, 2, 0]], Verdict(wrong=2, ties=0)),  # set
        ([[1, 1, 0], [1, 2, 3]], Verdict(wrong=1, ties=0)),  # twice the same
        ([[1, 2, 4], [1, 2, 3]], Verdict(wrong=1, ties=0)),  # no such object
        ([[1, 2, -1], [1, 2, 3]], Verdict(wrong=1, ties=0)),  # 3 is not zero
    ],
)
def test_verdicts(answer, verdict):
    assert judge(find_truth(TIED, 3), np.array(answer)) == verdict


def test_a_zero_may_be_left_out():
    truth = find_truth(TIED, 4)
    assert truth.values[1, 3] == 0.0
    assert judge(truth, np.array([[1, 2, 0, 3], [1, 2, 3, -1]])) == Verdict(wrong=0, ties=1)


def test_near_ties_are_not_wrong_but_counted():
    objects = np.array([[0.1], [np.nextafter(0.1, 1.0)], [0.2]])
    problem = Problem(name="near", origin="", objects=objects, queries=np.array([[1.0]]))
    truth = find_truth(problem, 3)
    assert truth.indices.tolist() == [[2, 1, 0]]
    assert judge(truth, np.array([[2, 0, 1]])) == Verdict(wrong=0, ties=1)


def test_rounding_to_float32_shows_as_given_but_not_as_stored():
    objects = np.array([[1.0], [1.0 + 2.0**-40]])
    problem = Problem(name="fine", origin="", objects=objects, queries=np.array([[1.0]]))
    one = Contestant(name="right", dtype="float32", prepare=prepare_right)
    found = race(
        problem, [one], find_truths(problem, 2), k=2, threads=1, baseline="right", rounds=1
    )
    figure = found.figures[0]
    assert (figure.wrong, figure.wrong_as_stored, figure.ties) == (1, 0, 0)


def test_sparse_truth_is_the_dense_one():
    sparse = pytest.importorskip("scipy.sparse")
    rows = np.where(SMALL.objects > 0.5, SMALL.objects, 0.0)
    queries = np.where(SMALL.queries > 0.0, SMALL.queries, 0.0)
    given = {"name": "", "origin": ""}
    dense_truth = find_truth(Problem(**given, objects=rows, queries=queries), 4)
    packed = (sparse.csr_matrix(rows), sparse.csr_matrix(queries))
    truth = find_truth(Problem(**given, objects=packed[0], queries=packed[1]), 4)
    assert judge(truth, dense_truth.indices).wrong == 0


@pytest.mark.parametrize(("n_objects", "k"), [(60, 4), (1000, 1), (1000, 7), (1000, 300)])
def test_peers_that_are_always_there_find_the_truth(n_objects, k):
    problem = normal(n_objects, 5, n_queries=7)
    contestants = [one for one in dense.contestants() if one.name != "faiss float32"]
    found = race(
        problem,
        contestants,
        find_truths(problem, k),
        k=k,
        threads=2,
        baseline="numpy float64",
        rounds=1,
    )
    assert all(figure.wrong == 0 for figure in found.figures if "64" in figure.contestant)
    assert found.figure("fastmks float32").wrong_as_stored == 0


def test_a_report_survives_its_file(tmp_path: Path):
    missing = contestant("rare", needs=("no_module_has_this_name",))
    report = Report(
        name="small",
        date="2000-01-01",
        commit="none",
        machine=describe_machine(),
        versions=versions(),
        notes=("a note",),
        races=(small_race(contestant("right"), missing),),
        checks=(Check(claim="one is at most two", value=1.0, limit=2.0, is_required=True),),
    )
    assert read(write(report, tmp_path)) == report
    assert (tmp_path / "small.json").exists()


def test_a_check_says_whether_it_holds():
    good = Check(claim="ratio", value=2.0, limit=3.0, is_required=True)
    bad = Check(claim="ratio", value=4.0, limit=3.0, is_required=True)
    assert str(good) == "holds: ratio: 2.00, limit 3"
    assert str(bad) == "FAILS: ratio: 4.00, limit 3"


FAKE_MLPACK = """
import os, time
import numpy as np

def fastmks(*, reference=None, input_model=None, query=None, k=0, **more):
    assert more["single"] and more["verbose"]
    if input_model is None:
        os.write(1, b"77 distance computations during tree construction.\\n")
        return {"output_model": (reference, more["base"])}
    if {fault}: {then}
    os.write(1, b"5 base cases.\\n6 scores.\\n")
    values = query @ input_model[0].T
    indices = np.argsort(-values, axis=1)[:, :k]
    return {"indices": indices, "kernels": np.take_along_axis(values, indices, axis=1)}
"""


@pytest.fixture
def fake_mlpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a module in mlpack's place that has one fault."""
    monkeypatch.syspath_prepend(tmp_path)

    def write_module(then: str = "pass") -> None:
        text = FAKE_MLPACK.replace("{fault}: {then}", f"k == 3: {then}")
        (tmp_path / "mlpack.py").write_text(text)
        importlib.invalidate_caches()

    return write_module


def test_counts_that_mlpack_prints_are_read(fake_mlpack):
    fake_mlpack()
    with MlpackTree(SMALL, LINEAR) as tree:
        built, found = tree.build(), tree.search(4)
    assert built is not None
    assert found is not None
    assert (built.evaluations, found.evaluations, tree.failure) == (77, 5, None)
    assert judge(find_truth(SMALL, 4), found.indices) == Verdict(wrong=0, ties=0)


@pytest.mark.parametrize(
    ("then", "failure"),
    [
        ("os._exit(3)", "ended with exit code 3"),
        ("time.sleep(60)", "no answer within 0.5 s"),
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("return {}", "RuntimeError: mlpack printed no 'base cases'"),
    ],
)
def test_a_fault_of_mlpack_is_a_line(fake_mlpack, then, failure):
    fake_mlpack(then)
    with MlpackTree(SMALL, LINEAR, patience=0.5) as tree:
        assert tree.build() is not None
        assert tree.search(3) is None
        assert tree.failure is not None
        assert tree.failure.startswith(failure)
        assert tree.search(4) is None  # it is not asked again


def test_samples_grow_and_powers_of_two_round_nothing():
    few, more = SMALL.sample(10, 3), SMALL.sample(20, 7)
    assert {*map(bytes, few.objects)} < {*map(bytes, more.objects)}
    assert SMALL.sample(60, 7) is SMALL
    ball = SMALL.within_unit_ball()
    rows = np.concatenate([ball.objects, ball.queries])
    assert 0.5 < np.linalg.norm(rows, axis=1).max() <= 1.0
    assert np.array_equal(ball.objects * (SMALL.objects[0, 0] / ball.objects[0, 0]), SMALL.objects)


def scan_all(problem, case, k):
    index = fastmks.Index(problem.objects, case.kernel, algorithm="scan", threads=1)
    return index.search(problem.queries, k)


@pytest.mark.parametrize("case", [LINEAR, COSINE, POLYNOMIAL])
def test_wrong_answers_are_judged_under_every_kernel(case):
    problem = case.adapted(SMALL)
    found = scan_all(problem, case, 4)

    def verdict(indices):
        return judge_by_scan(problem, case, found.values, found.indices, indices)

    assert verdict(found.indices) == Verdict(wrong=0, ties=0)
    planted = found.indices.copy()
    planted[2] = planted[2, ::-1]
    planted[5, 1] = -1
    assert verdict(planted) == Verdict(wrong=2, ties=0)


def test_a_tie_is_not_wrong_by_the_scan():
    found = scan_all(TIED, LINEAR, 3)
    answer = np.array([[2, 1, 0], [3, 2, 1]])
    verdict = judge_by_scan(TIED, LINEAR, found.values, found.indices, answer)
    assert verdict == Verdict(wrong=0, ties=2)


def test_bars_and_verdicts_of_a_bout():
    slow = Side(evaluations=100, seconds=(1.0, 2.0, 9.0), cpu_seconds=(1.0, 2.0, 9.0))
    fast = Side(evaluations=104, seconds=(0.3, 0.5, 2.0), cpu_seconds=(0.3, 0.5, 2.0))
    known = {"problem": "p", "origin": "", "n_objects": 10, "n_columns": 2, "n_queries": 5}
    known |= {"build": slow, "peer_build": fast, "search": fast, "peer_search": slow}
    known |= {"peer_wrong": 3, "peer_ties": 0, "peer_failure": None, "others": None, "k": 1}
    known |= {"evaluations": 106, "differs_from_scan": False, "scan_seconds": 1.0}
    bout = Bout(**known, kernel="linear")
    by_claim = {check.claim: check for check in checks([bout])}
    assert not by_claim["evaluations, p, linear, k=1"].holds  # 1.06
    assert by_claim["query time, p, linear, k=1"].value == pytest.approx(0.25)
    assert by_claim["build evaluations, p, linear"].holds
    assert not by_claim["build time, p, linear"].holds
    assert "**1.060**" in search_table([bout])
    assert "| 4.00 |" in search_table([bout])
    assert "FAIL: evaluations |" in search_table([bout])
    assert "FAIL: build time |" in build_table([bout])
    alone = replace(bout, peer_search=Side(), peer_build=Side(), peer_failure="not installed")
    assert "not installed" in search_table([alone])
    assert [check.claim for check in checks([alone])] == ["differs from the scan, p, linear, k=1"]


TINY = ["--quick", "--rounds", "1", "--objects", "120", "--queries", "4"]


@pytest.mark.parametrize(
    ("program", "more"),
    [
        (peers_tree, ["--only", "digits", "normal"]),
        (paper_grid, []),
    ],
)
def test_programs_of_the_tree_run_without_data(program, more, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.peers.mlpack_tree.find_spec", lambda name: None)
    file = tmp_path / "figures.json"
    assert program.main([*TINY, *more, "--out", str(file)]) == 0
    ledger = json.loads(file.read_text())
    assert ledger["notes"][0].startswith("no --data")
    assert ledger["rows"]
    assert not any(row.get("differs_from_scan") for row in ledger["rows"])
    assert "not installed" in capsys.readouterr().out or program is paper_grid
    if program is paper_grid:
        refused = [row for row in ledger["rows"] if row["refusal"]]
        assert {row["kernel"] for row in refused} == {"tanh"}
        assert refused[0]["refusal"].startswith("NotMercerError")


def test_evaluations_are_counted_over_the_papers_grid(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.peers.mlpack_tree.find_spec", lambda name: None)
    file = tmp_path / "counts.json"
    assert paper_evaluations.main([*TINY, "--out", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert {row["kernel"] for row in rows} == {"cosine", "linear", "polynomial 10", "tanh"}
    assert all(row["evaluations"] <= row["n_objects"] and row["mlpack"] is None for row in rows)
    assert "as a share of the scan's" in capsys.readouterr().out


def test_every_unit_of_the_cpu_gives_the_same_answers(capsys):
    assert units.main(["--objects", "400", "--queries", "8", "--rounds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 + 6
    assert all("1.0x" in line for line in lines[3:])


def test_a_folder_gives_what_it_has_and_the_rest_is_noted(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.peers.mlpack_tree.find_spec", lambda name: None)
    np.savez(tmp_path / "movielens1m_mf50.npz", items=SMALL.objects, users=SMALL.queries)
    file = tmp_path / "figures.json"
    only = ["--only", "movielens", "corel", "--data", str(tmp_path)]
    assert peers_tree.main([*TINY, *only, "--out", str(file)]) == 0
    ledger = json.loads(file.read_text())
    assert ledger["notes"][0] == "not in the folder: corel_10k_hist32.npz"
    assert {(row["problem"], row["n_objects"]) for row in ledger["rows"]} == {("movielens", 60)}
    assert {row["n_queries"] for row in ledger["rows"]} == {4}


def test_a_picture_without_matplotlib_is_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.pictures.is_installed", lambda module: False)
    plot_speedups({("Bio", "linear", 1): 3.0}, tmp_path / "bars.png")
    assert capsys.readouterr().out == "matplotlib is not installed: no picture\n"
    assert not (tmp_path / "bars.png").exists()


def test_the_program_about_postings_finds_no_fault(tmp_path):
    """How fast they are on so few objects is another question."""
    file = tmp_path / "postings.json"
    peers_postings.main(["--rounds", "1", "--objects", "150", "--queries", "5", "--out", str(file)])
    races = read(file).races
    assert {race.k for race in races} == {1, 10, 100}
    assert all(race.figure("fastmks postings").wrong == 0 for race in races)
