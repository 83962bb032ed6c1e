"""The race of the benchmarks: judgement, cells, contests, and mlpack's process; never times."""

import importlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.datasets import Problem, normal
from benchmarks.harness import Answer
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, SPECTRUM, TANIMOTO
from benchmarks.race.cell import Key, Pace, measure
from benchmarks.race.contest import Contest, keys_of
from benchmarks.race.entrant import Entrant, Entry, PeerError, Ready, RefusedError, Task, enter
from benchmarks.race.judge import Exactness, Judge
from benchmarks.race.mlpack import MlpackTree
from benchmarks.race.numpy_search import prepare_numpy, select_by_groups, select_plainly

from support.waiting import PATIENCE

SMALL = replace(normal(60, 5, n_queries=7).cast("float32"), name="small")
TIED = Problem(  # values 3, 5, 5, 1 and 0, 2, 2, 2
    name="tied",
    origin="written here",
    objects=np.array([[3.0, 0.0], [5.0, 2.0], [5.0, 2.0], [1.0, 2.0]], np.float32),
    queries=np.array([[1.0, 0.0], [0.0, 1.0]], np.float32),
)
KEY = Key(problem="small", n_objects=60, n_queries=7, kernel="linear", k=3, batch=7, threads=1)


def task(problem=SMALL, case=LINEAR, threads=1) -> Task:
    return Task(problem=problem, case=case, threads=threads, patience=1.0)


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
    judge = Judge(TIED, LINEAR, 3, threads=1)
    assert judge.compare(np.array(answer)) == verdict


def test_near_ties_are_not_wrong_but_counted():
    objects = np.array([[0.1], [np.nextafter(0.1, 1.0)], [0.2]])
    judge = Judge(replace(TIED, objects=objects, queries=np.array([[1.0]])), LINEAR, 3, threads=1)
    assert judge.indices.tolist() == [[2, 1, 0]]
    assert judge.compare(np.array([[2, 0, 1]])) == Exactness(1, differ=1, ties=1)


def test_a_zero_may_be_left_out():
    """Sparse products name no object whose value is zero."""
    judge = Judge(TIED, LINEAR, 4, threads=1)
    answer = np.array([[1, 2, 0, 3], [1, 2, 3, -1]])
    assert judge.compare(answer) == Exactness(2, differ=1, ties=1)


def test_later_queries_are_judged_by_their_own_truth():
    judge = Judge(SMALL, COSINE, 4, threads=1)
    units = task(case=COSINE).units
    truth = np.argsort(-(units.queries @ units.objects.T), axis=1)[:, :4]
    assert judge.compare(truth[3:], begin=3) == Exactness(4, differ=0, ties=0)
    assert judge.compare(truth[:4], begin=3).differ == 4


def test_sparse_rows_are_judged_as_dense_ones_are():
    sparse = pytest.importorskip("scipy.sparse")
    rows, queries = (np.maximum(np.rint(part), 0.0) for part in (SMALL.objects, SMALL.queries))
    dense = Problem(name="", origin="", objects=rows, queries=queries)
    packed = replace(dense, objects=sparse.csr_matrix(rows), queries=sparse.csr_matrix(queries))
    assert (dense.kind, packed.kind) == ("dense", "sparse")
    for case in (LINEAR, COSINE):
        judges = [Judge(problem, case, 4, threads=1) for problem in (dense, packed)]
        assert judges[1].compare(judges[0].indices).differ == 0
        made = task(packed, case).units
        assert np.allclose(made.objects.toarray(), task(dense, case).units.objects)


def test_strings_and_fingerprints_have_a_judge():
    words = np.random.default_rng(0).integers(0, 2**64, (20, 2), dtype=np.uint64)
    words[3] = words[2]
    bits = Problem(name="", origin="", objects=words, queries=words[2:4])
    assert (bits.kind, bits.n_columns, bits.n_bytes) == ("bits", 128, 20 * 16)
    assert bits.cast("float64") is bits
    judge = Judge(bits, TANIMOTO, 2, threads=1)
    assert judge.compare(np.array([[3, 2], [3, 2]])) == Exactness(2, differ=2, ties=2)
    assert judge.compare(np.array([[2, 4], [2, 3]])) == Exactness(2, differ=1, ties=0)
    texts = Problem(name="", origin="", objects=["ABCABC", "ABC", "XYZ"], queries=["ABC"])
    assert texts.kind == "objects"
    found = Judge(texts, SPECTRUM, 2, threads=1)
    assert found.indices.tolist() == [[0, 1]]
    assert found.compare(np.array([[0, 2]])) == Exactness(1, differ=1, ties=0)


