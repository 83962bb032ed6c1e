"""The harness of the benchmarks: its arithmetic, its judgement and its files; never its times."""

import numpy as np
import pytest
from benchmarks import units
from benchmarks.datasets import Problem, normal
from benchmarks.harness import ratio, run_rounds
from benchmarks.noise import Moment, others_share
from benchmarks.pictures import make_panels
from benchmarks.report import Check
from benchmarks.truth import Verdict, find_truth, judge

SMALL = normal(60, 5, n_queries=7, seed=3)
TIED = Problem(  # values 3, 5, 5, 1 and 0, 2, 2, 2
    name="tied",
    origin="written here",
    objects=np.array([[3.0, 0.0], [5.0, 2.0], [5.0, 2.0], [1.0, 2.0]]),
    queries=np.array([[1.0, 0.0], [0.0, 1.0]]),
)


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


def test_the_share_of_others(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    start = Moment(clock=10.0, mine=1.0, everyone=50.0)
    end = Moment(clock=20.0, mine=9.0, everyone=63.0)
    assert others_share(start, end) == 0.25  # 5 of 20 CPU seconds
    assert others_share(start, end._replace(everyone=None)) is None
    assert others_share(start, start) is None
    assert others_share(start, end._replace(clock=start.clock + 0.001)) == 1.0  # a tick is longer


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


def test_near_ties_are_not_wrong_but_counted():
    objects = np.array([[0.1], [np.nextafter(0.1, 1.0)], [0.2]])
    problem = Problem(name="near", origin="", objects=objects, queries=np.array([[1.0]]))
    truth = find_truth(problem, 3)
    assert truth.indices.tolist() == [[2, 1, 0]]
    assert judge(truth, np.array([[2, 0, 1]])) == Verdict(wrong=0, ties=1)


def test_a_check_says_whether_it_holds():
    good = Check(claim="ratio", value=2.0, limit=3.0, is_required=True)
    bad = Check(claim="ratio", value=4.0, limit=3.0, is_required=True)
    assert str(good) == "holds: ratio: 2.00, limit 3"
    assert str(bad) == "FAILS: ratio: 4.00, limit 3"


def test_samples_grow_and_powers_of_two_round_nothing():
    few, more = SMALL.sample(10, 3), SMALL.sample(20, 7)
    assert {*map(bytes, few.objects)} < {*map(bytes, more.objects)}
    assert SMALL.sample(60, 7) is SMALL
    ball = SMALL.within_unit_ball()
    rows = np.concatenate([ball.objects, ball.queries])
    assert 0.5 < np.linalg.norm(rows, axis=1).max() <= 1.0
    assert np.array_equal(ball.objects * (SMALL.objects[0, 0] / ball.objects[0, 0]), SMALL.objects)


def test_every_unit_of_the_cpu_gives_the_same_answers(capsys):
    assert units.main(["--objects", "400", "--queries", "8", "--rounds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 + 6
    assert all("1.0x" in line for line in lines[3:])


def test_a_picture_without_matplotlib_is_a_line(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.pictures.is_installed", lambda module: False)
    assert make_panels(2, 11.0, 7.5) is None
    assert capsys.readouterr().out == "matplotlib is not installed: no picture\n"
