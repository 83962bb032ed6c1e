"""Who takes part in the bars finds the truth, or says why not; peers are played by fakes."""

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from benchmarks.datasets import Problem, normal, zipf_counts
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, SPECTRUM, TANIMOTO
from benchmarks.peers import entrants as peer_entrants
from benchmarks.peers.entrants import entrants, hnswlib
from benchmarks.peers.fingerprints import Popcounts, fingerprint_entrants, make_fingerprints
from benchmarks.peers.sets import make_proteins
from benchmarks.peers.sparse import sparse_entrants
from benchmarks.race.entrant import Entrant, Entry, Task, enter
from benchmarks.race.judge import Exactness, Judge

SMALL = replace(normal(60, 5, n_queries=40).cast("float32"), name="small")


def task(problem: Problem, case, threads: int = 1) -> Task:
    return Task(problem=problem, case=case, threads=threads, patience=1.0)


def verdict(entrant: Entrant, given: Task, k: int = 3) -> Exactness:
    ready = entrant.prepare(given)
    found = ready.search(ready.queries, k).indices
    assert found is not None
    assert (ready.n_bytes() or 0) >= 0
    return Judge(given.problem, given.case, k, threads=1).compare(found)


def named(some: list[Entrant], name: str) -> Entrant:
    return next(one for one in some if one.name == name)


@pytest.mark.parametrize("name", ["numpy", "numpy by groups", "fastmks filter", "fastmks scan"])
@pytest.mark.parametrize("case", [LINEAR, COSINE, POLYNOMIAL])
def test_who_is_always_there_finds_the_truth(name, case):
    found = verdict(named(entrants(), name), task(SMALL, case, threads=2))
    assert found.differ == 0


def test_peers_without_the_kernel_are_a_line(monkeypatch):
    """They refuse before their library is asked for."""
    monkeypatch.setattr("benchmarks.race.entrant.is_installed", lambda name: True)
    peers = [one for one in entrants() if one.needs and not one.only_low]
    assert len(peers) == 8
    for peer in peers:
        entry = enter(peer, task(SMALL, POLYNOMIAL))
        assert (entry.failure, entry.is_refused) == ("knows no kernel polynomial 10", True)


class FakeGraph:
    """hnswlib's interface; it never finds the best object."""

    def __init__(self, space: str, dim: int) -> None:
        self.settings: dict[str, object] = {"space": space, "dim": dim}

    def set_num_threads(self, threads: int) -> None:
        self.settings["threads"] = threads

    def init_index(self, **settings: int) -> None:
        self.settings |= settings

    def add_items(self, rows, num_threads: int) -> None:
        self.rows = rows

    def set_ef(self, width: int) -> None:
        self.settings["ef"] = width

    def knn_query(self, queries, k: int, num_threads: int):
        order = np.argsort(-(queries @ self.rows.T), axis=1, kind="stable")
        return order[:, 1 : k + 1].astype(np.uint64), None

    def index_file_size(self) -> int:
        return 123


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[FakeGraph]:
    """Put a module in hnswlib's place, and return the graphs that it makes."""
    made: list[FakeGraph] = []

    def make(space: str, dim: int) -> FakeGraph:
        made.append(FakeGraph(space, dim))
        return made[-1]

    fake = ModuleType("hnswlib")
    fake.Index = make  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hnswlib", fake)
    return made


def test_the_approximate_one_is_in_no_bar_and_its_answers_are_wrong(graphs):
    peer = hnswlib()
    assert not peer.is_exact
    assert not peer.in_bar
    assert verdict(peer, task(SMALL, LINEAR)) == Exactness(40, differ=40, ties=0)
    verdict(peer, task(SMALL, COSINE))
    assert [graph.settings.pop("space") for graph in graphs] == ["ip", "cosine"]
    usual = {"M": 16, "ef_construction": 200, "ef": 100, "threads": 1}
    assert usual.items() <= graphs[0].settings.items()


def test_a_graph_over_too_many_objects_is_a_line(graphs, monkeypatch):
    monkeypatch.setattr(peer_entrants, "_MOST_LINKED", 59)
    entry: Entry = enter(hnswlib(), task(SMALL, LINEAR))
    assert (entry.failure, entry.is_refused) == ("over 59 objects: not built", True)
    assert graphs == []


