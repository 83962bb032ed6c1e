"""The program of the bars: its arithmetic, its judgement, its file; never its times."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # benchmarks are not installed

from benchmarks.datasets import Problem, normal
from benchmarks.harness import Answer
from benchmarks.pages import put_into
from benchmarks.peers import grid
from benchmarks.peers.bars import Bar, checks, find_bars, scan_share, work_share
from benchmarks.peers.cell import Cell, Entry, Figure, Key, measure
from benchmarks.peers.entrants import Entrant, Ready, Task, entrants
from benchmarks.peers.exactness import Exactness, Judge
from benchmarks.peers.kept import Kept
from benchmarks.peers.sets import collect
from benchmarks.peers.tables import all_tables

SMALL = replace(normal(60, 5, n_queries=7, seed=3).cast("float32"), name="small")
TIED = Problem(  # values 3, 5, 5, 1 and 0, 2, 2, 2
    name="tied",
    origin="written here",
    objects=np.array([[3.0, 0.0], [5.0, 2.0], [5.0, 2.0], [1.0, 2.0]], np.float32),
    queries=np.array([[1.0, 0.0], [0.0, 1.0]], np.float32),
)
KEY = Key(problem="mnist", n_objects=60, n_queries=7, kernel="linear", k=3, batch=7, threads=1)
FACTS: dict[str, str | int] = {"n_columns": 5, "origin": "", "commit": "none"}
TINY = ["--quick", "--rounds", "1", "--objects", "80", "--queries", "5", "--k", "3"]


@pytest.fixture
def no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but numpy is installed."""
    monkeypatch.setattr(grid, "_is_there", lambda name: False)


def run(*more: str) -> int:
    return grid.main([*TINY, *more])


def figure(name: str, microseconds: float, **more) -> Figure:
    known = {"is_ours": name.startswith("fastmks"), "in_bar": True, "is_brute": True}
    return Figure(name=name, median_us=microseconds, best_us=microseconds, **known | more)


def cell(*figures: Figure, **more) -> Cell:
    return Cell(**KEY.__dict__ | more, **FACTS, others=0.25, seconds=1.0, figures=figures)  # type: ignore[arg-type]


@pytest.mark.usefixtures("no_peer")
def test_the_smallest_run_needs_no_data_and_no_peer(tmp_path, capsys):
    file, page = tmp_path / "figures.json", tmp_path / "page.md"
    page.write_text("before\n<!-- peers: begin -->\noutdated\n<!-- peers: end -->\nafter\n")
    assert run("--out", str(file), "--tables", str(page)) == 0
    stored = json.loads(file.read_text())
    assert stored["name"] == "peers_bars"
    assert stored["notes"][0].startswith("no --data")
    assert {one["problem"] for one in stored["cells"]} == {"decaying", "points 3-d", "normal"}
    assert {one["batch"] for one in stored["cells"]} == {1, 5}
    figures = [one for cell in stored["cells"] for one in cell["figures"]]
    assert not any(one["differ"] for one in figures if one["is_ours"])
    failures = {one["name"]: one["failure"] for one in figures if "failure" in one}
    assert failures["faiss flat"] == "not installed: faiss.IndexFlatIP"
    assert set(failures) == {one.name for one in entrants() if one.needs}
    assert stored["rows"]["fingerprints 80, 1 thread"]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "outdated" not in text
    assert "| not installed: faiss.IndexFlatIP |" in text
    assert "holds: queries with other ids than the truth, ours" in capsys.readouterr().out


@pytest.mark.usefixtures("no_peer")
def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch, capsys):
    file = str(tmp_path / "figures.json")
    sets = ["--sets", "normal", "--kernels", "cosine", "--out", file]
    assert run(*sets, "--minutes", "0.0000001") == 0
    assert "stopped by --minutes" in capsys.readouterr().err
    first = json.loads(Path(file).read_text())["cells"]
    assert len(first) == 1
    assert run(*sets) == 0
    cells = json.loads(Path(file).read_text())["cells"]
    assert len(cells) == 2
    assert cells[0] == first[0]

    def measure_nothing(*_: object, **more: object) -> None:
        raise AssertionError("everything is there")

    monkeypatch.setattr(grid, "measure", measure_nothing)
    assert run(*sets) == 0
    assert run(*sets, "--show") == 0
    assert "### The bars" in capsys.readouterr().out