def test_powers_that_float32_cannot_hold_are_wrong_answers():
    """1e5 to the power of 10 is infinite there: all such objects look equal."""
    rows = np.array([[1e5], [2e5], [3e5], [4e5]], np.float32)
    problem = Problem(name="", origin="", objects=rows, queries=np.ones((1, 1), np.float32))
    judge = Judge(problem, POLYNOMIAL, 2, threads=1)
    for dtype, wrong in ((None, 1), ("float64", 0)):
        ready = prepare_numpy(select_plainly, task(problem, POLYNOMIAL), dtype=dtype)
        found = ready.search(ready.queries, 2).indices
        assert found is not None
        assert judge.compare(found) == Exactness(1, differ=wrong, ties=0)


@pytest.mark.parametrize(("n_objects", "k"), [(60, 4), (1000, 1), (1000, 7), (1000, 300)])
@pytest.mark.parametrize("select", [select_plainly, select_by_groups])
@pytest.mark.parametrize("case", [LINEAR, COSINE, POLYNOMIAL])
def test_numpy_in_float64_finds_the_truth(n_objects, k, select, case):
    problem = normal(n_objects, 5, n_queries=40).cast("float32")
    ready = prepare_numpy(select, task(problem, case, threads=2), dtype="float64")
    found = ready.search(ready.queries, k).indices
    assert found is not None
    exactness = Judge(problem, case, k, threads=1).compare(found)
    assert exactness.differ == exactness.ties
    assert ready.n_bytes() == 8 * 5 * n_objects


def prepared(search, n_fixed=None):
    def prepare(task: Task) -> Ready:
        return Ready(
            search=search,
            queries=task.units.queries,
            n_bytes=lambda: 7,
            build_seconds=0.5,
            n_fixed=n_fixed,
        )

    return prepare


def refusing(task: Task) -> Ready:
    raise RefusedError(f"knows no kernel {task.case.name}")


def test_a_cell_counts_what_each_did_and_survives_who_fails():
    judge = Judge(SMALL, LINEAR, 3, threads=1)
    truth = np.argsort(-(SMALL.queries @ SMALL.objects.T), axis=1)[:, :3]
    order = {bytes(row): at for at, row in enumerate(SMALL.queries)}

    def right(queries, k):
        return Answer(truth[[order[bytes(row)] for row in queries], :k], 60 * len(queries), 4)

    def reversed_(queries, k):
        return Answer(right(queries, k).indices[:, ::-1])

    def failing(queries, k):
        raise MemoryError("no room")

    def elsewhere(queries, k):
        return Answer(truth[:5], seconds=0.1)  # far more than a lap may take

    entries = [
        enter(entrant, task())
        for entrant in (
            Entrant(name="fastmks auto", prepare=prepared(right), is_ours=True),
            Entrant(name="reversed", prepare=prepared(reversed_), is_exact=False, in_bar=False),
            Entrant(name="failing", prepare=prepared(failing)),
            Entrant(name="elsewhere", prepare=prepared(elsewhere, n_fixed=5)),
            Entrant(name="refusing", prepare=refusing),
            Entrant(name="missing", prepare=refusing, needs=("no_module_has_this_name",)),
        )
    ]
    pace = Pace(rounds=2, lap_seconds=0.01)
    found = measure(KEY, entries, judge, pace)
    ours, wrong, failed, far, refused, missing = found.figures
    assert (ours.checked, ours.differ, ours.evaluations, ours.n_bytes) == (7, 0, 60.0, 7)
    assert ours.operations == pytest.approx(4 / 7)
    assert ours.times_less is not None
    assert (wrong.wrong, wrong.ties, wrong.times_less, wrong.is_exact) == (7, 0, None, False)
    assert (failed.failure, failed.is_refused) == ("MemoryError: no room", None)
    assert (far.rounds, far.asked, far.median_us) == (1, 5, pytest.approx(20_000.0))
    assert (refused.failure, refused.is_refused) == ("knows no kernel linear", True)
    assert missing.failure == "not installed: no_module_has_this_name"