@pytest.fixture
def topn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Put a module in sparse_dot_topn's place, and return what it is asked."""
    sparse = pytest.importorskip("scipy.sparse")
    asked: list[dict[str, object]] = []

    def multiply(queries, transposed, **options):
        asked.append(options)
        values = (queries @ transposed).toarray()
        best = np.argsort(-values, axis=1, kind="stable")[:, : options["top_n"]]
        rows = [row[one][row[one] > 0.0] for row, one in zip(values, best, strict=True)]
        lengths = [len(row) for row in rows]
        columns = np.concatenate([one[: len(row)] for one, row in zip(best, rows, strict=True)])
        starts = np.cumsum([0, *lengths])
        return sparse.csr_matrix((np.concatenate(rows), columns, starts), shape=values.shape)

    fake = ModuleType("sparse_dot_topn")
    fake.sp_matmul_topn = multiply  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sparse_dot_topn", fake)
    return asked


@pytest.mark.parametrize("case", [LINEAR, COSINE])
@pytest.mark.parametrize("threads", [1, 2])
def test_everyone_finds_the_words(case, threads, topn):
    counts = zipf_counts(150, 300, n_queries=120)
    given = task(counts, case, threads)
    for entrant in sparse_entrants():
        found = verdict(entrant, given, k=5)
        assert found.checked == 120
        if entrant.name.endswith("float32"):
            assert not entrant.in_bar
        else:
            assert found.differ == found.ties
    assert {one["n_threads"] for one in topn} == {threads}
    peer = named(sparse_entrants(), "sparse_dot_topn").prepare(given)
    peer.search(counts.queries[:1], 5)
    assert topn[-1] == {"sort": True, "threshold": 0.0, "top_n": 5, "n_threads": 1}


@pytest.mark.usefixtures("topn")
def test_everyone_finds_the_proteins():
    """fastmks is given strings, peers are given counts of whatever letters there are."""
    random = np.random.default_rng(0)
    strings = ["".join(random.choice(list("ACDXU"), 30)) for _ in range(60)] + ["AC"]
    problem = make_proteins(strings[3:], strings[:3], "made here")
    assert (problem.kind, problem.n_columns) == ("sparse", 125)
    assert problem.vectors is not None
    assert problem.n_bytes > 12 * problem.vectors[0].nnz
    for entrant in sparse_entrants():
        found = verdict(entrant, task(problem, SPECTRUM), k=4)
        assert (found.checked, found.differ) == (3, found.ties)
        assert found.differ == 0 or not entrant.is_ours


class FakePeer:
    """FPSim2's part: it ranks equal values by greater id, and may find fewer than asked."""

    seconds, n_bytes = 0.5, 99

    def __init__(self, words, most: int) -> None:
        self._popcounts, self._words, self._most = Popcounts(words), words, most

    def vector(self, words):
        return words

    def search(self, vector, k: int, *, threads: int):
        values, positions = self._popcounts.search(vector, len(self._words))
        order = np.lexsort((-positions, -values))[: min(k, self._most)]
        return positions[order]


def test_fingerprints_are_found_by_all_but_for_ties(monkeypatch):
    notes: list[str] = []
    made, nobody = make_fingerprints(None, 120, 4, notes.append)
    assert notes[0].startswith("generated fingerprints; missing:")
    words = made.objects.copy()
    words[50] = words[1]
    fake = FakePeer(words, most=120)
    problem = replace(made, objects=words, queries=words[[1, 7, 8]])
    assert (problem.kind, problem.n_queries, problem.n_columns) == ("bits", 3, 2048)
    monkeypatch.setattr("benchmarks.race.entrant.is_installed", lambda name: True)
    for threads in (1, 2):
        for entrant in fingerprint_entrants(fake):
            found = verdict(entrant, task(problem, TANIMOTO, threads), k=2)
            assert found.differ == found.ties
            assert found.ties == 0 or entrant.name == "FPSim2"
    peer = named(fingerprint_entrants(fake), "FPSim2")
    assert peer.single_only
    assert verdict(peer, task(problem, TANIMOTO), k=2).ties == 1
    peer = named(fingerprint_entrants(FakePeer(words, most=1)), "FPSim2")
    assert verdict(peer, task(problem, TANIMOTO), k=2) == Exactness(3, differ=3, ties=0)
    entry = enter(named(fingerprint_entrants(nobody), "FPSim2"), task(problem, TANIMOTO))
    assert (entry.failure, entry.is_refused) == ("takes molecules, not generated bits", True)


def test_popcounts_without_numpys_own(monkeypatch):
    """Older versions of numpy count no bits."""
    words = np.random.default_rng(0).integers(0, 2**64, (30, 3), dtype=np.uint64)
    values, positions = Popcounts(words).search(words[4], 5)
    assert positions[0] == 4
    older = {name: getattr(np, name) for name in dir(np) if name != "bitwise_count"}
    monkeypatch.setattr("benchmarks.peers.fingerprints.np", SimpleNamespace(**older))
    again = Popcounts(words).search(words[4], 5)
    assert np.array_equal(again[0], values)
    assert np.array_equal(again[1], positions)
