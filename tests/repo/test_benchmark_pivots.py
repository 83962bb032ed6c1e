"""The benchmark of pivots runs without data, and its answers are the scan's."""

import json

from benchmarks.objects import pivots


def test_the_program_runs_without_data(tmp_path, capsys):
    file = tmp_path / "figures.json"
    options = ["--quick", "--objects", "200", "--queries", "5", "--out", str(file)]
    assert pivots.main(options) == 0
    rows = json.loads(file.read_text())["rows"]
    assert {(row["n_objects"], row["n_queries"]) for row in rows} == {(200, 20)}
    assert all(row["evaluations"] <= 200 for row in rows)
    assert "| digits | Linear() | 200 |" in capsys.readouterr().out


def test_a_folder_may_have_nothing(tmp_path):
    options = ["--quick", "--objects", "100", "--queries", "5", "--data", str(tmp_path)]
    assert pivots.main([*options, "--only", "proteins"]) == 0
