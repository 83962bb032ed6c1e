"""The program about shards measures, keeps and shows; its simulation does what it says."""

import contextlib

import numpy as np
import pytest
from benchmarks.scale import sections
from benchmarks.scale.__main__ import SUITE
from benchmarks.scale.sections import mnist
from benchmarks.scale.tables import simulate

LAWS = {
    "c0": 0.01,
    "c1": 0.001,
    "scan at zero": 0.0,
    "c2": 1e-8,
    "tree at zero": 0.0,
    "c2'": 1e-5,
}


@pytest.fixture
def _few_clusters(monkeypatch):
    """One cluster of each size serves all sections: most of a small run is starting clusters."""
    clusters, start = {}, sections.cluster
    with contextlib.ExitStack() as stack:

        def shared(n_workers):
            if n_workers not in clusters:
                clusters[n_workers] = stack.enter_context(start(n_workers))
            return contextlib.nullcontext(clusters[n_workers])

        monkeypatch.setattr(sections, "cluster", shared)
        yield


@pytest.mark.usefixtures("_few_clusters")
def test_it_runs_and_goes_on(tmp_path, capsys):
    out = tmp_path / "scale.json"
    assert SUITE.main(["--quick", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "holds: queries with other answers than those of one index: 0.00" in shown
    for title in (
        "Build",
        "Search",
        "Shards of 64 objects",
        "Two rounds",
        "The model",
        "Simulated",
    ):
        assert f"**{title}**" in shown
    before = out.read_text()
    assert SUITE.main(["--quick", "--out", str(out)]) == 0  # nothing is measured again
    assert out.read_text().partition('"cells"')[2] == before.partition('"cells"')[2]


@pytest.mark.parametrize("algorithm", ["scan", "tree"])
def test_the_simulation_follows_the_model(algorithm):
    found = simulate(LAWS, algorithm=algorithm, n_objects=10**9, n_nodes=100, batch=1)
    work = 1e-8 * 10**7 if algorithm == "scan" else 1e-5 * 23.25
    assert found.model == pytest.approx(0.01 + 0.001 * 100 + work, rel=1e-3)
    assert found.model <= found.simulated <= 1.5 * found.model  # the slowest node decides


def test_more_nodes_than_pay():
    times = [
        simulate(LAWS, algorithm="scan", n_objects=10**6, n_nodes=m, batch=1).simulated
        for m in (1, 3, 1000)
    ]
    assert min(times) == times[1]


def test_pixels_are_read_where_they_are(tmp_path):
    assert mnist(tmp_path, 2) is None
    rows = np.full((5, 4), 255, dtype=np.uint8)
    np.savez(tmp_path / "mnist.npz", train=rows, test=rows[:3])
    work = mnist(tmp_path, 2)
    assert work.objects.shape == (5, 4)
    assert work.queries.tolist() == [[1.0] * 4] * 2
