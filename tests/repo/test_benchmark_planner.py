"""The benchmark of the planner runs without data, and its answers are the scan's."""

import json

from benchmarks import planner


def test_the_program_runs_without_data(tmp_path, capsys):
    file = tmp_path / "figures.json"
    options = ["--quick", "--objects", "800", "--queries", "10", "--out", str(file)]
    assert planner.main(options) == 0
    rows = json.loads(file.read_text())["rows"]
    assert {row["n_queries"] for row in rows} == {1, 10}
    assert {row["problem"] for row in rows} >= {"tuples", "digits"}
    assert not any(row["differs_from_scan"] for row in rows)
    assert "| digits | Linear() |" in capsys.readouterr().out


def test_a_folder_may_have_nothing(tmp_path):
    options = ["--quick", "--objects", "100", "--queries", "5", "--data", str(tmp_path)]
    assert planner.main([*options, "--only", "bio"]) == 0