def test_noisy_cells_are_measured_again(tmp_path):
    file = tmp_path / "figures.json"
    kept = Kept(file)
    kept.add(cell(figure("fastmks auto", 2.0)))
    kept.write(["a note"], ())
    assert KEY in Kept(file)
    assert Kept(file).cells == kept.cells
    assert KEY not in Kept(file, most_others=0.1)


def test_a_file_of_another_program_is_refused(tmp_path):
    file = tmp_path / "figures.json"
    file.write_text('{"name": "other"}')
    with pytest.raises(ValueError, match="must hold figures of this program"):
        Kept(file)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ([[1, 2, 0], [1, 2, 3]], Exactness(2, differ=0, ties=0)),
        ([[2, 1, 0], [3, 2, 1]], Exactness(2, differ=2, ties=2)),
        ([[0, 1, 2], [1, 2, 3]], Exactness(2, differ=1, ties=0)),  # order
        ([[1, 1, 0], [1, 2, 3]], Exactness(2, differ=1, ties=0)),  # twice the same
        ([[1, 2, -1], [1, 2, 4]], Exactness(2, differ=2, ties=0)),  # no such object
        ([[1, 2], [1, 3]], Exactness(2, differ=1, ties=1)),  # a smaller k
    ],
)
def test_verdicts(answer, verdict):
    judge = Judge(TIED, "linear", 3, threads=1)
    assert judge.compare(np.array(answer)) == verdict


def test_later_queries_are_judged_by_their_own_truth():
    judge = Judge(SMALL, "cosine", 4, threads=1)
    found = Task.of(SMALL, "cosine", threads=1, patience=1.0)
    truth = np.argsort(-(found.queries @ found.objects.T), axis=1)[:, :4]
    assert judge.compare(truth[3:], begin=3) == Exactness(4, differ=0, ties=0)
    assert judge.compare(truth[:4], begin=3).differ == 4


def prepared(search, n_fixed=None):
    def prepare(task: Task) -> Ready:
        return Ready(
            search=search,
            queries=task.queries,
            n_bytes=lambda: 7,
            build_seconds=0.5,
            n_fixed=n_fixed,
        )

    return prepare


def test_a_cell_counts_what_each_did_and_survives_who_fails():
    judge = Judge(SMALL, "linear", 3, threads=1)
    truth = np.argsort(-(SMALL.queries @ SMALL.objects.T), axis=1)[:, :3]
    order = {bytes(row): at for at, row in enumerate(SMALL.queries)}

    def right(queries, k):
        return Answer(truth[[order[bytes(row)] for row in queries], :k], 60 * len(queries), 4)

    def reversed_(queries, k):
        return Answer(right(queries, k).indices[:, ::-1])

    def failing(queries, k):
        raise MemoryError("no room")

    def elsewhere(queries, k):
        return Answer(truth[:5], seconds=5e-3)

    task = Task.of(SMALL, "linear", threads=1, patience=1.0)
    entries = [
        Entry(entrant, entrant.prepare(task))
        for entrant in (
            Entrant(name="fastmks auto", prepare=prepared(right), is_ours=True),
            Entrant(name="reversed", prepare=prepared(reversed_)),
            Entrant(name="failing", prepare=prepared(failing)),
            Entrant(name="elsewhere", prepare=prepared(elsewhere, n_fixed=5)),
        )
    ]
    found = measure(KEY, entries, judge, rounds=2, lap_seconds=0.01, facts=FACTS)
    ours, wrong, failed, far = found.figures
    assert (ours.checked, ours.differ, ours.evaluations, ours.n_bytes) == (7, 0, 60.0, 7)
    assert ours.operations == pytest.approx(4 / 7)
    assert ours.times_less is not None
    assert (wrong.differ, wrong.ties, wrong.times_less) == (7, 0, None)
    assert failed.failure == "MemoryError: no room"
    assert (far.rounds, far.asked, far.median_us) == (1, 5, pytest.approx(1000.0))


