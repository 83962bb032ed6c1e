"""The paper's evaluation: what it counts, what it keeps, what it shows; never its times."""

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.datasets import Problem, normal
from benchmarks.kernels import LINEAR, TANH
from benchmarks.paper import __main__ as program
from benchmarks.paper import approximate
from benchmarks.paper.approximate import ApproximateCell, Outcome
from benchmarks.paper.contests import forecast, protein_entrants
from benchmarks.paper.figures import draw_all
from benchmarks.paper.sets import ROWS, all_sets
from benchmarks.paper.tables import all_tables, checks, evaluation_speedup, time_speedup
from benchmarks.race.cell import Cell, Figure, Key
from benchmarks.race.names import AUTO, FILTER, MLPACK, MLPACK_DUAL, SCAN, TREE, TREE_OF_ONE
from benchmarks.sequences import count_substrings
from benchmarks.suite import Collector, Kept, read_options

import fastmks

TINY = ["--quick", "--objects", "60", "--queries", "5", "--rounds", "1"]
KEY = Key(problem="made", n_objects=100, n_queries=5, kernel="linear", k=10, batch=5, threads=1)
PROBLEM = replace(normal(200, 3, n_queries=6), name="made")


@pytest.fixture(autouse=True)
def no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but numpy is installed."""
    monkeypatch.setattr("benchmarks.race.entrant.is_installed", lambda name: False)


def run(*more: str) -> int:
    return program.main([*TINY, *more])


def figure(name: str, **more) -> Figure:
    known = {"is_ours": name.startswith("fastmks"), "in_bar": True, "is_brute": False}
    return Figure(name=name, **known | {"checked": 5, "differ": 0, "ties": 0} | more)


def cell(*figures: Figure, **more) -> Cell:
    known = {"n_columns": 3, "origin": "", "commit": "none", "seconds": 1.0, "others": 0.0}
    facts = {"section": "vectors", "row": "made", "here": "5 / 100 / 3", "kind": "generated"}
    return Cell(**KEY.__dict__ | known | {"facts": facts} | more, figures=figures)


def outcome(mode: str, **more) -> Outcome:
    shares = {"kept_share": 1.0, "exact_share": 0.5, "gap_share": 1.0}
    sizes = {"promise": 0.1, "greatest": 0.05, "mean": 0.01, "evaluations": 10.0}
    return Outcome(mode=mode, **shares | sizes | {"mean_gap": 0.2, "mean_miss": 0.1} | more)


def promised(*outcomes: Outcome) -> ApproximateCell:
    return ApproximateCell(
        problem="made",
        n_objects=100,
        n_queries=5,
        kernel="linear",
        k=10,
        n_columns=3,
        origin="",
        commit="none",
        exact_evaluations=20.0,
        scale=2.0,
        outcomes=outcomes,
    )


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory):
    """A run without data and peers, small as can be: its folder and its exit code."""
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.race.entrant.is_installed", lambda name: False)
        return folder, run("--out", str(folder))


def test_a_run_without_data_says_so_and_finds_no_fault(whole_run):
    folder, code = whole_run
    assert code == 0
    stored = json.loads((folder / "paper.json").read_text())
    assert stored["notes"][0].startswith("no --data: generated problems")
    cells = stored["cells"]
    vectors = {one["problem"] for one in cells if one["facts"]["section"] == "vectors"}
    assert vectors == {"digits", "uniform 3-d", "normal 10-d", "decaying 64-d"}
    assert {one["kernel"] for one in cells if one["problem"] == "digits"} == {
        "cosine", "tanh", "linear", "polynomial 10",
    }  # fmt: skip
    assert {one["kernel"] for one in cells if one["problem"] == "proteins"} == {
        "spectrum 1", "spectrum 2", "spectrum 3",
    }  # fmt: skip


def test_everyone_has_a_line_even_who_cannot_search(whole_run):
    cells = Kept("paper", whole_run[0] / "paper.json", Cell).cells
    one = next(cell for cell in cells if cell.problem == "digits" and cell.kernel == "tanh")
    failures = {figure.name: figure.failure or "" for figure in one.figures}
    assert failures[TREE].startswith("NotMercerError")
    assert failures[MLPACK] == failures[MLPACK_DUAL] == "not installed: mlpack"
    assert failures[FILTER] == failures[SCAN] == failures["numpy"] == ""
    exact = next(cell for cell in cells if cell.problem == "digits" and cell.kernel == "linear")
    assert all(figure.differ == 0 for figure in exact.figures if figure.is_ours)
    assert all(figure.checked == 5 for figure in exact.figures if figure.is_ours)
    assert exact.facts["expansion_constant"] >= 2.0
    assert exact.facts["paper"] == exact.facts["here"] == "450 / 1347 / 64"


def test_tables_and_pictures_are_written(whole_run):
    folder = whole_run[0]
    text = (folder / "paper.md").read_text()
    for title in (
        "The data sets", "Kernel evaluations", "Time of a query", "Building", "Proteins",
        "Exactness of the answers", "Approximate searches",
    ):  # fmt: skip
        assert f"### {title}" in text
    pictures = {file.name for file in folder.glob("*.png")}
    assert pictures == {
        "paper_evaluations.png", "paper_times.png", "paper_proteins.png",
        "paper_approximate.png",
    }  # fmt: skip


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch, capsys):
    wanted = ["--sections", "vectors", "--sets", "digits", "--kernels", "linear"]
    wanted += ["--out", str(tmp_path)]
    assert run(*wanted, "--minutes", "0.0000001") == 0
    assert "stopped by --minutes" in capsys.readouterr().err
    first = json.loads((tmp_path / "paper.json").read_text())["cells"]
    assert [one["k"] for one in first] == [1]
    assert run(*wanted) == 0
    cells = json.loads((tmp_path / "paper.json").read_text())["cells"]
    assert [one["k"] for one in cells] == [1, 10]
    assert cells[0] == first[0]

    def measure_nothing(*_: object, **more: object) -> None:
        raise AssertionError("everything is there")

    monkeypatch.setattr("benchmarks.race.contest.measure", measure_nothing)
    assert run(*wanted) == 0
    assert run(*wanted, "--show") == 0


def test_speedups_are_of_the_scan():
    one = cell(
        figure(SCAN, median_us=30.0, evaluations=100.0),
        figure(TREE, median_us=3.0, evaluations=20.0),
        figure(MLPACK, failure="hangs"),
    )
    assert (evaluation_speedup(one, TREE), time_speedup(one, TREE)) == (5.0, 10.0)
    assert (evaluation_speedup(one, MLPACK), time_speedup(one, MLPACK)) == (None, None)
    assert (evaluation_speedup(one, AUTO), time_speedup(one, AUTO)) == (None, None)


def test_wrong_answers_of_ours_fail_and_those_of_peers_are_shown():
    peer = figure(MLPACK_DUAL, median_us=2.0, evaluations=1.0, differ=4, ties=1)
    good = cell(
        figure(AUTO, median_us=1.0, evaluations=8.0), figure(MLPACK, evaluations=90.0), peer
    )
    assert all(check.holds for check in checks([good], []))
    bad = cell(figure(AUTO, median_us=1.0, evaluations=9.0, differ=1, ties=1), peer)
    failed = [check for check in checks([bad], []) if not check.holds]
    assert [check.claim for check in failed] == ["queries of ours with other ids than the scan"]
    kept = Kept("paper", None, Cell)
    kept.add(good)
    text = all_tables(kept, Kept("paper_approximate", None, ApproximateCell))
    assert "100 (3 wrong)" in text
    assert "3 of 5" in text


def test_failures_of_ours_are_excused_for_trees_only():
    for failure, is_excused in (
        ("NotMercerError: tanh", True),
        ("its tree might take 900 s", True),
        ("ValueError: no", False),
    ):
        found = checks([cell(figure(TREE_OF_ONE, failure=failure))], [])
        assert all(check.holds for check in found) == is_excused
    assert not all(
        check.holds for check in checks([cell(figure(FILTER, failure="NotMercerError"))], [])
    )


@pytest.mark.parametrize(
    ("broken", "holds"),
    [
        (outcome("epsilon", kept_share=0.99), False),
        (outcome("relative", kept_share=0.99), False),
        (outcome("rank", kept_share=0.96), True),  # it promises 95 per cent
        (outcome("budget", gap_share=0.99), False),
        (outcome("rank"), True),
    ],
)
def test_broken_promises_fail(broken, holds):
    assert all(check.holds for check in checks([], [promised(outcome("epsilon"), broken)])) == holds


def test_promises_are_held_against_all_values():
    index = approximate.make_index(PROBLEM, LINEAR)
    (key,) = approximate.keys(PROBLEM, LINEAR, (3,))
    found = approximate.measure(index, PROBLEM, LINEAR, key)
    assert found.key == key
    assert {one.mode for one in found.outcomes} == {"epsilon", "relative", "rank", "budget"}
    assert all(check.holds for check in checks([], [found]))
    values = LINEAR.kernel.matrix(PROBLEM.queries, PROBLEM.objects)
    truth = np.sort(values, axis=1)[:, ::-1]
    for one in found.outcomes:
        if one.mode == "rank":
            hits = index.search(
                PROBLEM.queries, 3, rank=int(one.promise), delta=0.05, seed=0,
                traversal=fastmks.Traversal(block=1),
            )  # fmt: skip
            ranks = 1 + (values > hits.values[:, [-1]]).sum(axis=1)
            assert (one.greatest, one.mean) == (ranks.max(), pytest.approx(ranks.mean()))
        if one.mode == "epsilon":
            hits = index.search(
                PROBLEM.queries, 3, epsilon=one.promise, traversal=fastmks.Traversal(block=1)
            )
            assert one.greatest == pytest.approx((truth[:, :3] - hits.values).max(), abs=1e-12)


def test_a_tree_that_would_take_too_long_is_not_built():
    kept = Kept("paper", None, Cell)
    facts = {"section": "proteins", "row": "proteins", "p": 3}
    kept.add(cell(figure(TREE, build_seconds=2.0), n_objects=1000, facts=facts))
    patient, hasty = (
        {one.name: one for one in protein_entrants(3, 5000, patience, kept)}
        for patience in (50.0, 49.0)
    )
    assert hasty[TREE].prepare is not patient[TREE].prepare
    with pytest.raises(RuntimeError, match=r"its tree might take 50 s"):
        hasty[TREE].prepare(None)  # type: ignore[arg-type]
    assert hasty[SCAN].name == SCAN
    assert forecast(2, 5000, kept) is None


def test_counts_are_the_kernel():
    sequences = ["MKVLAAGI", "MK", "M", "AAAA"]
    for p in (1, 2, 3):
        counts = count_substrings(sequences, p).toarray()
        kernel = fastmks.kernels.Spectrum(p)
        assert np.array_equal(counts @ counts.T, kernel.matrix(sequences, sequences))


def test_rows_of_the_paper_are_read_or_noted(tmp_path, capsys):
    rows = np.random.default_rng(0).random((5000, 32), dtype=np.float32)
    np.savez(tmp_path / "corel_10k_hist32.npz", X=rows)
    options = read_options("paper", None, ["--data", str(tmp_path)])
    collector = Collector(options)
    found = {one.row: one for one in all_sets(collector, n_objects=100, n_queries=7)}
    assert found.keys() == {"Opt-digits", "Corel"}
    corel = found["Corel"]
    assert (corel.problem.n_objects, corel.problem.n_queries) == (100, 7)
    assert str(corel.pool) == "2649 / 2351 / 32"
    assert str(corel.paper) == "10000 / 27749 / 32"
    assert len(collector.notes) == len({row.file for row in ROWS}) - 1


def test_rows_of_the_paper_have_its_sizes():
    paper = {
        "Y! Music": "100000 / 600000 / 50", "MovieLens": "6040 / 3706 / 50",
        "Physics": "37500 / 112500 / 78", "Bio": "75000 / 210409 / 74",
        "Covertype": "150000 / 431012 / 55", "LiveJournal": "10000 / 10000 / 25327",
        "MNIST": "10000 / 60000 / 784", "Netflix": "480189 / 17770 / 50",
        "Corel": "10000 / 27749 / 32", "LCDM": "6000000 / 10777216 / 3",
        "TinyImages": "5000 / 1000000 / 384",
    }  # fmt: skip
    assert {row.row: str(row.sizes) for row in ROWS if row.row in paper} == paper


def test_tanh_brings_rows_into_the_unit_ball():
    far = Problem(name="far", origin="", objects=np.full((3, 2), 9.0), queries=np.ones((1, 2)))
    assert np.linalg.norm(TANH.adapted(far).objects, axis=1).max() <= 1.0


def test_no_picture_without_cells(tmp_path):
    draw_all([], [], tmp_path)
    assert not list(tmp_path.iterdir())
