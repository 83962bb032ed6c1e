"""The harness of the benchmarks: its arithmetic, its judgement and its files; never its times."""

import numpy as np
import pytest
from benchmarks import units
from benchmarks.datasets import normal
from benchmarks.harness import Moment, others_share, ratio, run_rounds
from benchmarks.pictures import make_panels
from benchmarks.report import Check

SMALL = normal(60, 5, n_queries=7)


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