def test_bars_are_taken_from_the_best_engine_and_from_auto():
    peers = (figure("faiss flat, tuned", 40.0), figure("numpy", 60.0))
    slow = figure("fastmks auto", 20.0, times_less=2.0, n_bytes=0, evaluations=60.0)
    fast = figure("fastmks filter", 10.0, times_less=4.0, n_bytes=1200, evaluations=6.0)
    cells = [cell(slow, fast, *peers), cell(slow, fast, *peers, k=1, batch=1)]

    def bars(engine, *, has_tiles=False) -> dict[str, Bar]:
        found = find_bars(cells, {}, engine=engine, has_tiles=has_tiles)
        return {bar.claim: bar for bar in found}

    best, auto = bars(None), bars("fastmks auto")
    assert best["structured sets, batches"].is_met
    assert not bars(None, has_tiles=True)["structured sets, batches"].is_met
    assert not auto["structured sets, batches"].is_met
    assert best["structured sets, batches, peers as they come"].decisive == 6.0
    single = best["structured sets, single queries"]
    assert single.worst == ("mnist linear, k=1, batch 1, 1 thread", 4.0)
    assert (single.n_met, single.is_met) == (0, False)
    assert best["memory with the data, times the data"].decisive == 2.0
    assert auto["auto, times the best engine"].decisive == 2.0
    assert "auto, times the best engine" not in best
    assert scan_share(cells[0], fast) == pytest.approx(0.1)
    assert work_share(cells[0], replace(fast, operations=30.0)) == pytest.approx(0.2)


def test_exactness_is_the_only_claim_that_is_required():
    wrong = cell(figure("fastmks filter", 1.0, differ=2, times_less=0.1), figure("numpy", 0.1))
    bars = {"best engine": find_bars([wrong], {}, engine=None, has_tiles=False)}
    required = {claim.claim: claim for claim in checks([wrong], bars) if claim.is_required}
    assert not required["queries with other ids than the truth, ours"].holds
    assert required["searches of ours that failed"].holds
    missed = [claim for claim in checks([wrong], bars) if not claim.is_required]
    assert [claim.holds for claim in missed] == [False, False]


def test_a_mean_and_a_worst():
    bar = Bar(claim="", limit=3.0, values={"a": 2.0, "b": 8.0})
    assert (bar.mean, bar.worst, bar.is_met) == (pytest.approx(4.0), ("a", 2.0), False)
    assert replace(bar, is_mean=True).is_met
    assert replace(bar, is_most=True).worst == ("b", 8.0)


def test_fpsim2_is_compared_where_it_ran():
    rows = [
        {"contestant": "fastmks, single queries", "milliseconds": 1.0},
        {"contestant": "FPSim2, single queries", "milliseconds": 3.0},
    ]
    (bar,) = find_bars([], {"with": rows, "without": rows[:1]}, engine=None, has_tiles=False)
    assert bar.values == {"with": 3.0}


def test_real_sets_are_read_as_float32(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 255, (300, 6), dtype=np.uint8)
    np.savez(tmp_path / "mnist.npz", train=rows, test=rows[:20])
    np.savez(tmp_path / "cifar10_gist384.npz", train=rows, test=rows[:9], scale=np.float32(0.5))
    options = ["--data", str(tmp_path), "--sets", "mnist", "cifar10_gist384", "lcdm"]
    parsed = grid.read_options("peers", None, options, grid._extend)
    collector = grid.Collector(parsed)
    mnist, gist = collect(collector, tmp_path, 200, 12)
    assert (mnist.n_objects, mnist.n_queries, mnist.dtype) == (200, 12, "float32")
    assert mnist.objects.max() <= 1.0
    assert np.array_equal(gist.queries, rows[:9] * np.float32(0.5))
    assert collector.notes == ["not in the folder: lcdm_mock_galaxies_mr19.npz"]


def test_tables_show_the_first_look_and_the_wrong_answers(tmp_path):
    kept = Kept(None)
    kept.add(
        cell(
            figure("fastmks auto", 2.0, times_less=3.0, checked=7, differ=0),
            figure("numpy", 6.0, rounds=1, checked=7, differ=2, ties=1),
        )
    )
    kept.write([], ())
    text = all_tables(kept)
    assert "3 (auto 2; numpy 6)" in text
    assert "~6 (2 of 7)" in text
    assert "| numpy | 2 of 7, 1 ties |" in text
    with pytest.raises(ValueError, match="must have the lines"):
        page = tmp_path / "page.md"
        page.write_text("no markers")
        put_into(page, "peers", text)


@pytest.mark.parametrize("name", ["numpy", "numpy by groups", "fastmks filter", "fastmks scan"])
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_who_is_always_there_finds_the_truth(name, kernel):
    task = Task.of(SMALL, kernel, threads=2, patience=1.0)
    ready = next(one for one in entrants() if one.name == name).prepare(task)
    judge = Judge(SMALL, kernel, 3, threads=1)
    found = ready.search(ready.queries, 3).indices
    assert found is not None
    assert judge.compare(found).differ == 0
    assert (ready.n_bytes() or 0) >= 0