def test_who_approximates_does_not_decide_who_races():
    """Someone a hundred times as fast, but not exact, leaves the others their rounds."""
    truth = Judge(SMALL, LINEAR, 3, threads=1)

    def lap(seconds: float):
        return prepared(lambda queries, k: Answer(truth.indices, seconds=seconds), n_fixed=7)

    entries = [
        Entry(one, one.prepare(task()))
        for one in (
            Entrant(name="exact", prepare=lap(0.1), in_bar=False),
            Entrant(name="approximate", prepare=lap(0.001), in_bar=False, is_exact=False),
        )
    ]
    pace = Pace(rounds=2, lap_seconds=1.0)
    found = measure(KEY, entries, truth, pace)
    assert all((one.rounds or 0) >= 2 for one in found.figures)


def test_a_contest_has_the_cells_that_it_wants():
    contest = Contest(
        problem=SMALL,
        case=LINEAR,
        entrants=list,
        ks=(1, 10, 100),
        batches=(1, 5, 5000),
        wants=lambda key: key.k == 10 or key.batch == key.n_queries,
    )
    found = [(key.k, key.batch) for key in keys_of(contest)]
    assert found == [(1, 7), (10, 1), (10, 5), (10, 7)]


FAKE_MLPACK = """
import os, time
import numpy as np

def fastmks(*, reference=None, input_model=None, query=None, k=0, **more):
    assert more["single"] and more["verbose"]
    if input_model is None:
        os.write(1, b"77 distance computations during tree construction.\\n")
        return {"output_model": (reference, more["base"])}
    if {fault}: {then}
    os.write(1, b"5 base cases.\\n6 scores.\\n")
    values = query @ input_model[0].T
    indices = np.argsort(-values, axis=1)[:, :k]
    return {"indices": indices, "kernels": np.take_along_axis(values, indices, axis=1)}
"""


@pytest.fixture
def fake_mlpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a module in mlpack's place that has one fault."""
    monkeypatch.syspath_prepend(tmp_path)

    def write_module(then: str = "pass") -> None:
        text = FAKE_MLPACK.replace("{fault}: {then}", f"k == 3: {then}")
        (tmp_path / "mlpack.py").write_text(text)
        importlib.invalidate_caches()

    return write_module


def test_counts_that_mlpack_prints_are_read(fake_mlpack):
    fake_mlpack()
    with closing(MlpackTree(replace(task(), patience=PATIENCE))) as tree:
        built, found = tree.build(), tree.search(4)
    assert (built.evaluations, found.evaluations) == (77, 5)
    assert Judge(SMALL, LINEAR, 4, threads=1).compare(found.indices).differ == 0


@pytest.mark.parametrize(
    ("then", "patience", "failure"),
    [
        ("os._exit(3)", PATIENCE, "ended with exit code 3"),
        ("time.sleep(600)", 0.2, "no answer within 0.2 s"),
        ("raise RuntimeError('no')", PATIENCE, "RuntimeError: no"),
        ("return {}", PATIENCE, "RuntimeError: mlpack printed no 'base cases'"),
    ],
)
def test_a_fault_of_mlpack_is_a_line(fake_mlpack, then, patience, failure):
    fake_mlpack(then)
    with closing(MlpackTree(replace(task(), patience=PATIENCE))) as tree:
        tree.build()
        tree._patience = patience
        with pytest.raises(PeerError, match=failure):
            tree.search(3)
        tree._patience = PATIENCE
        assert tree.search(4).evaluations == 5  # a fork of its own for each search


def test_mlpack_refuses_what_it_does_not_know():
    with pytest.raises(PeerError, match="knows no kernel tanimoto"):
        MlpackTree(task(case=TANIMOTO))
