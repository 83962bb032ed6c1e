"""The benchmarks of objects that are not vectors run without data, and agree with the scan."""

import json

import numpy as np
import pytest
from benchmarks.objects import alignments as objects_alignments
from benchmarks.objects import fingerprints as objects_fingerprints
from benchmarks.objects import own as objects_own
from benchmarks.objects import series as objects_series


def test_the_program_about_fingerprints_runs_without_data(tmp_path, capsys):
    file = tmp_path / "figures.json"
    options = ["--quick", "--rounds", "1", "--objects", "200", "--queries", "3"]
    assert objects_fingerprints.main([*options, "--out", str(file)]) == 0
    ledger = json.loads(file.read_text())
    assert ledger["name"] == "objects_fingerprints"
    assert ledger["notes"][1].startswith("generated fingerprints; missing:")
    assert {(row["n_objects"], row["n_queries"]) for row in ledger["rows"]} == {(200, 3)}
    contestants = {row["contestant"] for row in ledger["rows"]}
    assert contestants >= {"fastmks, single queries", "fastmks, one batch", "numpy, single queries"}
    assert not any(row["wrong"] for row in ledger["rows"])
    assert "ms a query" in capsys.readouterr().out


def test_the_program_about_your_own_runs_without_data(tmp_path, capsys):
    file = tmp_path / "figures.json"
    options = ["--quick", "--rounds", "1", "--objects", "40", "--queries", "2"]
    assert objects_own.main([*options, "--out", str(file)]) == 0
    ledger = json.loads(file.read_text())
    assert ledger["name"] == "objects_own"
    rows = {row["case"]: row for row in ledger["rows"]}
    assert rows["scan, Python function, beside its bare calls"]["evaluations"] == 40 * 2
    assert rows["tree, small sets in Python, k = 1, beside the scan"]["n_objects"] == 40
    assert all(0 < row["evaluations"] <= row["scan_evaluations"] for row in rows.values())
    assert "beside Linear()" in capsys.readouterr().out
    assert np.float64(1e-310) / np.float64(2.0) == 5e-311  # its C function set no mode of the CPU


@pytest.mark.parametrize("program", [objects_alignments, objects_series])
def test_programs_about_alignments_agree_with_the_scan(program, tmp_path):
    file = tmp_path / "found.json"
    assert program.main(["--quick", "--objects", "12", "--queries", "2", "--out", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert rows
    assert not any(row["differs_from_scan"] for row in rows)
