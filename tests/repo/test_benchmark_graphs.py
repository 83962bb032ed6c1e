"""The benchmark of graphs: it runs without data, and its graphs are those of the files."""

import json

import numpy as np
from benchmarks.objects import graphs as objects_graphs


def test_the_program_runs_without_data(tmp_path, capsys):
    file = tmp_path / "figures.json"
    options = ["--quick", "--rounds", "1", "--objects", "40", "--out", str(file)]
    assert objects_graphs.main(options) == 0
    ledger = json.loads(file.read_text())
    assert ledger["name"] == "objects_graphs"
    assert {(row["n_objects"], row["n_queries"]) for row in ledger["rows"]} == {(36, 4)}
    assert not any(row["differs_from_scan"] for row in ledger["rows"])
    assert "speed-up in evaluations" in capsys.readouterr().out


def test_a_folder_gives_what_it_has(tmp_path):
    """Nodes of all graphs are numbered through in the files, edges come in any order."""
    np.savez(
        tmp_path / "graphs_mutag.npz",
        edges=np.array([(3, 4), (0, 1), (4, 3), (1, 0)], dtype=np.int32),
        graph_id=np.array([0, 0, 1, 2, 2], dtype=np.int32),
        node_labels=np.array([7, 8, 9, 7, 7], dtype=np.int16),
        graph_labels=np.array([1, -1, 1], dtype=np.int8),
    )
    found = objects_graphs.read_graph_set(tmp_path / "graphs_mutag.npz", "mutag")
    assert [(edges.tolist(), labels.tolist()) for edges, labels in found.graphs] == [
        ([[0, 1], [1, 0]], [7, 8]),
        ([], [9]),
        ([[0, 1], [1, 0]], [7, 7]),
    ]
    assert found.classes.tolist() == [1, -1, 1]
