"""The harness of the benchmarks: its arithmetic, its judgement and its files; never its times."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # benchmarks are not installed

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
from benchmarks.noise import Moment, others_share
from benchmarks.peers import dense
from benchmarks.report import Check, Report, describe_machine, read, table, versions, write
from benchmarks.truth import Verdict, find_truth, judge

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
